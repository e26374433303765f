"""What formats for people share: how a value is written, which rows are shown, how wide a terminal is.

Every string that a format writes is escaped here or by `text.escape`, so that reports need not escape.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from rnncalc.reports.sheet import Arithmetic, Bar, Phrase, Row, Sheet, TensorName, Value
from rnncalc.text import bracketed, decimal, escape

BAR = 16
"""The length of a whole bar, in characters."""

USUAL_WIDTH = 80
"""The width of a terminal that does not report one."""

MOST_ROWS = 2_001
"""Of more rows, the middle ones become one row."""

MOST_OF_A_NAME, MOST_OF_A_NOTE, MOST_OF_A_SUM = 200, 2_000, 10_000
"""Longer text is cut, in characters."""


def text_of(value: Value, *, longest: int = MOST_OF_A_SUM, limit: int = MOST_OF_A_NAME, bar: int = BAR) -> str:
    """Return a value as text, with every name in it escaped.

    None is a dash, an unknown number of steps the letter T. An equation that is longer than `longest`
    has two lines; text is cut at `limit` characters; a whole bar is `bar` characters long.
    """
    match value:
        case None:
            return "–"
        case int():
            return f"{value:,}"
        case float():
            return decimal(value)
        case Arithmetic():
            letters, numbers = (escape(side, MOST_OF_A_SUM) for side in value)
            whole = letters if letters == numbers else f"{letters} = {numbers}"
            return whole if len(whole) <= longest or letters == numbers else f"{letters}\n= {numbers}"
        case TensorName():
            return escape(value.text, limit)
        case Phrase():
            from rnncalc.reports.equations import plain_words  # few reports have phrases

            return escape(plain_words(value.parts), limit)
        case Bar():
            eighths = round(value.share * bar * 8)
            return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        case tuple():
            return bracketed(value)
        case _:
            return escape(value, limit)


def shortened(sheet: Sheet) -> list[Row]:
    """Return the rows; if there are too many, the first and the last ones, and one row for those between.

    That row has the sums of the columns that the total adds up.
    """
    rows = [*sheet.rows]
    if len(rows) <= MOST_ROWS:
        return rows
    head, middle, tail = rows[:20], rows[20:-20], rows[-20:]
    total = sheet.total if sheet.summed else None
    sums = [
        _sum(values) if total and column.right and not isinstance(total[place], str) else ""
        for place, (column, values) in enumerate(zip(sheet.columns, zip(*middle, strict=True), strict=True))
    ]
    return [*head, (f"… {len(middle):,} more", *sums[1:]), *tail]


def _sum(values: Sequence[Value]) -> Value:
    numbers = [value for value in values if isinstance(value, int)]
    return sum(numbers) if len(numbers) == len(values) else None


def terminal_width() -> int:
    """Return the width from COLUMNS, else that of the terminal, else 80.

    The standard library's own answer imports four kinds of compression first, 2 ms.
    """
    with suppress(KeyError, ValueError):
        if (asked := int(os.environ["COLUMNS"])) > 0:
            return asked
    with suppress(AttributeError, OSError, ValueError):  # a pipe, or closed
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or USUAL_WIDTH  # type: ignore[union-attr]  # see above
    return USUAL_WIDTH
