"""Reports as a LaTeX document: a heading, the words and an align environment a sheet. Needs amsmath alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from rnncalc.formats.mathematics import aligned, symbol, typeset
from rnncalc.formats.values import MOST_OF_A_NOTE, MOST_OF_A_SUM, text_of
from rnncalc.reports.sheet import Arithmetic, Name, Row, Sheet, Value
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Derived

_MATH = {"×": r"\times", "·": r"\cdot "}  # × stands between spaces, · beside letters


def write(reports: Iterable[Derived], file: TextIO) -> None:
    """Write one document with all reports."""
    file.write("\\documentclass{article}\n\\usepackage{amsmath}\n\\allowdisplaybreaks\n\\begin{document}\n")
    for report in reports:
        for sheet in report.derivations():
            _write_sheet(sheet, file)
    file.write("\\end{document}\n")


def _write_sheet(sheet: Sheet, file: TextIO) -> None:
    if sheet.title:
        file.write(f"\n\\section*{{{typeset(text_of(sheet.title))}}}\n")
    if sheet.subtitle:
        file.write(f"\n{typeset(text_of(sheet.subtitle, limit=MOST_OF_A_NOTE))}.\n")
    if sheet.equations:
        file.write(f"{aligned(sheet.equations, 'align*')}\n")
    if sheet.work:
        from rnncalc.formats import matrices

        file.write(f"{matrices.aligned(sheet.work, 'align*')}\n")
    rows = [*sheet.rows, *([sheet.total] if sheet.total else [])]
    lines = [line for row in rows for line in _lines(row)]
    if lines:
        file.write("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n")
    for note in sheet.notes:
        file.write(f"\n{typeset(text_of(note, limit=MOST_OF_A_NOTE))}\n")


def _lines(row: Row) -> Iterator[str]:
    """Yield the line of a row with an equation: its label, and the equation's sides."""
    equation = next((value for value in row if isinstance(value, Arithmetic)), None)
    if equation is None:
        return
    *labels, number = (value for value in row if not isinstance(value, Arithmetic))
    sides = [*map(_sum, equation), _sum(text_of(number).replace(",", ""))]
    yield f"  &{_label(*labels)} & {' = '.join(dict.fromkeys(sides))}"


def _label(name: Value, *what: Value) -> str:
    """Return what a line is about: the name of a tensor as mathematics has it, anything else in words."""
    words = ", ".join(["", *(text_of(value) for value in what if value != "")]) + ":"
    if not isinstance(name, Name):
        return f"\\text{{{typeset(text_of(name) + words)}}}"
    before = f"\\text{{{typeset(text_of(name.before.rstrip('/')))} }}" if name.before else ""
    return f"{before}{symbol(name.letter, name.below)}\\text{{{typeset(words)}}}"


def _sum(text: str) -> str:
    """Return arithmetic: letters, digits, brackets and its few signs; what it should not hold is harmless."""
    return "".join(_MATH.get(char) or typeset(char) for char in escape(text, MOST_OF_A_SUM))
