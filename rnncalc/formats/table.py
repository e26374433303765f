"""Reports as tables for a terminal, plain text when piped. Knows how things look, not what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from rich.box import Box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnncalc.formats.layout import LEAST, UNBOUNDED, Measured, split
from rnncalc.formats.layout import Table as Places
from rnncalc.formats.terminal import terminal_width
from rnncalc.formats.values import BAR, MOST_OF_A_NAME, MOST_OF_A_NOTE, shortened, text_of
from rnncalc.reports.sheet import Arithmetic, Row, Sheet, Value
from rnncalc.text import escape, unencodable

if TYPE_CHECKING:
    from rnncalc.reports.report import Report

NARROWEST = 20
"""No screen is taken to be narrower."""

_RULES = Box("    \n    \n ── \n    \n    \n ── \n    \n    \n", ascii=True)
"""A rule under the header and one above the total, nothing else; `ascii` so that rich draws no other in its place."""

SIGNS = {"✓": "green", "✗": "red"}
"""The colours of the signs that a cell holds, or that a note starts with."""


def write(reports: Iterable[Report], file: TextIO) -> None:
    """Draw each sheet as wide as the terminal allows, or, into a pipe, as wide as it needs."""
    width = max(terminal_width(), NARROWEST) if file.isatty() else UNBOUNDED
    console = Console(file=file, width=UNBOUNDED, height=25, highlight=False, markup=False, emoji=False)
    page = _Page(console, width, unencodable(file.encoding))
    for number, sheet in enumerate(sheet for report in reports for sheet in report.sheets()):
        with console.capture() as drawn:
            if number:
                console.print()
            page.draw(sheet)
        file.writelines(f"{line.rstrip()}\n" for line in drawn.get().split("\n")[:-1])


class _Page:
    """A screen or a pipe: how wide it is, and what stands for the signs that its encoding lacks."""

    def __init__(self, console: Console, width: int, plain: dict[str, str]) -> None:
        self.console = console
        self.width = width
        self.plain = str.maketrans(plain)

    def draw(self, sheet: Sheet) -> None:
        if sheet.title:
            self._print(self._text(sheet.title, "bold"))
        if sheet.subtitle:
            self._print(self._text(sheet.subtitle, "dim", MOST_OF_A_NOTE))
        if sheet.equations:
            self._equations(sheet)
        if sheet.work:
            self._work(sheet)
        for piece in self._pieces(sheet) if sheet.columns else ():
            self.console.print()
            self.console.print(piece)
        if sheet.notes:
            self.console.print()
        for note in sheet.notes:
            self._print(self._signed(self._text(note, limit=MOST_OF_A_NOTE)))

    def _equations(self, sheet: Sheet) -> None:
        from rnncalc.formats.mathematics import with_shapes  # few sheets have equations

        self.console.print()
        for line in sheet.equations:
            for number, text in enumerate(with_shapes(line, self.width, self.plain)):
                equation = escape(text, UNBOUNDED).translate(self.plain)
                self.console.print(Text(equation, "dim" if number % 2 else ""))

    def _work(self, sheet: Sheet) -> None:
        from rnncalc.formats.columns import paragraphs, spelled  # one report has work

        equations = [*paragraphs([spelled(line, self.plain) for line in sheet.work], self.width)]
        tall = any(len(lines) > 1 for lines in equations)
        self.console.print()
        for number, lines in enumerate(equations):
            if number and tall:
                self.console.print()
            for text in lines:
                self.console.print(Text(text.translate(self.plain)))

    def _print(self, text: Text) -> None:
        self.console.print(text, width=self.width)

    def _text(self, value: Value, style: str = "", limit: int = MOST_OF_A_NAME) -> Text:
        return Text(text_of(value, limit=limit).translate(self.plain), style)

    def _signed(self, text: Text) -> Text:
        """Return a text with the sign that it starts with in its colour."""
        sign = text.plain.partition(" ")[0]
        for one, colour in SIGNS.items():
            if sign == one.translate(self.plain):
                text.stylize(colour, 0, len(sign))
        return text

    def _pieces(self, sheet: Sheet) -> Iterator[RenderableType]:
        measured = Measured(sheet, shortened(sheet))
        tables = split(measured, self.width)
        if tables is None:
            yield from self._stacked(measured)
            return
        for table in tables:
            yield self._grouped(measured, table) if table.above else self._table(measured, table)

    def _table(self, sheet: Measured, of: Places) -> Table:
        """Return the columns at some places as a table, no wider than the screen unless numbers would be cut."""
        total = sheet.total or ()
        summed = any(total[place] != "" for place in of.places if total and not sheet.columns[place].key)
        table = Table(box=_RULES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_footer=summed)
        if (width := max(self.width, sheet.least(of))) < sheet.most(of):
            table.width = width
        longest = {place: sheet.longest(place, of.lines) for place in of.places}
        for place in of.places:
            column, firm = sheet.columns[place], sheet.firm(place)
            table.add_column(
                self._text(column.title),
                self._cell(sheet.total[place], longest[place]) if sheet.total else "",
                justify="right" if column.right else "left",
                no_wrap=firm,
                min_width=min(sheet.width(place, of.lines), LEAST if not firm else UNBOUNDED),
                overflow="fold",
                footer_style="bold",
            )
        for row in sheet.rows:
            table.add_row(*(self._cell(row[place], longest[place], sheet.bar) for place in of.places))
        if sheet.total and not sheet.rows:  # one line needs no rule above it
            table.show_footer = False
            table.add_row(*(self._cell(sheet.total[place], longest[place]) for place in of.places), style="bold")
        return table

    def _grouped(self, sheet: Measured, of: Places) -> Group:
        """Return rows below what they have in common, which is as long as it is; columns are as wide in each group."""
        widths = sheet.widths(of, self.width)

        def part(rows: list[Row], style: str = "", header: bool = False) -> Table:
            table = Table(box=_RULES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=header)
            for place, width in widths.items():
                column = sheet.columns[place]
                justify: JustifyMethod = "right" if column.right else "left"
                table.add_column(self._text(column.title), justify=justify, width=width, overflow="fold")
            for row in rows:
                table.add_row(*(self._cell(row[place]) for place in of.places), style=style)
            return table

        parts: list[RenderableType] = [part([], header=True)]
        totals = [sheet.total] if sheet.total else []
        for rows, style in ((sheet.rows, ""), (totals, "bold")):
            for heads, group in groupby(rows, key=lambda row: [row[place] for place in of.above]):
                parts.append(Text("  ").join([self._text(head, style) for head in heads]))
                parts.append(part([*group], style))
        return Group(*parts)

    def _cell(self, value: Value, longest: int = UNBOUNDED, bar: int = BAR) -> Text:
        text = Text(text_of(value, longest=longest, bar=bar).translate(self.plain))
        if isinstance(value, Arithmetic) and value.letters != value.numbers:
            text.stylize("cyan", 0, len(value.letters.translate(self.plain)))
        return self._signed(text) if isinstance(value, str) and value in SIGNS else text

    def _stacked(self, sheet: Measured) -> Iterator[RenderableType]:
        """Yield each row by itself: what it is, and below that each number or sum after its title."""
        keys = [place for place in sheet.everything if sheet.columns[place].key]
        for row in [*sheet.rows, *([sheet.total] if sheet.total else [])]:
            head = Text("  ").join([self._cell(row[place]) for place in keys if row[place] != ""])
            body = Table.grid(padding=(0, 2, 0, 0))
            for place in sheet.everything:
                cell = self._cell(row[place])
                if place not in keys and cell:
                    body.add_row(self._text(sheet.columns[place].title), cell)
            block = Table.grid()
            block.width = min(self.width, UNBOUNDED)
            block.add_row(head)
            block.add_row(Padding(body, (0, 0, 0, 2)))
            yield block
