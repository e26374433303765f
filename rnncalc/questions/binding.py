"""Which array a forward pass uses where, written by hand from each convention's documentation.

This is the second witness: it must not look at `model.conventions`. Where the two disagree, the pass finds a weight
missing, a weight unread or a shape that does not fit, and says so.
"""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.model.cells import Cell
from rnncalc.questions.arrays import Arrays, Matrix, Weight

LETTERS = {"rnn": "h", "gru": "zrn", "lstm": "ifgo", "mgu": "fn"}
"""The gates of each cell, whole."""


class Bound(NamedTuple):
    """The weights of one direction of a recurrent layer, by gate; a diagonal recurrence holds vectors."""

    input: dict[str, Matrix]
    recurrent: dict[str, Matrix | Weight]
    input_bias: dict[str, Weight]
    recurrent_bias: dict[str, Weight]
    peepholes: dict[str, Weight]
    projection: Matrix | None
    states: list[Weight]


class Equations(NamedTuple):
    """What a convention says of a cell's equations where the layer leaves it open."""

    reset_after: bool = False


EQUATIONS = {"textbook": Equations()}


def letters_of(layer: Cell) -> str:
    """Return the gates that the layer has."""
    letters = LETTERS[layer.kind]
    if not getattr(layer, "reset_gate", True):
        letters = letters.replace("r", "")
    if not getattr(layer, "output_gate", True):
        letters = letters.replace("o", "")
    return letters


def bind(arrays: Arrays, layer: Cell, convention: str, *, backward: bool) -> Bound:
    """Return the weights of one direction. Raises DeclarationError where the declaration lacks one."""
    return BINDINGS[convention](arrays, layer, backward)


def _textbook(arrays: Arrays, layer: Cell, backward: bool) -> Bound:
    prefix = ("backward/" if backward else "forward/") if layer.bidirectional else ""
    letters = letters_of(layer)
    diagonal = layer.recurrence == "diagonal"
    recurrent = arrays.vector if diagonal else arrays.matrix
    peepholes = letters.replace("g", "") if getattr(layer, "peepholes", False) else ""
    states = (["h_0", "c_0"] if layer.kind == "lstm" else ["h_0"]) if layer.learned_state else []
    return Bound(
        input={g: arrays.matrix(f"{prefix}W_x{g}") for g in letters},
        recurrent={g: recurrent(f"{prefix}W_h{g}") for g in letters},
        input_bias={g: arrays.vector(f"{prefix}b_{g}") for g in letters} if layer.bias else {},
        recurrent_bias={},
        peepholes={g: arrays.vector(f"{prefix}w_c{g}") for g in peepholes},
        projection=arrays.matrix(f"{prefix}W_hp") if getattr(layer, "projection", None) else None,
        states=[arrays.vector(f"{prefix}{name}") for name in states],
    )


BINDINGS = {"textbook": _textbook}

DENSE = {"textbook": ("W", "b", False)}
OUTPUT = {"textbook": ("W_hy", "b_y", False)}
"""The matrix and the bias of a dense layer, and whether the matrix lies input by output."""

EMBEDDING = {"textbook": "E"}
