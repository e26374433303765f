"""Equations with numbers in, in LaTeX: vectors as columns, matrices in brackets. Needs amsmath alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rnncalc.formats.breaks import IN_WORK, parts
from rnncalc.formats.mathematics import LATEX_FUNCTIONS, latex, typeset
from rnncalc.formats.widths import PAGE, QUAD, text_width
from rnncalc.reports.equations import Term
from rnncalc.reports.written_work import Block, Piece, Words, WorkLine

_SIGNS = {
    " + ": " + ",
    " − ": " - ",
    " ∘ ": r" \circ ",
    "·": r" \cdot ",
    " / ": " / ",
    "; ": r";\; ",
    ", ": r",\, ",
    " ": r"\, ",
}
POWER = re.compile(r"e([−+]?)0*(\d+)$")
"""The power of ten at the end of a number."""

_BRACKETS, _BETWEEN, _GROWN = 12.0, 10.0, 4.0
"""The brackets of a matrix, the space between two of its columns, and by how much others grow beside one."""


def aligned(lines: Iterable[WorkLine], environment: str) -> str:
    """Return equations below each other, their signs aligned; one with columns has a line for each of its sides."""
    lines = [*lines]
    room = PAGE - max((_width(_name(line)) for line in lines), default=0.0)
    body = " \\\\\n".join(f"  {_line(line, room)}" for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def widest(lines: Iterable[WorkLine]) -> float:
    """Return how wide a page has to be for equations: a matrix, and what stands before it, cannot be parted."""
    lines = [*lines]
    left = max((_width(_name(line)) for line in lines), default=0.0)
    return left + 2 * QUAD + max((_width_of(piece) for line in lines for piece in line), default=0.0)


def _name(line: WorkLine) -> WorkLine:
    """Return the left side of an equation, and its sign."""
    return line[: line.index(" = ") + 1] if " = " in line else line


def _line(line: WorkLine, room: float) -> str:
    first, *sides = [[*side] for equal, side in groupby(line, key=lambda piece: piece == " = ") if not equal]
    broken = any(isinstance(piece, Block) for piece in line) or sum(map(_width, sides)) > room
    written = (" \\\\\n  &= " if broken else " = ").join(_side(side, room) for side in sides)
    return f"{''.join(map(_piece, first))} &= {written}"


def _side(side: Sequence[Piece], room: float) -> str:
    """Return a side of an equation, on several lines where it is too wide; brackets that pair on one line grow."""
    if _width(side) <= room:
        return "".join(map(_piece, side))
    rows: list[list[Piece]] = [[]]
    for group in parts(side, IN_WORK):
        for part in [group] if _width(group) <= room - QUAD else parts(group, (" ",)):
            if rows[-1] and _width((*rows[-1], *part)) > room - QUAD:
                rows.append([])
            rows[-1] += part
    fixed = {r"\left(": r"\Bigl(", r"\right)": r"\Bigr)"}
    texts = ["".join(_fixed(_piece(piece), fixed) for piece in row) for row in rows]
    return " \\\\\n  &\\quad ".join(texts)


def _fixed(text: str, sizes: Mapping[str, str]) -> str:
    """Return a bracket that does not grow in place of one that does: these must pair on one line."""
    for growing, fixed in sizes.items():
        if text.endswith(growing):
            return text.removesuffix(growing) + fixed
    return text


def _width(line: Sequence[Piece]) -> float:
    """Return how wide pieces are."""
    return sum(map(_width_of, line))


def _width_of(piece: Piece) -> float:
    if isinstance(piece, Block):
        columns = (max(map(text_width, column)) + _BETWEEN for column in zip(*piece.rows, strict=True))
        return sum(columns) + _BRACKETS
    grown = _GROWN * (isinstance(piece, str) and piece.endswith(("(", ")")))
    return grown + text_width(
        piece if isinstance(piece, str) else piece.name if isinstance(piece, Term) else piece.text
    )


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
            name = piece[:-1]
            function = LATEX_FUNCTIONS.get(name) or (name and f"\\mathrm{{{typeset(name)}}}")
            return rf"{function}\left("
        case _:
            return _number(piece)


def _number(text: str) -> str:
    """Return a number, its power of ten written out."""
    found = POWER.search(text)
    power = f" \\cdot 10^{{{'-' if found[1] == '−' else ''}{found[2]}}}" if found else ""
    return typeset((text[: found.start()] if found else text).replace("−", "-")) + power
