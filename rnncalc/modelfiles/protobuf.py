"""The encoding of protocol buffers: numbered fields, each a number or a range of bytes. Knows no message.

https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from rnncalc.bounds import MOST_FIELDS, MOST_PACKED_COUNTED, MOST_PACKED_READ
from rnncalc.modelfiles.model import BadFileError

_GOING_ON = bytes(range(128, 256))
"""The first byte value that is followed by another byte of the same number."""

WINDOW = 16_384
"""The bytes that are read at once if fewer are requested."""


class FileBytes:
    """The bytes of an open file; only the parts in use are read.

    It is not memory-mapped, because a mapped file that is truncated meanwhile ends the process.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._start = 0
        self._window = b""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice, /) -> bytes:
        start, end, _ = place.indices(self._size)
        size = max(0, end - start)
        at = start - self._start
        if at < 0 or at + size > len(self._window):
            self._file.seek(start)
            data = self._file.read(max(size, WINDOW))
            if len(data) < size:
                raise BadFileError("is cut off")
            if size > WINDOW:
                return data
            self._start, self._window, at = start, data, 0
        return self._window[at : at + size]


class ByteRange(NamedTuple):
    """A range of bytes in a file."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.end - self.start


class Wire:
    """The fields of one file, read up to a bound."""

    def __init__(self, data: FileBytes) -> None:
        self.data = data
        self.fields_read = 0

    def fields(self, span: ByteRange) -> Iterator[tuple[int, int | ByteRange]]:
        """Yield the fields of a message: the number of each, and its value, a whole number or a range of bytes."""
        at, end = span
        while at < end:
            self.fields_read += 1
            if self.fields_read > MOST_FIELDS:
                raise BadFileError(f"has more than {MOST_FIELDS:,} fields")
            key, at = self._number(at, end)
            kind = key & 7
            if kind == 0:
                value, at = self._number(at, end)
                yield key >> 3, value
                continue
            size, at = (
                (8, at) if kind == 1 else (4, at) if kind == 5 else self._number(at, end) if kind == 2 else (-1, at)
            )
            if size < 0 or at + size > end:
                raise BadFileError("is cut off, or no ONNX file")
            yield key >> 3, ByteRange(at, at + size)
            at += size

    def _number(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for byte in self.data[at : min(at + 10, end)]:
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise BadFileError("is cut off, or no ONNX file")

    def bytes(self, span: ByteRange) -> bytes:
        """Return the bytes of a range."""
        return self.data[span.start : span.end]

    def text(self, span: int | ByteRange, most: int = 10_000) -> str:
        """Return a range of bytes as text."""
        if isinstance(span, int) or span.size > most:
            raise BadFileError(f"has a name of more than {most:,} characters")
        return self.bytes(span).decode("utf-8", "replace")

    def count(self, value: int | ByteRange) -> int:
        """Return how many whole numbers a value has: one, or several packed in a row."""
        if isinstance(value, int):
            return 1
        if value.size > MOST_PACKED_COUNTED:
            raise BadFileError(f"has {value.size:,} bytes of whole numbers in one field")
        return len(self.bytes(value).translate(None, _GOING_ON))

    def numbers(self, value: int | ByteRange) -> list[int]:
        """Return the whole numbers of a value: one, or several packed in a row."""
        if isinstance(value, int):
            return [_signed(value)]
        if value.size > MOST_PACKED_READ:
            raise BadFileError(f"has {value.size:,} bytes of sizes or settings in one field")
        at, found = value.start, []
        while at < value.end:
            number, at = self._number(at, value.end)
            found.append(_signed(number))
        return found

    def reals(self, span: ByteRange) -> list[float]:
        """Return the float32 numbers of a range."""
        if span.size % 4:
            raise BadFileError("is cut off, or no ONNX file")
        return [number for (number,) in struct.iter_unpack("<f", self.bytes(span))]


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
