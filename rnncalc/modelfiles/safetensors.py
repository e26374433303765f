"""The safetensors format: eight bytes of length, a header in JSON, and the numbers behind it.

Read with the standard library alone: the format is simple enough to be read whole in a page, the header is all that a
listing needs, and so a file of a gigabyte is listed as fast as one of a kilobyte.
https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import os
import re
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

from rnncalc.files import open_input
from rnncalc.modelfiles.model import (
    MOST_AXES,
    MOST_NAME,
    MOST_TENSORS,
    BadFileError,
    FileTensor,
    ModelFile,
    Module,
    Remark,
    Role,
    Sign,
    modules_of,
)
from rnncalc.modelfiles.numbers import DTYPES, decoded, nested
from rnncalc.modelfiles.roles import is_average, role_of
from rnncalc.text import escape

MOST_HEADER = 8_000_000
"""How many bytes a header may have: some 80,000 tensors."""

TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}
TYPES |= {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64"}
TYPES |= {
    f"{letter}{bits}": f"{word}{bits}" for letter, word in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)
}


def read(path: str) -> ModelFile:
    """Return what a file holds."""
    tensors = in_order(tensors_of(path))
    return of_names(path, "safetensors", tensors)


def of_names(path: str, format: str, tensors: tuple[FileTensor, ...], *remarks: Remark) -> ModelFile:
    """Return a file of tensors of which nothing but names, shapes and types is known, under PyTorch's names."""
    if averages := tuple(tensor.name for tensor in tensors if tensor.role is Role.UNKNOWN and is_average(tensor.name)):
        remarks = (*remarks, Remark(Sign.AVERAGES, averages))
    modules: tuple[Module, ...] = modules_of(tensors)
    return ModelFile(path, format, "pytorch", tensors, modules, False, (*remarks, Remark(Sign.ROLES_BY_NAME)))


def in_order(tensors: list[FileTensor]) -> tuple[FileTensor, ...]:
    """Return tensors by their names, numbers in them by their size: the format keeps no order of its own."""
    return tuple(sorted(tensors, key=lambda tensor: natural(tensor.name)))


def natural(name: str) -> list[tuple[int, str]]:
    """Return what to sort a name by, so that `layers.10` follows `layers.9`."""
    return [
        (int(piece[:18]), "") if piece.isdecimal() and piece.isascii() else (-1, piece)
        for piece in re.split(r"(\d+)", name)
    ]


def tensors_of(path: str) -> list[FileTensor]:
    """Return the tensors of one file. Raises BadFileError where its header is not true of it."""
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise BadFileError(f"is cut off, or no safetensors file: its header should have {length:,} bytes")
        if length > MOST_HEADER:
            raise BadFileError(f"has a header of {length:,} bytes; at most {MOST_HEADER:,} are read")
        header = _parsed(file.read(length))
    start = 8 + length
    found = [_tensor(path, name, of, start, size - start) for name, of in header.items() if name != "__metadata__"]
    found += _aliases(header.get("__metadata__"), {tensor.name: tensor for tensor in found})
    if len(found) > MOST_TENSORS:
        raise BadFileError(f"holds {len(found):,} tensors; at most {MOST_TENSORS:,} are read")
    _refuse_overlaps(header)
    return found


def _aliases(metadata: Any, tensors: dict[str, FileTensor]) -> list[FileTensor]:
    """Return the tensors that safetensors' save_model left out, since another has their numbers.

    It writes into the metadata which one that is: https://github.com/huggingface/safetensors, `save_model`.
    """
    pairs = metadata.items() if isinstance(metadata, dict) else ()
    named = [(name, of) for name, of in pairs if isinstance(of, str) and of in tensors and name not in tensors]
    return [tensors[of]._replace(name=name, shared_with=of) for name, of in named if len(name) <= MOST_NAME]


def _parsed(header: bytes) -> dict[str, Any]:
    import json

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise BadFileError("has a header with a name in it twice")
        return found

    try:
        parsed = json.loads(header, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, BadFileError) else BadFileError("has a header that is no JSON") from None
    if not isinstance(parsed, dict):
        raise BadFileError("has a header that is no JSON object")
    return parsed


def _tensor(path: str, name: str, of: Any, start: int, room: int) -> FileTensor:
    said = escape(name)
    given = of if isinstance(of, dict) else {}
    shape, ends, dtype = given.get("shape", 0), given.get("data_offsets", 0), given.get("dtype")
    if not (_sizes(shape) and _sizes(ends) and len(ends) == 2 and isinstance(dtype, str)) or len(name) > MOST_NAME:
        raise BadFileError(f"has a header that says of {said} nothing that a tensor can be")
    dtype = TYPES.get(dtype, escape(dtype.lower()))
    first, last = ends
    if not first <= last <= room:
        raise BadFileError(f"is cut off: {said} should end at byte {start + last:,}, the file has {start + room:,}")
    if dtype in DTYPES and prod(shape) * DTYPES[dtype].size != last - first:
        raise BadFileError(f"has a header that gives {said} {last - first:,} bytes, which its shape does not need")
    shape = tuple(shape)
    return FileTensor(
        name, shape, dtype, role_of(name, dtype), partial(_numbers, path, start + first, last - first, dtype, shape)
    )


def _sizes(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST_AXES and all(type(n) is int and 0 <= n < 2**63 for n in value)


def _refuse_overlaps(header: dict[str, Any]) -> None:
    spans = sorted(of["data_offsets"] for name, of in header.items() if name != "__metadata__")
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        raise BadFileError("has a header that gives two tensors the same bytes")


def _numbers(path: str, start: int, size: int, dtype: str, shape: tuple[int, ...]) -> Any:
    with open_input(path) as file:
        file.seek(start)
        data = file.read(size)
    if len(data) < size:
        raise BadFileError("is cut off")
    return nested(decoded(data, dtype), shape)
