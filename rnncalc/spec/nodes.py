"""The tree a spec is read from, each node with its place, and the reading of its keys and values.

`document.py` makes the tree from YAML, `flags.py` from flags. Every problem is noted with its place, and a harmless
value replaces what cannot be read. Knows nothing of networks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingOf
from typing import TYPE_CHECKING, Any

from rnncalc.bounds import MOST_PROBLEMS
from rnncalc.errors import MORE_PROBLEMS, DivisionError, Path, Problem, SpecError
from rnncalc.layers.options import Allowed, Size, Sizes
from rnncalc.printable import escape, escape_path
from rnncalc.records import Frozen
from rnncalc.spec import values
from rnncalc.words import did_you_mean, keys_here, one_of

if TYPE_CHECKING:
    from typing import Protocol

    class Mark(Protocol):
        """Where a node starts in a file, counted from 0, as in PyYAML's marks."""

        line: int
        column: int


class Flag(Frozen):
    """The flag that a node comes from, instead of a mark; for `--layer` with its number, counted from 1."""

    name: str
    number: int = 0


class Scalar:
    """A word or number as written. `plain` tells it from quoted and block text."""

    __slots__ = ("mark", "plain", "value")

    def __init__(self, value: str, plain: bool, mark: Mark | Flag) -> None:
        self.value = value
        self.plain = plain
        self.mark = mark

    @property
    def flag(self) -> str | None:
        """The flag that it comes from; None in a file."""
        return self.mark.name if isinstance(self.mark, Flag) else None


class Sequence:
    """A list of nodes. places: the layers in it with their paths, those of a repeated group as often as it says."""

    __slots__ = ("items", "mark", "places")

    def __init__(self, mark: Mark | Flag) -> None:
        self.items: list[Node] = []
        self.mark = mark
        self.places: list[tuple[Node, Path]] = []


class Mapping:
    """Keys and their nodes, in the order written."""

    __slots__ = ("_first", "_size", "items", "mark")
    _first: dict[str, Node]

    def __init__(self, mark: Mark | Flag) -> None:
        self.items: list[tuple[Scalar, Node]] = []
        self.mark = mark
        self._size = 0  # the number of items that `_first` was made from

    def get(self, key: str) -> Node | None:
        """Return the node under a key, the first if there are several."""
        if self._size != len(self.items):
            self._first = {name.value: node for name, node in reversed(self.items)}
            self._size = len(self.items)
        return self._first.get(key) if self._size else None

    def put(self, key: str, node: Node) -> None:
        """Set the node under a key, instead of the one that was there."""
        self.items = [item for item in self.items if item[0].value != key]
        self.items.append((Scalar(key, True, node.mark), node))
        self._size = 0


Node = Scalar | Sequence | Mapping


def node_at(root: Node, path: Path) -> tuple[Node, Path]:
    """Return the node at a path, or the nearest one above it, and the path as it is in the tree."""
    node = root
    for depth, step in enumerate(path, 1):
        match node, step:
            case Mapping(), str():
                below = node.get(step)
            case Sequence(places=places), int() if step < len(places):
                below, at = places[step]
                path = (*at, *path[depth:])
            case Sequence(), int():
                below = node.items[step] if step < len(node.items) else None
            case _:
                below = None
        if below is None:
            break
        node = below
    return node, path


def scalars(node: Node) -> Iterator[Scalar]:
    """Yield the scalars of a tree that are no keys, in order."""
    if isinstance(node, Scalar):
        yield node
        return
    for below in node.items if isinstance(node, Sequence) else [value for _, value in node.items]:
        yield from scalars(below)


def unknown_key(key: str, known: tuple[str, ...], below: Node) -> str:
    """Return the message for an unknown key. below: its value."""
    if key == "":
        return "there is nothing where a key should be"
    if key == "<<":
        return "merge keys are not read; write the options out"
    if re.fullmatch("[0-9]{3}", key) and isinstance(below, Scalar) and not below.value:  # {max_params: 20,000}
        return "unknown key; in braces a number with commas needs quotes"
    from rnncalc.spec.aliases import key_cure

    below_it = [name.value for name, _ in below.items] if isinstance(below, Mapping) else []
    if not {*known}.isdisjoint(below_it) and not did_you_mean(key, known):
        return "unknown key; remove this line, and move those below it to the left"
    return f"unknown key{key_cure(key, known, word_of(below)) or f'; {keys_here(known)}'}"


class TreeReader:
    """Reads one tree; `unknown` is what a size written `?` stands for."""

    def __init__(self, root: Node, source: str, unknown: int | None = None) -> None:
        self.root = root
        self.source = escape_path(source)
        self.unknown = unknown
        self.problems: list[Problem] = []
        self.more = False  # whether there are more than these
        self._numbers: dict[str, int] = {}  # of the flags that are counted

    def problem(
        self, mark: Mark | Flag, path: Path, message: str, gaps: tuple[int, ...] = (), *, rest: bool = False
    ) -> None:
        """Note a problem; for flags, the flag replaces the first steps of the path.

        Raises SpecError with those noted so far when there are more than anybody reads.
        """
        if len(self.problems) >= MOST_PROBLEMS:
            self.more = True
            raise self.error()
        if isinstance(mark, Flag):
            flag = mark.name or f"--{path[0]}".replace("layers", "layer")
            self._numbers[flag] = mark.number
            below = path[2:] if path[0] == "layers" else path[1:]
            self.problems.append(Problem(below, message, flag, gaps=gaps, rest=rest))
        else:
            place = (mark.line + 1, mark.column + 1)
            self.problems.append(Problem(path, message, self.source, *place, gaps=gaps, rest=rest))

    def missing(self, node: Node, path: Path, what: str) -> None:
        self.problem(node.mark, path, f"missing; give {what}")

    def keys(
        self,
        node: Node,
        path: Path,
        known: tuple[str, ...],
        of_unknown: Callable[[str, tuple[str, ...], Node], str] = unknown_key,
    ) -> Iterator[tuple[str, Node]]:
        """Yield the known keys of a mapping with their nodes; note the unknown and the repeated ones.

        `units:5`, which YAML takes for one key, is noted, and read as `units: 5`.
        """
        if not isinstance(node, Mapping):
            expected = f"keys ({one_of(known)})" if known else "nothing"
            self.problem(node.mark, path, f"expected {expected}, got {what(node)}")
            return
        seen = set()
        for key, value in node.items:
            if key.value in known and key.value not in seen:
                yield key.value, value
            elif key.value in seen:
                self.problem(key.mark, (*path, escape(key.value)), "is given twice; remove one")
            else:
                self.problem(key.mark, (*path, escape(key.value)), of_unknown(key.value, known, value))
                name, _, word = key.value.partition(":")
                if name in known and name not in seen and word and not isinstance(key.mark, Flag):
                    yield name, Scalar(word, True, key.mark)
                    seen.add(name)
            seen.add(key.value)

    def entries(self, node: Node, path: Path, expected: str) -> Iterator[tuple[str, Node, Path]]:
        """Yield the value under each name, once, with its path."""
        if not isinstance(node, Mapping):
            self.problem(node.mark, path, f"expected {expected}, got {what(node)}")
            return
        seen = set()
        for key, below in node.items:
            at = (*path, escape(key.value))
            if key.value in seen:
                self.problem(key.mark, at, "is given twice; remove one")
            else:
                seen.add(key.value)
                yield key.value, below, at

    def values(self, nodes: Iterable[tuple[str, Node]], path: Path, allowed: MappingOf[str, Allowed]) -> dict[str, Any]:
        """Return the values of the keys whose scalars can be read."""
        read = {key: self.value(node, (*path, key), allowed[key], None) for key, node in nodes}
        return {key: value for key, value in read.items() if value is not None}

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return the value of a scalar; if it cannot be read, note the problem and return the stand-in."""
        if isinstance(allowed, Sizes) and isinstance(node, Sequence):  # [64, 48] is 64x48
            words = [str(self.value(item, path, Size(), 1)) for item in node.items]
            node = Scalar("x".join(words), True, node.mark)
        if not isinstance(node, Scalar):
            cure = ""
            for key in ("units", "size", "hidden_size"):
                if not cure and isinstance(node, Mapping) and isinstance(number := node.get(key), Scalar):
                    cure = f"; write {path[-1]}: {escape(number.value)}, and the options below it, not within"
            self.problem(node.mark, path, f"expected {allowed.expected}, got {what(node)}{cure}")
            return stand_in
        if node.value == "?" and self.unknown is not None and isinstance(allowed, Size):
            return self.unknown
        try:
            return self.read(node, allowed)
        except ValueError as error:
            self.problem(node.mark, path, str(error).partition("\n")[0], rest=isinstance(error, DivisionError))
            return stand_in

    def read(self, node: Scalar, allowed: Allowed) -> Any:
        """Return the value of a scalar. Raises ValueError if it cannot be read."""
        return values.read(node.value, allowed, node.plain, flag=node.flag)

    def error(self) -> SpecError:
        """Return the error with all problems, in the order of their places."""
        in_order = sorted(self.problems, key=lambda each: each.place or (0, self._numbers.get(each.source, 0)))
        return SpecError((*dict.fromkeys(in_order), *((MORE_PROBLEMS,) if self.more else ())))


def word_of(node: Node) -> str:
    """Return the word of a scalar; empty for lists and mappings."""
    return node.value if isinstance(node, Scalar) else ""


def what(node: Node) -> str:
    """Return the description of a node, for messages."""
    match node:
        case Scalar(value=""):
            return "nothing"
        case Scalar():
            return f"'{escape(node.value)}'"
        case Sequence():
            return "a list"
        case _:
            return "keys"
