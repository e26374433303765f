"""Counts worked out from the textbook's formulas, written down a second time and in another way than the program's."""

from math import prod
from typing import Any

from rnncalc.layers.attention import MultiHeadAttention, Transformer
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output

GATES = {"rnn": 1, "gru": 3, "lstm": 4, "mgu": 2}
"""Those of the cells whose gates all read the input and the past, each through matrices of its own."""


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
            return sum(prod(shape) for _, shape in layer.tensors) if layer.tensors else layer.params
        case Cell():
            return (2 if layer.bidirectional else 1) * one_direction(layer, m)
        case MultiHeadAttention():
            keys = layer.heads * (layer.key_size or m // layer.heads)
            values = layer.heads * layer.value_size if layer.value_size else keys
            return m * 2 * (keys + values) + (2 * keys + values + m if layer.bias else 0)
        case Transformer():  # four squares, two dense layers, and two normalisations whose biases are among the biases
            f = layer.feed_forward
            return 4 * m * m + 2 * m * f + 2 * m + (4 * m + f + m + 2 * m if layer.bias else 0)
    return 0


def one_direction(layer: Any, m: int) -> int:
    """Return the parameters of one direction of a recurrent layer."""
    h: int = layer.units
    b = 1 if layer.bias else 0
    match layer.kind:
        case "mingru":
            count = h * (m + b) * 2
        case "minlstm":
            count = h * (m + b) * 3
        case "sru":  # candidate, two gates with a look at the cell state, and a skip that is the input where it fits
            count = h * m + 2 * h * (m + 1 + b) + (0 if m == h * layer.directions else h * m)
        case "fastgrnn":  # one matrix on the input and the past side by side, two biases, two numbers
            count = h * (m + h) + 2 * (h * b + 1)
        case _:
            count = of_like_gates(layer, m)
    if not layer.learned_state:
        return count
    return count + h + (getattr(layer, "projection", None) or h if layer.kind == "lstm" else 0)


def of_like_gates(layer: Any, m: int) -> int:
    """Return the parameters of a cell whose gates are as wide as each other, without its learned state."""
    h: int = layer.units
    p: int = getattr(layer, "projection", None) or h
    gates = GATES[layer.kind]
    if not getattr(layer, "reset_gate", True) or not getattr(layer, "output_gate", True):
        gates -= 1
    if getattr(layer, "coupled", False):
        gates -= 1
    count = gates * h * m
    if layer.recurrent_rank:
        count += gates * (h * layer.recurrent_rank + layer.recurrent_rank * p)
    else:
        count += gates * (h if layer.recurrence == "diagonal" else h * p // (layer.recurrent_blocks or 1))
    if layer.bias:
        count += gates * h
    if getattr(layer, "projection", None):
        count += p * h
    if getattr(layer, "layer_norm", False):
        count += gates * h + (h + h * layer.bias if layer.kind == "lstm" else 0)
    if getattr(layer, "peepholes", False):
        count += (3 - layer.coupled - (not layer.output_gate)) * h
    return count
