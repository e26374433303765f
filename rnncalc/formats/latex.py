"""Reports as a LaTeX document: a heading, the words, the equations, and the sums that are derived. Needs amsmath alone.

TeX breaks the lines of words and sums; equations are broken where they are written. No page is narrower than a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from rnncalc.formats.mathematics import aligned, inline, named, typeset
from rnncalc.formats.values import MOST_OF_A_NAME, MOST_OF_A_NOTE, MOST_OF_A_SUM, text_of
from rnncalc.formats.widths import PAGE
from rnncalc.reports.sheet import Arithmetic, Name, Phrase, Row, Sheet, Value
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Derived

_MATH = {"×": r"\times", "·": r"\cdot "}  # × stands between spaces, · beside letters

_HEAD = r"""\documentclass{article}
\usepackage{amsmath}
\allowdisplaybreaks
\setlength{\textwidth}{WIDTH}
\setlength{\oddsidemargin}{0pt}
\newcommand{\derived}[2]{\par\smallskip\noindent
  \parbox[t]{0.4\linewidth}{\raggedright\hangindent=1em #1\strut}\hfill
  \parbox[t]{0.58\linewidth}{\raggedright\hangindent=1em #2\strut}}
"""
"""`\\derived{what it is:}{$its sum$}` is a line of a derivation; either breaks where it is too long."""

_PAPER = r"""\setlength{\paperwidth}{WIDTH}
\ifdefined\pagewidth\setlength{\pagewidth}{\paperwidth}\else\setlength{\pdfpagewidth}{\paperwidth}\fi
"""
"""Paper as wide as a matrix asks for, for LuaTeX, and for the others."""

_MARGINS = 2 * 72.27

_LONG = 24
"""A word of more characters may be broken."""


def write(reports: Iterable[Derived], file: TextIO) -> None:
    """Write one document with all reports."""
    sheets = [sheet for report in reports for sheet in report.derivations()]
    width = _page(sheets)
    file.write(_HEAD.replace("WIDTH", f"{width:.0f}pt"))
    if width > PAGE:
        file.write(_PAPER.replace("WIDTH", f"{width + _MARGINS:.0f}pt"))
    file.write("\\begin{document}\n\\raggedright\n")
    for sheet in sheets:
        _write_sheet(sheet, file)
    file.write("\\end{document}\n")


def _page(sheets: list[Sheet]) -> float:
    """Return how wide a page is: as wide as the widest matrix asks for."""
    if not any(sheet.work for sheet in sheets):
        return PAGE
    from rnncalc.formats import matrices  # one report has work

    return max(PAGE, *(matrices.widest(sheet.work) for sheet in sheets))


def _write_sheet(sheet: Sheet, file: TextIO) -> None:
    if sheet.title:
        file.write(f"\n\\section*{{{_words(text_of(sheet.title))}}}\n")
    if sheet.subtitle:
        file.write(f"\n{_words(text_of(sheet.subtitle, limit=MOST_OF_A_NOTE))}.\n")
    if sheet.equations:
        file.write(f"{aligned(sheet.equations, 'align*')}\n")
    if sheet.work:
        from rnncalc.formats import matrices

        file.write(f"{matrices.aligned(sheet.work, 'align*')}\n")
    rows = [*sheet.rows, *([sheet.total] if sheet.total else [])]
    if lines := [line for row in rows for line in _lines(row)]:
        file.writelines([*lines, "\\par\\medskip\n"])
    for note in sheet.notes:
        file.write(f"\n{_said(note, MOST_OF_A_NOTE)}\n")


def _lines(row: Row) -> Iterator[str]:
    """Yield the line of a row with a sum: its label, and the sum's sides, before each of which it may be broken."""
    equation = next((value for value in row if isinstance(value, Arithmetic)), None)
    if equation is None:
        return
    *labels, number = (value for value in row if not isinstance(value, Arithmetic))
    sides = dict.fromkeys([*map(_sum, equation), _sum(text_of(number).replace(",", ""))])
    yield f"\\derived{{{_label(*labels)}}}{{{' '.join(f'${side}$' for side in _with_signs(sides))}}}\n"


def _with_signs(sides: Iterable[str]) -> Iterator[str]:
    return (f"= {side}" if number else side for number, side in enumerate(sides))


def _label(*what: Value) -> str:
    """Return what a line is about."""
    return f"{', '.join(_said(value) for value in what if value != '')}:"


def _said(value: Value, limit: int = MOST_OF_A_NAME) -> str:
    """Return the name of a tensor as mathematics has it, a phrase with its mathematics, anything else in words."""
    match value:
        case Name():
            return named(value)
        case Phrase():
            return "".join(_words(part) if isinstance(part, str) else inline(part) for part in value.parts)
        case _:
            return _words(text_of(value, limit=limit))


def _words(text: str) -> str:
    """Return words, of which one that is too long for a line may be broken."""
    parts = re.split(rf"(\S{{{_LONG}}}(?=\S))", text)
    return "".join(typeset(part) + r"\allowbreak{}" * (number % 2) for number, part in enumerate(parts))


def _sum(text: str) -> str:
    """Return arithmetic: letters, digits, brackets and its few signs; what it should not hold is harmless."""
    return "".join(_MATH.get(char) or typeset(char) for char in escape(text, MOST_OF_A_SUM))
