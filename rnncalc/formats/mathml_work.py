"""Equations with numbers in, in MathML: vectors as columns, matrices in brackets. Knows looks, not what is meant."""

from __future__ import annotations

from collections.abc import Iterable

from rnncalc.formats.breaks import parts
from rnncalc.formats.mathml import between, symbol, text
from rnncalc.formats.matrices import POWER
from rnncalc.reports.equations import Term
from rnncalc.reports.written_work import Block, Piece, Words, WorkLine

_SIGNS = {
    " = ": between("=", 0.28),
    " + ": between("+", 0.28),
    " − ": between("−", 0.28),
    " ∘ ": between("∘", 0.22),
    " / ": between("/", 0.22),
    "·": between("·", 0.1),
    "; ": '<mo form="infix" lspace="0" rspace="0.28em">;</mo>',
    ", ": '<mo form="infix" lspace="0" rspace="0.222em">,</mo>',
    " ": '<mspace width="0.167em"></mspace>',
    ")": '<mo form="postfix">)</mo>',
}
_BREAKS = (" = ", " + ")
"""Before which signs an equation may go on in a new line."""


def work(lines: Iterable[WorkLine]) -> str:
    """Return equations below each other, their first signs of equality aligned."""
    rows = "".join(f"{_line(line)}\n" for line in lines)
    return f'<div class="equations scroll" role="group" aria-label="Numbers" tabindex="0">\n{rows}</div>\n'


def _line(line: WorkLine) -> str:
    place = line.index(" = ") + 1 if " = " in line else 0
    right = "<wbr/>".join(_math(group) for group in parts(line[place:], _BREAKS))
    left = _math(line[:place]) if place else ""
    whole = text("".join(map(_plain, line)))
    return f'<div role="math" aria-label="{whole}"><span>{left}</span> <span>{right}</span></div>'


def _math(line: WorkLine) -> str:
    return f"<math>{''.join(map(_piece, line))}</math>"


def _piece(piece: Piece) -> str:
    match piece:
        case Term():
            return symbol(piece.letter, piece.subscript or piece.time)
        case Words():
            return f"<mtext>{text(piece.text)}</mtext>"
        case Block():
            cells = ("".join(f"<mtd>{_number(cell)}</mtd>" for cell in row) for row in piece.rows)
            rows = "".join(f"<mtr>{row}</mtr>" for row in cells)
            return f'<mrow><mo form="prefix">[</mo><mtable>{rows}</mtable><mo form="postfix">]</mo></mrow>'
        case str() if piece in _SIGNS:
            return _SIGNS[piece]
        case str() if piece.endswith("("):
            name = f"<mi>{text(piece[:-1])}</mi>" if len(piece) > 1 else ""
            return f'{name}<mo form="prefix">(</mo>'
        case _:
            return _number(piece)


def _number(number: str) -> str:
    """Return a number, its power of ten written out."""
    found = POWER.search(number)
    if not found:
        return f"<mn>{text(number)}</mn>"
    power = f"<msup><mn>10</mn><mn>{'−' if found[1] == '−' else ''}{found[2]}</mn></msup>"
    return f"<mn>{text(number[: found.start()])}</mn>{_SIGNS['·']}{power}"


def _plain(piece: Piece) -> str:
    match piece:
        case Term():
            return piece.name
        case Words():
            return piece.text
        case Block():
            return f"[{'; '.join(' '.join(row) for row in piece.rows)}]"
        case _:
            return piece
