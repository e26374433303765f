"""Equinox: the arrays of eqx.nn's GRUCell, LSTMCell, Linear and Embedding, as seen in equinox 0.13.8.

It has cells alone: users run one along a sequence with jax.lax.scan, and two for two directions.
"""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits
from rnncalc.layers.layer import CROSS

_CELL = rules.CellArrays(
    input=rules.Array("weight_ih", "gates m"),
    recurrent=rules.Array("weight_hh", "gates reads"),
    bias=rules.Array("bias", "gates"),
    only=rules.restricted(activation=("tanh",), recurrent_activation=(None, "sigmoid"), reset_after=(None, True)),
)
_WEIGHTS = {"kernel": "weight", "scale": "weight", "bias": "bias"}

CONVENTION = rules.Convention(
    name="equinox",
    title="Equinox",
    note="one bias vector per gate, and a second one in the candidate of a GRU",
    why="what is multiplied by a gate has a bias of its own inside the product",
    cells={
        "gru": _CELL.replace(
            recurrent_bias=rules.Array("bias_n", "gates"),
            sides={"n": rules.Side.BOTH},
            order="rzn",
            habits=Habits(reset_after=True),
        ),
        "lstm": _CELL.replace(order="ifgo"),
    },
    transforms={
        "dense": rules.TransformArrays(_WEIGHTS),
        "embedding": rules.TransformArrays({"embedding": "weight", "position_embedding": "positions"}),
        "layer_norm": rules.TransformArrays(_WEIGHTS),
        **dict.fromkeys(("decoder_attention", *CROSS), rules.attention_of_dense("{}.weight", "{}.bias")),
    },
    returns=rules.Returns(
        sequence="BW",
        output="h_t",
        axes="BW",
        state="{}_t",
        state_axes="BW",
        note="At one step t, under jax.vmap: a GRUCell returns h_t, an LSTMCell the pair (h_t, c_t).",
    ),
)
