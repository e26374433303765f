"""Arrows of an unrolled network that run around what lies between: what is fed back, and what two directions end in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rnncalc.reports.pictures.boxes import at, output_letter, size
from rnncalc.reports.pictures.half import DOTS, Half
from rnncalc.reports.pictures.picture import Arrow, Box, Dot, GridPoint, Role, Shape, span
from rnncalc.reports.pictures.plan import Gap, Row, Step


def fed_back(half: Half) -> Iterator[Shape]:
    """Yield the arrows from what is handed on at a step down to the box of the next; dots stand for steps left out."""
    (row, top), outputs = half.rows[0], half.outputs
    assert outputs is not None  # outputs are what is fed back
    last = output_letter(half.rows[-1][0])
    names = {column: column.name for column in half.columns if isinstance(column, Step)}
    wide = {column: (span((at(last, name),)) + 2) | 1 for column, name in names.items()}
    for (column, x), (after, to) in pairwise(zip(half.columns, half.lefts, strict=True)):
        cells: list[GridPoint] = [(x + DOTS, half.inputs)]
        if isinstance(column, Step):
            across = to - 2
            cells = [(x + (half.box + wide[column]) // 2, outputs), (across, outputs), (across, half.inputs)]
        if isinstance(after, Step):
            middle = to + (half.box - 1) // 2
            yield Arrow((*cells, (middle, half.inputs), (middle, top + size(row).height)), Role.OUTPUT)
        else:
            yield Box(to, half.inputs, DOTS, 1, (("⋯",),), Role.ELIDED)
            yield Arrow((*cells, (to - 1, half.inputs)), Role.OUTPUT)


def joining(half: Half, row: Row, top: int, to: GridPoint) -> Iterator[Shape]:
    """Yield how the last state of what runs backwards joins an arrow at a cell: above the row and to the right."""
    x, above = half.lefts[0] + 1, top - 2
    start = top + size(row).forward - 1 if isinstance(half.columns[0], Gap) else top - 1
    corners: list[GridPoint] = [(x, start), (x, above), (to[0], above)]
    yield Arrow((*corners, to) if to[1] != above else tuple(corners), Role.BACKWARD, head=False)
    yield Dot(*to)
