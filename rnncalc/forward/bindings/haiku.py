"""Haiku: VanillaRNN is two linear layers, a GRU has w_i and w_h, and an LSTM one linear layer that reads [x, h]."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, of_dense, prefix
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

NAMES = {
    "rnn": ("h", ("linear/w", "linear_1/w"), ("linear/b", "linear_1/b")),
    "gru": ("zrn", ("w_i", "w_h"), ("b",)),
    "lstm": ("igfo", ("linear/w", "linear/w"), ("linear/b",)),
}
"""The order of the gates, the names of the matrices for x and for h, and those of the biases beside them."""


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before, h = prefix(layer, backward), layer.units
    order, matrices, vectors = NAMES[layer.kind]
    reads = {"x": slice(inputs), "h": slice(inputs, None)} if layer.kind == "lstm" else {}
    products = {
        (gate, vector): arrays.matrix(f"{before}{name}", columns, transposed=True, reads=reads.get(vector, slice(None)))
        for vector, name in zip("xh", matrices, strict=True)
        for gate, columns in arrays.gates(f"{before}{name}", order, h).items()
    }
    biases = {
        (gate, side): arrays.vector(f"{before}{name}", numbers)
        for side, name in zip(("input", "recurrent"), vectors, strict=False)
        for gate, numbers in arrays.gates(f"{before}{name}", order, h).items()
    }
    return GateWeights(products, biases)


TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "w", "bias": "b"},
        "embedding": {"embedding": "embeddings", "position_embedding": "positions"},
        "conv1d": {"kernel": "w", "bias": "b"},
        "layer_norm": {"scale": "scale", "bias": "offset"},
        **dict.fromkeys(("attention", "decoder_attention", *CROSS), of_dense("/w", "/b")),
    },
    taps_first=True,
    transposed=True,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
