"""Keras: its recurrent layers fuse the gates by columns; a GRU that resets after the product has two biases."""

from rnncalc.forward import bindings
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

ORDERS = {"rnn": "h", "gru": "zrn", "lstm": "ifgo", "conv_lstm": "ifgo"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before = bindings.prefix(layer, backward)
    order, h = ORDERS[layer.kind], layer.units
    products = {
        (gate, vector): arrays.convolution(stem, columns, layer.grid, layer.__dict__["kernel"], transposed=True)
        if layer.kind == "conv_lstm"
        else arrays.matrix(f"{before}{stem}", columns, transposed=True)
        for vector, stem in (("x", "kernel"), ("h", "recurrent_kernel"))
        for gate, columns in arrays.gates(f"{before}{stem}", order, h).items()
    }
    two = layer.kind == "gru" and getattr(layer, "reset_after", None) is not False
    rows = {"input": (0,), "recurrent": (1,)} if two else {"input": ()}
    biases = {
        (gate, side): arrays.vector(f"{before}bias", columns, at=row)
        for side, row in rows.items()
        if layer.bias
        for gate, columns in arrays.gates(f"{before}bias", order, h).items()
    }
    return GateWeights(products, biases)


TRANSFORMS = TransformNames(
    {
        "dense": {"kernel": "kernel", "bias": "bias"},
        "embedding": {"embedding": "embeddings", "position_embedding": "positions"},
        "conv1d": {"kernel": "kernel", "bias": "bias"},
        "layer_norm": {"scale": "gamma", "bias": "beta"},
        "batch_norm": {"scale": "gamma", "bias": "beta"}
        | {"running_mean": "moving_mean", "running_variance": "moving_variance"},
        **dict.fromkeys(("attention", "decoder_attention"), bindings.of_dense("/kernel", "/bias")),
        **dict.fromkeys(("multi_head_attention", *CROSS), bindings.with_heads("attention_output")),
    },
    taps_first=True,
    transposed=True,
    heads=bindings.IN_AXES,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
