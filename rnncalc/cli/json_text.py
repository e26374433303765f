"""Reads a JSON text value by value, however long it is: what is not asked for is checked, passed over, and not kept.

Stricter than Python's own reader: a key that stands twice, NaN and what does not end are problems, with their place.
Knows nothing of what the values mean.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from functools import cache

from rnncalc.errors import Path, Problem, SpecError
from rnncalc.text import escape

MOST_KEYS = 100
"""Of one object whose keys are looked at."""

MOST_TEXT = 10_000
"""Bytes of a string that is looked at."""

MOST_DEPTH = 5
"""How deep lists and objects may stand in a value that is passed over: a layer's tensors have shapes."""

_CHUNK = 1_000_000

# Nothing here is ever tried a second way (`*+`), so that no text takes more than one look or any memory.
_SPACE = rb"[ \t\n\r]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER = rb"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+"
_SCALAR = rb"(?:%b|%b|true|false|null)" % (_STRING, _NUMBER)


@cache
def _pattern(name: str) -> re.Pattern[bytes]:
    """Return a pattern, compiled when it is first used."""
    return re.compile({"space": _SPACE, "string": _STRING, "scalar": _SCALAR, "value": _value(MOST_DEPTH)}[name])


def _value(depth: int) -> bytes:
    """Return the pattern of a value in which lists and objects stand so deep."""
    if not depth:
        return _SCALAR
    below, space = _value(depth - 1), _SPACE
    items = rb"(?:%b%b(?:,%b(?!\])|(?=\])))*+" % (below, space, space)
    members = rb"(?:%b%b:%b%b%b(?:,%b(?!\})|(?=\})))*+" % (_STRING, space, space, below, space, space)
    return rb"(?:%b|\[%b%b\]|\{%b%b\})" % (_SCALAR, space, items, space, members)


class JsonText:
    """A JSON text and how far it was read. Every method takes the path to what it reads, for the problem it may be."""

    def __init__(self, data: bytes, source: str) -> None:
        self.source = source
        self.at = 0
        encoding = json.detect_encoding(data)  # some shells write UTF-16
        try:
            self.data = data if encoding == "utf-8" else data.decode(encoding).encode()
            decoder = codecs.getincrementaldecoder("utf-8")()
            for start in range(0, len(self.data), _CHUNK):
                decoder.decode(self.data[start : start + _CHUNK])
            decoder.decode(b"", final=True)
        except UnicodeError:
            self.data = b""
            raise self.error((), f"no {encoding.upper()} text") from None

    def members(self, path: Path) -> Iterator[str]:
        """Yield the keys of an object; the caller reads the value of each, or skips it, before the next."""
        self._open(path, b"{", "an object")
        seen: set[str] = set()
        while not self._next(path, b"}", first=not seen):
            start = self.at
            key = self.text(path)
            if key in seen:
                raise self.error((*path, escape(key)), "stands here a second time; remove one", start)
            if len(seen) == MOST_KEYS:
                raise self.error(path, f"expected at most {MOST_KEYS} keys", start)
            self._take(path, b":")
            seen.add(key)
            yield key

    def items(self, path: Path) -> Iterator[int]:
        """Yield the number of each item of a list, counted from 0; the caller reads the item, or skips it."""
        self._open(path, b"[", "a list")
        number = 0
        while not self._next(path, b"]", first=not number):
            yield number
            number += 1

    def text(self, path: Path) -> str:
        """Return a string."""
        start = self.at
        found = _pattern("string").match(self.data, self.at)
        if not found:
            raise self._unexpected(path, "text")
        if len(found[0]) > MOST_TEXT:
            raise self.error(path, f"expected at most {MOST_TEXT:,} bytes of text, got {len(found[0]):,}")
        self.at = found.end()
        text: str = json.loads(found[0])
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.error(path, "half of a surrogate pair is no text", start)
        return text

    def scalar(self, path: Path) -> bytes:
        """Return a string, a number, true, false or null as it is written."""
        self._space()
        found = _pattern("scalar").match(self.data, self.at)
        if not found:
            raise self._unexpected(path, "a number, text or null")
        self.at = found.end()
        return found[0]

    def is_object(self) -> bool:
        """Return whether an object stands here."""
        self._space()
        return self.data.startswith(b"{", self.at)

    def null(self) -> bool:
        """Pass over a null, if there is one."""
        self._space()
        null = self.data.startswith(b"null", self.at)
        self.at += 4 * null
        return null

    def skip(self, path: Path) -> None:
        """Pass over a value."""
        self._space()
        found = _pattern("value").match(self.data, self.at)
        if not found:
            raise self.error(path, f"no JSON, or lists and objects more than {MOST_DEPTH} deep")
        self.at = found.end()

    def end(self) -> None:
        """See that nothing follows."""
        self._space()
        if self.at < len(self.data):
            raise self.error((), "the JSON ends here, and more follows; remove it")

    def error(self, path: Path, message: str, at: int | None = None) -> SpecError:
        """Return the error of a problem, here or at a byte."""
        at = self.at if at is None else at
        line = self.data.count(b"\n", 0, at) + 1
        start = self.data.rfind(b"\n", 0, at) + 1
        near = max(start, at - _CHUNK)  # of a line without end, what is far to the left is counted in bytes
        column = near - start + len(self.data[near:at].decode(errors="replace")) + 1
        return SpecError((Problem(path, message, escape(self.source, limit=1_000), line, column),))

    def _open(self, path: Path, bracket: bytes, what: str) -> None:
        self._space()
        if not self.data.startswith(bracket, self.at):
            raise self._unexpected(path, what)
        self.at += 1

    def _next(self, path: Path, bracket: bytes, *, first: bool) -> bool:
        """Return whether the list or object ends here; else go to its next item."""
        self._space()
        if self.data.startswith(bracket, self.at):
            self.at += 1
            return True
        if not first:
            self._take(path, b",")
        self._space()
        return False

    def _take(self, path: Path, mark: bytes) -> None:
        self._space()
        if not self.data.startswith(mark, self.at):
            raise self._unexpected(path, f"'{mark.decode()}'")
        self.at += 1

    def _space(self) -> None:
        found = _pattern("space").match(self.data, self.at)
        self.at = found.end() if found else self.at

    def _unexpected(self, path: Path, expected: str) -> SpecError:
        rest = self.data[self.at : self.at + 20].decode(errors="replace").split("\n")[0]
        return self.error(path, f"expected {expected}, got {escape(rest) if rest else 'the end'}")
