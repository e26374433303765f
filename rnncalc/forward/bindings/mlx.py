"""MLX: nn.RNN, nn.GRU and nn.LSTM fuse the gates by rows; the GRU's candidate has a second bias, bhn."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, of_dense, prefix
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

NAMES = {"rnn": ("h", "Wxh", "Whh", "bias"), "gru": ("rzn", "Wx", "Wh", "b"), "lstm": ("ifgo", "Wx", "Wh", "bias")}
"""The order of the gates, and the names of the matrices and of the bias."""


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before, h = prefix(layer, backward), layer.units
    order, *matrices, bias = NAMES[layer.kind]
    products = {
        (gate, vector): arrays.matrix(f"{before}{name}", rows)
        for vector, name in zip("xh", matrices, strict=True)
        for gate, rows in arrays.gates(f"{before}{name}", order, h).items()
    }
    if not layer.bias:
        return GateWeights(products)
    rows = arrays.gates(f"{before}{bias}", order, h)
    biases = {(gate, "input"): arrays.vector(f"{before}{bias}", numbers) for gate, numbers in rows.items()}
    if layer.kind == "gru":
        biases["n", "recurrent"] = arrays.vector(f"{before}bhn")
    return GateWeights(products, biases)


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
