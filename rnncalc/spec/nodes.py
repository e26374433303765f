"""The tree a spec is read from, each node with its place; `document.py` makes it from YAML, `flags.py` from flags.

Knows nothing of what a spec means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rnncalc.errors import Path

if TYPE_CHECKING:
    from rnncalc.spec.marks import Mark


class Flag(NamedTuple):
    """In place of a mark: the flag that a node comes from; of `--layer`, its number, counted from 1."""

    name: str
    number: int = 0


class Scalar:
    """A word or number as written. `plain` tells it from quoted and block text."""

    __slots__ = ("mark", "plain", "value")

    def __init__(self, value: str, plain: bool, mark: Mark | Flag) -> None:
        self.value = value
        self.plain = plain
        self.mark = mark


class Sequence:
    """A list of nodes."""

    __slots__ = ("items", "mark")

    def __init__(self, mark: Mark | Flag) -> None:
        self.items: list[Node] = []
        self.mark = mark


class Mapping:
    """Keys and their nodes, in the order written."""

    __slots__ = ("items", "mark")

    def __init__(self, mark: Mark | Flag) -> None:
        self.items: list[tuple[Scalar, Node]] = []
        self.mark = mark

    def get(self, key: str) -> Node | None:
        """Return the node under a key."""
        for name, node in self.items:
            if name.value == key:
                return node
        return None

    def put(self, key: str, node: Node) -> None:
        """Set the node under a key, in place of the one that was there."""
        self.items = [item for item in self.items if item[0].value != key]
        self.items.append((Scalar(key, True, node.mark), node))


Node = Scalar | Sequence | Mapping


def mark_at(root: Node, path: Path) -> Mark | Flag:
    """Return the mark of the node at a path, or of the nearest above it that is there; a value's, not its key's."""
    node = root
    for step in path:
        match node, step:
            case Mapping(), str():
                below = node.get(step)
            case Sequence(), int():
                below = node.items[step] if step < len(node.items) else None
            case _:
                below = None
        if below is None:
            break
        node = below
    return node.mark


def has_word(root: Node, word: str) -> bool:
    """Return whether a scalar of the tree is this word."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias: once is enough
            continue
        seen.add(id(node))
        match node:
            case Scalar():
                if node.value == word:
                    return True
            case Sequence():
                waiting += node.items
            case Mapping():
                waiting += [value for _, value in node.items]
    return False
