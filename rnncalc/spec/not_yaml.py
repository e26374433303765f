"""Finds the probable mistake in a file that YAML's parser refuses, from its lines. Imported only then.

The parser says where it stopped, in the words of a grammar. People think in lines: a key too far in, a colon left out,
a text that needs quotes. Each mistake is a row of the table at the end; the first that fits is reported. Knows the
names of a spec's keys, but not their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

from rnncalc.bounds import LONGEST_ABOVE, MAX_DEPTH, MOST_ABOVE
from rnncalc.layers import KINDS
from rnncalc.layers.options import OPTIONS, Text
from rnncalc.network.validation import KEYS
from rnncalc.printable import escape
from rnncalc.spec.reader import OUTPUT_KEYS, PART_KEYS, TOP_KEYS

Place = tuple[int, int]
"""A line and a column, both counted from 0, as in YAML's marks."""

PlacedMessage = tuple[Place, str] | None
"""The place, and the message with its cure; None if a mistake does not apply."""

_WORD = r"[\w.-]+"
_LINE = re.compile(rf"(?P<indent> *)(?P<dash>-(?: +|$))?(?:(?P<key>{_WORD}) *(?P<colon>:(?=\s|$))?)?(?P<value>.*)")
_NO_COLON = re.compile(rf" *(?:- +)?(?P<key>{_WORD})(?:(?: *[:=] *| +)(?P<value>[\w.]+))?\s*(?:#.*)?")
_ALLOWED = KEYS | {name: option.allowed for name, option in OPTIONS.items()}
_TEXT_KEYS = {key for key, allowed in _ALLOWED.items() if isinstance(allowed, Text)}


class Line(NamedTuple):
    """A line in its parts; `column` is the start of its key, `dash` that of its dash."""

    number: int
    dash: int | None
    column: int
    key: str
    colon: bool
    value: str

    @property
    def place(self) -> Place:
        """Where its key starts."""
        return self.number, self.column


class RefusedText:
    """A text with PyYAML's error: where the parser stopped, and where the part that it was reading starts."""

    def __init__(self, error: Any, text: str) -> None:
        self.lines = text.splitlines()
        self.says = f"{error.problem} {error.context}"
        self.at = self.place(error.problem_mark)
        self.within = error.context_mark and self.place(error.context_mark)
        self.here = self.line(self.at[0])
        before = self.lines[self.at[0]][: self.at[1]]
        self.at_start = not before.strip()
        no_mapping = "mapping values" in self.says
        self.key_is_refused = no_mapping and self.here.colon and ":" not in before[self.here.column :]
        self.second_colon = no_mapping and not self.key_is_refused

    def place(self, mark: Any) -> Place:
        """Return the place of a mark; for a mark after the end, the end of the last line."""
        return (mark.line, mark.column) if mark.line < len(self.lines) else (len(self.lines) - 1, len(self.lines[-1]))

    def line(self, number: int) -> Line:
        """Return a line in its parts, without its comment."""
        match = _LINE.match(self.lines[number][:LONGEST_ABOVE])
        assert match
        dash, key, indent = match["dash"], match["key"] or "", len(match["indent"])
        value = re.sub(r"(^|\s)#.*", "", match["value"]).strip()
        return Line(number, indent if dash else None, indent + len(dash or ""), key, bool(match["colon"]), value)

    def above(self) -> Iterator[Line]:
        """Yield the lines above this one that have a word or a dash, nearest first."""
        for number in range(self.here.number - 1, max(self.here.number - MOST_ABOVE, 0) - 1, -1):
            line = self.line(number)
            if line.key or line.dash is not None:
                yield line

    def blocks(self) -> Iterator[Line]:
        """Yield the first lines of the blocks that are open at this line, innermost first."""
        limit = inf
        for line in self.above():
            if line.column < limit or (line.column == limit and line.dash is not None):
                yield line
                limit = line.column if line.dash is None else line.dash + 1
            if not limit:
                break


def probable_mistake(error: Any, text: str) -> PlacedMessage:
    """Return what is wrong with a text, from PyYAML's error; None if no mistake in the table fits."""
    if not error.problem_mark or not text.strip("\r\n"):
        return None
    refused = RefusedText(error, text)
    line, column = refused.at
    if "\t" in refused.lines[line][: column + 1]:
        return refused.at, "a tab is where only spaces may be; indent with spaces"
    if "nesting depth" in refused.says:  # which libyaml refuses from 0.2.6 on, before it says what is in it
        return refused.at, f"nested deeper than {MAX_DEPTH} levels; no spec is"
    return next((message for reading in _READINGS if (message := reading(refused))), None)


def _missing_colon(text: RefusedText) -> PlacedMessage:
    """Recognise `output 1`, and a line that a plain word ran into."""
    start = None  # the word that ran into this line
    if "expected ':'" in text.says and text.within:
        start = text.line(text.within[0])
    elif text.key_is_refused:
        for start in text.above():
            if start.colon or start.dash is not None:
                break
        if start is None or not start.key or start.colon:
            return None
    if start is None:
        return None
    match = _NO_COLON.fullmatch(text.lines[start.number])
    cure = f"; write {escape(match['key'])}:{' ' if match['value'] else ''}{match['value'] or ''}" if match else ""
    return start.place, f"a colon is missing on this line{cure}"


def _second_colon(text: RefusedText) -> PlacedMessage:
    """Recognise `name: homework 2: LSTM` and `- lstm: 20, bias: false`."""
    line = text.here
    if not text.second_colon or not line.colon:
        return None
    if line.key in _TEXT_KEYS:
        return text.at, f"a text with a colon in it; {_quoted(line)}"
    if line.key == "layers":
        return text.at, f"a list starts on the line below its key; write - {escape(line.value)} there"
    return text.at, "a second key on this line; give each key a line of its own"


def _quoted(line: Line) -> str:
    """Return how to write a line's value as a text."""
    value = line.value
    if len(value) > 60 or not value.isprintable():
        return "put it in quotes"
    if len(value) > 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    quoted = f'"{value}"' if '"' not in value and "\\" not in value else "'" + value.replace("'", "''") + "'"
    return f"write {line.key}: {quoted}"


def _unclosed(text: RefusedText) -> PlacedMessage:
    """Recognise quotes and brackets that open and do not close."""
    if text.within is None:
        return None
    line, column = text.within
    opened = text.lines[line][column : column + 1]
    if "quoted" in text.says and "end of stream" in text.says:
        return text.within, f"the quotes ({opened}) that open here are not closed"
    if (closing := {"[": "]", "{": "}"}.get(opened)) and "flow" in text.says:
        return text.at, f"expected a comma or {closing} here: the {opened} in line {line + 1} is not closed"
    here = text.lines[text.at[0]][text.at[1] : text.at[1] + 1]
    return (text.at, f"no bracket opens this {here}; remove it") if here in ("]", "}") else None


def _text(text: RefusedText) -> PlacedMessage:
    """Recognise a text with characters that mean something in YAML: `name: 'it's`, `name: @home`, `name: > 5 units`."""
    line = text.here
    if not line.colon or not line.value or text.at_start or "mapping values" in text.says:
        return None
    if line.key in _TEXT_KEYS:
        return text.at, f"a text that YAML reads in its own way; {_quoted(line)}"
    if "cannot start" not in text.says:
        return None
    sign = text.lines[line.number][text.at[1] : text.at[1] + 1]
    return text.at, f"'{escape(sign)}' may not start a word; remove it"


def _text_goes_on(text: RefusedText) -> PlacedMessage:
    """Recognise a colon in a later line of a text."""
    line = text.here
    if "mapping values" not in text.says or line.key in TOP_KEYS or line.key in OPTIONS or line.dash is not None:
        return None
    block_above = next((block for block in text.blocks() if block.colon), None)
    if block_above is None or block_above.key not in _TEXT_KEYS:
        return None
    return text.at, f"the text of {block_above.key} goes on to here, with a colon in it; put all of it in quotes"


def _value_and_options(text: RefusedText) -> PlacedMessage:
    """Recognise `output: 1` with `bias: false` below it."""
    line, output = text.here, next(text.above(), None)
    if not output or output.key != "output" or not output.value or output.column >= line.column:
        return None
    if line.key not in OUTPUT_KEYS or not line.colon:
        return None
    both = f"output: {{units: {output.value}, {line.key}: {line.value}}}"
    return line.place, f"the units are a key too where there are others; write {escape(both)}"


def _dash(text: RefusedText) -> PlacedMessage:
    """Recognise a dash beside a key or without its space, and one that is not below those before it."""
    line = text.here
    if "sequence entries are not allowed" in text.says:
        return text.at, "a list starts on the line below its key; put the dash there"
    if not text.at_start:
        return None
    if line.dash is None:
        if not line.key.startswith("-"):
            return None
        written = f"{line.key[1:]}{': ' if line.colon else ' '}{line.value}".strip()
        return text.at, f"a space is missing after the dash; write - {escape(written)}"
    before = next((block for block in text.blocks() if block.dash is not None), None)
    if before is None or before.dash == line.dash or before.dash is None:
        return None
    dashes = f"start it in column {before.dash + 1}, below the dash of line {before.number + 1}"
    return (line.number, line.dash), f"this dash starts in column {line.dash + 1}; {dashes}"


def _misplaced(text: RefusedText) -> PlacedMessage:
    """Recognise a key in a wrong column: an option below the dash, or one too far in or out."""
    line = text.here
    if line.dash is not None or not line.colon or not (text.at_start or text.key_is_refused):
        return None
    blocks = [*text.blocks()]
    inner = blocks[0] if blocks else None
    if line.key in KINDS and inner and inner.key in KINDS:
        return line.place, f"a layer of its own starts with a dash; write - {line.key}: {escape(line.value)}"
    if line.key in TOP_KEYS and line.key not in OPTIONS:
        last_dash = max((place for place, block in enumerate(blocks) if block.dash is not None), default=-1)
        outside = blocks[last_dash + 1 :]
        inner = (outside[0] if line.key in PART_KEYS else outside[-1]) if outside else inner
    if inner is None or inner.column == line.column:
        return None
    below = f"start it in column {inner.column + 1}, below '{escape(inner.key)}'"
    return line.place, f"'{escape(line.key)}' starts in column {line.column + 1}; {below}"


_READINGS = (_missing_colon, _second_colon, _unclosed, _text, _text_goes_on, _value_and_options, _dash, _misplaced)
