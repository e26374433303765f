"""A cell's flow where there is no room to draw it: its equations, a line each, no wider than they may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnncalc.conventions.convention import CellArrays
from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed
from rnncalc.questions.symbols import equations
from rnncalc.reports.equations import Line, written
from rnncalc.reports.pictures.picture import Label, Role, span

SIGNS = (" + ", " ∘ ", " · ", " / ", " − ")
INDENT = 4


def step(placed: Placed, layer: Cell, arrays: CellArrays) -> list[Line]:
    """Return the equations of a step."""
    return [written(equation, placed.sizes) for equation in equations(layer, placed.inputs, arrays)]


def lines(step: Sequence[Line], width: int) -> Iterator[Label]:
    """Yield the equations of a step below each other, broken at their signs where they are too wide."""
    y = 0
    for equation in step:
        x = 0
        for line in _broken(equation, width):
            yield Label(x, y, line, Role.NOTE)
            x, y = INDENT, y + 1


def _broken(line: Line, width: int) -> Iterator[Line]:
    """Yield the pieces of an equation, each as long as it may be, and starting with a sign but for the first."""
    rest: Line = ()
    for number, piece in enumerate(line):
        if piece in SIGNS and rest:
            after = next((place for place in range(number + 1, len(line)) if line[place] in SIGNS), len(line))
            if span((*rest, *line[number:after])) > width - INDENT:
                yield rest
                rest = ()
        rest = (*rest, piece)
    yield rest
