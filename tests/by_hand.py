"""Counts worked out from the textbook's formulas, written down a second time and in another way than the program's."""

from typing import Any

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output

GATES = {"rnn": 1, "gru": 3, "lstm": 4, "mgu": 2}


def params(layer: Layer, m: int) -> int:
    """Return the parameters of a layer that reads m features, under the textbook's convention."""
    match layer:
        case Output(tied=True):
            return layer.units if layer.bias else 0
        case Dense():
            return layer.units * m + (layer.units if layer.bias else 0)
        case Embedding():
            return m * layer.units
        case External():
            return layer.params
        case Cell():
            return (2 if layer.bidirectional else 1) * one_direction(layer, m)
    return 0


def one_direction(layer: Any, m: int) -> int:
    """Return the parameters of one direction of a recurrent layer."""
    h: int = layer.units
    p: int = getattr(layer, "projection", None) or h
    gates = GATES[layer.kind]
    if not getattr(layer, "reset_gate", True) or not getattr(layer, "output_gate", True):
        gates -= 1
    count = gates * h * m
    count += gates * (h if layer.recurrence == "diagonal" else h * p)
    if layer.bias:
        count += gates * h
    if getattr(layer, "projection", None):
        count += p * h
    if getattr(layer, "peepholes", False):
        count += (3 if layer.output_gate else 2) * h
    if layer.learned_state:
        count += p + h if layer.kind == "lstm" else h
    return count
