"""PyTorch: what `state_dict()` of nn.RNN, nn.GRU, nn.LSTM, nn.Linear and nn.Embedding holds, as in torch 2.13.0.

Its modules concatenate the two directions; any other `merge` is an operation after the module, as users write it.
"""

from rnncalc.conventions import rules
from rnncalc.layers.cell import Habits


def _array(stem: str, axes: str) -> rules.Array:
    return rules.Array(f"{stem}_l{{copy}}{{direction}}", axes)


_LACKS = {"reset_after": (None, True), "activation": ("tanh",), "recurrent_activation": (None, "sigmoid")}

_CELL = rules.CellArrays(
    input=_array("weight_ih", "gates m"),
    recurrent=_array("weight_hh", "gates reads"),
    bias=_array("bias_ih", "gates"),
    recurrent_bias=_array("bias_hh", "gates"),
    side=rules.Side.BOTH,
    only=rules.restricted(**_LACKS),
)

_WEIGHTS = {"kernel": "weight", "scale": "weight", "bias": "bias"}


_NO_SIZES: dict[str, tuple[object, ...]] = {"key_size": (None,), "value_size": (None,)}


def _heads(path: str = "") -> dict[str, str]:
    """Return the names of the arrays of nn.MultiheadAttention, which has three of them in one."""
    names = dict.fromkeys(("query", "key", "value"), "in_proj_weight") | {"output": "out_proj.weight"}
    names |= dict.fromkeys(("query_bias", "key_bias", "value_bias"), "in_proj_bias") | {"output_bias": "out_proj.bias"}
    return {role: f"{path}{name}" for role, name in names.items()}


CELLS = {
    "rnn": _CELL.replace(only=rules.restricted(**_LACKS | {"activation": (None, "tanh", "relu")})),
    "gru": _CELL.replace(order="rzn", habits=Habits(reset_after=True)),
    "lstm": _CELL.replace(
        order="ifgo",
        projection=_array("weight_hr", "p h"),
        only=rules.restricted("projection", **_LACKS),
        projects_down=True,
    ),
}

CONVENTION = rules.Convention(
    name="pytorch",
    title="PyTorch",
    note="two bias vectors per gate, on the input and on the recurrent side",
    why="cuDNN's kernels, which it uses, add a bias to each of the two products",
    cells=CELLS,
    transforms={
        "dense": rules.TransformArrays(_WEIGHTS),
        "embedding": rules.TransformArrays({"embedding": "weight", "position_embedding": "positions"}),
        "conv1d": rules.TransformArrays(_WEIGHTS, steps_last=True),
        "pool1d": rules.TransformArrays(steps_last=True, only={"padding": ("valid",)}),
        "layer_norm": rules.TransformArrays(_WEIGHTS),
        "multi_head_attention": rules.TransformArrays(_heads(), only=_NO_SIZES),
        "transformer": rules.TransformArrays(
            _heads("self_attn.")
            | {"up": "linear1.weight", "up_bias": "linear1.bias", "down": "linear2.weight", "down_bias": "linear2.bias"}
            | {"norm_1_scale": "norm1.weight", "norm_1_bias": "norm1.bias"}
            | {"norm_2_scale": "norm2.weight", "norm_2_bias": "norm2.bias"},
            only={"activation": ("relu", "gelu")},
        ),
        "batch_norm": rules.TransformArrays(
            _WEIGHTS | {"running_mean": "running_mean", "running_variance": "running_var"},
            buffers=("running_mean", "running_variance"),
            alike=("scale", "center"),
            steps_last=True,
        ),
        **rules.attention_of_dense("{}.weight", "{}.bias"),
        "cross_attention": rules.TransformArrays(
            _heads() | {role: f"{role[0]}_proj_weight" for role in ("query", "key", "value")}, only=_NO_SIZES
        ),
        "cross_attention_of_one_width": rules.TransformArrays(_heads(), only=_NO_SIZES),  # as of self-attention
    },
    returns=rules.Returns(
        output="output",
        state="{}_n",
        state_axes="LBW",
        note="Sequences as batch_first=True has them; states do not follow it.",
        note_time_first="Recurrent modules with batch_first=False, PyTorch's default.",
        stacks=True,
    ),
    directions=("", "_reverse"),
)
