"""Reports as Markdown tables, with every character of a name that Markdown or HTML would act on escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from rnncalc.formats.values import text_of
from rnncalc.reports.sheet import Arithmetic, Value

if TYPE_CHECKING:
    from rnncalc.reports.report import Report

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#!~&@$])")


def write(reports: Iterable[Report], file: TextIO) -> None:
    """Write each sheet as a heading, a table and its notes."""
    for number, sheet in enumerate(sheet for report in reports for sheet in report.sheets()):
        if number:
            file.write("\n")
        if sheet.title:
            file.write(f"### {_escaped(text_of(sheet.title))}\n\n")
        if sheet.subtitle:
            file.write(f"{_escaped(sheet.subtitle)}\n\n")
        if sheet.equations:
            from rnncalc.formats.mathematics import aligned  # few sheets have equations

            file.write(f"$$\n{aligned(sheet.equations, 'aligned')}\n$$\n\n")
        if sheet.columns:
            file.write(_row([_escaped(column.title) for column in sheet.columns]))
            file.write(_row(["---:" if column.right else "---" for column in sheet.columns]))
        for row in sheet.rows:
            file.write(_row(map(_cell, row)))
        if sheet.total:
            file.write(_row(f"**{cell}**" if cell else "" for cell in map(_cell, sheet.total)))
        for note in sheet.notes:
            file.write(f"\n{_escaped(text_of(note, limit=1_000))}\n")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(value: Value) -> str:
    if isinstance(value, Arithmetic):
        return f"`{text_of(value)}`"
    text = text_of(value)
    return _escaped(text) if isinstance(value, str) else text  # numbers and shapes have nothing to escape


def _escaped(text: str) -> str:
    return _ACTIVE.sub(r"\\\1", text)
