"""What the formats of pictures share: where lines run, in which order shapes are drawn, and in which colours.

Lengths are in cells, counted from the upper left corner of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.reports.pictures.picture import Arrow, Box, Dot, GridPoint, Picture, Role, Shape

Point = tuple[float, float]

PAGE = 152
"""So many cells across are still read on a page."""


COLOURS: dict[Role, tuple[tuple[str | None, str], tuple[str | None, str]]] = {
    Role.LAYER: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Role.OUTPUT: (("#e5f4e7", "#35803b"), ("#17391b", "#82c788")),
    Role.INPUT: (("#ffffff", "#5d6773"), ("#20262d", "#a4afbb")),
    Role.STATE: (("#fdf2de", "#a2690f"), ("#3d2b0c", "#e2ae5a")),
    Role.GATE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Role.OPERATION: (("#ffffff", "#3b4550"), ("#20262d", "#c3ccd6")),
    Role.BACKWARD: (("#f1e8f8", "#7d3fa8"), ("#321c43", "#c99ae8")),
    Role.DENSE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Role.RECURRENT: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Role.ELIDED: (("#ffffff", "#8a94a0"), ("#181d23", "#7c8793")),
    Role.FRAME: ((None, "#8a94a0"), (None, "#7c8793")),
    Role.AXIS: ((None, "#5d6773"), (None, "#a4afbb")),
}
"""What a role is filled and drawn with, in light and in dark; arrows between layers are drawn as inputs are."""

DASHED = (Role.BACKWARD, Role.ELIDED, Role.FRAME)
"""What is drawn in dashes: going back, and what stands for others."""


class Edges(NamedTuple):
    """The sides of a rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Point:
        """The point in the middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


SMALL = 0.1
"""By how much a box of one line is higher than that, on either side: a letter needs room in a circle."""


def edges(box: Box) -> Edges:
    """Return where a box's frame runs: in the middle of its outer cells, or around the cells of one of one line."""
    inset = 0.5 if box.height > 2 else 0.0
    above = inset or -SMALL
    return Edges(box.x + inset, box.y + above, box.x + box.width - inset, box.y + box.height - above)


def path(arrow: Arrow, picture: Picture) -> list[Point]:
    """Return the corners of an arrow, its ends drawn out to the boxes that they point from and at."""
    points = [(x + 0.5, y + 0.5) for x, y in arrow.cells]
    boxes = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.role is not Role.FRAME]
    start, end = ends(arrow)
    if not joined(arrow.cells[0], picture):
        points[0] = _reaching(points[0], start, boxes)
    if not joined(arrow.cells[-1], picture):
        points[-1] = _reaching(points[-1], end, boxes)
    return points


def ends(arrow: Arrow) -> tuple[GridPoint, GridPoint]:
    """Return the cells that an arrow points from and at, outside of its own."""
    first, second, *_ = arrow.cells
    *_, before, last = arrow.cells
    return _beyond(second, first), _beyond(before, last)


def joined(cell: GridPoint, picture: Picture) -> bool:
    """Return whether arrows join in a cell."""
    return any(isinstance(shape, Dot) and (shape.x, shape.y) == cell for shape in picture.shapes)


def cells_of(arrow: Arrow) -> Iterator[GridPoint]:
    """Yield the cells that an arrow runs through, in order."""
    yield arrow.cells[0]
    for before, after in zip(arrow.cells, arrow.cells[1:], strict=False):
        x, y = before
        across, down = _direction(before, after)
        while (x, y) != after and (across or down):
            x, y = x + across, y + down
            yield x, y


def lowest_first(shapes: tuple[Shape, ...]) -> list[Shape]:
    """Return the shapes in the order in which they are drawn: frames, then lines, then what is written."""
    return sorted(shapes, key=_height)


def _height(shape: Shape) -> int:
    match shape:
        case Box():
            return 0 if shape.role is Role.FRAME else 3
        case Arrow():
            return 1
        case Dot():
            return 2
        case _:
            return 4


def _reaching(point: Point, cell: GridPoint, boxes: list[Box]) -> Point:
    """Return a point moved on towards a cell, as far as the edge of the box that covers it."""
    (x, y), box = point, next((box for box in boxes if box.covers(cell)), None)
    if box is None:
        return point
    across, down = cell[0] + 0.5 - x, cell[1] + 0.5 - y
    left, top, right, bottom = edges(box)
    if across:
        return (left if across > 0 else right), y
    return x, (top if down > 0 else bottom)


def _beyond(before: GridPoint, last: GridPoint) -> GridPoint:
    across, down = _direction(before, last)
    return last[0] + across, last[1] + down


def _direction(before: GridPoint, after: GridPoint) -> GridPoint:
    """Return the step along the grid from one cell towards another."""
    across, down = after[0] - before[0], after[1] - before[1]
    return (across > 0) - (across < 0), (down > 0) - (down < 0)
