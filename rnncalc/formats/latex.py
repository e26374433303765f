"""Reports as a LaTeX document: a heading, the words and an align environment a sheet. Needs amsmath alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from rnncalc.formats.mathematics import aligned
from rnncalc.formats.values import text_of
from rnncalc.reports.sheet import Arithmetic, Sheet

if TYPE_CHECKING:
    from rnncalc.reports.report import Derived

_ESCAPES = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "→": r"$\to$",
    "–": "--",
    "²": "$^2$",
    "∘": r"$\circ$",
    "…": r"\dots{}",
}
_MATH = {"×": r"\times", "·": r"\cdot"}


def write(reports: Iterable[Derived], file: TextIO) -> None:
    """Write one document with all reports."""
    file.write("\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n")
    for report in reports:
        for sheet in report.derivations():
            _write_sheet(sheet, file)
    file.write("\\end{document}\n")


def _write_sheet(sheet: Sheet, file: TextIO) -> None:
    if sheet.title:
        file.write(f"\n\\section*{{{_text(text_of(sheet.title))}}}\n")
    if sheet.subtitle:
        file.write(f"\n{_text(text_of(sheet.subtitle, limit=1_000))}.\n")
    if sheet.equations:
        file.write(f"{aligned(sheet.equations, 'align*')}\n")
    lines = []
    for row in sheet.rows:
        equation = next((value for value in row if isinstance(value, Arithmetic)), None)
        if equation is None:
            continue
        label, *what, number = (text_of(value) for value in row if not isinstance(value, Arithmetic))
        sides = dict.fromkeys([_math(equation.letters), _math(equation.numbers), number.replace(",", "")])
        lines.append(f"  &\\text{{{_text(', '.join(filter(None, [label, *what])))}:}} & {' = '.join(sides)}")
    if lines:
        file.write("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n")
    for note in sheet.notes:
        file.write(f"\n{_text(text_of(note, limit=1_000))}\n")


def _text(text: str) -> str:
    return "".join(_ESCAPES.get(char, char if char.isascii() else "?") for char in text)


def _math(text: str) -> str:
    return "".join(_MATH.get(char, char) for char in text)
