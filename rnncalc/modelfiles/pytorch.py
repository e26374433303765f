"""PyTorch's files since version 1.6: a zip archive of one pickle, that says how tensors lie in the files beside it.

Tensors, parameters and dictionaries are recognised by the names that the pickle would call (torch/_utils.py). Other
objects, whole modules and TorchScript too, are only searched for tensors. Older files are a series of pickles, and are
refused, because their numbers depend on running them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from functools import partial
from math import prod
from typing import Any, NamedTuple, NoReturn

from rnncalc.bounds import MOST_AXES, MOST_AXIS, MOST_NAME, MOST_PICKLE, MOST_PICKLE_DEPTH, MOST_TENSORS
from rnncalc.modelfiles.archive import Archive
from rnncalc.modelfiles.model import (
    BYTES,
    BadFileError,
    FileTensor,
    ModelFile,
    Remark,
    RemarkKind,
    TensorRole,
    averages_in,
    contiguous,
    decoded,
    modules_of,
    nested,
    role_of,
    strided,
)
from rnncalc.modelfiles.pickled import Global, PersistentId, PickledCall, unpickled
from rnncalc.text import escape

_LETTERS = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64"}
_LETTERS |= {"Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool"}
_LETTERS |= {"ComplexFloat": "complex64", "ComplexDouble": "complex128"}
STORAGES = {f"{word}Storage": dtype for word, dtype in _LETTERS.items()}
"""The types of numbers by the names of their storages."""


def refuse_old(path: str) -> NoReturn:
    """Refuse a file from before version 1.6, with the way to convert it."""
    del path
    raise BadFileError(
        "is a plain pickle, as PyTorch wrote before 1.6: load it where you trust it, and save it again with"
        " safetensors.torch.save_file(model.state_dict(), ...)"
    )


def read(path: str) -> ModelFile:
    """Return the contents of a file."""
    with Archive(path) as archive:
        root = _root(archive)
        if root is None and "model.weights.h5" in archive.names:
            from rnncalc.modelfiles.keras import read as read_keras  # its suffix is PyTorch's

            return read_keras(path)

        if root is None:
            raise BadFileError(
                "is a zip archive, but no model: it holds neither PyTorch's data.pkl nor Keras' config.json"
            )
        found = PickledTensors(unpickled(archive.read(f"{root}data.pkl", MOST_PICKLE)))
        script = f"{root}constants.pkl" in archive.names
        tensors = tuple(_tensors(path, archive, root, found))
    remarks = [Remark(RemarkKind.SCRIPT)] if script else []
    if found.quantised:
        remarks.append(Remark(RemarkKind.QUANTISED, tuple(found.quantised)))
    if found.others:
        remarks.append(Remark(RemarkKind.NOT_READ, tuple(found.others)))
    remarks += averages_in(tensors)
    if not found.whole:
        remarks.append(Remark(RemarkKind.ROLES_BY_NAME))
    written = "torchscript" if script else "pytorch"
    return ModelFile(path, written, "pytorch", tensors, modules_of(tensors), remarks=tuple(remarks))


def _root(archive: Archive) -> str | None:
    """Return the folder of the archive that the pickle is in."""
    pickles = [name for name in archive.names if name == "data.pkl" or name.endswith("/data.pkl")]
    return min(pickles, key=len).removesuffix("data.pkl") if pickles else None


# The objects of a pickle are searched, and tensors are collected under the names that lead to them.

_TENSORS = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_tensor")
_PARAMETERS = ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state")
_SUBCLASS = "torch._tensor._rebuild_from_type_v2"
_PACKED = "torch.ScriptObject"
"""The classes that hold the weights of dynamically quantised layers."""
_QUANTISED = ("torch._utils._rebuild_qtensor", _PACKED)
_WITHIN = {"_parameters": TensorRole.PARAMETER, "_buffers": TensorRole.BUFFER, "_modules": None}
"""The attributes in which a module keeps its parts; they are not in the parts' names."""


class PickledTensor(NamedTuple):
    """A tensor as the pickle describes it. role, frozen: None if it does not say."""

    call: PickledCall
    role: TensorRole | None = None
    frozen: bool | None = None


class PickledTensors:
    """The tensors below what a pickle describes, by their names, in its order; no deeper than MOST_PICKLE_DEPTH.

    others: the names of tensors of a kind that is not read; quantised: of those that are packed in whole numbers.
    whole: whether the modules keep parameters apart from buffers.
    """

    def __init__(self, root: Any) -> None:
        self.tensors: dict[str, PickledTensor] = {}
        self.others: list[str] = []
        self.quantised: list[str] = []
        self.whole = False
        self._seen: set[int] = set()
        self._gather("", root, None, 0)

    def _gather(self, name: str, value: Any, role: TensorRole | None, depth: int) -> None:
        """Add a value if it is a tensor; otherwise go into its items, each container once."""
        if not isinstance(value, PickledCall | dict | list | tuple):
            return
        if tensor := _pickled_tensor(value, role):
            _refuse_too_many(name, self.tensors)
            self.tensors[name or "tensor"] = tensor
        elif isinstance(value, PickledCall) and value.name in _QUANTISED:
            _refuse_too_many(name, self.quantised)
            self.quantised.append(name)
        elif isinstance(value, PickledCall) and value.name.startswith("torch._utils._rebuild_"):
            _refuse_too_many(name, self.others)
            self.others.append(name)
        elif id(value) not in self._seen and depth < MOST_PICKLE_DEPTH:
            self._seen.add(id(value))
            for key, each in _below(value):
                if key in _WITHIN:
                    self.whole = True
                    self._gather(name, each, _WITHIN[key], depth + 1)
                else:
                    self._gather(_joined(name, key), each, role, depth + 1)


def _refuse_too_many(name: str, found: Sized) -> None:
    """Refuse a name that is too long, or one too many."""
    if len(found) >= MOST_TENSORS or len(name) > MOST_NAME:
        raise BadFileError(
            f"holds more than {MOST_TENSORS:,} tensors, or one with a name of more than {MOST_NAME:,} characters"
        )


def _joined(name: str, key: Any) -> str:
    """Return the name of the value under a key, cut at MOST_NAME: a key may have millions of characters."""
    if key is None:
        return name
    last = str(key[: MOST_NAME + 1] if isinstance(key, str | bytes) else key)
    return (f"{name}.{last}" if name else last)[: MOST_NAME + 1]


def _below(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the items of a value with their keys; a key is None if the value has none."""
    match value:
        case dict():
            yield from value.items()
        case PickledCall():
            if value.name == _SUBCLASS and isinstance(value.args, tuple) and len(value.args) > 2:
                yield None, value.args[2]
                return
            yield from _pairs(value.args)
            yield from value.items.items()
            state = value.state[0] if isinstance(value.state, tuple) and value.state else value.state
            if isinstance(state, dict) and not value.items:
                module = not state.keys().isdisjoint(_WITHIN)  # its other fields hold its weights again
                yield from (
                    (key, each)
                    for key, each in state.items()
                    if not module or key in _WITHIN or (isinstance(each, PickledCall) and each.name == _PACKED)
                )
        case _:
            yield from enumerate(value)


def _pairs(args: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the items of a dictionary from its arguments, a list of keys with values."""
    of = args[0] if isinstance(args, tuple) and len(args) == 1 else ()
    for pair in of if isinstance(of, list) else ():
        if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str):
            yield pair[0], pair[1]


def _pickled_tensor(value: Any, role: TensorRole | None) -> PickledTensor | None:
    """Return the tensor that a call makes, if it makes one."""
    if not isinstance(value, PickledCall) or not isinstance(value.args, tuple):
        return None
    if value.name in _TENSORS:
        return PickledTensor(value, role)
    if value.name in _PARAMETERS and value.args:
        below, *more = value.args
        frozen = not more[0] if more and isinstance(more[0], bool) else None
        if isinstance(below, PickledCall) and isinstance(below.args, tuple) and below.name in _TENSORS:
            return PickledTensor(below, role or TensorRole.PARAMETER, frozen)
    return None


# The tensors of a pickle are compared with the files in the archive.


class TensorView(NamedTuple):
    """The place of a tensor's numbers: the file of the archive, the first number, and the strides."""

    file: str
    start: int
    strides: tuple[int, ...]


def _tensors(path: str, archive: Archive, root: str, found: PickledTensors) -> Iterator[FileTensor]:
    """Yield the tensors of a file; of those with the same numbers, later ones name the first."""
    written = archive.read(f"{root}byteorder", 100) if f"{root}byteorder" in archive.names else b""
    order = "big" if written.strip() == b"big" else "little"
    first: dict[tuple[TensorView, tuple[int, ...]], str] = {}
    for name, tensor in found.tensors.items():
        view, shape, dtype = _view(name, tensor.call, archive, root)
        role = role_of(name, dtype) if tensor.role is None else tensor.role
        other = first.setdefault((view, shape), name) if prod(shape) else name
        read = partial(_numbers, path, order, view, shape, dtype)
        yield FileTensor(name, shape, dtype, role, read, tensor.frozen, None if other == name else other)


def _view(name: str, call: PickledCall, archive: Archive, root: str) -> tuple[TensorView, tuple[int, ...], str]:
    """Return the place, the shape and the type of a tensor. Raises BadFileError if the place is impossible."""
    said = escape(name)
    nothing = BadFileError(f"says of {said} nothing that a tensor can be")
    args = call.args if isinstance(call.args, tuple) else ()
    stored = args[0].key if len(args) >= 4 and isinstance(args[0], PersistentId) else ()
    if not isinstance(stored, tuple) or len(stored) < 3:
        raise nothing
    start, shape, strides = args[1], _sizes(args[2]), _sizes(args[3])
    _, of, key, *_ = stored
    if not (isinstance(of, Global) and isinstance(key, str) and len(key) <= MOST_NAME):
        raise nothing
    if shape is None or strides is None or len(shape) != len(strides) or not _is_size(start):
        raise nothing
    dtype = _dtype(of, args[4:])
    if dtype is None:
        raise BadFileError(f"keeps {said} in {escape(str(of))}, which is not read here; save it as float32")
    view = TensorView(f"{root}data/{key}", start, strides)
    needed = (start + _reach(shape, strides)) * BYTES[dtype]
    held = archive.size(view.file)
    if held is None or needed > held:
        there = "none" if held is None else f"{held:,} bytes"
        raise BadFileError(f"is cut off: {said} needs {needed:,} bytes, and there are {there}")
    return view, shape, dtype


def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return how many numbers a tensor spans, those between its own too."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True)) if all(shape) else 0


def _sizes(value: Any) -> tuple[int, ...] | None:
    """Return a shape or strides, None for anything else; some pickles have them as a call of torch.Size."""
    if isinstance(value, PickledCall) and isinstance(value.args, tuple) and len(value.args) == 1:
        (value,) = value.args
    if not isinstance(value, tuple | list) or len(value) > MOST_AXES or not all(map(_is_size, value)):
        return None
    return tuple(value)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_AXIS


def _dtype(of: Global, rest: tuple[Any, ...]) -> str | None:
    """Return the type of a tensor's numbers, which some pickles give beside the storage and not by it."""
    beside = next((each.name for each in rest if isinstance(each, Global) and each.module == "torch"), None)
    return beside if beside in BYTES else STORAGES.get(of.name)


def _numbers(path: str, order: str, view: TensorView, shape: tuple[int, ...], dtype: str) -> Any:
    size = BYTES[dtype]
    with Archive(path) as archive:
        data = archive.piece(view.file, view.start * size, _reach(shape, view.strides) * size)
    flat = decoded(data, dtype, order)
    return nested(flat, shape) if view.strides == contiguous(shape) else strided(flat, shape, view.strides)
