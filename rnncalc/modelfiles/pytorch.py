"""PyTorch's files since version 1.6: a zip archive of one pickle, that says how tensors lie in the files beside it.

What is a tensor, a parameter or a dictionary is told from the names that the pickle would call (torch/_utils.py); of
anything else only what it holds is looked through, whole pickled modules and TorchScript too.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, NamedTuple

from rnncalc.modelfiles.archive import Archive
from rnncalc.modelfiles.machine import Made, Named, Stored
from rnncalc.modelfiles.model import (
    MOST_AXES,
    MOST_NAME,
    MOST_SIZE,
    BadFileError,
    FileTensor,
    ModelFile,
    Remark,
    Role,
    Sign,
    modules_of,
)
from rnncalc.modelfiles.numbers import DTYPES, contiguous, decoded, nested, strided
from rnncalc.modelfiles.pickled import MOST_BYTES, unpickled
from rnncalc.modelfiles.roles import is_average, role_of
from rnncalc.modelfiles.walking import Found, found_in
from rnncalc.text import escape

_LETTERS = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64"}
_LETTERS |= {"Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool"}
_LETTERS |= {"ComplexFloat": "complex64", "ComplexDouble": "complex128"}
STORAGES = {f"{word}Storage": dtype for word, dtype in _LETTERS.items()}
"""The types of numbers by the names of what holds them."""


class Lies(NamedTuple):
    """Where a tensor's numbers lie: in which file, from which number on, at which steps."""

    key: str
    start: int
    strides: tuple[int, ...]


def read(path: str) -> ModelFile:
    """Return what a file holds."""
    with Archive(path) as archive:
        root = _root(archive)
        if root is None and "model.weights.h5" in archive.names:
            from rnncalc.modelfiles.keras import read as read_keras  # by its suffix it was PyTorch's

            return read_keras(path)

        if root is None:
            raise BadFileError(
                "is a zip archive, but no model: it holds neither PyTorch's data.pkl nor Keras' config.json"
            )
        found = found_in(unpickled(archive.read(f"{root}data.pkl", MOST_BYTES)))
        order = (
            archive.read(f"{root}byteorder", 100).decode("ascii", "replace")
            if f"{root}byteorder" in archive.names
            else "little"
        )
        script = f"{root}constants.pkl" in archive.names
        reader = _Reader(path, root, order, archive)
        tensors = tuple(reader.tensors(found))
    remarks = [Remark(Sign.SCRIPT)] if script else []
    if found.quantised:
        remarks.append(Remark(Sign.QUANTISED, tuple(found.quantised)))
    if found.others:
        remarks.append(Remark(Sign.NOT_READ, tuple(found.others)))
    if averages := tuple(tensor.name for tensor in tensors if tensor.role is Role.UNKNOWN and is_average(tensor.name)):
        remarks.append(Remark(Sign.AVERAGES, averages))
    if not found.whole:
        remarks.append(Remark(Sign.ROLES_BY_NAME))
    return ModelFile(
        path, "torchscript" if script else "pytorch", "pytorch", tensors, modules_of(tensors), remarks=tuple(remarks)
    )


def _root(archive: Archive) -> str | None:
    """Return the folder of the archive that the pickle is in."""
    pickles = [name for name in archive.names if name == "data.pkl" or name.endswith("/data.pkl")]
    return min(pickles, key=len).removesuffix("data.pkl") if pickles else None


class _Reader:
    """Makes tensors of what a pickle says, held against the files that are there."""

    def __init__(self, path: str, root: str, order: str, archive: Archive) -> None:
        self.path = path
        self.root = root
        self.order = "big" if order.strip() == "big" else "little"
        self.archive = archive

    def tensors(self, found: Found) -> list[FileTensor]:
        """Return the tensors; of those made of the same numbers, the later name the first."""
        made: list[FileTensor] = []
        first: dict[tuple[Lies, tuple[int, ...]], str] = {}
        for name, tensor in found.tensors.items():
            lies, shape, dtype = self._lies(name, tensor.made)
            role = role_of(name, dtype) if tensor.role is None else tensor.role
            other = first.setdefault((lies, shape), name) if prod(shape) else name
            read = partial(_numbers, self.path, self.root, self.order, lies, shape, dtype)
            made.append(FileTensor(name, shape, dtype, role, read, tensor.frozen, None if other == name else other))
        return made

    def _lies(self, name: str, made: Made) -> tuple[Lies, tuple[int, ...], str]:
        """Return where a tensor lies, its shape and its type. Raises BadFileError where it cannot lie there."""
        said = escape(name)
        nothing = BadFileError(f"says of {said} nothing that a tensor can be")
        args = made.args if isinstance(made.args, tuple) else ()
        stored = args[0].key if len(args) >= 4 and isinstance(args[0], Stored) else ()
        if not isinstance(stored, tuple) or len(stored) < 3:
            raise nothing
        start, shape, strides = args[1], _sizes(args[2]), _sizes(args[3])
        _, of, key, *_ = stored
        if not (isinstance(of, Named) and isinstance(key, str) and len(key) <= MOST_NAME):
            raise nothing
        if shape is None or strides is None or len(shape) != len(strides) or not _is_size(start):
            raise nothing
        dtype = _dtype(of, args[4:])
        if dtype is None:
            raise BadFileError(f"keeps {said} in {escape(str(of))}, which is not read here; save it as float32")
        last = (
            start + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
            if all(shape)
            else start - 1
        )
        held = self.archive.size(f"{self.root}data/{key}")
        if held is None or (last + 1) * DTYPES[dtype].size > held:
            there = "none" if held is None else f"{held:,} bytes"
            raise BadFileError(
                f"is cut off: {said} needs {(last + 1) * DTYPES[dtype].size:,} bytes, and there are {there}"
            )
        return Lies(key, start, strides), shape, dtype


def _sizes(value: Any) -> tuple[int, ...] | None:
    """Return a shape or strides, None for what is none; some pickles have them as a call of torch.Size."""
    if isinstance(value, Made) and isinstance(value.args, tuple) and len(value.args) == 1:
        (value,) = value.args
    if not isinstance(value, tuple | list) or len(value) > MOST_AXES or not all(map(_is_size, value)):
        return None
    return tuple(value)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_SIZE


def _dtype(of: Named, rest: tuple[Any, ...]) -> str | None:
    """Return the type of a tensor's numbers; some have it beside them, and not in what holds them."""
    beside = next((each.name for each in rest if isinstance(each, Named) and each.module == "torch"), None)
    return beside if beside in DTYPES else STORAGES.get(of.name)


def _numbers(path: str, root: str, order: str, lies: Lies, shape: tuple[int, ...], dtype: str) -> Any:
    size = DTYPES[dtype].size
    count = 1 + sum((length - 1) * step for length, step in zip(shape, lies.strides, strict=True)) if all(shape) else 0
    with Archive(path) as archive:
        data = archive.piece(f"{root}data/{lies.key}", lies.start * size, count * size)
    flat = decoded(data, dtype, order)
    return nested(flat, shape) if lies.strides == contiguous(shape) else strided(flat, shape, lies.strides)
