"""Reports as tables for a terminal, or plain text in a pipe: the layout of columns, and their drawing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import NamedTuple, TextIO

from rich.cells import cell_len, chop_cells  # the rest of rich is for colours alone

from rnncalc.formats import BAR, shortened, terminal_width, text_of
from rnncalc.printable import escape, unencodable
from rnncalc.reports.report import DrawnReport, SheetReport
from rnncalc.typeset.sheet import Arithmetic, Bar, Column, Row, Sheet, Value

GAP = 2
"""The space between two columns."""

LEAST = 16
"""The least width to which a column of words is folded."""

UNBOUNDED = 10_000
"""The width of a pipe, which no table reaches."""

SHORTEST_BAR = 4
"""The shortest bar; a shorter one is in a table of its own."""

NARROWEST = 20
"""The narrowest screen."""

SIGNS = {"✓": "green", "✗": "red"}
"""The colours of a sign in a cell, or at the start of a note."""

Line = list[tuple[str, str]]
"""Texts side by side, each with its style."""


def write(reports: Iterable[SheetReport], file: TextIO) -> None:
    """Draw each sheet as wide as the terminal allows; in a pipe, as wide as it needs."""
    width = max(terminal_width(), NARROWEST) if file.isatty() else UNBOUNDED
    page = _Page(width, unencodable(file.encoding))
    drawn = _drawing(file)
    reports = [*reports]
    for number, sheet in enumerate(sheet for report in reports for sheet in report.sheets()):
        if number:
            file.write("\n")
        file.writelines(f"{drawn(line).rstrip()}\n" for line in page.lines(sheet))
    if drawings := [report for report in reports if isinstance(report, DrawnReport)]:
        from rnncalc.formats import text  # few tables have pictures below them

        file.write("\n")
        text.write(drawings, file)


def _drawing(file: TextIO) -> Callable[[Line], str]:
    """Return what writes a line: in colours where they are wanted, else as plain text, as the result in a notebook."""
    if isinstance(file, StringIO) or not (file.isatty() or os.environ.get("FORCE_COLOR")):
        return _plain
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, width=UNBOUNDED, height=25, highlight=False, markup=False, emoji=False)
    if console.color_system is None:
        return _plain

    def coloured(line: Line) -> str:
        runs = ((_plain([*run]), style.strip()) for style, run in groupby(line, itemgetter(1)))
        with console.capture() as capture:
            console.print(Text.assemble(*runs), end="")
        return capture.get()

    return coloured


def _plain(line: Line) -> str:
    return "".join([text for text, _ in line])


def _folded(line: Line, width: int) -> list[Line]:
    """Return a line, its words folded to a width."""
    text = _plain(line)
    if "\n" not in text and cell_len(text) <= width:
        return [line]
    characters = ((character, style) for part, style in line for character in part)
    return [[*islice(characters, len(part))][: len(part.rstrip())] for part in _parts(text, width)]


def _parts(text: str, width: int) -> Iterator[str]:
    """Yield the parts of a text; each fits into a width without the blanks at its end. Short vectors stay whole."""
    part, room = "", width
    for word in re.findall(r"\s*(?:[(\[]+[-−0-9., ]{1,60}[)\]]+[,;.]*|\S+)[^\S\n]*\n?", text):
        if cell_len(word.rstrip()) > room:
            if part:
                yield part
            *whole, part = chop_cells(word, width) if cell_len(word.rstrip()) > width else [word]
            yield from whole
            room = width - cell_len(part)
        else:
            part += word
            room -= cell_len(word)
        if word.endswith("\n"):
            yield part
            part, room = "", width
    yield part


class _Page:
    """A screen or a pipe: its width, and replacements for characters that its encoding lacks."""

    def __init__(self, width: int, plain: dict[str, str]) -> None:
        self.width = width
        self.plain = str.maketrans(plain)

    def lines(self, sheet: Sheet) -> Iterator[Line]:
        """Yield the lines of a sheet, each with its colours."""
        if sheet.title:
            yield from _folded(self._text(sheet.title, "bold"), self.width)
        if sheet.subtitle:
            yield from _folded(self._text(sheet.subtitle, "dim"), self.width)
        if sheet.equations:
            from rnncalc.formats.mathematics import with_shapes  # few sheets have equations

            yield []
            for above, shapes in (
                lines for each in sheet.equations for lines in with_shapes(each, self.width, self.plain)
            ):
                yield self._mathematics(above)
                if shapes:
                    yield self._mathematics(shapes, "dim")
        if sheet.work:
            yield from self._work(sheet)
        if sheet.columns:
            measured = _Measured(sheet, shortened(sheet), self.plain)
            tables = _split(measured, self.width)
            for lines in self._stacked(measured) if tables is None else (self._table(measured, it) for it in tables):
                yield []
                yield from lines
        if sheet.notes:
            yield []
        for note in sheet.notes:
            yield from _folded(self._signed(self._text(note)), self.width)

    def _work(self, sheet: Sheet) -> Iterator[Line]:
        from rnncalc.formats.mathematics import paragraphs, spelled  # one report has work

        equations = [*paragraphs([spelled(line, self.plain) for line in sheet.work], self.width)]
        tall = any(len(lines) > 1 for lines in equations)
        for number, lines in enumerate(equations):
            if tall or not number:
                yield []
            yield from map(self._mathematics, lines)

    def _mathematics(self, text: str, style: str = "") -> Line:
        return [(self._spelled(escape(text, UNBOUNDED)), style)]

    def _text(self, value: Value, style: str = "") -> Line:
        text = self._spelled(text_of(value))
        return [(text, style)] if text else []

    def _spelled(self, text: str) -> str:
        return text.translate(self.plain) if self.plain else text

    def _signed(self, line: Line) -> Line:
        """Return a line with the sign that it starts with in its colour."""
        sign, *rest = re.split("(?= )", _plain(line), maxsplit=1)
        colours = {self._spelled(one): colour for one, colour in SIGNS.items()}
        return [(sign, colours[sign]), *((text, "") for text in rest)] if sign in colours else line

    def _table(self, sheet: _Measured, part: _Places) -> Iterator[Line]:
        """Yield some columns as a table, at most as wide as the screen unless numbers would be cut."""
        widths, rows, total = sheet.widths(part, self.width), sheet.rows, sheet.total
        longest = {place: sheet.longest(place, part.lines) for place in part.places}
        rule = "─" * _across(widths)
        yield from self._row(sheet, widths, [self._text(sheet.columns[place].title) for place in widths], head=True)
        yield [(rule, "")]
        for row in rows:
            yield from self._row(sheet, widths, [self._cell(row[place], longest[place], sheet.bar) for place in widths])
        if not total or (rows and all(total[place] == "" for place in widths if not sheet.columns[place].key)):
            return
        if rows:  # one line needs no rule above it
            yield [(rule, "")]
        yield from self._row(sheet, widths, [self._cell(total[place], longest[place]) for place in widths], "bold")

    def _row(
        self, sheet: _Measured, widths: Mapping[int, int], cells: list[Line], style: str = "", head: bool = False
    ) -> Iterator[Line]:
        """Yield the lines of a row; those of a header, in bold, are level at its foot."""
        columns = [_folded(cell, width) for cell, width in zip(cells, widths.values(), strict=True)]
        tall = max(map(len, columns))
        for (place, width), lines in zip(widths.items(), columns, strict=True):
            room: list[Line] = [[] for _ in range(tall - len(lines))]
            lines[:] = [*room, *lines] if head else [*lines, *room]
            for line in lines:
                blanks = (" " * (width - cell_len(_plain(line))), "")
                line.insert(0 if sheet.columns[place].right else len(line), blanks)
        style = "bold" if head else style
        for first, *others in zip(*columns, strict=True):
            parts = chain(first, *([(" " * GAP, ""), *other] for other in others))
            yield [(text, f"{style} {accent}") for text, accent in parts]

    def _cell(self, value: Value, longest: int = UNBOUNDED, bar: int = BAR) -> Line:
        text = self._spelled(text_of(value, longest=longest, bar=bar))
        if isinstance(value, Arithmetic) and value.letters != value.numbers:
            split = len(self._spelled(value.letters))
            return [(text[:split], "cyan"), (text[split:], "")]
        line = [(text, "")] if text else []
        return self._signed(line) if isinstance(value, str) and value in SIGNS else line

    def _stacked(self, sheet: _Measured) -> Iterator[list[Line]]:
        """Yield the lines of each row by itself: its keys, and below them each value after its title."""
        titles = {
            place: self._text(sheet.columns[place].title) for place in sheet.everything if place not in sheet.keys
        }
        first, *others = sorted(sheet.keys) or [0]
        above: Value = ""  # an empty first key is that of the row above
        for row in [*sheet.rows, *([sheet.total] if sheet.total else [])]:
            above = row[first] if row[first] != "" else above
            keys = [self._cell(key) for key in (above, *(row[place] for place in others)) if key != ""]
            lines = _folded([*chain(*([*key, ("  ", "")] for key in keys))][:-1], self.width)
            values = {place: cell for place in titles if (cell := self._cell(row[place]))}
            left = max((cell_len(_plain(titles[place])) for place in values), default=0)
            for place, cell in values.items():
                text = _plain(cell)
                number_alone, matrix = sheet.columns[place].right and " " not in text, text.startswith(("((", "[["))
                room = UNBOUNDED if number_alone else max(self.width - left - 2 * GAP - matrix, LEAST)
                for number, line in enumerate(_folded(cell, room)):
                    title = [] if number else titles[place]
                    blanks = " " * (left - cell_len(_plain(title)) + GAP + (matrix and number > 0))
                    lines.append([(" " * GAP, ""), *title, (blanks, ""), *line])
            yield lines


class _Places(NamedTuple):
    """Columns of a sheet that are side by side, by their places; lines: whether equations have two lines."""

    places: tuple[int, ...]
    lines: bool = False


class _Measured:
    """A sheet's columns and rows, and the width of each column with the characters that it is written in."""

    def __init__(self, sheet: Sheet, rows: list[Row], plain: Mapping[int, str]) -> None:
        self.columns: tuple[Column, ...] = sheet.columns
        self.everything = range(len(sheet.columns))
        self.rows = rows
        self.total = sheet.total
        self.keys = {place for place in self.everything if self.columns[place].key}
        self.equations = {place for place in self.everything if any(isinstance(row[place], Arithmetic) for row in rows)}
        self.bars = {place for place in self.everything if any(isinstance(row[place], Bar) for row in rows)}
        self.bar = BAR
        self.plain = plain
        self.known: dict[tuple[int, bool], int] = {}  # the widths of columns

    def cells(self, place: int) -> Iterator[Value]:
        """Yield the cells of a column, the total's last."""
        yield from (row[place] for row in self.rows)
        if self.total:
            yield self.total[place]

    def longest(self, place: int, lines: bool) -> int:
        """Return the longest equation on one line; with two lines for each, the longest side."""
        if not lines:
            return UNBOUNDED
        sides = [text_of(cell, longest=0).split("\n") for cell in self.cells(place) if isinstance(cell, Arithmetic)]
        return max((cell_len(side) for both in sides for side in both), default=0)

    def width(self, place: int, lines: bool = False) -> int:
        """Return the width of a column that is not folded."""
        if place in self.bars:
            return self.bar
        if (place, lines) not in self.known:
            longest = self.longest(place, lines)
            texts = [text_of(value, longest=longest) for value in self.cells(place)]
            whole = "\n".join([text_of(self.columns[place].title), *texts])
            self.known[place, lines] = max(map(cell_len, whole.translate(self.plain).split("\n")))
        return self.known[place, lines]

    def widths(self, table: _Places, most: int = UNBOUNDED) -> dict[int, int]:
        """Return the width of each column; to fit into `most`, the widest of words are folded, down to LEAST."""
        widths = {place: self.width(place, table.lines) for place in table.places}
        columns = [(place, self.columns[place]) for place in table.places if place not in self.bars]
        words = [place for place, column in columns if column.title and not (column.right or column.whole)]
        soft = [place for place in words if widths[place] > LEAST]
        while soft and _across(widths) > most:
            widest = max(reversed(soft), key=lambda place: widths[place])
            widths[widest] -= 1
            if widths[widest] == LEAST:
                soft.remove(widest)
        return widths

    def fits(self, table: _Places, most: int) -> bool:
        """Return whether a table fits without folding; bars are shortened for it."""
        self.bar = BAR
        over = _across(self.widths(table)) - most
        if 0 < over <= BAR - SHORTEST_BAR and self.bars & {*table.places}:
            self.bar -= over
            over = 0
        return over <= 0

    def beside_keys(self, group: set[int]) -> _Places:
        """Return a table of some columns and the keys."""
        return _Places(tuple(sorted(self.keys | group)))


def _across(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _split(sheet: _Measured, width: int) -> list[_Places] | None:
    """Return the fewest tables that fit, one below the other; None if each row is to be written by itself.

    Equations are on one line, else on two, else below. The keys of the rows are in all tables, and what is to be
    compared stays together.
    """
    whole = {*sheet.everything}
    for lines in (False, True):
        if sheet.fits(table := _Places(tuple(sheet.everything), lines), width):
            return [table]
    compared = {place for place in whole if sheet.columns[place].together}
    if not compared:
        return _by_width(sheet, whole - sheet.keys, width)
    first = sheet.beside_keys(compared)
    can_fold = not compared & sheet.equations and _across(sheet.widths(first, 0)) <= width
    if not (sheet.fits(first, width) or can_fold):
        return None
    return [first, *_by_width(sheet, whole - sheet.keys - compared, width)]


def _by_width(sheet: _Measured, places: set[int], width: int) -> list[_Places]:
    """Return columns in tables, numbers first and equations last, each with as many as fit beside the keys."""
    tables: list[_Places] = []
    for place in sorted(places, key=lambda place: (place in sheet.equations, not sheet.columns[place].right)):
        wider = sheet.beside_keys({*tables[-1].places, place}) if tables else None
        if wider and _across(sheet.widths(wider)) <= width:
            tables[-1] = wider
        else:
            tables.append(sheet.beside_keys({place}))
    return tables
