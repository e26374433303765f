"""Flax linen: a dense layer per gate and side, `iz` on the input, `hz` on the past; SimpleCell has one `i`, one `h`."""

from rnncalc.forward import bindings
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

GATES = {"rnn": [""], "gru": ["r", "z", "n"], "lstm": ["i", "f", "g", "o"], "mgu": ["f", "n"]}
INPUT_BIASES = {"rnn": [""], "gru": ["r", "z", "n"], "lstm": [], "mgu": ["f", "n"]}
RECURRENT_BIASES = {"rnn": [], "gru": ["n"], "lstm": ["i", "f", "g", "o"], "mgu": ["n"]}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before, kind = bindings.prefix(layer, backward), layer.kind
    products = {
        (word or "h", vector): arrays.matrix(f"{before}{stem}{word}/kernel", transposed=True)
        for vector, stem in (("x", "i"), ("h", "h"))
        for word in GATES[kind]
    }
    biases = {
        (word or "h", side): arrays.vector(f"{before}{stem}{word}/bias")
        for side, stem, words in (("input", "i", INPUT_BIASES[kind]), ("recurrent", "h", RECURRENT_BIASES[kind]))
        for word in words
    }
    return GateWeights(products, biases)


TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "kernel", "bias": "bias"},
        "embedding": {"embedding": "embedding", "position_embedding": "positions"},
        "conv1d": {"kernel": "kernel", "bias": "bias"},
        "layer_norm": {"scale": "scale", "bias": "bias"},
        "batch_norm": {"scale": "scale", "bias": "bias", "running_mean": "mean", "running_variance": "var"},
        **dict.fromkeys(("attention", "decoder_attention"), bindings.of_dense("/kernel", "/bias")),
        **dict.fromkeys(("multi_head_attention", *CROSS), bindings.with_heads("out")),
    },
    taps_first=True,
    transposed=True,
    heads=bindings.IN_AXES,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
