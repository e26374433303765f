"""Reads a pickle as data: names are recorded, and nothing is imported, looked up or called.

Python's own unpickler is not made for untrusted files: some make it use up the memory or the stack before anything is
called. This one is a loop over bytes. A call becomes a `PickledCall`, a record that the caller interprets. The opcodes
are those of protocols 2 to 5, as in Python's `pickletools`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from rnncalc.bounds import MOST_NAME, MOST_OPCODES, MOST_PICKLE
from rnncalc.modelfiles.model import BadFileError, refuse_long


class Global(NamedTuple):
    """Something that a pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class PersistentId(NamedTuple):
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
