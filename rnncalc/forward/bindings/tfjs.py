"""TensorFlow.js: its layers are Keras's, except that a GRU has one bias per gate."""

from rnncalc.forward import bindings
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, keras
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

ORDERS = {"rnn": "h", "gru": "zrn", "lstm": "ifgo"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    matrices, before = {"x": "kernel", "h": "recurrent_kernel"}, bindings.prefix(layer, backward)
    order = ORDERS[layer.kind]
    return bindings.fused(arrays, layer, order, matrices, {"input": "bias"}, before=before, transposed=True)


TRANSFORMS = TransformNames(
    {kind: keras.TRANSFORMS.names[kind] for kind in ("dense", "embedding", "conv1d", "layer_norm", "batch_norm")}
    | dict.fromkeys(("attention", "decoder_attention", *CROSS), bindings.of_dense("/kernel", "/bias")),
    taps_first=True,
    transposed=True,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
