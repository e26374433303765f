"""Flax linen: the parameter trees of its recurrent cells, Dense and Embed, as seen in flax 0.12.8."""

from rnncalc.conventions.rules import (
    Array,
    CellArrays,
    Convention,
    DenseArrays,
    Returns,
    Side,
    TransformArrays,
    attention_of_dense,
    restricted,
    with_heads,
)
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS

_CELL = CellArrays(
    input=Array("i{gate}/kernel", "m h"),
    recurrent=Array("h{gate}/kernel", "reads h"),
    bias=Array("i{gate}/bias", "h"),
    recurrent_bias=Array("h{gate}/bias", "h"),
    sides={"n": Side.BOTH},
    only=restricted(bias=(True,), reset_after=(None, True)),
)

RETURNS = Returns(
    sequence="BTW",
    output="output",
    axes="BTW",
    state="carry_{}",
    state_axes="BW",
    note="nn.RNN with return_carry=True; an LSTM's carry is the pair (c, h).",
    note_time_first="nn.RNN with return_carry=True and time_major=True; an LSTM's carry is the pair (c, h).",
    merges=True,
)

CONVENTION = Convention(
    name="flax-linen",
    title="Flax linen",
    note="one bias vector per gate, and a second one in the candidate of a GRU or MGU",
    why="what is multiplied by a gate needs a bias of its own inside the product",
    cells={
        "rnn": _CELL.replace(  # one gate, so the names need not tell any apart
            input=Array("i/kernel", "m gates"),
            recurrent=Array("h/kernel", "reads gates"),
            bias=Array("i/bias", "gates"),
            recurrent_bias=None,
            sides={},
        ),
        "gru": _CELL.replace(habits=Habits(reset_after=True)),
        "lstm": _CELL.replace(side=Side.RECURRENT, sides={}, bias=None),
        "mgu": _CELL.replace(habits=Habits(reset_after=True, gate_keeps=True)),
    },
    dense=DenseArrays(Array("kernel", "m n"), Array("bias", "n")),
    transforms={
        "embedding": TransformArrays({"embedding": "embedding", "position_embedding": "positions"}),
        "conv1d": TransformArrays({"kernel": "kernel", "bias": "bias"}, order=(2, 1, 0)),
        "layer_norm": TransformArrays({"scale": "scale", "bias": "bias"}, epsilon=1e-6),
        "multi_head_attention": with_heads("out").replace(only={"value_size": (None,)}),
        "batch_norm": TransformArrays(
            {"scale": "scale", "bias": "bias", "running_mean": "mean", "running_variance": "var"},
            buffers=("running_mean", "running_variance"),
        ),
        "decoder_attention": attention_of_dense("{}/kernel", "{}/bias", (1, 0)),
        **dict.fromkeys(CROSS, with_heads("out", "q", "k", "d").replace(only={"value_size": (None,)})),
    },
    returns=RETURNS,
)
