"""Equations in MathML, for pages: letters with the shapes below them, or numbers.

An equation is several `math` elements, between which a narrow page may break it. Its plain text is added as a label, so
that screen readers read it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape as quoted
from typing import TypeVar

from rnncalc.formats import MOST_OF_A_SUM
from rnncalc.formats.mathematics import BREAKS, POWER
from rnncalc.letters import with_accents
from rnncalc.printable import escape
from rnncalc.typeset.equations import (
    GREEK,
    Block,
    Derivative,
    EquationText,
    Function,
    Piece,
    Root,
    Sign,
    Term,
    WorkPiece,
    parts,
    plain_piece,
)
from rnncalc.typeset.sheet import Phrase, Sheet, TensorName


def _between(sign: str, space: float) -> str:
    """Return a sign between two terms; at the start of an element it is that still."""
    return f'<mo form="infix" lspace="{space}em" rspace="{space}em">{sign}</mo>'


_SIGNS: dict[str, str] = {
    Sign.PLUS: _between("+", 0.28),
    Sign.MINUS: _between("−", 0.28),
    Sign.EQUALS: _between("=", 0.28),
    Sign.ELEMENTWISE: _between("∘", 0.22),
    Sign.TIMES: _between("·", 0.22),
    Sign.CONVOLVED: _between("∗", 0.22),
    Sign.OVER: _between("/", 0.22),
    Sign.APPLIED: '<mspace width="0.167em"></mspace>',
    Sign.COMMA: '<mo form="infix" lspace="0" rspace="0.222em">,</mo>',
    Sign.SEMICOLON: '<mo form="infix" lspace="0" rspace="0.28em">;</mo>',
    Sign.ONE: "<mn>1</mn>",
    Sign.OPEN: '<mo form="prefix" stretchy="false">(</mo>',
    Sign.CLOSE: '<mo form="postfix" stretchy="false">)</mo>',
    Sign.OPEN_STACK: '<mo form="prefix" stretchy="false">[</mo>',
    Sign.CLOSE_STACK: '<mo form="postfix" stretchy="false">]</mo>',
    Sign.TRANSPOSED: '<mo form="postfix" lspace="0" rspace="0">ᵀ</mo>',
}
"""Brackets must not grow: they would enclose the shapes too."""

_DEPTH = 0.38
"""The depth of a term in em, with a subscript or without, so that shapes are in one line."""

_WORK_SIGNS = _SIGNS | {"·": _between("·", 0.1), "(": '<mo form="prefix">(</mo>', ")": '<mo form="postfix">)</mo>'}
_WORK_BREAKS = (" = ", " + ")
"""A side of an equation with numbers may be broken before these signs."""

Part = TypeVar("Part", bound=Piece | WorkPiece)


def displayed(sheet: Sheet) -> Iterator[str]:
    """Yield the equations of a sheet, their signs of equality aligned: those in letters, then those with numbers."""
    if sheet.equations:
        yield _aligned("Equations", sheet.equations, _piece, BREAKS)
    if sheet.work:
        yield _aligned("Numbers", sheet.work, _work_piece, _WORK_BREAKS)


def _aligned(
    label: str, lines: Iterable[tuple[Part, ...]], written: Callable[[Part], str], breaks: tuple[str, ...]
) -> str:
    rows = []
    for line in lines:
        place = line.index(Sign.EQUALS) + 1 if Sign.EQUALS in line else 0
        left = _math(map(written, line[:place])) if place else ""
        right = "<wbr/>".join(_math(map(written, part)) for part in parts(line[place:], breaks))
        whole = text("".join(map(plain_piece, line)))
        rows.append(f'<div role="math" aria-label="{whole}"><span>{left}</span> <span>{right}</span></div>\n')
    return f'<div class="equations scroll" role="group" aria-label="{label}" tabindex="0">\n{"".join(rows)}</div>\n'


def _math(pieces: Iterable[str]) -> str:
    return f"<math>{''.join(pieces)}</math>"


def name(tensor: TensorName) -> str:
    """Return the name of a tensor as a symbol, the mark of a direction before it."""
    before = f"{text(tensor.before)} " if tensor.before else ""
    return f"{before}<math>{symbol(tensor.letter, tensor.below, tensor.above)}</math>"


def phrase(words: Phrase) -> str:
    """Return words with mathematics among them."""
    return "".join(text(part) if isinstance(part, str) else _math(map(_piece, part)) for part in words.parts)


def _piece(piece: Piece) -> str:
    match piece:
        case Function():
            kind = "mtext" if " " in piece.name else "mi"
            return f"<{kind}>{text(piece.name.replace(' ', chr(0xA0)))}</{kind}>"
        case str():
            return _SIGNS.get(piece) or f"<mtext>{text(piece)}</mtext>"
        case Root():
            letter, _, below = piece.size.partition("_")
            size = symbol(letter, below) if piece.size.isidentifier() else _size(piece.size)
            return f"<msqrt>{size}</msqrt>"
        case Derivative():
            above, below = (f"<mrow><mi>∂</mi>{_piece(variable)}</mrow>" for variable in piece)
            return f"<mfrac>{above}{below}</mfrac>"
    term = symbol(piece.letter, piece.subscript or piece.time, piece.above)
    if not piece.shape:
        return term
    shape = '<mo lspace="0" rspace="0">×</mo>'.join(map(_size, piece.sizes))
    return f'<munder><mpadded depth="{_DEPTH}em">{term}</mpadded><mrow class="shape">{shape}</mrow></munder>'


def _size(size: str) -> str:
    """Return a size, a number or an expression of letters."""
    return f"<mn>{size}</mn>" if size.isdecimal() else f"<mtext>{size}</mtext>"


def symbol(letter: str, below: str = "", above: str = "") -> str:
    """Return a letter, a Greek one for its name, with its subscript and the number of its layer above."""
    symbol = f"<mi>{text(GREEK.get(letter, letter))}</mi>"
    outer, _, inner = ("".join(map(_below, with_accents(part))) for part in escape(below, MOST_OF_A_SUM).partition("_"))
    index = f"<msub><mrow>{outer}</mrow><mrow>{inner}</mrow></msub>" if inner else outer  # of E_(x_t)
    if above:
        number = "".join(map(_below, escape(above, MOST_OF_A_SUM)))
        return f"<msubsup>{symbol}<mrow>{index}</mrow><mrow>{number}</mrow></msubsup>"
    return f"<msub>{symbol}<mrow>{index}</mrow></msub>" if below else symbol


def _below(char: str) -> str:
    """Return a character of a subscript; a letter is slanted."""
    if char[0].isalpha():
        return f"<mi>{char}</mi>"
    return f"<mn>{char}</mn>" if char.isdigit() else f'<mo lspace="0" rspace="0">{quoted(char)}</mo>'


def text(text: str) -> str:
    """Return escaped text."""
    return quoted(escape(text, MOST_OF_A_SUM))


def _work_piece(piece: WorkPiece) -> str:
    match piece:
        case Term() | Function() | Derivative() | Root():
            return _piece(piece)
        case EquationText():
            return f"<mtext>{text(piece.name)}</mtext>"
        case Block():
            cells = ("".join(f"<mtd>{_number(cell)}</mtd>" for cell in row) for row in piece.rows)
            rows = "".join(f"<mtr>{row}</mtr>" for row in cells)
            return f'<mrow><mo form="prefix">[</mo><mtable>{rows}</mtable><mo form="postfix">]</mo></mrow>'
        case str() if piece in _WORK_SIGNS:
            return _WORK_SIGNS[piece]
        case _:
            return _number(piece)


def _number(number: str) -> str:
    """Return a number, its power of ten written out."""
    exponent = POWER.search(number)
    if not exponent:
        return f"<mn>{text(number)}</mn>"
    power = f"<msup><mn>10</mn><mn>{'−' if exponent[1] == '−' else ''}{exponent[2]}</mn></msup>"
    return f"<mn>{text(number[: exponent.start()])}</mn>{_WORK_SIGNS['·']}{power}"
