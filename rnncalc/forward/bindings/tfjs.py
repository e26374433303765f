"""TensorFlow.js: its layers are Keras's, except that a GRU has one bias per gate."""

from rnncalc.forward import bindings
from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, TransformNames, keras
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import CROSS

ORDERS = {"rnn": "h", "gru": "zrn", "lstm": "ifgo"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before, order, h = bindings.prefix(layer, backward), ORDERS[layer.kind], layer.units
    products = {
        (gate, vector): arrays.matrix(f"{before}{name}", columns, transposed=True)
        for vector, name in (("x", "kernel"), ("h", "recurrent_kernel"))
        for gate, columns in arrays.gates(f"{before}{name}", order, h).items()
    }
    columns = arrays.gates(f"{before}bias", order, h) if layer.bias else {}
    return GateWeights(
        products, {(gate, "input"): arrays.vector(f"{before}bias", numbers) for gate, numbers in columns.items()}
    )


TRANSFORMS = TransformNames(
    {kind: keras.TRANSFORMS.names[kind] for kind in ("dense", "embedding", "conv1d", "layer_norm", "batch_norm")}
    | dict.fromkeys(("attention", "decoder_attention", *CROSS), bindings.of_dense("/kernel", "/bias")),
    taps_first=True,
    transposed=True,
)

BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
