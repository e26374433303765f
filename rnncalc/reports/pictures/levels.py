"""At which heights the rows of a network stand: recurrent layers of two halves whose states meet beside each other."""

from __future__ import annotations

from rnncalc.reports.pictures.boxes import size
from rnncalc.reports.pictures.plan import LeftOut, Row, Shown, When

Level = tuple[Row | None, ...]
"""The rows at one height, one a half; None where a half has none there."""

UP, JOINED = 2, 4
"""The lines between two rows: for an arrow, and for one that another joins."""


def levels(halves: list[list[Row]]) -> list[Level]:
    """Return the rows of one half, or of two, by their heights, the lowest first."""
    if len(halves) == 1:
        return [(row,) for row in halves[0]]
    giving, taking = halves
    common = {_number(row) for row in giving} & {_number(row) for row in taking} - {None}
    found: list[Level] = []
    parts = [_split(rows, common) for rows in halves]
    for place, (below, beside) in enumerate(zip(*parts, strict=True)):
        missing = len(beside) - len(below)
        left, right = [None] * max(missing, 0), [None] * max(-missing, 0)
        last = place == len(common)  # above the last that meet, rows stand on those; below, they reach up to the next
        found += zip(
            *(([*below, *left], [*beside, *right]) if last else ([*left, *below], [*right, *beside])), strict=True
        )
    return found


def _number(row: Row) -> int | None:
    return None if isinstance(row, LeftOut) else row.number


def _split(rows: list[Row], at: set[int | None]) -> list[list[Row]]:
    """Return rows in runs, each but the last with one of those that meet at its end."""
    runs: list[list[Row]] = [[]]
    for row in rows:
        runs[-1].append(row)
        if _number(row) in at:
            runs.append([])
    return runs


def joins(row: Row) -> bool:
    """Return whether the two directions of a layer end apart, and are joined for the one vector that it hands on."""
    return isinstance(row, Shown) and size(row).backward is not None and row.hands_on is When.LAST


def heights(found: list[Level], bridged: bool, room: int) -> tuple[list[int], int]:
    """Return the line in which the states of each level run, the lowest level first, and the line of the inputs.

    room: the lines above the highest level.
    """
    at: list[int] = []
    y = room
    for level in reversed(found):
        sizes = [size(row) for row in level if row]
        if at:
            y += UP
        if any(row and (joins(row) or (bridged and size(row).backward is not None)) for row in level):
            y += JOINED - UP
        y += max(each.forward for each in sizes)
        at.append(y)
        y += max(each.height - each.forward for each in sizes)
    return at[::-1], y + UP
