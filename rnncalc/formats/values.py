"""How a value is written for people, the same in every format that is for people."""

from __future__ import annotations

from rnncalc.reports.sheet import Arithmetic, Bar, Value
from rnncalc.text import escape

BAR = 16
"""The length of a whole bar, in characters."""


def text_of(value: Value, *, lines: bool = False, limit: int = 200) -> str:
    """Return a value as text, any name in it made harmless.

    None is a dash, an unknown number of steps the letter T. With `lines` an equation's two sides stand on two;
    text is cut at `limit` characters.
    """
    match value:
        case None:
            return "–"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}" if abs(value) < 1e12 else f"{value:.3g}"
        case Arithmetic():
            if value.letters == value.numbers:
                return value.letters
            return f"{value.letters}{chr(10) if lines else ' '}= {value.numbers}"
        case Bar():
            eighths = round(value.share * BAR * 8)
            return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        case tuple():
            return f"({', '.join('T' if size is None else str(size) for size in value)})"
        case _:
            return escape(value, limit)
