"""The safetensors format: eight bytes of length, a header in JSON, and the numbers behind it.

Read with the standard library alone. A listing needs only the header and some masks and positions, so a file of a
gigabyte is listed as fast as one of a kilobyte.
https://github.com/huggingface/safetensors#format

A sharded model is spread over several files, and an index in JSON, `model.safetensors.index.json`, says which of them
each tensor is in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import pairwise
from math import prod
from typing import Any

from rnncalc.bounds import MOST_AXES, MOST_HEADER, MOST_INDEX, MOST_NAME, MOST_TENSORS
from rnncalc.files import open_input
from rnncalc.models.files import model
from rnncalc.models.files.by_name import of_names
from rnncalc.models.files.model import BYTES, BadFileError, FileTensor, ModelFile, Remark, RemarkKind, TensorRole
from rnncalc.printable import escape

TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}
TYPES |= {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64"}
TYPES |= {short.upper(): dtype for short, dtype in model.WHOLE.items()}


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    tensors, convention = _tensors(path)
    return of_names(path, "safetensors", tensors, convention=convention)


def read_sharded(path: str) -> ModelFile:
    """Return the contents of all files of an index. Raises BadFileError if one contradicts the index."""
    places = model.json_in(path, "list of files", MOST_INDEX).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BadFileError("is no index of a model: it has no weight_map")
    files = sorted({*places.values()})
    tensors = [tensor for name in files for tensor in _shard(path, name)]
    names = {tensor.name for tensor in tensors}
    if len(names) < len(tensors):
        raise BadFileError("names files that hold a tensor of the same name")
    if not names.issuperset(places):
        raise BadFileError("gives tensors that its files do not hold")
    return of_names(path, "safetensors", tensors, Remark(RemarkKind.FILES, tuple(files)))


def _shard(index: str, name: str) -> list[FileTensor]:
    """Return the tensors of one file of an index, which may be one of PyTorch's too."""
    path = model.beside(index, name)
    try:
        if name.endswith(".safetensors"):
            return _tensors(path)[0]
        return [*import_module("rnncalc.models.files.pytorch").read(path).tensors]
    except BadFileError as error:
        raise BadFileError(f"names {escape(name)}, which {error}") from None
    except OSError as error:
        raise BadFileError(f"names {escape(name)}: {(error.strerror or str(error)).lower()}") from None


def _tensors(path: str) -> tuple[list[FileTensor], str | None]:
    """Return the tensors of one file, and the convention that it gives, if any.

    Raises BadFileError if its header contradicts its bytes.
    """
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise BadFileError(f"is truncated, or is not a safetensors file: its header should have {length:,} bytes")
        model.refuse_long("header", length, MOST_HEADER)
        header = model.json_object(file.read(length), "header", MOST_HEADER)
    start = 8 + length
    metadata = header.pop("__metadata__", None)
    role_of = model.roles_of(header)
    tensors = [_tensor(path, name, entry, start, size - start, role_of) for name, entry in header.items()]
    tensors += _aliases(metadata, {tensor.name: tensor for tensor in tensors}) if metadata else ()
    if len(tensors) > MOST_TENSORS:
        raise BadFileError(f"holds {len(tensors):,} tensors; at most {MOST_TENSORS:,} are read")
    spans = sorted(entry["data_offsets"] for entry in header.values())
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        raise BadFileError("has a header that gives two tensors the same bytes")
    convention = metadata.get("convention") if isinstance(metadata, dict) else None
    return tensors, convention if isinstance(convention, str) else None


def _aliases(metadata: Any, tensors: dict[str, FileTensor]) -> list[FileTensor]:
    """Return the tensors that safetensors' save_model left out because another tensor has their numbers.

    It writes into the metadata which one that is: https://github.com/huggingface/safetensors, `save_model`.
    """
    pairs = metadata.items() if isinstance(metadata, dict) else ()
    return [
        tensors[other]._replace(name=name, shared_with=other)
        for name, other in pairs
        if isinstance(other, str) and other in tensors and name not in tensors and len(name) <= MOST_NAME
    ]


def _tensor(
    path: str, name: str, entry: Any, start: int, room: int, role_of: Callable[[str, str], TensorRole]
) -> FileTensor:
    """Return a tensor from its entry in the header; start: of the bytes behind it, room: how many there are."""
    fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
    sizes, ends, word = fields.get("shape", 0), fields.get("data_offsets", 0), fields.get("dtype")
    numbers = [*sizes, *ends] if isinstance(sizes, list) and isinstance(ends, list) and len(ends) == 2 else [-1]
    wrong = [number for number in numbers if type(number) is not int or not 0 <= number < 2**63]
    if wrong or len(numbers) > MOST_AXES + 2 or not isinstance(word, str) or len(name) > MOST_NAME:
        raise BadFileError(f"has a header in which {escape(name)} is not a tensor")
    shape, dtype = tuple(numbers[:-2]), TYPES.get(word) or escape(word.lower())
    first, last = numbers[-2:]
    if not first <= last <= room:
        there = f"should end at byte {start + last:,}, the file has {start + room:,}"
        raise BadFileError(f"is truncated: {escape(name)} {there}")
    if dtype in BYTES and prod(shape) * BYTES[dtype] != last - first:
        size = f"{last - first:,} bytes"
        raise BadFileError(f"has a header that gives {escape(name)} {size}, which its shape does not need")
    read = partial(model.numbers_at, path, start + first, dtype, shape)
    return FileTensor(name, shape, dtype, role_of(name, dtype), read)
