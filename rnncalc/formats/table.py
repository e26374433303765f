"""Reports as tables for a terminal, or plain text in a pipe: the layout of columns, and their drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from itertools import groupby
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnncalc.formats import BAR, shortened, terminal_width, text_of
from rnncalc.reports.report import DrawnReport, SheetReport
from rnncalc.reports.sheet import Arithmetic, Bar, Column, Row, Sheet, Value
from rnncalc.text import escape, unencodable

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
            rows = self._stacked(measured) if tables is None else (self._grouped(measured, table) for table in tables)
            for lines in rows:
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

    def _table(
        self, sheet: _Measured, part: _Places, rows: list[Row], total: Row | None = None, header: bool = True
    ) -> Iterator[Text]:
        """Yield some columns as a table, at most as wide as the screen unless numbers would be cut."""
        widths = sheet.widths(part, self.width)
        longest = {place: sheet.longest(place, part.lines) for place in part.places}
        rule = "─" * _across(widths)
        if header:
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

    def _grouped(self, sheet: _Measured, part: _Places) -> Iterator[Text]:
        """Yield a table; keys above the rows are written once for each group of rows that share them."""
        if not part.above:
            yield from self._table(sheet, part, sheet.rows, sheet.total)
            return

        def head(row: Row, style: str = "") -> Text:
            return Text("  ").join([self._text(row[place], style) for place in part.above])

        yield from self._table(sheet, part, [])
        for _, group in groupby(sheet.rows, key=lambda row: [row[place] for place in part.above]):
            rows = [*group]
            yield head(rows[0])
            yield from self._table(sheet, part, rows, header=False)
        if sheet.total:
            yield head(sheet.total, "bold")
            yield from self._table(sheet, part, [], sheet.total, header=False)

    def _cell(self, value: Value, longest: int = UNBOUNDED, bar: int = BAR) -> Text:
        text = Text(text_of(value, longest=longest, bar=bar).translate(self.plain))
        if isinstance(value, Arithmetic) and value.letters != value.numbers:
            text.stylize("cyan", 0, len(value.letters.translate(self.plain)))
        return self._signed(text) if isinstance(value, str) and value in SIGNS else text

    def _stacked(self, sheet: _Measured) -> Iterator[list[Text]]:
        """Yield the lines of each row by itself: its keys, and below them each value after its title."""
        for row in [*sheet.rows, *([sheet.total] if sheet.total else [])]:
            head = Text("  ").join([self._cell(row[place]) for place in sorted(sheet.keys) if row[place] != ""])
            body = Table.grid(padding=(0, 2, 0, 0))
            for place in sheet.everything:
                cell = self._cell(row[place])
                if place not in sheet.keys and cell:
                    body.add_row(self._text(sheet.columns[place].title), cell)
            block = Table.grid()
            block.width = min(self.width, UNBOUNDED)
            block.add_row(head)
            block.add_row(Padding(body, (0, 0, 0, 2)))
            drawn = self.console.render_lines(block, pad=False)
            yield [Text.assemble(*((segment.text, segment.style or "") for segment in line)) for line in drawn]


class _Places(NamedTuple):
    """Columns of a sheet that are side by side, by their places; lines: whether equations have two lines.

    above: places of keys that are written above the rows that share them.
    """

    places: tuple[int, ...]
    lines: bool = False
    above: tuple[int, ...] = ()


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

    def beside_keys(self, group: set[int], above: tuple[int, ...] = ()) -> _Places:
        """Return a table of some columns and the keys; above: keys that are written above the rows."""
        return _Places(tuple(sorted((self.keys | group) - {*above})), above=above)


def _across(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _split(sheet: _Measured, width: int) -> list[_Places] | None:
    """Return the fewest tables that fit, one below the other; None if each row is to be written by itself.

    Equations are on one line, else on two, else below; if that is not enough, numbers, words and equations each have
    a table. The keys of the rows are in all of them, and what is to be compared stays together.
    """
    whole = tuple(sheet.everything)
    for lines in (False, True):
        if sheet.fits(_Places(whole, lines), width):
            return [_Places(whole, lines)]
    if any(column.together for column in sheet.columns):
        return _together(sheet, width)
    numbers = {place for place in whole if sheet.columns[place].right}
    others = {*whole} - sheet.keys - sheet.equations - numbers
    for groups in ([others | numbers, sheet.equations], [numbers, others, sheet.equations]):
        tables = [sheet.beside_keys(group) for group in groups if group - sheet.keys]
        if all(_across(sheet.widths(table)) <= width for table in tables):
            return tables
    return _by_width(sheet, {*whole} - sheet.keys, width)


def _together(sheet: _Measured, width: int) -> list[_Places] | None:
    """Return a table of the keys and what is compared, its words folded if need be, then others; None if too wide.

    Before any words are folded, keys that stay whole are above their rows.
    """
    compared = {place for place in sheet.everything if sheet.columns[place].together}
    whole = tuple(sorted(place for place in sheet.keys if sheet.columns[place].whole))
    first = sheet.beside_keys(compared)
    if whole and not sheet.fits(first, width):
        everything = sheet.beside_keys({*sheet.everything}, above=whole)
        if sheet.fits(everything, width):
            return [everything]
        first = sheet.beside_keys(compared, above=whole)
    can_fold = not compared & sheet.equations and _across(sheet.widths(first, 0)) <= width
    if not (sheet.fits(first, width) or can_fold):
        return None
    return [first, *_by_width(sheet, {*sheet.everything} - sheet.keys - compared, width)]


def _by_width(sheet: _Measured, places: set[int], width: int) -> list[_Places]:
    """Return columns in tables, numbers first, each with as many as fit beside the keys."""
    tables: list[_Places] = []
    for place in sorted(places, key=lambda place: not sheet.columns[place].right):
        wider = sheet.beside_keys({*tables[-1].places, place}) if tables else None
        if wider and _across(sheet.widths(wider)) <= width:
            tables[-1] = wider
        else:
            tables.append(sheet.beside_keys({place}))
    return tables
