"""How wide mathematics is on a page of LaTeX, about, in points: so that it goes on below. Knows looks only."""

from __future__ import annotations

from rnncalc.reports.equations import Line, Term, plain_piece

PAGE = 450.0
"""The width of the text on a page."""

QUAD = 10.0
"""How far a line is indented that goes on with what is above it."""

SMALL = 0.8
"""The size of what stands below a letter."""

_WIDE = {
    **dict.fromkeys("+−=×⋅-", 8.0),
    **dict.fromkeys("mw", 9.0),
    **dict.fromkeys(".,;·", 3.0),
    **dict.fromkeys("()[]", 5.0),
    **dict.fromkeys("0123456789/", 5.0),
    " ": 2.5,  # beside a sign
}


def text_width(text: str) -> float:
    """Return the width of letters, digits and signs."""
    return sum(_WIDE.get(char) or (11.0 if char.isupper() else 6.0) for char in text)


def line_width(line: Line) -> float:
    """Return the width of an equation, or a part of one, with the shapes below its terms."""
    return sum(max(text_width(plain_piece(piece)), _shape_width(piece)) for piece in line)


def _shape_width(piece: object) -> float:
    return SMALL * text_width("×".join(map(str, piece.shape))) if isinstance(piece, Term) else 0.0
