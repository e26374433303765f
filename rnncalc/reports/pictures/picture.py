"""What a picture is: boxes, arrows, labels, braces and curves on a grid of characters. Knows no network and no format.

A place on the grid is a cell: x characters from the left, y lines from the top. A terminal draws a picture as it
stands; other formats make a cell so many points wide and high, and set no text wider than the cells counted for it.
Roles say what a shape stands for; how that looks is up to the formats.

A box covers `width` × `height` cells. Of three lines or more, it has its frame in the outer ones; of one line it is a
small box, or, where it is `round`, a circle or a pill. An arrow runs through cells outside the boxes, from the one
beside where it starts to the one beside where it ends, and is taken to reach them: its first and last piece must point
from and at them. It may also start or end on a dot, where arrows join; where two cross without a dot, they do not meet.
"""

from __future__ import annotations

from enum import StrEnum
from math import ceil
from typing import NamedTuple

from rnncalc.reports.equations import Line, plain
from rnncalc.text import escape


class Role(StrEnum):
    """What a shape stands for."""

    LAYER = "layer"
    INPUT = "input"
    OUTPUT = "output"
    STATE = "state"
    GATE = "gate"
    OPERATION = "operation"
    BACKWARD = "backward"  # what runs against the direction of time
    ELIDED = "elided"  # in place of what is left out
    RECURRENT = "recurrent"  # of growth: the network itself
    DENSE = "dense"  # of growth: its dense equivalent
    AXIS = "axis"
    FRAME = "frame"  # around what belongs together
    HEADING = "heading"
    NOTE = "note"  # text beside the picture, and rows of a legend
    SHAPE = "shape"  # small text beside an arrow: what runs along it


class Align(StrEnum):
    """Which cell of a label its place is."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


GridPoint = tuple[int, int]
"""A place on the grid: x, y."""


class Box(NamedTuple):
    """A box with lines of text in its middle; a FRAME has other shapes in it, and is drawn below them."""

    x: int
    y: int
    width: int
    height: int
    lines: tuple[Line, ...]
    role: Role
    round: bool = False

    @property
    def middle(self) -> GridPoint:
        """The cell in the middle, the upper left one of several."""
        return self.x + (self.width - 1) // 2, self.y + (self.height - 1) // 2

    def covers(self, cell: GridPoint) -> bool:
        """Return whether a cell is one of the box's."""
        return 0 <= cell[0] - self.x < self.width and 0 <= cell[1] - self.y < self.height


class Arrow(NamedTuple):
    """A line through cells, along the grid from each corner to the next, with a head where it ends, or none."""

    cells: tuple[GridPoint, ...]
    role: Role
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
    role: Role
    align: Align = Align.START

    @property
    def left(self) -> int:
        """The first of its cells."""
        return self.x - {Align.START: 0, Align.MIDDLE: span(self.text) // 2, Align.END: span(self.text) - 1}[self.align]


class Brace(NamedTuple):
    """A brace below what it holds together, two lines high: its text stands in the middle of the second."""

    x: int
    y: int
    width: int
    text: Line


class Curve(NamedTuple):
    """A line through points between the cells, counted as they are from the upper left corner of the first cell."""

    points: tuple[tuple[float, float], ...]
    role: Role


Shape = Box | Arrow | Dot | Label | Brace | Curve


class Picture(NamedTuple):
    """Shapes on a grid of `width` × `height` cells; a title, and a description for those who cannot see it."""

    title: str
    description: str
    width: int
    height: int
    shapes: tuple[Shape, ...]


WIDE = {**dict.fromkeys("mw&—…", 0.5), **dict.fromkeys("MW@%", 1.0)}
"""By how much characters are wider in most fonts than a cell."""


def span(text: Line) -> int:
    """Return how many cells a line of text needs at the most, in any format, what is in it made harmless."""
    words = escape(plain(text), limit=MOST_OF_A_LINE)
    cells = columns(words)
    return cells + ceil(sum(WIDE.get(char, 0) for char in words))


def columns(text: str) -> int:
    """Return how many cells of a terminal a text takes: two a character for Chinese, Japanese and Korean."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # few texts need them

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


MOST_OF_A_LINE = 500
"""Longer text is cut, in characters."""


def fitted(text: str, most: int) -> str:
    """Return text made harmless and, where it needs more than so many cells, cut, with `…` at its end."""
    text = escape(text, limit=MOST_OF_A_LINE)
    if span((text,)) <= most:
        return text
    while text and span((f"{text}…",)) > most:
        text = text[:-1]
    return f"{text}…"


def moved(shape: Shape, by: GridPoint) -> Shape:
    """Return a shape so many cells to the right and down."""
    across, down = by
    match shape:
        case Arrow():
            return shape._replace(cells=tuple((x + across, y + down) for x, y in shape.cells))
        case Curve():
            return shape._replace(points=tuple((x + across, y + down) for x, y in shape.points))
        case _:
            return shape._replace(x=shape.x + across, y=shape.y + down)
