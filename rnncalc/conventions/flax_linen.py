"""Flax linen: the parameter trees of its recurrent cells, Dense and Embed, as seen in flax 0.12.8."""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS

_CELL = rules.CellArrays(
    input=rules.Array("i{gate}/kernel", "m h"),
    recurrent=rules.Array("h{gate}/kernel", "reads h"),
    bias=rules.Array("i{gate}/bias", "h"),
    recurrent_bias=rules.Array("h{gate}/bias", "h"),
    sides={"n": rules.Side.BOTH},
    only=rules.restricted(bias=(True,), reset_after=(None, True)),
)

RETURNS = rules.Returns(
    output="output",
    state="carry_{}",
    note="nn.RNN with return_carry=True; an LSTM's carry is the pair (c, h).",
    note_time_first="nn.RNN with return_carry=True and time_major=True; an LSTM's carry is the pair (c, h).",
    merges=True,
)

CONVENTION = rules.Convention(
    name="flax-linen",
    title="Flax linen",
    note="one bias vector per gate, and a second one in the candidate of a GRU or MGU",
    why="what is multiplied by a gate has a bias of its own inside the product",
    cells={
        "rnn": _CELL.replace(  # one gate, so the names need not tell any apart
            input=rules.Array("i/kernel", "m gates"),
            recurrent=rules.Array("h/kernel", "reads gates"),
            bias=rules.Array("i/bias", "gates"),
            recurrent_bias=None,
            sides={},
        ),
        "gru": _CELL.replace(habits=Habits(reset_after=True)),
        "lstm": _CELL.replace(side=rules.Side.RECURRENT, sides={}, bias=None),
        "mgu": _CELL.replace(habits=Habits(reset_after=True, gate_keeps=True)),
    },
    transforms={
        "dense": rules.TransformArrays({"kernel": "kernel", "bias": "bias"}, order=(1, 0)),
        "embedding": rules.TransformArrays({"embedding": "embedding", "position_embedding": "positions"}),
        "conv1d": rules.TransformArrays({"kernel": "kernel", "bias": "bias"}, order=(2, 1, 0)),
        "layer_norm": rules.TransformArrays({"scale": "scale", "bias": "bias"}, epsilon=1e-6),
        "multi_head_attention": rules.with_heads("out").replace(only={"value_size": (None,)}),
        "batch_norm": rules.TransformArrays(
            {"scale": "scale", "bias": "bias", "running_mean": "mean", "running_variance": "var"},
            buffers=("running_mean", "running_variance"),
        ),
        **rules.attention_of_dense("{}/kernel", "{}/bias", (1, 0)),
        **dict.fromkeys(CROSS, rules.with_heads("out", "q", "k", "d").replace(only={"value_size": (None,)})),
    },
    returns=RETURNS,
)
