"""Which columns of a sheet stand beside each other on a screen, and which below. Knows widths, not how to draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from rnncalc.formats.values import BAR, text_of
from rnncalc.reports.sheet import Arithmetic, Bar, Column, Row, Sheet, Value

GAP = 2
"""Between two columns."""

LEAST = 16
"""A column of words is never folded to less, if it is wider."""


UNBOUNDED = 10_000
"""A width that nothing reaches: that of a pipe."""

SHORTEST_BAR = 4
"""A bar is rather this short than away from its number."""


class Table(NamedTuple):
    """Columns of a sheet side by side, by their places; lines: whether an equation's two sides stand on two.

    above: places of keys that stand on a line of their own, above all rows that have them in common.
    """

    places: tuple[int, ...]
    lines: bool = False
    above: tuple[int, ...] = ()


class Measured:
    """A sheet's columns and rows, and how wide each column is."""

    def __init__(self, sheet: Sheet, rows: list[Row]) -> None:
        self.columns: tuple[Column, ...] = sheet.columns
        self.everything = range(len(sheet.columns))
        self.rows = rows
        self.total = sheet.total
        self.equations = {place for place in self.everything if any(isinstance(row[place], Arithmetic) for row in rows)}
        self.bars = {place for place in self.everything if any(isinstance(row[place], Bar) for row in rows)}
        self.bar = BAR

    def cells(self, place: int) -> Iterator[Value]:
        """Yield what stands in a column, the total's cell last."""
        yield from (row[place] for row in self.rows)
        if self.total:
            yield self.total[place]

    def firm(self, place: int) -> bool:
        """Return whether a column is never folded: one of numbers, of signs, of bars or of words that stay whole."""
        column = self.columns[place]
        return place in self.bars or column.right or column.whole or not column.title

    def longest(self, place: int, lines: bool) -> int:
        """Return how long an equation of a column may be on one line; where some have two, as long as their sides."""
        if not lines:
            return UNBOUNDED
        sides = [text_of(cell, longest=0).split("\n") for cell in self.cells(place) if isinstance(cell, Arithmetic)]
        return max((cell_len(side) for both in sides for side in both), default=0)

    def width(self, place: int, lines: bool = False) -> int:
        """Return how wide a column is where nothing is folded."""
        if place in self.bars:
            return self.bar
        longest = self.longest(place, lines)
        texts = [text_of(value, longest=longest) for value in self.cells(place)]
        whole = "\n".join([text_of(self.columns[place].title), *texts])
        return max(map(cell_len, whole.split("\n")))

    def fits(self, table: Table, width: int) -> bool:
        """Return whether nothing in a table need be folded; bars are shortened to that end."""
        self.bar = BAR
        over = self.most(table) - width
        if 0 < over <= BAR - SHORTEST_BAR and self.bars & {*table.places}:
            self.bar -= over
        return self.most(table) <= width

    def most(self, table: Table) -> int:
        """Return how wide a table is where nothing is folded."""
        return sum(self.width(place, table.lines) + GAP for place in table.places) - GAP

    def widths(self, table: Table, width: int) -> dict[int, int]:
        """Return how wide each column of a table is where the widest of words are folded until it fits."""
        widths = {place: self.width(place, table.lines) for place in table.places}
        soft = [place for place in table.places if not self.firm(place)]
        while soft and sum(widths.values()) + GAP * (len(widths) - 1) > width:
            widths[max(soft, key=lambda place: widths[place])] -= 1
        return widths

    def least(self, table: Table) -> int:
        """Return how narrow a table can be."""
        widths = [(place, self.width(place, table.lines)) for place in table.places]
        return sum((width if self.firm(place) else min(width, LEAST)) + GAP for place, width in widths) - GAP


def split(sheet: Measured, width: int) -> list[Table] | None:
    """Return the fewest tables that fit, one below the other; None where each row should stand by itself.

    Equations stand on one line, else on two, else below; if that is not enough, numbers, words and equations each have
    a table. The keys of the rows stand in all of them, and what is to be compared stays together.
    """
    whole = tuple(sheet.everything)
    for lines in (False, True):
        if sheet.fits(Table(whole, lines), width):
            return [Table(whole, lines)]
    if any(column.together for column in sheet.columns):
        return _together(sheet, width)
    keys = {place for place in whole if sheet.columns[place].key}
    numbers = {place for place in whole if sheet.columns[place].right}
    others = {*whole} - keys - sheet.equations - numbers
    for groups in ([others | numbers, sheet.equations], [numbers, others, sheet.equations]):
        tables = [Table(tuple(sorted(keys | group))) for group in groups if group - keys]
        if all(sheet.most(table) <= width for table in tables):
            return tables
    return [Table(tuple(sorted(keys | group))) for group in _by_width(sheet, {*whole} - keys, keys, width)]


def _together(sheet: Measured, width: int) -> list[Table] | None:
    """Return a table of the keys and what is compared, its words folded if need be, then others; None if too wide.

    Before any words are folded, keys that stay whole stand above their rows.
    """
    keys = {place for place in sheet.everything if sheet.columns[place].key}
    compared = {place for place in sheet.everything if sheet.columns[place].together}
    first = Table(tuple(sorted(keys | compared)))
    whole = tuple(sorted(place for place in keys if sheet.columns[place].whole))
    if whole and not sheet.fits(first, width):
        everything = Table(tuple(sorted({*sheet.everything} - {*whole})), above=whole)
        if sheet.fits(everything, width):
            return [everything]
        first = Table(tuple(sorted((keys | compared) - {*whole})), above=whole)
    fits = sheet.fits(first, width) or (not compared & sheet.equations and sheet.least(first) <= width)
    if not fits:
        return None
    others = {*sheet.everything} - keys - compared
    groups = _by_width(sheet, others, keys, width) if others else ()
    return [first, *(Table(tuple(sorted(keys | group))) for group in groups)]


def _by_width(sheet: Measured, places: set[int], keys: set[int], width: int) -> Iterator[set[int]]:
    """Yield columns in groups, numbers first, each with as many as fit beside the keys."""
    group: set[int] = set()
    for place in sorted(places, key=lambda place: not sheet.columns[place].right):
        if group and sheet.most(Table((*keys, *group, place))) > width:
            yield group
            group = set()
        group = group | {place}
    yield group
