"""How what two directions end in runs around all between, and joins."""

from __future__ import annotations

from collections.abc import Iterator

from rnncalc.reports.pictures.boxes import size
from rnncalc.reports.pictures.half import Half
from rnncalc.reports.pictures.picture import Arrow, Cell, Dot, Role, Shape
from rnncalc.reports.pictures.plan import Gap, Row


def joining(half: Half, row: Row, top: int, to: Cell) -> Iterator[Shape]:
    """Yield how the last state of what runs backwards joins an arrow at a cell: above the row and to the right."""
    x, above = half.lefts[0] + 1, top - 2
    start = top + size(row).forward - 1 if isinstance(half.columns[0], Gap) else top - 1
    corners: list[Cell] = [(x, start), (x, above), (to[0], above)]
    yield Arrow((*corners, to) if to[1] != above else tuple(corners), Role.BACKWARD, head=False)
    yield Dot(*to)
