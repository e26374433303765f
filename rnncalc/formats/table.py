"""Reports as tables for a terminal, or plain text in a pipe: the layout of columns, and their drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

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


def write(reports: Iterable[SheetReport], file: TextIO) -> None:
    """Draw each sheet as wide as the terminal allows; in a pipe, as wide as it needs."""
    width = max(terminal_width(), NARROWEST) if file.isatty() else UNBOUNDED
    console = Console(file=file, width=UNBOUNDED, height=25, highlight=False, markup=False, emoji=False)
    page = _Page(console, width, unencodable(file.encoding))
    reports = [*reports]
    for number, sheet in enumerate(sheet for report in reports for sheet in report.sheets()):
        if number:
            file.write("\n")
        # Plain text without rich's time; and the text of a result in a notebook, whose kernel asks for colours.
        if console.color_system is None or isinstance(file, StringIO):
            drawn = "".join([f"{line.plain}\n" for line in page.lines(sheet)])
        else:
            with console.capture() as capture:
                for line in page.lines(sheet):
                    console.print(line)
            drawn = capture.get()
        file.writelines(f"{line.rstrip()}\n" for line in drawn.split("\n")[:-1])
    if drawings := [report for report in reports if isinstance(report, DrawnReport)]:
        from rnncalc.formats import text  # few tables have pictures below them

        file.write("\n")
        text.write(drawings, file)


class _Page:
    """A screen or a pipe: its width, and replacements for characters that its encoding lacks."""

    def __init__(self, console: Console, width: int, plain: dict[str, str]) -> None:
        self.console = console
        self.width = width
        self.plain = str.maketrans(plain)

    def lines(self, sheet: Sheet) -> Iterator[Text]:
        """Yield the lines of a sheet, each with its colours."""
        if sheet.title:
            yield from self._folded(self._text(sheet.title, "bold"), self.width)
        if sheet.subtitle:
            yield from self._folded(self._text(sheet.subtitle, "dim"), self.width)
        if sheet.equations:
            from rnncalc.formats.mathematics import with_shapes  # few sheets have equations

            yield Text()
            for above, shapes in (
                lines for each in sheet.equations for lines in with_shapes(each, self.width, self.plain)
            ):
                yield Text(escape(above, UNBOUNDED).translate(self.plain))
                if shapes:
                    yield Text(escape(shapes, UNBOUNDED).translate(self.plain), "dim")
        if sheet.work:
            yield from self._work(sheet)
        if sheet.columns:
            measured = _Measured(sheet, shortened(sheet), self.plain)
            tables = _split(measured, self.width)
            for lines in self._stacked(measured) if tables is None else (self._table(measured, it) for it in tables):
                yield Text()
                yield from lines
        if sheet.notes:
            yield Text()
        for note in sheet.notes:
            yield from self._folded(self._signed(self._text(note)), self.width)

    def _work(self, sheet: Sheet) -> Iterator[Text]:
        from rnncalc.formats.mathematics import paragraphs, spelled  # one report has work

        equations = [*paragraphs([spelled(line, self.plain) for line in sheet.work], self.width)]
        tall = any(len(lines) > 1 for lines in equations)
        for number, lines in enumerate(equations):
            if tall or not number:
                yield Text()
            for text in lines:
                yield Text(escape(text, UNBOUNDED).translate(self.plain))

    def _folded(self, text: Text, width: int) -> list[Text]:
        """Return the lines of a text, its words folded to a width."""
        if "\n" not in text.plain and cell_len(text.plain) <= width:
            return [text]
        return [*text.wrap(self.console, width, overflow="fold")]

    def _text(self, value: Value, style: str = "") -> Text:
        return Text(text_of(value).translate(self.plain), style)

    def _signed(self, text: Text) -> Text:
        """Return a text with the sign that it starts with in its colour."""
        sign = text.plain.partition(" ")[0]
        for one, colour in SIGNS.items():
            if sign == one.translate(self.plain):
                text.stylize(colour, 0, len(sign))
        return text

    def _table(self, sheet: _Measured, part: _Places) -> Iterator[Text]:
        """Yield some columns as a table, at most as wide as the screen unless numbers would be cut."""
        widths, rows, total = sheet.widths(part, self.width), sheet.rows, sheet.total
        longest = {place: sheet.longest(place, part.lines) for place in part.places}
        rule = "─" * _across(widths)
        yield from self._row(sheet, widths, [self._text(sheet.columns[place].title) for place in widths], head=True)
        yield Text(rule)
        for row in rows:
            yield from self._row(sheet, widths, [self._cell(row[place], longest[place], sheet.bar) for place in widths])
        if not total or (rows and all(total[place] == "" for place in widths if not sheet.columns[place].key)):
            return
        if rows:  # one line needs no rule above it
            yield Text(rule)
        yield from self._row(sheet, widths, [self._cell(total[place], longest[place]) for place in widths], "bold")

    def _row(
        self, sheet: _Measured, widths: Mapping[int, int], cells: list[Text], style: str = "", head: bool = False
    ) -> Iterator[Text]:
        """Yield the lines of a row; those of a header, in bold, are level at its foot."""
        columns = [self._folded(cell, width) for cell, width in zip(cells, widths.values(), strict=True)]
        tall = max(map(len, columns))
        for (place, width), texts in zip(widths.items(), columns, strict=True):
            room = [Text() for _ in range(tall - len(texts))]
            texts[:] = [*room, *texts] if head else [*texts, *room]
            for text in texts:
                text.align("right" if sheet.columns[place].right else "left", width)
        yield from (Text(" " * GAP, "bold" if head else style).join(line) for line in zip(*columns, strict=True))

    def _cell(self, value: Value, longest: int = UNBOUNDED, bar: int = BAR) -> Text:
        text = Text(text_of(value, longest=longest, bar=bar).translate(self.plain))
        if isinstance(value, Arithmetic) and value.letters != value.numbers:
            text.stylize("cyan", 0, len(value.letters.translate(self.plain)))
        return self._signed(text) if isinstance(value, str) and value in SIGNS else text

    def _stacked(self, sheet: _Measured) -> Iterator[list[Text]]:
        """Yield the lines of each row by itself: its keys, and below them each value after its title."""
        titles = {
            place: self._text(sheet.columns[place].title) for place in sheet.everything if place not in sheet.keys
        }
        first, *keys = sorted(sheet.keys) or [0]
        above: Value = ""  # an empty first key is that of the row above
        for row in [*sheet.rows, *([sheet.total] if sheet.total else [])]:
            above = row[first] if row[first] != "" else above
            head = Text("  ").join([self._cell(key) for key in (above, *(row[place] for place in keys)) if key != ""])
            lines = self._folded(head, self.width)
            values = {place: cell for place in titles if (cell := self._cell(row[place]))}
            left = max((titles[place].cell_len for place in values), default=0)
            for place, cell in values.items():
                room = UNBOUNDED if sheet.columns[place].right else max(self.width - left - 2 * GAP, LEAST)
                for number, text in enumerate(self._folded(cell, room)):
                    title = Text() if number else titles[place].copy()
                    title.align("left", left)
                    lines.append(Text(" " * GAP).join([Text(), title, text]))
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
        longest = self.longest(place, lines)
        texts = [text_of(value, longest=longest) for value in self.cells(place)]
        whole = "\n".join([text_of(self.columns[place].title), *texts])
        return max(map(cell_len, whole.translate(self.plain).split("\n")))

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
