"""Flax nnx: the parameters of SimpleCell, GRUCell, LSTMCell, Linear and Embed, as seen in flax 0.12.8."""

from rnncalc.conventions.flax_linen import CONVENTION as LINEN
from rnncalc.conventions.flax_linen import RETURNS
from rnncalc.conventions.rules import Array, CellArrays, Side, Slot, Width, restricted
from rnncalc.layers.cell import Habits

_CELL = CellArrays(
    input=Array(("dense_i/kernel",), (Width.INPUTS, Width.GATED)),
    recurrent=Array(("dense_h/kernel",), (Width.READS, Width.GATED)),
    bias=Array(("dense_i/bias",), (Width.GATED,)),
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
            input=Array(("i", Slot.GATE, "/kernel"), (Width.INPUTS, Width.UNITS)),
            recurrent=Array(("h", Slot.GATE, "/kernel"), (Width.READS, Width.UNITS)),
            bias=None,
            recurrent_bias=Array(("h", Slot.GATE, "/bias"), (Width.UNITS,)),
            side=Side.RECURRENT,
        ),
    },
    returns=RETURNS.replace(
        note="nnx.RNN with return_carry=True; an LSTM's carry is the pair (c, h).",
        note_time_first="nnx.RNN with return_carry=True and time_major=True; an LSTM's carry is the pair (c, h).",
    ),
    renamed={"if/kernel": "if_/kernel"},  # `if` is no name in Python
)
