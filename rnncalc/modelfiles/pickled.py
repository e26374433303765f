"""Reads a pickle as data: what it names is written down, nothing is imported, looked up or called.

Python's own unpickler is not made for strangers' files: some make it take all memory, or overrun its stack, before
anything is called. This one is a loop over bytes. What a pickle would call becomes a `Made`, a record of it, and what
the records mean is for the caller to say. The opcodes are those of protocols 2 to 5, as in Python's `pickletools`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from rnncalc.modelfiles.machine import MARK, Machine, Stored, named
from rnncalc.modelfiles.model import BadFileError

MOST_BYTES = 64_000_000


def unpickled(data: bytes) -> Any:
    """Return what a pickle describes. Raises BadFileError where it is none, or more than is read."""
    if len(data) > MOST_BYTES:
        raise BadFileError(f"has a pickle of {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    try:
        return Machine(data).run(_ACTS)
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, struct.error) as error:
        if isinstance(error, BadFileError):
            raise
        raise BadFileError("has a pickle that is cut off, or none at all") from None


def _push(read: Callable[[Machine], Any]) -> Callable[[Machine], None]:
    return lambda machine: machine.stack.append(read(machine))


def _sized(width: int, decode: Callable[[bytes], Any]) -> Callable[[Machine], None]:
    """Return how to read so many bytes of a length, and what is that long."""
    return _push(lambda machine: decode(machine.take(machine.number(width))))


def _tuple(size: int) -> Callable[[Machine], None]:
    def take(machine: Machine) -> None:
        items = machine.stack[-size:]
        if len(items) < size:
            raise BadFileError("has a pickle that is cut off")
        machine.stack[-size:] = [tuple(items)]

    return take


def _called(machine: Machine) -> None:
    args = machine.stack.pop()
    machine.make(machine.stack.pop(), args)


def _called_with_names(machine: Machine) -> None:
    machine.stack.pop()
    _called(machine)


def _from_stack(machine: Machine) -> None:
    name = machine.stack.pop()
    machine.stack.append(named(machine.stack.pop(), name))


def _dict(machine: Machine) -> None:
    pairs = machine.marked()
    machine.stack.append({})
    machine.put(pairs)


def _remember(place: Callable[[Machine], int]) -> Callable[[Machine], None]:
    def remember(machine: Machine) -> None:
        machine.memo[place(machine)] = machine.stack[-1]

    return remember


def _recall(width: int) -> Callable[[Machine], None]:
    return _push(lambda machine: machine.memo[machine.number(width)])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _signed(data: bytes) -> int:
    if len(data) > 1_000:
        raise BadFileError("has a pickle with a number of more than a thousand bytes")
    return int.from_bytes(data, "little", signed=True)


def _put_one(machine: Machine) -> None:
    pair = [machine.stack.pop(), machine.stack.pop()]
    machine.put(pair[::-1])


_ACTS: dict[int, Callable[[Machine], Any]] = {
    0x80: lambda m: m.take(1),  # PROTO
    0x95: lambda m: m.take(8),  # FRAME
    ord("("): lambda m: m.stack.append(MARK),
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
    ord("c"): _push(lambda m: named(m.line(), m.line())),
    0x93: _from_stack,  # STACK_GLOBAL
    ord("R"): _called,
    0x81: _called,  # NEWOBJ
    0x92: _called_with_names,  # NEWOBJ_EX
    ord("b"): lambda m: m.built(),
    ord("Q"): _push(lambda m: Stored(m.stack.pop())),
    ord("h"): _recall(1),
    ord("j"): _recall(4),
    ord("q"): _remember(lambda m: m.number(1)),
    ord("r"): _remember(lambda m: m.number(4)),
    0x94: _remember(lambda m: len(m.memo)),  # MEMOIZE
}
"""What each opcode does; what is not here, no format of tensors uses."""
