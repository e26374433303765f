"""Equations in MathML, for pages: the shapes below their terms. Knows looks, not what is meant.

An equation is several `math` elements, between which a page may break it where it is narrow; what it says in plain text
stands with them, so that it is read out whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as quoted

from rnncalc.formats.mathematics import groups
from rnncalc.formats.values import MOST_OF_A_SUM
from rnncalc.reports.equations import GREEK, Derivative, Function, Line, Piece, Sign, plain
from rnncalc.reports.sheet import Name, Phrase
from rnncalc.text import escape


def between(sign: str, space: float) -> str:
    """Return a sign between two terms; at the start of an element it is that still."""
    return f'<mo form="infix" lspace="{space}em" rspace="{space}em">{sign}</mo>'


_SIGNS: dict[str, str] = {
    Sign.PLUS: between("+", 0.28),
    Sign.MINUS: between("−", 0.28),
    Sign.EQUALS: between("=", 0.28),
    Sign.ELEMENTWISE: between("∘", 0.22),
    Sign.TIMES: between("·", 0.22),
    Sign.OVER: between("/", 0.22),
    Sign.APPLIED: '<mspace width="0.167em"></mspace>',
    Sign.COMMA: '<mo form="infix" lspace="0" rspace="0.222em">,</mo>',
    Sign.ONE: "<mn>1</mn>",
    Sign.OPEN: '<mo form="prefix" stretchy="false">(</mo>',
    Sign.CLOSE: '<mo form="postfix" stretchy="false">)</mo>',
    Sign.OPEN_STACK: '<mo form="prefix" stretchy="false">[</mo>',
    Sign.CLOSE_STACK: '<mo form="postfix" stretchy="false">]</mo>',
}
"""Brackets do not grow: they would around the shapes, too."""

_DEPTH = 0.38
"""How far below the line a term reaches, in em, with a letter below it or without: so shapes stand in one line."""


def equations(lines: Iterable[Line]) -> str:
    """Return equations below each other, their signs of equality aligned."""
    rows = "".join(f"{_equation(line)}\n" for line in lines)
    return f'<div class="equations scroll" role="group" aria-label="Equations" tabindex="0">\n{rows}</div>\n'


def name(of: Name) -> str:
    """Return the name of a tensor as a symbol, the mark of a direction before it."""
    before = f"{text(of.before)} " if of.before else ""
    return f"{before}<math>{symbol(of.letter, of.below)}</math>"


def phrase(of: Phrase) -> str:
    """Return words with mathematics among them."""
    return "".join(text(part) if isinstance(part, str) else _math(part) for part in of.parts)


def _equation(line: Line) -> str:
    place = line.index(Sign.EQUALS) if Sign.EQUALS in line else -1
    left, right = line[: place + 1], line[place + 1 :]
    parts = "<wbr/>".join(_math(group) for group in groups(right))
    return f'<div role="math" aria-label="{text(plain(line))}"><span>{_math(left)}</span> <span>{parts}</span></div>'


def _math(line: Line) -> str:
    return f"<math>{''.join(map(_piece, line))}</math>"


def _piece(piece: Piece) -> str:
    match piece:
        case Function():
            return f"<mi>{text(piece.name)}</mi>"
        case str():
            return _SIGNS.get(piece) or f"<mtext>{text(piece)}</mtext>"
        case Derivative():
            above, below = (f"<mrow><mi>∂</mi>{_piece(of)}</mrow>" for of in piece)
            return f"<mfrac>{above}{below}</mfrac>"
    term = symbol(piece.letter, piece.subscript or piece.time)
    if not piece.shape:
        return term
    shape = '<mo lspace="0" rspace="0">×</mo>'.join(f"<mn>{size}</mn>" for size in piece.shape)
    return f'<munder><mpadded depth="{_DEPTH}em">{term}</mpadded><mrow class="shape">{shape}</mrow></munder>'


def symbol(letter: str, below: str = "") -> str:
    """Return a letter, a Greek one for its name, with what stands below it."""
    symbol = f"<mi>{text(GREEK.get(letter, letter))}</mi>"
    return (
        f"<msub>{symbol}<mrow>{''.join(map(_below, escape(below, MOST_OF_A_SUM)))}</mrow></msub>" if below else symbol
    )


def _below(char: str) -> str:
    """Return a character of what stands below a letter: each is a letter by itself, and slanted as one."""
    if char.isalpha():
        return f"<mi>{char}</mi>"
    return f"<mn>{char}</mn>" if char.isdigit() else f'<mo lspace="0" rspace="0">{quoted(char)}</mo>'


def text(text: str) -> str:
    """Return text in which nothing is markup."""
    return quoted(escape(text, MOST_OF_A_SUM))
