"""One half of an unrolled network, or a whole one: a column a step, a row a layer, and the arrows between them.

Lines are counted from the top of the picture, columns from the left of the half.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from rnncalc.layers.layer import Output
from rnncalc.reports.equations import Line
from rnncalc.reports.pictures.boxes import (
    at,
    handed_on,
    lines,
    output_letter,
    read,
    size,
    state_labels,
    states,
    width,
)
from rnncalc.reports.pictures.levels import joins
from rnncalc.reports.pictures.picture import Align, Arrow, Box, Brace, Label, Role, Shape, span
from rnncalc.reports.pictures.plan import Columns, Gap, LeftOut, Row, Step, When

DOTS = 3
"""The width of a gap."""

BETWEEN = 3
"""The length of an arrow from step to step."""


class Given(NamedTuple):
    """What is drawn of a part.

    rows: its layers from the lowest, each with the line at which its box begins; inputs, outputs: the lines of what it
    reads and hands on, None where it hands on nothing.
    read_at: at which steps it reads an input. before: what stands below the letters of its first states; "" where they
    come from elsewhere, or are left out. behind: the same of those that run backwards.
    repeated, beside: what is said of its weights, and below that. tight: whether there is no room to spare in a box.
    fed_back: whether what it hands on at a step is its input at the next.
    """

    columns: Columns
    rows: tuple[tuple[Row, int], ...]
    inputs: int
    outputs: int | None
    read_at: When
    before: str
    behind: str
    repeated: str = ""
    beside: str = ""
    tight: bool = False
    fed_back: bool = False


class Half(Given):
    """The same, measured: each width is worked out once."""

    @cached_property
    def box(self) -> int:
        """The width of every box."""
        nodes = [span(line) + 2 for line in self._nodes()]
        return max([*(width(row, self.tight) for row, _ in self.rows if not isinstance(row, LeftOut)), *nodes]) | 1

    def _nodes(self) -> Iterator[Line]:
        for column in self.columns:
            if isinstance(column, Step):
                yield (at("x", column.name),)
                yield (at("y", column.name),)

    @cached_property
    def start(self) -> int:
        """The width of the states before the first step, 0 where there are none to draw."""
        return max(
            (span(states(row, self.before)) + 2 for row, _ in self.rows if self.before and row_has(row)), default=0
        )

    @cached_property
    def first_arrow(self) -> int:
        """The length of the arrow to the first step, on which its widths stand."""
        labels = [label for row, _ in self.rows for label in state_labels(row)]
        return max([BETWEEN, *(span(label) + 2 for label in labels)]) if labels and self.start else 0

    @cached_property
    def between(self) -> int:
        """How far two columns are apart: as far as arrows need, and what is written beside those that run up."""
        beside = [read(row, below) for row, below in self._neighbours()]
        beside += [handed_on(self.rows[-1][0])] if self.outputs is not None else []
        room = max([0, *map(span, beside)]) + 3 - (self.box + 1) // 2
        return max(BETWEEN if any(row_has(row) for row, _ in self.rows) else 2, room) + self.fed_back

    def _neighbours(self) -> Iterator[tuple[Row, Row | None]]:
        yield self.rows[0][0], None
        for (below, _), (row, _) in pairwise(self.rows):
            yield row, below

    @cached_property
    def lefts(self) -> list[int]:
        """Where each column begins."""
        found, x = [], self.start + self.first_arrow
        for column in self.columns:
            found.append(x)
            x += (self.box if isinstance(column, Step) else DOTS) + self.between
        return found

    @cached_property
    def right(self) -> int:
        """The first cell behind the last column."""
        return self.lefts[-1] + (self.box if isinstance(self.columns[-1], Step) else DOTS)

    @cached_property
    def overhang(self) -> int:
        """By how much what is said below is wider than the columns, on either side."""
        said = max(span((self.repeated,)), span((self.beside,)))
        return max(said - (self.right - self.lefts[0]) + 1, 0) // 2


def row_has(row: Row) -> bool:
    """Return whether a row has states that run from step to step."""
    return bool(state_labels(row))


def shapes(half: Half) -> Iterator[Shape]:
    """Yield everything of a half."""
    for row, top in half.rows:
        yield from _boxes(half, row, top)
        if row_has(row):
            yield from _in_time(half, row, top)
    yield from _inputs(half)
    for (below, lower), (row, top) in pairwise(half.rows):
        bottom, when = top + size(row).height - 1, [below.hands_on, row.applied]
        yield from _up(half, lower, bottom, when, read(row, below), lower - 3 if joins(below) else None)
    yield from _outputs(half)
    yield from _repeated(half)


def _boxes(half: Half, row: Row, top: int) -> Iterator[Shape]:
    height = size(row).height
    if isinstance(row, LeftOut):
        left = half.lefts[0]
        yield Box(left, top, max(half.right - left, width(row)), height, lines(row), Role.ELIDED)
        return
    for column, x in zip(half.columns, half.lefts, strict=True):
        if isinstance(column, Step):
            if column.on(row.applied):
                role = Role.OUTPUT if isinstance(row.placed.layer, Output) else Role.LAYER
                yield Box(x, top, half.box, height, lines(row), role)
        elif row.applied is When.EVERY:
            _, forward, backward = size(row)
            tall = backward - forward + 1 if backward is not None else 1
            yield Box(x, top + forward, DOTS, tall, (("⋯",),), Role.ELIDED)


def _in_time(half: Half, row: Row, top: int) -> Iterator[Shape]:
    """Yield the arrows from step to step, forwards and, where there are two directions, backwards."""
    _, forward, backward = size(row)
    y = top + forward
    wide = [half.box if isinstance(column, Step) else DOTS for column in half.columns]
    sides = [(x, x + across) for x, across in zip(half.lefts, wide, strict=True)]
    if half.start:
        across = span(states(row, half.before)) + 2
        yield Box(half.start - across, y, across, 1, (states(row, half.before),), Role.STATE, round=True)
        yield Arrow(((half.start, y), (sides[0][0] - 1, y)), Role.STATE)
        yield from beside(half.start, half.first_arrow, row, top)
    for (_, right), (left, _) in pairwise(sides):
        yield Arrow(((right, y), (left - 1, y)), Role.STATE)
        if backward is not None:
            yield Arrow(((left - 1, top + backward), (right, top + backward)), Role.BACKWARD)
    if backward is not None and half.behind:
        line = states(row, half.behind)
        x = half.right + BETWEEN
        yield Box(x, top + backward, span(line) + 2, 1, (line,), Role.STATE, round=True)
        yield Arrow(((x - 1, top + backward), (half.right, top + backward)), Role.BACKWARD)


def beside(x: int, room: int, row: Row, top: int) -> Iterator[Label]:
    """Yield what runs along an arrow, its first line above it and the others below."""
    _, forward, backward = size(row)
    for number, label in enumerate(state_labels(row)):
        line = forward + 1 + number if backward is not None else forward + (number or -1)
        yield Label(x + (room - span(label)) // 2, top + line, label, Role.SHAPE)


def _inputs(half: Half) -> Iterator[Shape]:
    row, top = half.rows[0]
    yield from _nodes(half, half.inputs, "x", half.read_at, Role.INPUT)
    bottom, when = top + size(row).height - 1, [half.read_at, row.applied]
    yield from _up(half, half.inputs, bottom, when, read(row, None), bottom + 1)


def _outputs(half: Half) -> Iterator[Shape]:
    if half.outputs is None:
        return
    row, top = half.rows[-1]
    yield from _nodes(half, half.outputs, output_letter(row), row.hands_on, Role.OUTPUT)
    joined = top - 3 if joins(row) else None  # behind where the directions join
    yield from _up(half, top, half.outputs, [row.hands_on], handed_on(row), joined)


def _nodes(half: Half, y: int, letter: str, when: When, role: Role) -> Iterator[Shape]:
    """Yield what is read or handed on, a circle a step, and dots in a gap."""
    for column, x in zip(half.columns, half.lefts, strict=True):
        if isinstance(column, Gap):
            if when is When.EVERY:
                yield Box(x, y, DOTS, 1, (("⋯",),), Role.ELIDED)
        elif column.on(when):
            wide = (span((at(letter, column.name),)) + 2) | 1
            yield Box(x + (half.box - wide) // 2, y, wide, 1, ((at(letter, column.name),),), role, round=True)


def _up(
    half: Half, lower: int, upper: int, when: list[When], label: Line, beside: int | None = None
) -> Iterator[Shape]:
    """Yield the arrows from above a line to below another, at the steps of all of `when`, the first with its label."""
    told = False
    for column, x in zip(half.columns, half.lefts, strict=True):
        if isinstance(column, Step) and all(map(column.on, when)):
            middle = x + (half.box - 1) // 2
            yield Arrow(((middle, lower - 1), (middle, upper + 1)), Role.LAYER)
            if label and not told:
                yield Label(middle + 2, beside or lower - 1, label, Role.SHAPE)
            told = True


def _repeated(half: Half) -> Iterator[Shape]:
    if not half.repeated:
        return
    left = half.lefts[0]
    yield Brace(left, half.inputs + 2, half.right - left, (half.repeated,))
    if half.beside:
        yield Label(left + (half.right - left) // 2, half.inputs + 4, (half.beside,), Role.NOTE, Align.MIDDLE)
