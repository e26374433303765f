"""What stands in the box of a layer and on the arrows around it, and how much room that takes."""

from __future__ import annotations

from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.stack import Placed
from rnncalc.reports.equations import Line, Term
from rnncalc.reports.pictures.picture import fitted, span
from rnncalc.reports.pictures.plan import LeftOut, Row
from rnncalc.text import plural

MOST_OF_A_NAME = 24
"""Longer names are cut, in cells."""


class Size(NamedTuple):
    """The height of a row of boxes, and in which of its lines the states run, counted from its top.

    backward: None where no second direction runs.
    """

    height: int
    forward: int
    backward: int | None = None


def lines(row: Row) -> tuple[Line, ...]:
    """Return what a box says: the layer's name, its kind and width, how two directions join, its parameters."""
    if isinstance(row, LeftOut):
        return (f"⋯ {plural(row.layers, 'layer')} left out",), (plural(row.params, "parameter"),)
    placed, layer = row.placed, row.placed.layer
    number = "" if isinstance(layer, External) else f" {getattr(layer, layer.number):,}"
    both = isinstance(layer, Cell) and layer.bidirectional
    joined: tuple[Line, ...] = ((f"⇄ {getattr(layer, 'merge', None) or 'concat'}",),) if both else ()
    return (fitted(placed.name, MOST_OF_A_NAME),), (f"{layer.kind}{number}",), *joined, (f"{placed.params:,}",)


def width(row: Row, tight: bool = False) -> int:
    """Return the cells that a box needs across, an odd number of them."""
    return (max(map(span, lines(row))) + (2 if tight else 4)) | 1


def size(row: Row) -> Size:
    """Return how high a box is, and where the states run."""
    height, states = len(lines(row)) + 2, len(state_labels(row))
    if not _both_ways(row):
        return Size(height, (height - 1) // 2)
    height = max(height, states + 4)
    forward = (height - states - 2) // 2
    return Size(height, forward, forward + states + 1)


def _both_ways(row: Row) -> bool:
    layer = None if isinstance(row, LeftOut) else row.placed.layer
    return isinstance(layer, Cell) and layer.bidirectional


def state_labels(row: Row) -> list[Line]:
    """Return what runs from step to step, `h 16` and `c 16`; nothing in a layer without states."""
    if isinstance(row, LeftOut) or not isinstance(layer := row.placed.layer, Cell):
        return []
    sizes = row.placed.sizes
    return [(Term(letter), f" {sizes[of]:,}") for letter, of in layer.states.items()]


def states(row: Row, step: str) -> Line:
    """Return the states of a layer at a step: `h_0, c_0`."""
    if isinstance(row, LeftOut) or not isinstance(layer := row.placed.layer, Cell):
        return ()
    pieces: list[Term | str] = []
    for letter in layer.states:
        pieces += [", ", at(letter, step)] if pieces else [at(letter, step)]
    return tuple(pieces)


def at(letter: str, step: str) -> Term:
    """Return a letter at a step: `x_3`, `x_(t−1)`."""
    return Term(letter, time=step) if not step.isdecimal() else Term(letter, subscript=step)


def read(row: Row, below: Row | None) -> Line:
    """Return what runs up into a box: the width, `256 + 512` with extra inputs, or how many tokens there are."""
    if isinstance(row, LeftOut):
        return handed_on(below) if below else ()
    placed: Placed = row.placed
    if isinstance(placed.layer, Embedding) and below is None:
        return (f"1 of {placed.inputs:,}",)
    extra = placed.layer.extra_inputs
    return (f"{placed.inputs - extra:,} + {extra:,}" if extra else f"{placed.inputs:,}",)


def handed_on(row: Row) -> Line:
    """Return what runs up out of a box."""
    return () if isinstance(row, LeftOut) else (f"{row.placed.outputs:,}",)


def output_letter(row: Row) -> str:
    """Return the letter of what a network hands on: a recurrent layer's state, or an output."""
    return "h" if not isinstance(row, LeftOut) and isinstance(row.placed.layer, Cell) else "y"
