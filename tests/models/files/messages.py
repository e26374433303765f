"""ONNX files made by hand, field by field, as onnx.proto numbers them."""

import struct
from collections.abc import Sequence
from math import prod
from pathlib import Path

from models.files.made import counting

Field = bytes
FLOAT, INT64 = 1, 7


def number(value: int) -> bytes:
    """Return a whole number as seven bits a byte."""
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def field(place: int, value: float | str | bytes) -> Field:
    """Return a field: a whole number, a float32, or bytes with their length."""
    if isinstance(value, int):
        return number(place << 3) + number(value)
    if isinstance(value, float):
        return number(place << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(data)) + data


def message(*fields: Field) -> bytes:
    return b"".join(fields)


def tensor(name: str, shape: Sequence[int], data: bytes | None = None, dtype: int = FLOAT, *more: Field) -> bytes:
    """Return a tensor with counted numbers, or bytes of one's own."""
    raw = struct.pack(f"<{prod(shape)}f", *counting(tuple(shape))) if data is None else data
    return message(*(field(1, size) for size in shape), field(2, dtype), field(8, name), field(9, raw), *more)


def attribute(name: str, *fields: Field) -> Field:
    return field(5, message(field(1, name), *fields))


def node(operator: str, inputs: str, outputs: str, *attributes: Field, name: str = "") -> Field:
    """Return an operator; inputs and outputs are names with spaces between, `-` one left out."""
    words = [field(1, "" if word == "-" else word) for word in inputs.split()]
    words += [field(2, word) for word in outputs.split()]
    return field(1, message(*words, field(3, name), field(4, operator), *attributes))


def graph(*parts: Field, tensors: Sequence[bytes] = ()) -> bytes:
    return message(*parts, *(field(5, each) for each in tensors))


def onnx(path: Path, *parts: Field, tensors: Sequence[bytes] = ()) -> Path:
    """Write a file of operators and tensors."""
    version = field(8, message(field(1, ""), field(2, 22)))
    path.write_bytes(message(field(1, 10), field(7, graph(*parts, tensors=tensors)), version))
    return path
