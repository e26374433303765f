"""The lines of a file that YAML's parser refuses, each in its parts; what is wrong with them is `not_yaml.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

MOST_ABOVE, LONGEST = 10_000, 1_000
"""How many lines above a place are looked at, and how much of each."""

Place = tuple[int, int]
"""A line and a column, both counted from 0, as YAML's marks are."""

WORD = r"[\w.-]+"
_LINE = re.compile(rf"(?P<indent> *)(?P<dash>-(?: +|$))?(?:(?P<key>{WORD}) *(?P<colon>:(?=\s|$))?)?(?P<value>.*)")


class Line(NamedTuple):
    """A line in its parts; `column` is where its key starts, `dash` where its dash does."""

    number: int
    dash: int | None
    column: int
    key: str
    colon: bool
    value: str


class Refused(NamedTuple):
    """A refused file: its lines, where the parser gave up, and where what it was then in starts, if it says."""

    lines: list[str]
    at: Place
    within: Place | None
    says: str

    @property
    def here(self) -> Line:
        """The line where the parser gave up."""
        return line_at(self.lines, self.at[0])

    @property
    def starts_here(self) -> bool:
        """Whether it gave up at the start of the line."""
        return not self.lines[self.at[0]][: self.at[1]].strip()


def line_at(lines: list[str], number: int) -> Line:
    """Return a line in its parts, without its comment."""
    found = _LINE.match(lines[number][:LONGEST])
    assert found
    dash, key = found["dash"], found["key"] or ""
    indent = len(found["indent"])
    value = re.sub(r"(^|\s)#.*", "", found["value"]).strip()
    return Line(number, indent if dash else None, indent + len(dash or ""), key, bool(found["colon"]), value)


def above(lines: list[str], number: int) -> Iterator[Line]:
    """Yield the lines above one that have a word or a dash, the nearest first."""
    for nearest in range(number - 1, max(number - MOST_ABOVE, 0) - 1, -1):
        line = line_at(lines, nearest)
        if line.key or line.dash is not None:
            yield line


def blocks_above(lines: list[str], number: int) -> list[Line]:
    """Return the first lines of the blocks that stand open above a line, the innermost first."""
    found: list[Line] = []
    limit = inf
    for line in above(lines, number):
        if line.column < limit or (line.column == limit and line.dash is not None):
            found.append(line)
            limit = line.column if line.dash is None else line.dash + 1
        if not limit:
            break
    return found


def refused(error: Any, text: str) -> Refused | None:
    """Return a text with PyYAML's error about it; None where that names no place."""
    lines = text.splitlines()
    if not error.problem_mark or not lines:
        return None
    within = error.context_mark and _within(lines, error.context_mark)
    return Refused(lines, _within(lines, error.problem_mark), within, f"{error.problem} {error.context}")


def _within(lines: list[str], mark: Any) -> Place:
    """Return the place of a mark; the end of the last line for one behind it."""
    return (mark.line, mark.column) if mark.line < len(lines) else (len(lines) - 1, len(lines[-1]))
