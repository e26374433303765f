"""Equations with numbers in, in LaTeX: vectors as columns, matrices in brackets. Needs amsmath alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rnncalc.formats.mathematics import latex, typeset
from rnncalc.reports.equations import Term
from rnncalc.reports.written_work import Block, Piece, Words, WorkLine

_SIGNS = {" + ": " + ", " − ": " - ", " ∘ ": r" \circ ", "·": r" \cdot ", " / ": " / ", "; ": r";\; ", " ": r"\, "}
_FUNCTIONS = {"(": "", "σ(": r"\sigma", "tanh(": r"\tanh"}
_POWER = re.compile(r"e([−+]?)0*(\d+)$")
_LONG = 60
"""An equation of numbers alone that is longer has a line for each of its sides."""


def aligned(lines: Iterable[WorkLine], environment: str) -> str:
    """Return equations below each other, their signs aligned; one with columns has a line for each of its sides."""
    body = " \\\\\n".join(f"  {_line(line)}" for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _line(line: WorkLine) -> str:
    pieces = [r"\EQUALS" if piece == " = " else _piece(piece) for piece in line]
    text = "".join(pieces)
    length = sum(len(piece if isinstance(piece, str) else piece[0]) for piece in line)
    broken = any(isinstance(piece, Block) for piece in line) or length > _LONG
    first, *others = text.split(r"\EQUALS")
    return f"{first} &= " + (" \\\\\n  &= " if broken else " = ").join(others)


def _piece(piece: Piece) -> str:
    match piece:
        case Term():
            return latex((piece,))
        case Words():
            return f"\\text{{{typeset(piece.text)}}}"
        case Block():
            rows = r" \\ ".join(" & ".join(map(_number, row)) for row in piece.rows)
            return f"\\left[\\begin{{array}}{{{'r' * len(piece.rows[0])}}} {rows} \\end{{array}}\\right]"
        case ")":
            return r"\right)"
        case str() if piece in _SIGNS:
            return _SIGNS[piece]
        case str() if piece.endswith("("):
            name = _FUNCTIONS.get(piece)
            return (f"\\mathrm{{{typeset(piece[:-1])}}}" if name is None else name) + r"\left("
        case _:
            return _number(piece)


def _number(text: str) -> str:
    """Return a number, its power of ten written out."""
    found = _POWER.search(text)
    power = f" \\cdot 10^{{{'-' if found[1] == '−' else ''}{found[2]}}}" if found else ""
    return typeset((text[: found.start()] if found else text).replace("−", "-")) + power
