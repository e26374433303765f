"""Flax nnx: the parameters of SimpleCell, GRUCell, LSTMCell, Linear and Embed, as seen in flax 0.12.8."""

from rnncalc.conventions.flax_linen import CONVENTION as LINEN
from rnncalc.conventions.flax_linen import RETURNS
from rnncalc.conventions.rules import Array, CellArrays, Side, restricted
from rnncalc.layers.cell import Habits

_CELL = CellArrays(
    input=Array("dense_i/kernel", "m gates"),
    recurrent=Array("dense_h/kernel", "reads gates"),
    bias=Array("dense_i/bias", "gates"),
    only=restricted(bias=(True,), reset_after=(None, True)),
)

CONVENTION = LINEN.replace(
    name="flax-nnx",
    title="Flax nnx",
    note="one bias vector per gate",
    why="the two products are summed, so one bias serves both",
    cells={
        "rnn": _CELL,
        "gru": _CELL.replace(order="rzn", habits=Habits(reset_after=True)),
        "lstm": _CELL.replace(
            input=Array("i{gate}/kernel", "m h"),
            recurrent=Array("h{gate}/kernel", "reads h"),
            bias=None,
            recurrent_bias=Array("h{gate}/bias", "h"),
            side=Side.RECURRENT,
        ),
    },
    returns=RETURNS.replace(
        note="nnx.RNN with return_carry=True; an LSTM's carry is the pair (c, h).",
        note_time_first="nnx.RNN with return_carry=True and time_major=True; an LSTM's carry is the pair (c, h).",
    ),
    renamed={"if/kernel": "if_/kernel"},  # `if` is no name in Python
)
