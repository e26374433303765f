"""What a picture is: boxes, arrows, labels and curves on a grid of characters. Knows no network and no format.

A place on the grid is a cell: x characters from the left, y lines from the top. A terminal draws a picture directly;
other formats give a cell a fixed width and height, and make no text wider than its cells.
A style says what a shape stands for.

A box covers `width` × `height` cells. With three lines or more, its frame is in the outer ones; with one line it is a
small box or, if it is `round`, a circle or a pill. An arrow runs through cells outside the boxes, from the cell beside
its start to the cell beside its end, and is drawn on to both: its first and last piece must point from and at them. It
may also start or end on a dot, where arrows join; arrows that cross without a dot do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from math import ceil
from textwrap import wrap
from typing import Literal, NamedTuple

from rnncalc.printable import escape
from rnncalc.typeset.equations import Line, plain


class Style(StrEnum):
    """What a shape stands for."""

    LAYER = "layer"
    INPUT = "input"
    OUTPUT = "output"
    STATE = "state"
    GATE = "gate"
    OPERATION = "operation"
    BACKWARD = "backward"  # the backward direction
    ELIDED = "elided"  # steps or layers that are left out
    RECURRENT = "recurrent"  # of growth: the network itself
    DENSE = "dense"  # of growth: its dense equivalent
    AXIS = "axis"
    HEADING = "heading"
    NOTE = "note"  # text beside the picture, and rows of a legend
    SHAPE = "shape"  # small text beside an arrow: what runs along it


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


Align = Literal["start", "middle", "end"]
"""Which cell of a label is at its place."""

GridPoint = tuple[int, int]
"""A place on the grid: x, y."""

Point = tuple[float, float]
"""A place between the cells, in cells from the upper left corner of the first."""

PAGE = 152
"""The widest picture, in cells, that is still readable on a page."""


class Box(NamedTuple):
    """A box with lines of text in its middle."""

    x: int
    y: int
    width: int
    height: int
    lines: tuple[Line, ...]
    style: Style
    round: bool = False

    @property
    def framed(self) -> bool:
        """Whether it has a frame: the dots that stand for others have none."""
        return self.style is not Style.ELIDED or self.height > 2

    def covers(self, cell: GridPoint) -> bool:
        """Return whether a cell belongs to the box."""
        return 0 <= cell[0] - self.x < self.width and 0 <= cell[1] - self.y < self.height


class Arrow(NamedTuple):
    """A line along the grid from each corner to the next, with a head at its end, or none."""

    corners: tuple[GridPoint, ...]
    style: Style
    head: bool = True


class Dot(NamedTuple):
    """A cell where arrows join."""

    x: int
    y: int


class Label(NamedTuple):
    """A line of text outside the boxes."""

    x: int
    y: int
    text: Line
    style: Style
    align: Align = "start"

    @property
    def left(self) -> int:
        """The first of its cells."""
        return self.x - {"start": 0, "middle": span(self.text) // 2, "end": span(self.text) - 1}[self.align]

    @property
    def anchor(self) -> float:
        """The x of its start, its middle or its end, whichever is at its place."""
        return {"start": self.left, "middle": self.x + 0.5, "end": self.left + span(self.text)}[self.align]


class Curve(NamedTuple):
    """A line through points between the cells, counted as they are from the upper left corner of the first cell."""

    points: tuple[tuple[float, float], ...]
    style: Style


Shape = Box | Arrow | Dot | Label | Curve


class Picture(NamedTuple):
    """Shapes on a grid of `width` × `height` cells; a title, and a description for those who cannot see it."""

    title: str
    description: str
    width: int
    height: int
    shapes: tuple[Shape, ...]


WIDE = {**dict.fromkeys("mw&—…", 0.5), **dict.fromkeys("MW@%", 1.0)}
"""The characters that are wider than a cell in most fonts, and by how much."""


def span(text: Line) -> int:
    """Return the most cells that a line of escaped text needs in any format."""
    words = escape(plain(text), limit=MOST_OF_A_LINE)
    cells = columns(words)
    return cells + ceil(sum(WIDE.get(char, 0) for char in words))


def columns(text: str) -> int:
    """Return how many cells of a terminal a text takes: two a character for Chinese, Japanese and Korean."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # few texts need them

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


MOST_OF_A_LINE, MOST_OF_A_NAME = 500, 24
"""Longer text is cut, in characters, and the name of a layer, in cells."""


def fitted(text: str, most: int) -> str:
    """Return escaped text, cut with `…` at its end if it needs more cells than `most`."""
    text = escape(text, limit=MOST_OF_A_LINE)
    if span((text,)) <= most:
        return text
    while text and span((f"{text}…",)) > most:
        text = text[:-1]
    return f"{text}…"


def moved(shape: Shape, by: GridPoint) -> Shape:
    """Return a shape moved to the right and down by some cells."""
    across, down = by
    match shape:
        case Arrow():
            return shape._replace(corners=tuple((x + across, y + down) for x, y in shape.corners))
        case Curve():
            return shape._replace(points=tuple((x + across, y + down) for x, y in shape.points))
        case _:
            return shape._replace(x=shape.x + across, y=shape.y + down)


def cells_along(corners: Sequence[GridPoint]) -> Iterator[GridPoint]:
    """Yield every cell of a way along the grid, from corner to corner."""
    yield corners[0]
    for before, after in pairwise(corners):
        (x, y), (across, down) = before, direction(before, after)
        while (x, y) != after and (across or down):
            x, y = x + across, y + down
            yield x, y


def direction(before: GridPoint, after: GridPoint) -> GridPoint:
    """Return the step along the grid from one cell towards another."""
    across, down = after[0] - before[0], after[1] - before[1]
    return (across > 0) - (across < 0), (down > 0) - (down < 0)


class Caption(NamedTuple):
    """The text around a picture: its heading, the setting below that, notes; and what it is a picture of."""

    heading: str
    setting: str
    notes: tuple[str, ...]
    view: str


class Frame(NamedTuple):
    """Where a picture is drawn, and how.

    width: the cells across that it should not exceed; None for as many as it needs. signs: the words that replace
    letters. bare: without a title and a legend.
    """

    width: int | None = None
    signs: Mapping[int, str] = {}
    bare: bool = False


MOST = 64
"""Words widen a picture to at most this many cells."""


def framed(caption: Caption, shapes: list[Shape], frame: Frame) -> Picture:
    """Return a picture of shapes wherever they are, with its caption above and below them unless it is bare."""
    left, upper, right, lower = bounds(shapes)
    across, down = right - left, lower - upper
    room = max(across, min(frame.width or MOST, MOST))
    above = [(fitted(caption.heading, room * 6 // 7), Style.HEADING)]  # it is larger
    above += [(line, Style.NOTE) for line in _wrapped(caption.setting, room)]
    below = [line for note in caption.notes for line in _wrapped(note, room)]
    if frame.bare:
        above, below = [], []
    top = len(above) + bool(above)
    bottom = top + down + bool(below)
    labels = [Label(0, y, (line,), style) for y, (line, style) in enumerate(above)]
    labels += [Label(0, bottom + y, (line,), Style.NOTE) for y, line in enumerate(below)]
    whole = max([across, *(span(label.text) for label in labels)])
    by = ((whole - across) // 2 - left, top - upper)
    whole_shapes = (*labels, *(moved(shape, by) for shape in shapes))
    title, setting = escape(caption.heading, 200), escape(caption.setting, 200)
    description = f"{setting}. {' '.join(caption.notes)}"
    return Picture(f"{title}, {caption.view}", description, whole, bottom + len(below), whole_shapes)


def stacked(pictures: Sequence[Picture]) -> Picture:
    """Return pictures below each other as one."""
    if len(pictures) == 1:
        return pictures[0]
    shapes: list[Shape] = []
    y = 0
    for picture in pictures:
        shapes += [moved(shape, (0, y)) for shape in picture.shapes]
        y += picture.height + APART
    titles, described = "; ".join(each.title for each in pictures), " ".join(each.description for each in pictures)
    return Picture(titles, described, max(each.width for each in pictures), y - APART, tuple(shapes))


APART = 2
"""Lines between two pictures that are one."""


def _wrapped(text: str, room: int) -> list[str]:
    """Return text in lines of at most `width` cells; only a long word makes a line wider."""
    return wrap(fitted(text, 10 * room), max(room * 9 // 10, 1), break_long_words=False)


def bounds(shapes: Iterable[Shape]) -> tuple[int, int, int, int]:
    """Return the first cell that shapes take, and the first behind them: left, top, right and bottom."""
    corners = [corner for shape in shapes for corner in _corners(shape)]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(down), max(across), max(down)


def _corners(shape: Shape) -> Iterator[tuple[int, int]]:
    """Yield the first cell of a shape, and the first behind it."""
    match shape:
        case Box(x, y, width, height):
            yield from ((x, y), (x + width, y + height))
        case Arrow(corners):
            yield from ((x + more, y + more) for x, y in corners for more in (0, 1))
        case Dot(x, y):
            yield from ((x, y), (x + 1, y + 1))
        case Label(y=y):
            yield from ((shape.left, y), (shape.left + span(shape.text), y + 1))
        case Curve(points):
            yield from ((int(x), int(y)) for x, y in points)
            yield from ((int(x) + 1, int(y) + 1) for x, y in points)


# What formats need of shapes: the order of drawing, the frames of boxes, and the ways of arrows


def lines_of(box: Box) -> Iterator[tuple[Line, Point, bool]]:
    """Yield the lines of a box, each with the middle of its place, and whether it heads others."""
    count = len(box.lines)
    for number, line in enumerate(box.lines):
        x, y = box.x + box.width / 2, box.y + box.height / 2 + 0.9 * (number - (count - 1) / 2)
        yield line, (x, y), number == 0 and count > 1


SMALL = 0.1
"""By how much a box of one line is higher than that, on either side: a letter needs room in a circle."""


def edges(box: Box) -> tuple[float, float, float, float]:
    """Return where a box's frame runs: in the middle of its outer cells, or around the cells of one of one line.

    Left, top, right and bottom.
    """
    inset = 0.5 if box.height > 2 else 0.0
    above = inset or -SMALL
    return box.x + inset, box.y + above, box.x + box.width - inset, box.y + box.height - above


def with_paths(picture: Picture) -> Iterator[tuple[Shape, list[Point]]]:
    """Yield the shapes in the order that they are drawn in, and the path of each arrow.

    A path is an arrow's corners, its ends drawn out to the boxes that they point from and at.
    """
    boxes, joints = [shape for shape in picture.shapes if isinstance(shape, Box)], dots(picture)
    for shape in lowest_first(picture.shapes):
        points: list[Point] = []
        if isinstance(shape, Arrow):
            points = [(x + 0.5, y + 0.5) for x, y in shape.corners]
            for place, cell in zip((0, -1), ends(shape), strict=True):
                if shape.corners[place] not in joints:
                    points[place] = _reaching(points[place], cell, boxes)
        yield shape, points


def ends(arrow: Arrow) -> tuple[GridPoint, GridPoint]:
    """Return the cells that an arrow points from and at, outside of its own."""
    (x, y), second, *_ = arrow.corners
    *_, before, (to_x, to_y) = arrow.corners
    back, ahead = direction(second, (x, y)), direction(before, (to_x, to_y))
    return (x + back[0], y + back[1]), (to_x + ahead[0], to_y + ahead[1])


def dots(picture: Picture) -> set[GridPoint]:
    """Return the cells where arrows join."""
    return {(shape.x, shape.y) for shape in picture.shapes if isinstance(shape, Dot)}


DRAWN = {Arrow: 0, Dot: 1, Box: 2}
"""The order of drawing: lines first, text last."""


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
