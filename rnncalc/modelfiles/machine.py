"""The machine that a pickle is a program for: a stack, a memo, and records in place of whatever would be called.

Knows no opcode by its number; those are `pickled.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rnncalc.modelfiles.model import MOST_NAME, BadFileError

MOST_OPCODES = 1_000_000
"""Some 20,000 tensors, with an optimizer's; more would take longer than anybody waits, and the memory."""

_STOP = ord(".")


class Named(NamedTuple):
    """Something that a pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Stored(NamedTuple):
    """Something that a pickle says is kept elsewhere."""

    key: Any


def named(module: Any, name: Any) -> Named:
    """Return a name that a pickle gives in two parts. Raises BadFileError for anything but short text."""
    for part in (module, name):
        if not isinstance(part, str) or len(part) > MOST_NAME:
            raise BadFileError("has a pickle with a name that is no text, or longer than any")
    return Named(module, name)


class Made:
    """What a pickle would make by a call: of what, with what, and what it would put into it."""

    __slots__ = ("args", "items", "of", "state")

    def __init__(self, of: Any, args: Any) -> None:
        self.of = of
        self.args = args
        self.state: Any = None
        self.items: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name of what is called, empty where that is no name."""
        return str(self.of) if isinstance(self.of, Named) else ""


class _Mark:
    """Where on the stack a list of items starts."""


MARK = _Mark()


class Machine:
    """The stack and the memo of one pickle, and a method for each group of opcodes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, acts: Mapping[int, Callable[[Machine], Any]]) -> Any:
        """Return what is on the stack when the pickle ends; `acts` is what each opcode does."""
        opcodes = 0
        while (code := self.data[self.at]) != _STOP:
            self.at += 1
            opcodes += 1
            if opcodes > MOST_OPCODES:
                raise BadFileError(f"has a pickle of more than {MOST_OPCODES:,} steps")
            act = acts.get(code)
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
        while self.stack[start] is not MARK:
            start -= 1
            if start < 0:
                raise BadFileError("has a pickle that is cut off")
        items = self.stack[start + 1 :]
        del self.stack[start:]
        return items

    def put(self, pairs: list[Any]) -> None:
        """Put keys with values into what is on top of the stack."""
        into = self.stack[-1]
        found = into.items if isinstance(into, Made) else into
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            found[key if isinstance(key, str | int | float | bytes | None) else f"#{len(found)}"] = value

    def add(self, items: list[Any]) -> None:
        """Put items into the list on top of the stack."""
        into = self.stack[-1]
        if isinstance(into, Made):
            into.items.update((len(into.items) + place, item) for place, item in enumerate(items))
        else:
            into.extend(items)

    def make(self, of: Any, args: Any) -> None:
        """Put down what would be called, and with what."""
        self.stack.append(Made(of, args))

    def built(self) -> None:
        """Note the state that what is below it would get."""
        state = self.stack.pop()
        if isinstance(into := self.stack[-1], Made):
            into.state = state
