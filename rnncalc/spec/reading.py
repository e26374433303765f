"""The reading of a tree of nodes: every problem noted with its place, a harmless value in place of what is unreadable.

Knows how values and keys are read and refused, not what a network is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rnncalc.errors import Problem, SpecError, dotted
from rnncalc.layers.options import Allowed, Size
from rnncalc.spec import scalars
from rnncalc.spec.nodes import Mapping, Mark, Node, Scalar, Sequence
from rnncalc.text import did_you_mean, escape, one_of

MOST_PROBLEMS = 1_000

At = tuple[int, int]
"""The order of problems: a line and a column, both counted from 0."""

Path = tuple[str | int, ...]


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """Return what to say of a key that is not known where it stands."""
    if key == "":
        return "nothing stands where a key should"
    if key == "<<":
        return "merge keys are not read; write the options out"
    return f"unknown key{did_you_mean(key, known) or f'; the keys here are {one_of(known)}'}"


class Reading:
    """One tree as it is read; `unknown` is what a size written `?` stands for."""

    def __init__(self, root: Node, source: str, unknown: int | None = None) -> None:
        self.root = root
        self.source = escape(source, limit=1_000)
        self.unknown = unknown
        self.problems: list[tuple[At, Problem]] = []

    def problem(self, mark: Mark | str, path: Path, message: str) -> None:
        """Note a problem; from flags, the flag stands in place of the first steps of the path."""
        if isinstance(mark, str):
            flag = mark or f"--{path[0]}".replace("layers", "layer")
            inner = path[2:] if path[0] == "layers" else path[1:]
            order = path[1] + 1 if len(path) > 1 and isinstance(path[1], int) else 0
            at, told = (order, len(self.problems)), Problem(flag, dotted(inner), message)
        else:
            at = (mark.line, mark.column)
            told = Problem(f"{self.source}:{mark.line + 1}:{mark.column + 1}", dotted(path), message)
        self.problems.append((at, told))

    def missing(self, node: Node, path: Path, what: str) -> None:
        self.problem(node.mark, path, f"missing; give {what}")

    def keys(
        self,
        node: Node,
        path: Path,
        known: tuple[str, ...],
        of_unknown: Callable[[str, tuple[str, ...]], str] = unknown_key,
    ) -> Iterator[tuple[str, Node]]:
        """Yield the known keys of a mapping with their nodes; note the unknown and the repeated ones."""
        if not isinstance(node, Mapping):
            self.problem(node.mark, path, f"expected keys ({one_of(known)}), got {what(node)}")
            return
        seen = set()
        for key, value in node.items:
            at = (*path, escape(key.value))
            if key.value in seen:
                self.problem(key.mark, at, "stands here a second time; remove one")
            elif key.value in known:
                yield key.value, value
            else:
                told = len(self.problems) < MOST_PROBLEMS  # no one reads further, and to guess what was meant is slow
                self.problem(key.mark, at, of_unknown(key.value, known) if told else "unknown key")
            seen.add(key.value)

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return the value of a scalar, or, noting the problem, the stand-in."""
        if not isinstance(node, Scalar):
            self.problem(node.mark, path, f"expected {allowed.expected}, got {what(node)}")
            return stand_in
        if node.value == "?" and self.unknown is not None and isinstance(allowed, Size):
            return self.unknown
        try:
            return scalars.read(node, allowed)
        except ValueError as error:
            self.problem(node.mark, path, str(error))
            return stand_in

    def error(self) -> SpecError:
        """Return the error with all problems, in the order of their places."""
        ordered = [problem for _, problem in sorted(self.problems, key=lambda pair: pair[0])]
        distinct = list(dict.fromkeys(ordered))
        if len(distinct) > MOST_PROBLEMS:
            distinct[MOST_PROBLEMS:] = [Problem("", "", f"and {len(distinct) - MOST_PROBLEMS:,} more problems")]
        return SpecError(tuple(distinct))


def what(node: Node) -> str:
    """Return what a node is, for people."""
    match node:
        case Scalar(value=""):
            return "nothing"
        case Scalar():
            return f"'{escape(node.value)}'"
        case Sequence():
            return "a list"
        case _:
            return "keys"
