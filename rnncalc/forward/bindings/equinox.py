"""Equinox: GRUCell and LSTMCell fuse the gates by rows; the GRU's candidate has a second bias, bias_n."""

from rnncalc.forward.arrays import Arrays
from rnncalc.forward.bindings import Binding, GateWeights
from rnncalc.forward.bindings.mlx import TRANSFORMS, bound
from rnncalc.layers.cell import Cell

NAMES = {kind: (order, "weight_ih", "weight_hh", "bias") for kind, order in (("gru", "rzn"), ("lstm", "ifgo"))}


def _cell(arrays: Arrays, layer: Cell, inputs: int, backward: bool) -> GateWeights:
    return bound(arrays, layer, backward, NAMES, "bias_n")


BINDING = Binding(cell=_cell, transforms=TRANSFORMS)
