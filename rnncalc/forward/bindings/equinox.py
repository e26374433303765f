"""Equinox: GRUCell and LSTMCell fuse the gates by rows; the GRU's candidate has a second bias, bias_n."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, prefix
from rnncalc.forward.bindings.mlx import TRANSFORMS
from rnncalc.layers.cell import Cell

ORDERS = {"gru": "rzn", "lstm": "ifgo"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before, order, h = prefix(layer, backward), ORDERS[layer.kind], layer.units
    products = {
        (gate, vector): arrays.matrix(f"{before}{name}", rows)
        for vector, name in (("x", "weight_ih"), ("h", "weight_hh"))
        for gate, rows in arrays.gates(f"{before}{name}", order, h).items()
    }
    rows = arrays.gates(f"{before}bias", order, h) if layer.bias else {}
    biases = {(gate, "input"): arrays.vector(f"{before}bias", numbers) for gate, numbers in rows.items()}
    if layer.bias and layer.kind == "gru":
        biases["n", "recurrent"] = arrays.vector(f"{before}bias_n")
    return GateWeights(products, biases)


BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
