"""PyTorch: nn.RNN, nn.GRU and nn.LSTM fuse the gates by rows, in the orders of its documentation."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import PROJECTIONS, Binding, GateWeights, TransformNames, fused, of_dense
from rnncalc.layers.cell import Cell

ORDERS = {"rnn": "h", "gru": "rzn", "lstm": "ifgo"}


def recurrent(arrays: Arrays, layer: Cell, backward: bool) -> GateWeights:
    """Return the weights of the gates; PaddlePaddle's are those too."""
    end = f"l{arrays.copy}{'_reverse' if backward else ''}"
    matrices = {"x": f"weight_ih_{end}", "h": f"weight_hh_{end}"}
    biases = {"input": f"bias_ih_{end}", "recurrent": f"bias_hh_{end}"}
    return fused(arrays, layer, ORDERS[layer.kind], matrices, biases)


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    bound = recurrent(arrays, layer, backward)
    if getattr(layer, "projection", None) is None:
        return bound
    projection = arrays.matrix(f"weight_hr_l{arrays.copy}{'_reverse' if backward else ''}")
    return bound._replace(matrices={"p": projection})


HEADS = {
    **dict.fromkeys(PROJECTIONS, "in_proj_weight"),
    **dict.fromkeys([f"{role}_bias" for role in PROJECTIONS], "in_proj_bias"),
    "output": "out_proj.weight",
    "output_bias": "out_proj.bias",
}

TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "weight", "bias": "bias"},
        "embedding": {"embedding": "weight", "position_embedding": "positions"},
        "conv1d": {"kernel": "weight", "bias": "bias"},
        "multi_head_attention": HEADS,
        "transformer": {role: f"self_attn.{name}" for role, name in HEADS.items()}
        | {"up": "linear1.weight", "up_bias": "linear1.bias", "down": "linear2.weight", "down_bias": "linear2.bias"}
        | {"norm_1_scale": "norm1.weight", "norm_1_bias": "norm1.bias"}
        | {"norm_2_scale": "norm2.weight", "norm_2_bias": "norm2.bias"},
        "layer_norm": {"scale": "weight", "bias": "bias"},
        "batch_norm": {"scale": "weight", "bias": "bias"}
        | {"running_mean": "running_mean", "running_variance": "running_var"},
        **dict.fromkeys(("attention", "decoder_attention"), of_dense(".weight", ".bias")),
        "cross_attention": HEADS | {"query": "q_proj_weight", "key": "k_proj_weight", "value": "v_proj_weight"},
        "cross_attention_of_one_width": HEADS,
    },
    taps_first=False,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
