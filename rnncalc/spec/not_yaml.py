"""What was probably meant by a file that YAML's parser refuses, read off its lines: imported when one is refused.

The parser tells where it gave up, in the words of a grammar. Who wrote the file thinks in lines: a key too far in, a
colon left out, a text that wants quotes. Each reading is a row of the table at the end, and takes the lines and the
place; the first that knows better says so. Knows the names of a spec's keys, and nothing of their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NamedTuple

from rnncalc.layers.kinds import KINDS
from rnncalc.layers.options import OPTIONS, Text
from rnncalc.network.validation import KEYS
from rnncalc.spec.reader import OUTPUT_KEYS, PART_KEYS, TOP_KEYS
from rnncalc.text import escape

MOST_ABOVE, LONGEST = 10_000, 1_000
"""How many lines above a place are looked at, and how much of each."""

Place = tuple[int, int]
"""A line and a column, both counted from 0, as YAML's marks are."""

WORD = r"[\w.-]+"
_LINE = re.compile(rf"(?P<indent> *)(?P<dash>-(?: +|$))?(?:(?P<key>{WORD}) *(?P<colon>:(?=\s|$))?)?(?P<value>.*)")
_NO_COLON = re.compile(rf" *(?:- +)?(?P<key>{WORD})(?:(?: *[:=] *| +)(?P<value>[\w.]+))?\s*(?:#.*)?")
_TEXT_KEYS = {key for key, allowed in KEYS.items() if isinstance(allowed, Text)} | {
    name for name, option in OPTIONS.items() if isinstance(option.allowed, Text)
}
_CLOSED_BY = {"[": "]", "{": "}"}

Told = tuple[Place, str] | None
"""The place, and what is wrong there with its cure; None where a reading does not apply."""


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


def told(error: Any, text: str) -> Told:
    """Return what is wrong with a text, from PyYAML's error; None where nothing better than its words is known."""
    file = refused(error, text)
    if file is None:
        return None
    return next((said for reading in _READINGS if (said := reading(file))), None)


def _tab(file: Refused) -> Told:
    line, column = file.at
    if "\t" not in file.lines[line][: column + 1]:
        return None
    return file.at, "a tab stands where only spaces may; indent with spaces"


def _missing_colon(file: Refused) -> Told:
    """Read `output 1`, and the line before one that a plain word ran into."""
    if "expected ':'" in file.says and file.within:
        return _without_colon(file.lines, file.within[0])
    if not _key_is_refused(file):
        return None
    start = None  # of the word that ran into this line
    for start in above(file.lines, file.at[0]):
        if start.colon or start.dash is not None:
            break
    return _without_colon(file.lines, start.number) if start and start.key and not start.colon else None


def _without_colon(lines: list[str], number: int) -> Told:
    line = line_at(lines, number)
    found = _NO_COLON.fullmatch(lines[number])
    cure = f"; write {escape(found['key'])}:{' ' if found['value'] else ''}{found['value'] or ''}" if found else ""
    return (number, line.column), f"a colon is missing on this line{cure}"


def _key_is_refused(file: Refused) -> bool:
    """Return whether the key that this line starts with is what may not stand here."""
    line = file.here
    return "mapping values" in file.says and line.colon and file.at[1] == _colon_at(file.lines[line.number], line)


def _colon_at(text: str, line: Line) -> int:
    return text.index(":", line.column)


def _second_colon(file: Refused) -> Told:
    """Read `name: homework 2: LSTM` and `- lstm: 20, bias: false`."""
    line = file.here
    if "mapping values" not in file.says or not line.colon or _key_is_refused(file):
        return None
    if line.key in _TEXT_KEYS:
        return file.at, f"a text with a colon in it; {_quoted(line)}"
    if line.key == "layers":
        return file.at, f"a list starts on the line below its key; write - {escape(line.value)} there"
    return file.at, "a second key on this line; give each key a line of its own"


def _quoted(line: Line) -> str:
    """Return how to write a line's value as a text."""
    value = line.value
    if len(value) > 60 or not value.isprintable():
        return "put it in quotes"
    if len(value) > 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    quoted = f'"{value}"' if '"' not in value and "\\" not in value else "'" + value.replace("'", "''") + "'"
    return f"write {line.key}: {quoted}"


def _text(file: Refused) -> Told:
    """Read a text with what YAML has a meaning for: `name: 'it's`, `name: @home`, `name: > 5 units`."""
    line = file.here
    if not line.colon or not line.value or file.starts_here or "mapping values" in file.says:
        return None
    if line.key in _TEXT_KEYS:
        return file.at, f"a text that YAML reads in its own way; {_quoted(line)}"
    if "cannot start" not in file.says:
        return None
    sign = file.lines[line.number][file.at[1] : file.at[1] + 1]
    return file.at, f"'{escape(sign)}' may not start a word; remove it"


def _unclosed(file: Refused) -> Told:
    """Read quotes and brackets that open and do not close."""
    if file.within is None:
        return None
    line, column = file.within
    opened = file.lines[line][column : column + 1]
    if "quoted" in file.says and "end of stream" in file.says:
        return file.within, f"the quotes ({opened}) that open here are not closed"
    if (closing := _CLOSED_BY.get(opened)) and "flow" in file.says:
        if _closes([file.lines[line][column:], *file.lines[line + 1 :]], opened, closing):
            return file.at, f"expected a comma or {closing} here"
        return file.within, f"the bracket {opened} that opens here is not closed; add {closing}"
    here = file.lines[file.at[0]][file.at[1] : file.at[1] + 1]
    return (file.at, f"no bracket opens this {here}; remove it") if here in ("]", "}") else None


def _closes(lines: list[str], opened: str, closing: str) -> bool:
    """Return whether the bracket that lines start with is closed in them."""
    depth = 0
    for bracket in re.findall(rf"[{re.escape(opened + closing)}]", "\n".join(lines)):
        depth += 1 if bracket == opened else -1
        if not depth:
            return True
    return False


def _list_beside_key(file: Refused) -> Told:
    if "sequence entries are not allowed" not in file.says:
        return None
    return file.at, "a list starts on the line below its key; put the dash there"


def _text_goes_on(file: Refused) -> Told:
    """Read a colon in a later line of a text."""
    line = file.here
    if "mapping values" not in file.says or line.key in TOP_KEYS or line.key in OPTIONS or line.dash is not None:
        return None
    of = next((block for block in blocks_above(file.lines, line.number) if block.colon), None)
    if of is None or of.key not in _TEXT_KEYS:
        return None
    return file.at, f"the text of {of.key} goes on to here, with a colon in it; put all of it in quotes"


def _value_and_options(file: Refused) -> Told:
    """Read `output: 1` with `bias: false` below it."""
    line = file.here
    output = next(above(file.lines, line.number), None)
    if not output or output.key != "output" or not output.value or output.column >= line.column:
        return None
    if line.key not in OUTPUT_KEYS or not line.colon:
        return None
    both = f"output: {{units: {output.value}, {line.key}: {line.value}}}"
    return (line.number, line.column), f"the units are a key too where there are others; write {escape(both)}"


def _dash(file: Refused) -> Told:
    """Read a dash without its space, and one that does not stand below those before it."""
    line = file.here
    if not file.starts_here:
        return None
    if line.dash is None:
        if not line.key.startswith("-"):
            return None
        written = f"{line.key[1:]}{': ' if line.colon else ' '}{line.value}".strip()
        return file.at, f"a space is missing after the dash; write - {escape(written)}"
    before = next((block for block in blocks_above(file.lines, line.number) if block.dash is not None), None)
    if before is None or before.dash == line.dash or before.dash is None:
        return None
    dashes = f"start it in column {before.dash + 1}, below the dash of line {before.number + 1}"
    return (line.number, line.dash), f"this dash starts in column {line.dash + 1}; {dashes}"


def _misplaced(file: Refused) -> Told:
    """Read a key whose column is that of no block: an option at the dash's, or one too far in or out."""
    line = file.here
    if line.dash is not None or not line.colon or not (file.starts_here or _key_is_refused(file)):
        return None
    blocks = blocks_above(file.lines, line.number)
    inner = blocks[0] if blocks else None
    if line.key in KINDS and inner and inner.key in KINDS:
        written = f"{line.key}: {escape(line.value)}"
        return (line.number, line.column), f"a layer of its own starts with a dash; write - {written}"
    if line.key in TOP_KEYS and line.key not in OPTIONS:
        last_dash = max((place for place, block in enumerate(blocks) if block.dash is not None), default=-1)
        outside = blocks[last_dash + 1 :]
        inner = (outside[0] if line.key in PART_KEYS else outside[-1]) if outside else inner
    if inner is None or inner.column == line.column:
        return None
    below = f"start it in column {inner.column + 1}, below '{escape(inner.key)}'"
    return (line.number, line.column), f"'{escape(line.key)}' starts in column {line.column + 1}; {below}"


_READINGS: tuple[Callable[[Refused], Told], ...] = (
    _tab,
    _missing_colon,
    _second_colon,
    _unclosed,
    _text,
    _text_goes_on,
    _value_and_options,
    _list_beside_key,
    _dash,
    _misplaced,
)
