"""A pickle as data: names are recorded, and nothing is imported, looked up or called.

Python's own unpickler is not made for untrusted files: some make it use up the memory or the stack before anything is
called. This one is a loop over bytes; `pickletools` tells how long an opcode's argument is and what the opcode takes
off the stack. Its own loop, genops, refuses text that is not UTF-8, which TorchScript may have. A call becomes a
`PickledCall`.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_NAME, MOST_OPCODES, MOST_PICKLE
from rnncalc.models.files import model
from rnncalc.models.files.model import BadFileError

ARRAYS = ("numpy._core.multiarray._reconstruct", "numpy.core.multiarray._reconstruct")
"""The functions that make an array of NumPy, which its state then fills."""


class Global(NamedTuple):
    """Something that a pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class PersistentId(NamedTuple):
    """An object that a pickle refers to by a key and does not contain."""

    key: Any


def called(function: Any) -> str:
    """Return the name of a function or a class; nothing of any other value, whose text may be long."""
    return str(function) if isinstance(function, Global) else ""


class PickledCall:
    """A call that a pickle would make: the function, its arguments, and the state and items it would add.

    name: of the function, empty if it has none. args: empty if they are not a tuple.
    """

    __slots__ = ("args", "items", "name", "state")

    def __init__(self, function: Any, args: Any) -> None:
        self.name = called(function)
        self.args: tuple[Any, ...] = args if isinstance(args, tuple) else ()
        self.state: Any = None
        self.items: dict[Any, Any] = {}


def unpickled(data: bytes) -> Any:
    """Return what a pickle describes. Raises BadFileError if it is no pickle, or too large."""
    model.refuse_long("pickle", len(data), MOST_PICKLE)
    try:
        return _described(data)
    except BadFileError:
        raise
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, struct.error):
        raise BadFileError("has a pickle that is truncated or empty") from None


def _described(data: bytes) -> Any:
    """Return what is on the stack when a pickle ends."""
    stack: list[Any] = []
    below: list[list[Any]] = []  # the rest of the stack, below each mark
    memo: dict[int, Any] = {}
    for place, (opcode, argument) in enumerate(_opcodes(data)):
        if place == MOST_OPCODES:
            raise BadFileError(f"has a pickle of more than {MOST_OPCODES:,} steps")
        name = opcode.name
        if name in _VALUES:
            stack.append(_VALUES[name](argument))
        elif name in _ACTS:
            items: list[Any] = []
            taken = len(opcode.stack_before)
            if pickletools.markobject in opcode.stack_before:  # and then what is above the mark
                items, stack, taken = stack, below.pop(), taken - 2
            if taken > len(stack):
                raise IndexError
            start = len(stack) - taken
            items = stack[start:] + items
            stack[start:] = [_ACTS[name](*items)]
        elif name == "MARK":
            below.append(stack)
            stack = []
        elif name == "POP_MARK":
            stack = below.pop()
        elif name == "POP":
            stack.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[_whole(argument)])
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            memo[_whole(argument) if argument else len(memo)] = stack[-1]
    return stack[-1]


def _opcodes(data: bytes) -> Iterator[tuple[pickletools.OpcodeInfo, bytes]]:
    """Yield each opcode before STOP, with the bytes of its argument."""
    at = 0
    while (code := data[at]) != ord("."):
        opcode = _OPCODES.get(code)
        if opcode is None:
            raise BadFileError(f"has a pickle with the opcode 0x{code:02x}, which no format of tensors needs")
        at += 1
        size = opcode.arg.n if opcode.arg else 0
        if size == pickletools.UP_TO_NEWLINE:  # of GLOBAL, which has two lines
            size = data.index(b"\n", data.index(b"\n", at) + 1) + 1 - at
        elif size < 0:
            width = _WIDTHS[size]
            size, at = _whole(data[at : at + width]), at + width
        argument = data[at : at + size]
        if len(argument) < size:
            raise BadFileError("has a pickle that is truncated")
        at += size
        yield opcode, argument


_WIDTHS = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4}
_WIDTHS |= {pickletools.TAKEN_FROM_ARGUMENT4U: 4, pickletools.TAKEN_FROM_ARGUMENT8U: 8}
"""How many bytes the length before an argument has."""


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _signed(data: bytes) -> int:
    if len(data) > 1_000:
        raise BadFileError("has a pickle with a number of more than a thousand bytes")
    return int.from_bytes(data, "little", signed=True)


def _global(module: Any, name: Any) -> Global:
    """Return a name that a pickle gives in two parts. Raises BadFileError unless both are short texts."""
    for part in (module, name):
        if not isinstance(part, str) or len(part) > MOST_NAME:
            raise BadFileError("has a pickle with a name that is no text, or longer than any")
    return Global(module, name)


def _extended(container: Any, *items: Any) -> Any:
    if isinstance(container, PickledCall):
        container.items.update((len(container.items) + place, item) for place, item in enumerate(items))
    else:
        container.extend(items)
    return container


def _with_pairs(container: Any, *pairs: Any) -> Any:
    items = container.items if isinstance(container, PickledCall) else container
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        items[key if isinstance(key, str | int | float | bytes | None) else f"#{len(items)}"] = value
    return container


def _with_state(container: Any, state: Any) -> Any:
    if isinstance(container, PickledCall):
        container.state = state
    return container


_VALUES: dict[str, Callable[[bytes], Any]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    **dict.fromkeys(("BININT1", "BININT2"), _whole),
    **dict.fromkeys(("BININT", "LONG1", "LONG4"), _signed),
    "BINFLOAT": lambda data: struct.unpack(">d", data)[0],
    **dict.fromkeys(
        ("SHORT_BINSTRING", "BINSTRING", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
        lambda data: data.decode("utf-8", "replace"),
    ),
    **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), bytes),
    "EMPTY_TUPLE": lambda _: (),
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_SET"), lambda _: []),
    "EMPTY_DICT": lambda _: {},
    "GLOBAL": lambda data: _global(*data.decode().split("\n")[:2]),
}
"""What an opcode makes of its argument."""

_ACTS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"), lambda *items: items),
    **dict.fromkeys(("LIST", "FROZENSET"), lambda *items: [*items]),
    **dict.fromkeys(("APPEND", "APPENDS", "ADDITEMS"), _extended),
    "DICT": lambda *pairs: _with_pairs({}, *pairs),
    **dict.fromkeys(("SETITEM", "SETITEMS"), _with_pairs),
    "STACK_GLOBAL": _global,
    **dict.fromkeys(("REDUCE", "NEWOBJ"), PickledCall),
    "NEWOBJ_EX": lambda function, args, _: PickledCall(function, args),
    "BUILD": _with_state,
    "BINPERSID": PersistentId,
}
"""What an opcode makes of the items that it takes off the stack."""

_OTHERS = {"PROTO", "FRAME", "MARK", "POP_MARK", "POP", "DUP"}
_OTHERS |= {"BINPUT", "LONG_BINPUT", "MEMOIZE", "BINGET", "LONG_BINGET"}
_OPCODES = {ord(opcode.code): opcode for opcode in pickletools.opcodes if opcode.name in {*_VALUES, *_ACTS, *_OTHERS}}
"""The opcodes by their bytes. No format of tensors uses any other."""
