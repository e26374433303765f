"""MLX: nn.RNN, nn.GRU and nn.LSTM fuse the gates by rows; the GRU's candidate has a second bias, bhn."""

from collections.abc import Mapping

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, fused, of_dense, prefix
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

NAMES = {"rnn": ("h", "Wxh", "Whh", "bias"), "gru": ("rzn", "Wx", "Wh", "b"), "lstm": ("ifgo", "Wx", "Wh", "bias")}
"""The order of the gates, and the names of the matrices and of the bias."""


def bound(
    arrays: Arrays, layer: Cell, backward: bool, names: Mapping[str, tuple[str, str, str, str]], second: str
) -> GateWeights:
    """Return the weights of one direction; Equinox's are those too. second: the second bias of a GRU's candidate."""
    order, x, h, bias = names[layer.kind]
    before = prefix(layer, backward)
    weights = fused(arrays, layer, order, {"x": x, "h": h}, {"input": bias}, before=before)
    if layer.kind != "gru" or not layer.bias:
        return weights
    return weights._replace(biases={**weights.biases, ("n", "recurrent"): arrays.vector(f"{before}{second}")})


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    return bound(arrays, layer, backward, NAMES, "bhn")


TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "weight", "bias": "bias"},
        "embedding": {"embedding": "weight", "position_embedding": "positions"},
        "layer_norm": {"scale": "weight", "bias": "bias"},
        "batch_norm": {"scale": "weight", "bias": "bias"}
        | {"running_mean": "running_mean", "running_variance": "running_var"},
        **dict.fromkeys(("attention", "decoder_attention", *CROSS), of_dense(".weight", ".bias")),
    },
    taps_first=False,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
