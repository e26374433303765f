"""Flax's trees in msgpack: maps within maps, and arrays as extension 1 of (shape, type, bytes).

https://github.com/msgpack/msgpack/blob/master/spec.md and flax/serialization.py; seen in flax 0.12.8, November 2026.
The bytes of an array are passed over, so that a file lists as fast as its maps. An array above 2^30 bytes is in chunks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import chain
from math import prod
from typing import Any, BinaryIO, NamedTuple

from rnncalc.bounds import MOST_NAME, MOST_PICKLE_DEPTH, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile
from rnncalc.printable import escape


class _Bytes(NamedTuple):
    """Bytes that are passed over: where they are in the file, and how many."""

    start: int
    size: int


class _StoredArray(NamedTuple):
    """An array: its shape, its type, and its bytes."""

    shape: tuple[int, ...]
    dtype: str
    pieces: tuple[_Bytes, ...]


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        tree = _value(file, size, 0)
        if file.tell() != size:
            raise BadFileError("has bytes after its tree, or is damaged")
    tensors = [
        FileTensor(name, each.shape, each.dtype, model.role_of(name, each.dtype), partial(_numbers, path, each))
        for name, each in _arrays("", tree)
    ]
    return of_names(path, "msgpack", tensors)


def _arrays(name: str, value: Any) -> Iterator[tuple[str, _StoredArray]]:
    """Yield the arrays of a tree, each under the keys that lead to it."""
    if isinstance(value, dict) and "__msgpack_chunked_array__" in value:
        value = _whole(name, value)
    if isinstance(value, _StoredArray):
        yield name, value
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _arrays(f"{name}/{key}" if name else str(key), each)


def _whole(name: str, chunked: dict[str, Any]) -> _StoredArray:
    """Return the array that chunks make: {"shape": {"0": rows, ...}, "chunks": {"0": array, ...}}."""
    parts = [chunked.get(key) for key in ("shape", "chunks")]
    sizes, chunks = ([*part.values()] if isinstance(part, dict) else [] for part in parts)
    if not (chunks and all(isinstance(each, _StoredArray) for each in chunks)):
        raise BadFileError(f"has {escape(name)}, chunks that are not an array")
    return _checked(sizes, chunks[0].dtype, [*chain.from_iterable(each.pieces for each in chunks)])


def _checked(shape: Any, dtype: Any, pieces: list[_Bytes]) -> _StoredArray:
    """Return an array. Raises BadFileError unless its shape and type need its bytes."""
    if not model.is_shape(shape) or str(dtype) not in BYTES:
        raise BadFileError("has an array whose shape or type is none")
    if prod(shape) * BYTES[dtype] != sum(piece.size for piece in pieces):
        raise BadFileError("has an array whose shape and type do not need its bytes")
    return _StoredArray(tuple(shape), dtype, tuple(pieces))


def _numbers(path: str, stored: _StoredArray) -> Any:
    return model.numbers_in([(path, *piece) for piece in stored.pieces], stored.dtype, stored.shape)


_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_SIZED |= {0xC7: 1, 0xC8: 2, 0xC9: 4}
"""The bytes of the length behind the first byte of bytes, texts, lists, maps and extensions."""
_PLAIN = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8} | {0xCC + place: 1 << place % 4 for place in range(8)}
"""The bytes of nil, false, true, floats, and whole numbers without a sign and with one."""
_FIRST_LIST, _FIRST_TEXT, _FIRST_PLAIN, _FIRST_NEGATIVE, _FIRST_EXTENSION = 0x90, 0xA0, 0xC0, 0xE0, 0xD4


def _value(file: BinaryIO, end: int, depth: int) -> Any:
    """Return the value that begins where a file is; it may not reach behind an end."""
    if depth > MOST_PICKLE_DEPTH:
        raise BadFileError(f"has a tree of more than {MOST_PICKLE_DEPTH} maps within one another")
    code = _exactly(file, 1, end)[0]
    if code < 0x80 or code >= _FIRST_NEGATIVE:
        return code if code < 0x80 else code - 256
    if code in _PLAIN:
        return int.from_bytes(_exactly(file, _PLAIN[code], end), "big", signed=code >= 0xD0)
    if code < _FIRST_PLAIN:
        length = code & (0x1F if code >= _FIRST_TEXT else 0x0F)
    elif code in _SIZED:
        length = int.from_bytes(_exactly(file, _SIZED[code], end), "big")
    elif _FIRST_EXTENSION <= code < _FIRST_EXTENSION + 5:
        length = 1 << code - _FIRST_EXTENSION
    else:
        raise BadFileError(f"has the byte 0x{code:02x} where a value should begin")
    if code < _FIRST_LIST or code >= 0xDE:
        keys = _several(file, length, end, depth, keyed=True)
        return dict(keys)
    if code < _FIRST_TEXT or code in (0xDC, 0xDD):
        return [*_several(file, length, end, depth)]
    if code < _FIRST_PLAIN or code in (0xD9, 0xDA, 0xDB):
        if length > MOST_NAME:
            raise BadFileError(f"has a name of {length:,} bytes; at most {MOST_NAME:,} are read")
        return _exactly(file, length, end).decode("utf-8", "replace")
    if code in (0xC4, 0xC5, 0xC6):
        return _skipped(file, length, end)
    kind = _exactly(file, 1, end)[0]
    start = file.tell()
    if kind not in (1, 3):  # an array, and one number
        return _skipped(file, length, end)
    parts = _value(file, min(start + length, end), depth + 1)
    match parts:
        case [shape, dtype, _Bytes() as piece] if file.tell() == start + length:
            return _checked(shape, dtype, [piece])
    raise BadFileError("has an array that is not a shape, a type and bytes")


def _several(file: BinaryIO, length: int, end: int, depth: int, *, keyed: bool = False) -> Iterator[Any]:
    """Yield the values of a list, or the pairs of a map."""
    if length > MOST_TENSORS:
        raise BadFileError(f"has a list or a map of {length:,} values; at most {MOST_TENSORS:,} are read")
    for _ in range(length):
        key = _value(file, end, depth + 1) if keyed else None
        if keyed and not isinstance(key, str | int):
            raise BadFileError("has a map with a key that is not a text")
        value = _value(file, end, depth + 1)
        yield (str(key), value) if keyed else value


def _exactly(file: BinaryIO, size: int, end: int) -> bytes:
    if file.tell() + size > end:
        raise BadFileError("is truncated")
    return file.read(size)


def _skipped(file: BinaryIO, size: int, end: int) -> _Bytes:
    start = file.tell()
    if start + size > end:
        raise BadFileError("is truncated")
    file.seek(size, os.SEEK_CUR)
    return _Bytes(start, size)
