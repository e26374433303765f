"""Equations with the shapes below their terms, for a terminal, and in LaTeX. Knows looks, not what is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rnncalc.formats.breaks import parts
from rnncalc.formats.values import MOST_OF_A_SUM
from rnncalc.formats.widths import PAGE, QUAD, line_width
from rnncalc.reports.equations import GREEK, Derivative, Function, Line, Piece, Sign, Term, plain_piece
from rnncalc.reports.sheet import Name
from rnncalc.text import GREEK as LETTERS
from rnncalc.text import escape

ESCAPES = {
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
    **{sign: f"$^{power}$" for power, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "∘": r"$\circ$",
    "÷": r"$\div$",
    **{letter: f"$\\{name}$" for name, letter in LETTERS.items() if name != "omicron"},
    "ο": "o",
    "∂": r"$\partial$",
    "Σ": r"$\Sigma$",
    "−": "$-$",
    "…": r"\dots{}",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "⋯": r"$\cdots$",
    "⇄": r"$\leftrightarrow$",
}

_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
}
"""The commands that set accents in TeX's own fonts; others need fonts of their own."""

_LETTERS = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i"}
"""And those that set letters."""

_LATEX_GREEK = {name: f"\\{name}" for name in GREEK} | {"omicron": "o"}
"""The commands by the names; TeX has none for a letter that looks like a Latin one."""

_LATEX_SIGNS: dict[str, str] = {sign: sign.value for sign in Sign}
_LATEX_SIGNS |= {Sign.EQUALS: " &= ", Sign.MINUS: " - ", Sign.ELEMENTWISE: r" \circ ", Sign.TIMES: r" \cdot "}
_LATEX_SIGNS |= {Sign.APPLIED: r" \, ", Sign.COMMA: r",\, "}
LATEX_FUNCTIONS = {"σ": r"\sigma", **{name: f"\\{name}" for name in ("tanh", "min", "max", "exp")}}
"""The functions that TeX has a command for; others are words."""

_BREAKS = (Sign.PLUS, Sign.ELEMENTWISE, Sign.TIMES, Sign.OVER)
"""Before which signs an equation may go on in a new line."""


def with_shapes(line: Line, width: int, signs: Mapping[int, str] | None = None) -> Iterator[str]:
    """Yield an equation and its shapes below it, line by line, broken at its signs where it is wider than `width`.

    signs: what stands for signs that cannot be written.
    """
    signs = signs or {}
    rows = [_Rows()]
    indent = _Rows().with_pieces(line[:2], signs).width
    for group in groups(line):
        row = rows[-1].with_pieces(group, signs)
        if rows[-1].above.strip() and len(row.above.rstrip()) > width:
            rows.append(_Rows(" " * indent).with_pieces(group, signs))
        else:
            rows[-1] = row
    for row in rows:
        yield row.above.rstrip()
        yield row.below.rstrip()


def groups(line: Line) -> list[Line]:
    """Return the pieces of an equation that stay together: each from a sign to the next."""
    return parts(line, _BREAKS)


class _Rows(NamedTuple):
    """A part of an equation, and the shapes of its terms below it."""

    above: str = ""
    below: str = ""

    @property
    def width(self) -> int:
        return max(len(self.above), len(self.below))

    def with_pieces(self, pieces: Line, signs: Mapping[int, str]) -> _Rows:
        """Return the rows with more at their ends.

        A shape that is wider than its term takes what room there is before it, then behind; only where its neighbour's
        shape is in the way does the equation make room.
        """
        above, below = self
        for piece in pieces:
            text = plain_piece(piece).translate(signs)
            shape = "×".join(map(str, piece.shape)) if isinstance(piece, Term) else ""
            if shape:
                spare = len(text) - len(shape)
                free = len(below) + 1 if below else 0  # one space at the least between two shapes
                place = max(len(above) + (spare if spare < 0 else (spare + 1) // 2), free)
                above = above.ljust(place - max(spare, 0))
                below = below.ljust(place) + shape
            above += text
        return _Rows(above, below)


def aligned(lines: Iterable[Line], environment: str) -> str:
    """Return equations in LaTeX below each other, their first signs aligned; one that is too wide goes on below."""
    body = " \\\\\n".join(f"  {row}" for line in lines for row in _fitting(line))
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _fitting(line: Line) -> Iterator[str]:
    """Yield an equation in as many lines as it needs on a page."""
    rows: list[Line] = [()]
    indent = line_width(line[:2]) + QUAD
    for group in groups(line):
        if rows[-1] and line_width((*rows[-1], *group)) > PAGE - indent * (len(rows) > 1):
            rows.append(())
        rows[-1] = (*rows[-1], *group)
    yield latex(rows[0])
    yield from (f"&\\quad {latex(row)}" for row in rows[1:])


def latex(line: Line) -> str:
    """Return an equation in LaTeX, each term with its shape below, the sign of equality an alignment mark."""
    return "".join(map(_latex, line))


def inline(line: Line) -> str:
    """Return mathematics among words, between dollars: with nothing to align, nor a space that Markdown takes away."""
    plain_signs = (Sign.EQUALS, Sign.APPLIED)
    return f"${''.join(str(piece) if piece in plain_signs else _latex(piece) for piece in line)}$"


def named(name: Name) -> str:
    """Return the name of a tensor as mathematics has it, the mark of a direction before it in words."""
    before = f"{name.before.rstrip('/')} " if name.before else ""
    return f"{typeset(before)}${symbol(name.letter, name.below)}$"


def typeset(text: str) -> str:
    """Return text for LaTeX in which nothing is a command: in ASCII, with ? for what TeX's own fonts have not."""
    return "".join(ESCAPES.get(char) or _typeset(char) for char in escape(text, MOST_OF_A_SUM))


def _typeset(char: str) -> str:
    if char.isascii():
        return char
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}{{}}"
    from unicodedata import normalize  # few names need it

    decomposed = normalize("NFD", char)
    letter, accent = decomposed[0], _ACCENTS.get(decomposed[1:])
    if accent is None or not letter.isascii():
        return "?"
    return f"\\{accent}{{{letter}}}" if letter != "i" else f"\\{accent}{{\\i}}"


def symbol(letter: str, below: str = "") -> str:
    """Return a letter in LaTeX, a Greek one by its name, with what stands below it."""
    letter = _LATEX_GREEK.get(letter) or typeset(letter)
    return f"{letter}_{{{typeset(below)}}}" if below else letter


def _latex(piece: Piece) -> str:
    match piece:
        case Function():
            return LATEX_FUNCTIONS.get(piece.name) or f"\\operatorname{{{typeset(piece.name)}}}"
        case str():
            return _LATEX_SIGNS.get(piece) or f"\\text{{{typeset(piece)}}}"
        case Derivative():
            return f"\\frac{{\\partial {_latex(piece.of)}}}{{\\partial {_latex(piece.by)}}}"
    text = symbol(piece.letter, piece.subscript or piece.time.replace("−", "-"))
    if not piece.shape:
        return text
    shape = r" \times ".join(map(str, piece.shape))
    return f"\\underset{{{shape}}}{{{text}}}"
