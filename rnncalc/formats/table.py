"""Reports as tables for a terminal, plain text when piped. Knows how things look, not what they mean."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from rich.box import Box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from rnncalc.formats.values import text_of
from rnncalc.reports.sheet import Arithmetic, Sheet, Value

if TYPE_CHECKING:
    from rnncalc.reports.report import Report

MOST_ROWS = 500
"""More rows than anyone reads: beyond it the middle ones are one row, with their sum."""

UNBOUNDED = 10_000
"""A width that nothing reaches."""

_RULES = Box("    \n    \n ── \n    \n    \n ── \n    \n    \n")
"""A rule under the header and one above the total, nothing else."""


def write(reports: Iterable[Report], file: TextIO) -> None:
    """Draw each sheet as wide as the terminal allows, or, into a pipe, as wide as it needs."""
    terminal = file.isatty()
    width, height = (None, None) if terminal or "COLUMNS" in os.environ else (UNBOUNDED, 25)
    console = Console(
        file=file, width=width, height=height, soft_wrap=not terminal, highlight=False, markup=False, emoji=False
    )
    for number, sheet in enumerate(sheet for report in reports for sheet in report.sheets()):
        with console.capture() as drawn:
            if number:
                console.print()
            _draw(sheet, console)
        file.writelines(f"{line.rstrip()}\n" for line in drawn.get().splitlines())


def _draw(sheet: Sheet, console: Console) -> None:
    if sheet.title:
        console.print(Text(text_of(sheet.title), "bold"))
    if sheet.subtitle:
        console.print(Text(sheet.subtitle, "dim"))
    if sheet.equations:
        from rnncalc.formats.mathematics import with_shapes  # few sheets have equations

        console.print()
        for line in sheet.equations:
            for text in with_shapes(line, console.width):
                console.print(Text(text))
    if sheet.columns:
        console.print()
        for table in _fitting(sheet, console):
            console.print(table, soft_wrap=False)
    if sheet.notes:
        console.print()
    for note in sheet.notes:
        console.print(Text(text_of(note, limit=2_000)))


def _fitting(sheet: Sheet, console: Console) -> list[RenderableType]:
    """Return the sheet as the fewest tables that fit, one below the other.

    Equations stand on one line, else on two, else below; if that is not enough, numbers, words and equations each have
    a table. The keys of the rows stand in all of them.
    """
    rows = _shortened(sheet)
    everything = [*range(len(sheet.columns))]
    keys = {place for place in everything if sheet.columns[place].key}
    equations = {place for row in rows for place, value in enumerate(row) if isinstance(value, Arithmetic)}
    numbers = {place for place in everything if sheet.columns[place].right}
    others = {*everything} - keys - equations - numbers
    splits: list[tuple[list[set[int]], bool]] = [
        ([{*everything}], False),
        ([{*everything}], True),
        ([keys | others | numbers, keys | equations], False),
        ([keys | numbers, keys | others, keys | equations], False),
    ]
    for split, lines in splits:
        tables = [_table(sheet, rows, places, lines=lines) for places in split if places > keys]
        if all(_most(table, console) <= console.width for table in tables):
            break
    else:
        tables = [_table(sheet, rows, keys | places, lines=False) for places in _by_width(sheet, rows, keys, console)]
    spaced: list[RenderableType] = [piece for table in tables for piece in (Text(), table)]
    return spaced[1:]


def _by_width(sheet: Sheet, rows: list[tuple[Value, ...]], keys: set[int], console: Console) -> Iterator[set[int]]:
    """Yield the columns beside the keys in groups, numbers first, each with as many columns as fit."""
    others = sorted({*range(len(sheet.columns))} - keys, key=lambda place: not sheet.columns[place].right)
    group: set[int] = set()
    for place in others:
        table = _table(sheet, rows, keys | group | {place}, lines=False)
        if group and _most(table, console) > console.width:
            yield group
            group = set()
        group = group | {place}
    yield group


def _most(table: Table, console: Console) -> int:
    """Return the width at which nothing in the table is wrapped."""
    return console.measure(table, options=console.options.update(width=UNBOUNDED)).maximum


def _table(sheet: Sheet, rows: list[tuple[Value, ...]], places: set[int], *, lines: bool) -> Table:
    """Return the columns at some places as a table."""
    summed = sheet.total is not None and any(sheet.columns[place].right for place in places)
    table = Table(box=_RULES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_footer=summed)
    for place in sorted(places):
        column = sheet.columns[place]
        table.add_column(
            column.title,
            Text(text_of(sheet.total[place]) if sheet.total else "", "bold"),
            justify="right" if column.right else "left",
            no_wrap=column.right,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(_cell(row[place], lines=lines) for place in sorted(places)))
    return table


def _cell(value: Value, *, lines: bool) -> Text:
    text = Text(text_of(value, lines=lines))
    if isinstance(value, Arithmetic):
        text.stylize("cyan", 0, len(value.letters))
    return text


def _shortened(sheet: Sheet) -> list[tuple[Value, ...]]:
    """Return the rows, or, when there are too many, the first and the last with one between for those left out."""
    rows = [*sheet.rows]
    if len(rows) <= MOST_ROWS:
        return rows
    head, middle, tail = rows[:20], rows[20:-20], rows[-20:]
    sums = [
        _sum(values) if column.right else ""
        for column, values in zip(sheet.columns, zip(*middle, strict=True), strict=True)
    ]
    return [*head, (f"… {len(middle):,} more", *sums[1:]), *tail]


def _sum(values: Sequence[Value]) -> Value:
    numbers = [value for value in values if isinstance(value, int)]
    return sum(numbers) if len(numbers) == len(values) else None
