"""Equations with numbers in, in LaTeX: vectors as columns, matrices in brackets. Needs amsmath alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rnncalc.formats.mathematics import latex, typeset
from rnncalc.reports.equations import Term
from rnncalc.reports.written_work import Block, Piece, Words, WorkLine

_SIGNS = {" + ": " + ", " − ": " - ", " ∘ ": r" \circ ", "·": r" \cdot ", " / ": " / ", "; ": r";\; ", " ": r"\, "}
_FUNCTIONS = {"(": "", "σ(": r"\sigma", "tanh(": r"\tanh"}
POWER = re.compile(r"e([−+]?)0*(\d+)$")
"""The power of ten at the end of a number."""

_LONG = 60
"""What fits on a line of a page, in characters: a longer equation has a line for each of its sides, or more."""

_BREAKS = (" + ", " − ", " ∘ ", " / ", "; ")


def aligned(lines: Iterable[WorkLine], environment: str) -> str:
    """Return equations below each other, their signs aligned; one with columns has a line for each of its sides."""
    body = " \\\\\n".join(f"  {_line(line)}" for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _line(line: WorkLine) -> str:
    first, *sides = [[*side] for equal, side in groupby(line, key=lambda piece: piece == " = ") if not equal]
    broken = any(isinstance(piece, Block) for piece in line) or _width(line) > _LONG
    written = (" \\\\\n  &= " if broken else " = ").join(map(_side, sides))
    return f"{''.join(map(_piece, first))} &= {written}"


def _side(side: Sequence[Piece]) -> str:
    """Return a side of an equation, on several lines where it is too long; brackets that pair on one line grow."""
    if _width(side) <= _LONG:
        return "".join(map(_piece, side))
    rows: list[list[Piece]] = [[]]
    for piece in side:
        if piece in _BREAKS and _width(rows[-1]) > _LONG // 2:
            rows.append([])
        rows[-1].append(piece)
    fixed = {r"\left(": r"\Bigl(", r"\right)": r"\Bigr)"}
    texts = ["".join(_fixed(_piece(piece), fixed) for piece in row) for row in rows]
    return " \\\\\n  &\\quad ".join(texts)


def _fixed(text: str, sizes: Mapping[str, str]) -> str:
    """Return a bracket that does not grow in place of one that does: these must pair on one line."""
    for growing, fixed in sizes.items():
        if text.endswith(growing):
            return text.removesuffix(growing) + fixed
    return text


def _width(line: Sequence[Piece]) -> int:
    """Return how wide pieces are, about, in characters."""
    return sum(map(_width_of, line))


def _width_of(piece: Piece) -> int:
    if isinstance(piece, Block):
        return sum(max(map(len, column)) + 2 for column in zip(*piece.rows, strict=True)) + 2
    return len(piece if isinstance(piece, str) else piece[0])


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
    found = POWER.search(text)
    power = f" \\cdot 10^{{{'-' if found[1] == '−' else ''}{found[2]}}}" if found else ""
    return typeset((text[: found.start()] if found else text).replace("−", "-")) + power
