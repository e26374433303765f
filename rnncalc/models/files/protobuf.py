"""Protocol buffers of strangers: the fields of one open file, read up to a bound.

A message is a row of numbered fields, each a number or a range of bytes.
https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from rnncalc import bounds
from rnncalc.models.files.model import BadFileError, Bytes

_CONTINUED = bytes(range(128, 256))
"""The values of a byte that is followed by another byte of the same number."""
_SIZES = {1: 8, 5: 4}
"""The bytes of a field by its wire type, if they are fixed."""


class Wire(Bytes):
    """The fields of one open file."""

    fields_read = 0

    def fields(self, span: range) -> Iterator[tuple[int, int | range]]:
        """Yield the fields of a message: the number of each, and its value, a whole number or a range of bytes."""
        at, end = span.start, span.stop
        while at < end:
            self.fields_read += 1
            if self.fields_read > bounds.MOST_FIELDS:
                raise BadFileError(f"has more than {bounds.MOST_FIELDS:,} fields")
            key, at = self._number(at, end)
            kind = key & 7
            if kind == 0:
                value, at = self._number(at, end)
                yield key >> 3, value
                continue
            size, at = self._number(at, end) if kind == 2 else (_SIZES.get(kind, end), at)
            if at + size > end:
                raise BadFileError("is truncated or damaged")
            yield key >> 3, range(at, at + size)
            at += size

    def _number(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for byte in self.bytes(range(at, min(at + 10, end))):
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise BadFileError("is truncated or damaged")

    def bytes(self, span: range) -> bytes:
        """Return the bytes of a range."""
        return self.piece(span.start, len(span))

    def text(self, value: int | range, most: int = 10_000) -> str:
        """Return a range of bytes as text."""
        if isinstance(value, int) or len(value) > most:
            raise BadFileError(f"has a name of more than {most:,} characters")
        return self.bytes(value).decode("utf-8", "replace")

    def count(self, value: int | range) -> int:
        """Return how many whole numbers a value has: one, or several packed in a row."""
        if isinstance(value, int):
            return 1
        if len(value) > bounds.MOST_PACKED_COUNTED:
            raise BadFileError(f"has {len(value):,} bytes of whole numbers in one field")
        return len(self.bytes(value).translate(None, _CONTINUED))

    def numbers(self, value: int | range) -> list[int]:
        """Return the whole numbers of a value: one, or several packed in a row."""
        if isinstance(value, int):
            return [_signed(value)]
        if len(value) > bounds.MOST_PACKED_READ:
            raise BadFileError(f"has {len(value):,} bytes of sizes or settings in one field")
        at, numbers = value.start, []
        while at < value.stop:
            number, at = self._number(at, value.stop)
            numbers.append(_signed(number))
        return numbers

    def reals(self, span: range) -> list[float]:
        """Return the float32 numbers of a range."""
        if len(span) % 4:
            raise BadFileError("is truncated or damaged")
        return [number for (number,) in struct.iter_unpack("<f", self.bytes(span))]


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
