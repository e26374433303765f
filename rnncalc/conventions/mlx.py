"""MLX: the parameters of mlx.nn's RNN, GRU, LSTM, Linear and Embedding, as seen in mlx 0.32.4.

It has no module that reads in two directions: users run two, and join what they return.
"""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits

_CELL = rules.CellArrays(
    input=rules.Array("Wx", "gates m"),
    recurrent=rules.Array("Wh", "gates reads"),
    bias=rules.Array("bias", "gates"),
    only=rules.restricted(activation=("tanh",), recurrent_activation=(None, "sigmoid"), reset_after=(None, True)),
)
_WEIGHTS = {"kernel": "weight", "scale": "weight", "bias": "bias"}

_ATTENTION = rules.attention_of_dense("{}.weight", "{}.bias")

CELLS = {
    "rnn": _CELL.replace(
        input=rules.Array("Wxh", "gates m"), recurrent=rules.Array("Whh", "gates reads"), only=rules.restricted()
    ),
    "gru": _CELL.replace(
        bias=rules.Array("b", "gates"),
        recurrent_bias=rules.Array("bhn", "gates"),
        sides={"n": rules.Side.BOTH},
        order="rzn",
        habits=Habits(reset_after=True),
    ),
    "lstm": _CELL.replace(order="ifgo"),
}

CONVENTION = rules.Convention(
    name="mlx",
    title="MLX",
    note="one bias vector per gate, and a second one in the candidate of a GRU",
    why="what is multiplied by a gate has a bias of its own inside the product",
    cells=CELLS,
    transforms={
        "dense": rules.TransformArrays(_WEIGHTS),
        "embedding": rules.TransformArrays({"embedding": "weight", "position_embedding": "positions"}),
        "layer_norm": rules.TransformArrays(_WEIGHTS),
        "batch_norm": rules.TransformArrays(
            _WEIGHTS | {"running_mean": "running_mean", "running_variance": "running_var"}, alike=("scale", "center")
        ),
        **_ATTENTION,
        "decoder_attention": _ATTENTION["decoder_attention"].replace(
            only={"score": (None, "additive", "concat", "general", "dot")}  # a convolution is not described here
        ),
    },
    returns=rules.Returns(
        output="h",
        state="{}",
        state_axes="BTW",
        note="RNN and GRU return h of every step, an LSTM the pair (h, c) of every step.",
    ),
)
