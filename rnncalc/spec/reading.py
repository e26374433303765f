"""The reading of a tree of nodes: every problem noted with its place, a harmless value in place of what is unreadable.

Knows how values and keys are read and refused, not what a network is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.errors import MORE_PROBLEMS, MOST_PROBLEMS, Path, Problem, SpecError
from rnncalc.layers.options import Allowed, Size, Switch
from rnncalc.spec import scalars
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence
from rnncalc.text import escape, keys_here, one_of

if TYPE_CHECKING:
    from rnncalc.spec.marks import Mark


def unknown_key(key: str, known: tuple[str, ...], below: Node) -> str:
    """Return what to say of a key that is not known where it stands, with what is below it."""
    if key == "":
        return "nothing stands where a key should"
    if key == "<<":
        return "merge keys are not read; write the options out"
    from rnncalc.spec.cures import key_cure

    return f"unknown key{key_cure(key, known, word_of(below)) or f'; {keys_here(known)}'}"


class Reading:
    """One tree as it is read; `unknown` is what a size written `?` stands for."""

    def __init__(self, root: Node, source: str, unknown: int | None = None) -> None:
        self.root = root
        self.source = escape(source, limit=1_000)
        self.unknown = unknown
        self.problems: list[Problem] = []
        self.more = False  # whether there are more than these
        self._numbers: dict[str, int] = {}  # of the flags that are counted

    def problem(self, mark: Mark | Flag, path: Path, message: str, gaps: tuple[int, ...] = ()) -> None:
        """Note a problem; from flags, the flag stands in place of the first steps of the path.

        Raises SpecError with those that were noted when there are more than anybody reads.
        """
        if len(self.problems) >= MOST_PROBLEMS:
            self.more = True
            raise self.error()
        if isinstance(mark, Flag):
            flag = mark.name or f"--{path[0]}".replace("layers", "layer")
            self._numbers[flag] = mark.number
            below = path[2:] if path[0] == "layers" else path[1:]
            self.problems.append(Problem(below, message, flag, gaps=gaps))
        else:
            self.problems.append(Problem(path, message, self.source, mark.line + 1, mark.column + 1, gaps=gaps))

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

        `units:5`, which YAML takes for a key of its own, is noted, and read as what it was meant for.
        """
        if not isinstance(node, Mapping):
            wanted = f"keys ({one_of(known)})" if known else "nothing"
            self.problem(node.mark, path, f"expected {wanted}, got {what(node)}")
            return
        seen = set()
        for key, value in node.items:
            if key.value in known and key.value not in seen:
                yield key.value, value
            elif key.value in seen:
                self.problem(key.mark, (*path, escape(key.value)), "stands here a second time; remove one")
            else:
                self.problem(key.mark, (*path, escape(key.value)), of_unknown(key.value, known, value))
                name, _, word = key.value.partition(":")
                if name in known and name not in seen and word and not isinstance(key.mark, Flag):
                    yield name, Scalar(word, True, key.mark)
                    seen.add(name)
            seen.add(key.value)

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return the value of a scalar, or, noting the problem, the stand-in."""
        if not isinstance(node, Scalar):
            self.problem(node.mark, path, f"expected {allowed.expected}, got {what(node)}{of_lists(node, path)}")
            return stand_in
        if node.value == "?" and self.unknown is not None and isinstance(allowed, Size):
            return self.unknown
        try:
            return scalars.read(node, allowed)
        except ValueError as error:
            is_on = isinstance(allowed, Switch) and node.value == path[-1]  # bidirectional: bidirectional
            self.problem(node.mark, path, f"{error}; write true" if is_on else str(error))
            return stand_in

    def error(self) -> SpecError:
        """Return the error with all problems, in the order of their places."""
        distinct = dict.fromkeys(sorted(self.problems, key=self._order))
        more = (MORE_PROBLEMS,) if self.more else ()
        return SpecError((*distinct, *more))

    def _order(self, problem: Problem) -> tuple[int, int]:
        return problem.place or (0, self._numbers.get(problem.source, 0))


def of_lists(node: Sequence | Mapping, path: Path) -> str:
    """Return how to write what stands in brackets, or on lines of their own, where one word should."""
    number = node.get("units") or node.get("size") or node.get("hidden_size") if isinstance(node, Mapping) else None
    if isinstance(number, Scalar):
        return f"; write {path[-1]}: {escape(number.value)}, and the options below it, not within"
    return ""


def word_of(node: Node) -> str:
    """Return the word that a node is; nothing for lists and keys."""
    return node.value if isinstance(node, Scalar) else ""


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
