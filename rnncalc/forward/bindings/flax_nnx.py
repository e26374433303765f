"""Flax nnx: SimpleCell and GRUCell fuse the gates in `dense_i` and `dense_h`; LSTMCell has one per gate and side."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights, fused, prefix
from rnncalc.forward.bindings.flax_linen import TRANSFORMS
from rnncalc.layers.cell import Cell

ORDERS = {"rnn": "h", "gru": "rzn"}
LSTM_INPUTS = {"i": "ii", "f": "if_", "g": "ig", "o": "io"}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    before = prefix(layer, backward)
    if layer.kind == "lstm":
        return _lstm(arrays, before)
    matrices = {"x": "dense_i/kernel", "h": "dense_h/kernel"}
    biases = {"input": "dense_i/bias"}
    return fused(arrays, layer, ORDERS[layer.kind], matrices, biases, before=before, transposed=True)


def _lstm(arrays: Arrays, before: str) -> GateWeights:
    inputs = {(gate, "x"): f"{before}{name}" for gate, name in LSTM_INPUTS.items()}
    recurrent = {(gate, "h"): f"{before}h{gate}" for gate in LSTM_INPUTS}
    products = {use: arrays.matrix(f"{name}/kernel", transposed=True) for use, name in (inputs | recurrent).items()}
    return GateWeights(products, {(gate, "recurrent"): arrays.vector(f"{before}h{gate}/bias") for gate in LSTM_INPUTS})


BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
