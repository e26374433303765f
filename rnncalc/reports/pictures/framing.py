"""A picture's shapes put into their place, with a heading above them and notes below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from rnncalc.reports.pictures.picture import (
    Arrow,
    Box,
    Brace,
    Curve,
    Dot,
    Label,
    Picture,
    Role,
    Shape,
    fitted,
    moved,
    span,
)
from rnncalc.text import escape


class Words(NamedTuple):
    """What stands around a picture: its heading, the setting below that, notes; and what it is a picture of."""

    heading: str
    setting: str
    notes: tuple[str, ...]
    view: str


class Bounds(NamedTuple):
    """The cells that shapes take: the first, and the first behind them."""

    left: int
    top: int
    right: int
    bottom: int


MOST = 64
"""Words make a picture no wider than so many cells."""


def framed(words: Words, shapes: list[Shape], width: int | None) -> Picture:
    """Return a picture of shapes wherever they are, with words above and below them."""
    around = bounds(shapes)
    across = around.right - around.left
    room = max(across, min(width or MOST, MOST))
    above = [(fitted(words.heading, room * 6 // 7), Role.HEADING)]  # it is larger
    above += [(line, Role.NOTE) for line in _wrapped(words.setting, room)]
    below = [line for note in words.notes for line in _wrapped(note, room)]
    labels = [Label(0, y, (line,), role) for y, (line, role) in enumerate(above)]
    top = len(above) + 1
    bottom = top + around.bottom - around.top + 1
    labels += [Label(0, bottom + y, (line,), Role.NOTE) for y, line in enumerate(below)]
    whole = max(across, *(span(label.text) for label in labels))
    by = ((whole - across) // 2 - around.left, top - around.top)
    placed = (*labels, *(moved(shape, by) for shape in shapes))
    title, setting = escape(words.heading, 200), escape(words.setting, 200)
    return Picture(f"{title}, {words.view}", f"{setting}. {' '.join(words.notes)}", whole, bottom + len(below), placed)


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
    """Return text in lines of so many cells at the most, if its words are not longer."""
    return wrap(fitted(text, 10 * room), max(room * 9 // 10, 1), break_long_words=False)


def bounds(shapes: Iterable[Shape]) -> Bounds:
    """Return the cells that shapes take."""
    corners = [corner for shape in shapes for corner in _corners(shape)]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    return Bounds(min(across), min(down), max(across), max(down))


def _corners(shape: Shape) -> Iterator[tuple[int, int]]:
    """Yield the first cell of a shape, and the first behind it."""
    match shape:
        case Box(x, y, width, height):
            yield from ((x, y), (x + width, y + height))
        case Arrow(cells):
            yield from ((x + more, y + more) for x, y in cells for more in (0, 1))
        case Dot(x, y):
            yield from ((x, y), (x + 1, y + 1))
        case Label(y=y):
            yield from ((shape.left, y), (shape.left + span(shape.text), y + 1))
        case Brace(x, y, width, text):
            more = max(span(text) - width + 1, 0) // 2
            yield from ((x - more, y), (x + width + more, y + 2))
        case Curve(points):
            yield from ((int(x), int(y)) for x, y in points)
            yield from ((int(x) + 1, int(y) + 1) for x, y in points)
