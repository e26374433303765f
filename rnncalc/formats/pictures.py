"""What the formats of pictures share: the path of lines, the order of drawing, and colours.

Lengths are in cells, counted from the upper left corner of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.pictures.picture import Arrow, Box, Dot, GridPoint, Picture, Shape, Style, direction
from rnncalc.reports.equations import Line

Point = tuple[float, float]

PAGE = 152
"""The widest picture, in cells, that is still readable on a page."""


COLOURS: dict[Style, tuple[tuple[str | None, str], tuple[str | None, str]]] = {
    Style.LAYER: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Style.OUTPUT: (("#e5f4e7", "#35803b"), ("#17391b", "#82c788")),
    Style.INPUT: (("#ffffff", "#5d6773"), ("#20262d", "#a4afbb")),
    Style.STATE: (("#fdf2de", "#a2690f"), ("#3d2b0c", "#e2ae5a")),
    Style.GATE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Style.OPERATION: (("#ffffff", "#3b4550"), ("#20262d", "#c3ccd6")),
    Style.BACKWARD: (("#f1e8f8", "#7d3fa8"), ("#321c43", "#c99ae8")),
    Style.DENSE: (("#fbe9e7", "#b0443a"), ("#451f1b", "#ea938a")),
    Style.RECURRENT: (("#e4effa", "#2b6aa6"), ("#16324d", "#7fb4e6")),
    Style.ELIDED: (("#ffffff", "#8a94a0"), ("#181d23", "#7c8793")),
    Style.AXIS: ((None, "#5d6773"), (None, "#a4afbb")),
}
"""The colours of each style, light and dark; arrows between layers look like inputs."""

DASHED = (Style.BACKWARD, Style.ELIDED)
"""The styles drawn in dashes: the backward direction, and parts that are left out."""


class Edges(NamedTuple):
    """The sides of a rectangle."""

    left: float
    top: float
    right: float
    bottom: float


def lines_of(box: Box) -> Iterator[tuple[Line, Point, bool]]:
    """Yield the lines of a box, each with the middle of its place, and whether it heads others."""
    count = len(box.lines)
    for number, line in enumerate(box.lines):
        x, y = box.x + box.width / 2, box.y + box.height / 2 + 0.9 * (number - (count - 1) / 2)
        yield line, (x, y), number == 0 and count > 1


SMALL = 0.1
"""By how much a box of one line is higher than that, on either side: a letter needs room in a circle."""


def edges(box: Box) -> Edges:
    """Return where a box's frame runs: in the middle of its outer cells, or around the cells of one of one line."""
    inset = 0.5 if box.height > 2 else 0.0
    above = inset or -SMALL
    return Edges(box.x + inset, box.y + above, box.x + box.width - inset, box.y + box.height - above)


def path(arrow: Arrow, picture: Picture) -> list[Point]:
    """Return the corners of an arrow, its ends drawn out to the boxes that they point from and at."""
    points = [(x + 0.5, y + 0.5) for x, y in arrow.corners]
    boxes = [shape for shape in picture.shapes if isinstance(shape, Box)]
    start, end = ends(arrow)
    if not joined(arrow.corners[0], picture):
        points[0] = _reaching(points[0], start, boxes)
    if not joined(arrow.corners[-1], picture):
        points[-1] = _reaching(points[-1], end, boxes)
    return points


def ends(arrow: Arrow) -> tuple[GridPoint, GridPoint]:
    """Return the cells that an arrow points from and at, outside of its own."""
    first, second, *_ = arrow.corners
    *_, before, last = arrow.corners
    return _beyond(second, first), _beyond(before, last)


def joined(cell: GridPoint, picture: Picture) -> bool:
    """Return whether arrows join in a cell."""
    return any(isinstance(shape, Dot) and (shape.x, shape.y) == cell for shape in picture.shapes)


DRAWN = {Arrow: 0, Dot: 1, Box: 2}
"""The order in which shapes are drawn: lines first, text last."""


def lowest_first(shapes: tuple[Shape, ...]) -> list[Shape]:
    """Return the shapes in the order that they are drawn in."""
    return sorted(shapes, key=lambda shape: DRAWN.get(type(shape), 3))


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
    across, down = direction(before, last)
    return last[0] + across, last[1] + down
