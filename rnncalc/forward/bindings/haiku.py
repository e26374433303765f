"""Haiku: VanillaRNN is two linear layers, a GRU has w_i and w_h, and an LSTM one linear layer that reads [x, h]."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, fused, of_dense, prefix
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

NAMES = {
    "rnn": ("h", ("linear/w", "linear_1/w"), ("linear/b", "linear_1/b")),
    "gru": ("zrn", ("w_i", "w_h"), ("b",)),
    "lstm": ("igfo", ("linear/w", "linear/w"), ("linear/b",)),
}
"""The order of the gates, the names of the matrices for x and for h, and those of the biases beside them."""


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    order, (x, h), (bias, *second) = NAMES[layer.kind]
    reads = {"x": slice(inputs), "h": slice(inputs, None)} if layer.kind == "lstm" else {}
    biases = {"input": bias} | ({"recurrent": second[0]} if second else {})
    before = prefix(layer, backward)
    return fused(arrays, layer, order, {"x": x, "h": h}, biases, before=before, transposed=True, reads=reads)


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
