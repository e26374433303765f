"""The numbers of a tensor: from bytes to nested lists, in plain Python. Knows no format of files."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from rnncalc.files import open_input
from rnncalc.modelfiles.model import BadFileError


class DType(NamedTuple):
    """A type of numbers: its bytes, and its letter in the array module, if any."""

    size: int
    letter: str = ""


DTYPES: dict[str, DType] = {
    "float64": DType(8, "d"),
    "float32": DType(4, "f"),
    "float16": DType(2),
    "bfloat16": DType(2),
    "int64": DType(8, "q"),
    "int32": DType(4, "i"),
    "int16": DType(2, "h"),
    "int8": DType(1, "b"),
    "uint64": DType(8, "Q"),
    "uint32": DType(4, "I"),
    "uint16": DType(2, "H"),
    "uint8": DType(1, "B"),
    "bool": DType(1, "B"),
    "float8_e4m3fn": DType(1),
    "float8_e5m2": DType(1),
    "complex64": DType(8),
    "complex128": DType(16),
}
"""The types that tensors have, by their names."""


def decoded(data: bytes, dtype: str, order: str = "little") -> list[float]:
    """Return the numbers of some bytes, widened to Python's floats. Raises BadFileError for a type that has none."""
    kind = DTYPES.get(dtype, DType(1))
    if kind.letter:
        found = array(kind.letter, data)
        if order != sys.byteorder and kind.size > 1:
            found.byteswap()
        return [float(number) for number in found]
    mark, count = "<" if order == "little" else ">", len(data) // max(1, kind.size)
    if dtype == "float16":
        return [*struct.unpack(f"{mark}{count}e", data)]
    if dtype == "bfloat16":  # the upper half of a float32
        halves = struct.unpack(f"{mark}{count}H", data)
        return [*struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves)))]
    raise BadFileError(f"holds numbers of the type {dtype}, which are not read here; save them as float32")


def numbers_at(path: str, start: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a tensor that are contiguous in a file, from a byte on."""
    size = prod(shape) * DTYPES.get(dtype, DType(1)).size
    with open_input(path) as file:
        file.seek(start)
        data = file.read(size)
    if len(data) < size:
        raise BadFileError("is cut off")
    return nested(decoded(data, dtype), shape)


def nested(flat: Sequence[float], shape: tuple[int, ...]) -> Any:
    """Return numbers as nested lists of a shape; without axes, the one number."""
    if not shape:
        return flat[0]
    for size in reversed(shape[1:]):
        flat = [flat[start : start + size] for start in range(0, len(flat), size)] if size else []  # type: ignore[misc]
    return [*flat]


def strided(flat: Sequence[float], shape: tuple[int, ...], strides: tuple[int, ...], start: int = 0) -> Any:
    """Return numbers at a given stride along each axis."""
    if not shape:
        return flat[start]
    size, step = shape[0], strides[0]
    return [strided(flat, shape[1:], strides[1:], start + place * step) for place in range(size)]


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of contiguous numbers."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def transposed(rows: Any) -> Any:
    """Return a matrix with its rows as columns."""
    return [[*column] for column in zip(*rows, strict=True)]
