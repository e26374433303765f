"""PyTorch's files since version 1.6: a zip archive of one pickle, that says how tensors lie in the files beside it.

Tensors, parameters and dictionaries are recognised by the names that the pickle would call (torch/_utils.py). Other
objects, whole modules and TorchScript too, are only searched for tensors. Older files are a series of pickles, and are
refused, because their numbers depend on running them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sized
from functools import partial
from math import prod
from typing import Any, NoReturn

from rnncalc.bounds import MOST_AXES, MOST_AXIS, MOST_NAME, MOST_OPCODES, MOST_PICKLE, MOST_PICKLE_DEPTH, MOST_TENSORS
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
    refuse_long,
    role_of,
    strided,
)
from rnncalc.records import Record
from rnncalc.text import escape, plural

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


PickledTensor = tuple["PickledCall", TensorRole | None, bool | None]
"""A tensor as the pickle describes it: its call, its role, whether it is frozen; None where the pickle is silent."""


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
        return value, role, None
    if value.name in _PARAMETERS and value.args:
        below, *more = value.args
        frozen = not more[0] if more and isinstance(more[0], bool) else None
        if isinstance(below, PickledCall) and isinstance(below.args, tuple) and below.name in _TENSORS:
            return below, role or TensorRole.PARAMETER, frozen
    return None


# The tensors of a pickle are compared with the files in the archive.


class TensorView(Record):
    """The place of a tensor's numbers: the file of the archive, the first number, and the strides; shape and type."""

    file: str
    start: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str


def _tensors(path: str, archive: Archive, root: str, found: PickledTensors) -> Iterator[FileTensor]:
    """Yield the tensors of a file; of those with the same numbers, later ones name the first."""
    written = archive.read(f"{root}byteorder", 100) if f"{root}byteorder" in archive.names else b""
    order = "big" if written.strip() == b"big" else "little"
    first: dict[TensorView, str] = {}
    for name, (call, role, frozen) in found.tensors.items():
        view = _view(name, call, archive, root)
        role = role or role_of(name, view.dtype)
        other = first.setdefault(view, name) if prod(view.shape) else name
        read = partial(_numbers, path, order, view)
        yield FileTensor(name, view.shape, view.dtype, role, read, frozen, None if other == name else other)


def _view(name: str, call: PickledCall, archive: Archive, root: str) -> TensorView:
    """Return the place of a tensor, its shape and its type. Raises BadFileError if the place is impossible."""
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
    view = TensorView(f"{root}data/{key}", start, strides, shape, dtype)
    needed = (start + _reach(shape, strides)) * BYTES[dtype]
    held = archive.size(view.file)
    if held is None or needed > held:
        there = "none" if held is None else plural(held, "byte")
        raise BadFileError(f"is cut off: {said} needs {needed:,} bytes, and there are {there}")
    return view


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


def _numbers(path: str, order: str, view: TensorView) -> Any:
    size = BYTES[view.dtype]
    with Archive(path) as archive:
        data = archive.piece(view.file, view.start * size, _reach(view.shape, view.strides) * size)
    flat = decoded(data, view.dtype, order)
    if view.strides == contiguous(view.shape):
        return nested(flat, view.shape)
    return strided(flat, view.shape, view.strides)


# A pickle as data: names are recorded, and nothing is imported, looked up or called. Python's own unpickler is not made
# for untrusted files: some make it use up the memory or the stack before anything is called. This one is a loop over
# bytes. A call becomes a `PickledCall`, a record that the caller interprets. The opcodes are those of protocols 2 to 5,
# as in Python's `pickletools`.


class Global(Record):
    """Something that a pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class PersistentId(Record):
    """An object that a pickle refers to by a key and does not contain."""

    key: Any


class PickledCall:
    """A call that a pickle would make: the function, its arguments, and the state and items it would add."""

    __slots__ = ("args", "items", "of", "state")

    def __init__(self, of: Any, args: Any) -> None:
        self.of = of
        self.args = args
        self.state: Any = None
        self.items: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name of the function, empty if it has none."""
        return str(self.of) if isinstance(self.of, Global) else ""


def unpickled(data: bytes) -> Any:
    """Return what a pickle describes. Raises BadFileError if it is no pickle, or too large."""
    refuse_long("pickle", len(data), MOST_PICKLE)
    try:
        return _Machine(data).run()
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, struct.error) as error:
        if isinstance(error, BadFileError):
            raise
        raise BadFileError("has a pickle that is cut off, or none at all") from None


_MARK = object()
"""Marks the place on the stack at which a list of items starts."""

_STOP = ord(".")


class _Machine:
    """The machine that a pickle is a program for: its bytes, a stack and a memo."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Return what is on the stack when the pickle ends."""
        opcodes = 0
        while (code := self.data[self.at]) != _STOP:
            self.at += 1
            opcodes += 1
            if opcodes > MOST_OPCODES:
                raise BadFileError(f"has a pickle of more than {MOST_OPCODES:,} steps")
            act = _ACTS.get(code)
            if act is None:
                raise BadFileError(f"has a pickle with the opcode 0x{code:02x}, which no format of tensors needs")
            act(self)
        return self.stack[-1]

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        piece = self.data[self.at : self.at + size]
        if len(piece) < size:
            raise BadFileError("has a pickle that is cut off")
        self.at += size
        return piece

    def number(self, size: int) -> int:
        """Return the next bytes as a number."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        """Return the text to the end of the line."""
        end = self.data.index(b"\n", self.at)
        text = self.data[self.at : end].decode()
        self.at = end + 1
        return text

    def marked(self) -> list[Any]:
        """Return the items since the last mark, taken off the stack with it."""
        start = len(self.stack) - 1
        while self.stack[start] is not _MARK:
            start -= 1
            if start < 0:
                raise BadFileError("has a pickle that is cut off")
        items = self.stack[start + 1 :]
        del self.stack[start:]
        return items

    def put(self, pairs: list[Any]) -> None:
        """Put keys with values into what is on top of the stack."""
        into = self.stack[-1]
        found = into.items if isinstance(into, PickledCall) else into
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            found[key if isinstance(key, str | int | float | bytes | None) else f"#{len(found)}"] = value

    def add(self, items: list[Any]) -> None:
        """Put items into the list on top of the stack."""
        into = self.stack[-1]
        if isinstance(into, PickledCall):
            into.items.update((len(into.items) + place, item) for place, item in enumerate(items))
        else:
            into.extend(items)


_Act = Callable[[_Machine], Any]


def _push(read: _Act) -> _Act:
    return lambda machine: machine.stack.append(read(machine))


def _sized(width: int, decode: Callable[[bytes], Any]) -> _Act:
    """Return a reader for one length-prefixed value: `width` is how many bytes the length has."""
    return _push(lambda machine: decode(machine.take(machine.number(width))))


def _tuple(size: int) -> _Act:
    def take(machine: _Machine) -> None:
        items = machine.stack[-size:]
        if len(items) < size:
            raise BadFileError("has a pickle that is cut off")
        machine.stack[-size:] = [tuple(items)]

    return take


def _call(machine: _Machine) -> None:
    args = machine.stack.pop()
    machine.stack.append(PickledCall(machine.stack.pop(), args))


def _call_with_names(machine: _Machine) -> None:
    machine.stack.pop()
    _call(machine)


def _build(machine: _Machine) -> None:
    state = machine.stack.pop()
    if isinstance(into := machine.stack[-1], PickledCall):
        into.state = state


def _global(module: Any, name: Any) -> Global:
    """Return a name that a pickle gives in two parts. Raises BadFileError unless both are short texts."""
    for part in (module, name):
        if not isinstance(part, str) or len(part) > MOST_NAME:
            raise BadFileError("has a pickle with a name that is no text, or longer than any")
    return Global(module, name)


def _global_from_stack(machine: _Machine) -> None:
    name = machine.stack.pop()
    machine.stack.append(_global(machine.stack.pop(), name))


def _dict(machine: _Machine) -> None:
    pairs = machine.marked()
    machine.stack.append({})
    machine.put(pairs)


def _put_one(machine: _Machine) -> None:
    pair = [machine.stack.pop(), machine.stack.pop()]
    machine.put(pair[::-1])


def _remember(place: Callable[[_Machine], int]) -> _Act:
    def remember(machine: _Machine) -> None:
        machine.memo[place(machine)] = machine.stack[-1]

    return remember


def _recall(width: int) -> _Act:
    return _push(lambda machine: machine.memo[machine.number(width)])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _signed(data: bytes) -> int:
    if len(data) > 1_000:
        raise BadFileError("has a pickle with a number of more than a thousand bytes")
    return int.from_bytes(data, "little", signed=True)


_ACTS: dict[int, _Act] = {
    0x80: lambda m: m.take(1),  # PROTO
    0x95: lambda m: m.take(8),  # FRAME
    ord("("): lambda m: m.stack.append(_MARK),
    ord("0"): lambda m: m.stack.pop(),
    ord("1"): lambda m: m.marked(),
    ord("2"): lambda m: m.stack.append(m.stack[-1]),
    ord("N"): lambda m: m.stack.append(None),
    0x88: lambda m: m.stack.append(True),  # NEWTRUE
    0x89: lambda m: m.stack.append(False),  # NEWFALSE
    ord("J"): _push(lambda m: _signed(m.take(4))),
    ord("K"): _push(lambda m: m.number(1)),
    ord("M"): _push(lambda m: m.number(2)),
    0x8A: _sized(1, _signed),  # LONG1
    0x8B: _sized(4, _signed),  # LONG4
    ord("G"): _push(lambda m: struct.unpack(">d", m.take(8))[0]),
    ord("X"): _sized(4, _text),
    0x8C: _sized(1, _text),  # SHORT_BINUNICODE
    0x8D: _sized(8, _text),  # BINUNICODE8
    ord("U"): _sized(1, _text),
    ord("T"): _sized(4, _text),
    ord("B"): _sized(4, bytes),
    ord("C"): _sized(1, bytes),
    0x8E: _sized(8, bytes),  # BINBYTES8
    0x96: _sized(8, bytes),  # BYTEARRAY8
    ord("]"): lambda m: m.stack.append([]),
    ord("a"): lambda m: m.add([m.stack.pop()]),
    ord("e"): lambda m: m.add(m.marked()),
    ord("l"): _push(lambda m: m.marked()),
    ord(")"): lambda m: m.stack.append(()),
    ord("t"): _push(lambda m: tuple(m.marked())),
    0x85: _tuple(1),
    0x86: _tuple(2),
    0x87: _tuple(3),
    ord("}"): lambda m: m.stack.append({}),
    ord("d"): _dict,
    ord("s"): _put_one,
    ord("u"): lambda m: m.put(m.marked()),
    0x8F: lambda m: m.stack.append([]),  # EMPTY_SET
    0x90: lambda m: m.add(m.marked()),  # ADDITEMS
    0x91: _push(lambda m: m.marked()),  # FROZENSET
    ord("c"): _push(lambda m: _global(m.line(), m.line())),
    0x93: _global_from_stack,  # STACK_GLOBAL
    ord("R"): _call,
    0x81: _call,  # NEWOBJ
    0x92: _call_with_names,  # NEWOBJ_EX
    ord("b"): _build,
    ord("Q"): _push(lambda m: PersistentId(m.stack.pop())),
    ord("h"): _recall(1),
    ord("j"): _recall(4),
    ord("q"): _remember(lambda m: m.number(1)),
    ord("r"): _remember(lambda m: m.number(4)),
    0x94: _remember(lambda m: len(m.memo)),  # MEMOIZE
}
"""What each opcode does. No format of tensors uses any other."""
