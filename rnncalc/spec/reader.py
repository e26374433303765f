"""From a tree of nodes to a Network. Gathers every problem there is, each with its place, before it gives up.

What each key of a network may be is `network/validation.py`; its layers are read in `layers.py` beside this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from rnncalc.errors import MORE_PROBLEMS, Path, Problem, SpecError
from rnncalc.layers.kinds import KINDS
from rnncalc.layers.layer import Output
from rnncalc.layers.options import OPTIONS, Size, WholeNumber
from rnncalc.network.network import Network
from rnncalc.network.parts import Expect, Part
from rnncalc.network.validation import KEYS
from rnncalc.spec.layers import read_layers, unknown_option
from rnncalc.spec.nodes import Mapping, Node, Scalar, Sequence, mark_at
from rnncalc.spec.reading import Reading, what
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.network.budget import Budget
    from rnncalc.network.training import Update

OUTPUT_KEYS = (Output.number, *Output.options())
PART_KEYS = ("steps", "input", "layers", "output")
DATA_KEYS = ("weights", "inputs", "targets", "start")
TOP_KEYS = (*KEYS, "layers", "output", "encoder", "decoder", "expect", "budget", "training", *DATA_KEYS)
COUNT = WholeNumber()
OWN_DATA: dict[str, tuple[tuple[type, ...], str]] = {
    "weights": ((Mapping,), "the keys of the layers"),
    "inputs": ((Sequence, Mapping), "a list of steps, for a run"),
    "targets": ((Sequence,), "a list in the shape of the output"),
    "start": ((Mapping,), "the keys of the recurrent layers"),
}
"""The keys of a spec that hold numbers to run with, and what each is; the numbers are read when they are used."""

MOST_LAYER_LIMITS = 1_000

_WIDTH = "the number of features per step, or an embedding's vocabulary"


def read_network(
    root: Node, source: str, name: str, problems: Iterable[Problem] = (), unknown: int | None = None
) -> Network:
    """Return the network that a tree describes; `unknown` is what a size written `?` stands for.

    Raises SpecError with all the problems, those found before included, in the order of their places.
    """
    reader = _Reader(root, source, unknown)
    reader.problems += problems
    network = reader.network(name)
    if network is None or reader.problems:
        raise reader.error()
    return network


class _Reader(Reading):
    """Reads a network; what cannot be read is noted, and a harmless value stands in for it."""

    def network(self, name: str) -> Network | None:
        """Return the network; None, with the problems noted, where it cannot be one."""
        values = dict(self.keys(self.root, (), TOP_KEYS))
        if not isinstance(self.root, Mapping):
            return None
        given: dict[str, Any] = {"name": name}
        for key in KEYS:
            if key in values:
                value = self.value(values[key], (key,), KEYS[key], stand_in=1 if key == "input" else None)
                if value is not None:
                    given[key] = value
        halves = [half for half in ("encoder", "decoder") if half in values]
        for half in halves:
            given[half] = self.part(values[half], (half,))
        if not halves and "input" not in values:
            self.missing(self.root, ("input",), _WIDTH)
            given["input"] = 1
        if "layers" in values or not halves:
            given["layers"] = read_layers(self, values.get("layers"), ("layers",), self.root)
        parts = {"output": self.output, "expect": self.expect, "budget": self.budget, "training": self.training}
        for key, read in parts.items():
            if key in values:
                given[key] = read(values[key], (key,))
        for key, node in values.items():
            fits = key not in OWN_DATA or isinstance(node, OWN_DATA[key][0])
            if not fits:
                self.problem(node.mark, (key,), f"expected {OWN_DATA[key][1]}, got {what(node)}")
        return self.validated(given)

    def validated(self, given: dict[str, Any]) -> Network | None:
        """Return the network of these values; note what is wrong with them together, each at the node it comes from."""
        try:
            return Network(**given)
        except SpecError as error:
            told = bool(self.problems)
            for problem in error.problems:
                if problem is MORE_PROBLEMS:
                    self.more = True
                elif not (problem.follows and told):
                    self.problem(mark_at(self.root, problem.path), problem.path, problem.message, problem.gaps)
            return None

    def part(self, node: Node, path: Path) -> Part:
        values = dict(self.keys(node, path, PART_KEYS))
        steps = self.value(values["steps"], (*path, "steps"), Size(), None) if "steps" in values else None
        if "input" in values:
            width = self.value(values["input"], (*path, "input"), Size(), 1)
        else:
            width = 1
            if isinstance(node, Mapping):
                self.missing(node, (*path, "input"), _WIDTH)
        layers = read_layers(self, values.get("layers"), (*path, "layers"), node)
        output = self.output(values["output"], (*path, "output")) if "output" in values else None
        return Part(width, layers, output, steps)

    def output(self, node: Node, path: Path) -> Output:
        if isinstance(node, Scalar):
            return Output(self.value(node, path, Size(), 1))
        values: dict[str, Any] = {"units": 1}
        for key, below in self.keys(node, path, OUTPUT_KEYS, partial(unknown_option, Output, node)):
            value = self.value(below, (*path, key), OPTIONS[key].allowed, None)
            if value is not None:
                values[key] = value
        given = {key.value.partition(":")[0] for key, _ in node.items} if isinstance(node, Mapping) else {"units"}
        if given.isdisjoint(("units", *KINDS)):
            self.missing(node, (*path, "units"), "the number of outputs")
        return Output(**values)

    def expect(self, node: Node, path: Path) -> Expect:
        if isinstance(node, Scalar):
            return Expect(self.value(node, path, COUNT, None))
        from rnncalc.spec.shapes import read_shapes  # most specs expect one number, or nothing

        values: dict[str, Any] = {}
        for key, below in self.keys(node, path, Expect._fields):
            at = (*path, key)
            if key == "tensors":
                values[key] = read_shapes(self, below, at)
            elif key != "layers":
                values[key] = self.value(below, at, COUNT, None)
            elif isinstance(below, Sequence):
                values[key] = tuple(self.value(item, (*at, place), COUNT, 0) for place, item in enumerate(below.items))
            else:
                self.problem(below.mark, at, f"expected a list of counts, got {what(below)}{_as_list(below)}")
        return Expect(**values)

    def training(self, node: Node, path: Path) -> Update:
        from rnncalc.network.training import UPDATE_KEYS, Update  # a spec without it does not pay for it

        keys = self.keys(node, path, tuple(UPDATE_KEYS))
        values = {key: self.value(below, (*path, key), UPDATE_KEYS[key].allowed, None) for key, below in keys}
        return Update(**{key: value for key, value in values.items() if value is not None})

    def budget(self, node: Node, path: Path) -> Budget:
        from rnncalc.network.budget import BUDGET_KEYS, Budget  # enums, which a spec without one does not pay for

        values: dict[str, Any] = {}
        for key, below in self.keys(node, path, (*BUDGET_KEYS, "layers")):
            if key == "layers":
                values[key] = tuple(self.layer_limits(below, (*path, key)))
            else:
                values[key] = self.value(below, (*path, key), BUDGET_KEYS[key].allowed, None)
        return Budget(**values)

    def layer_limits(self, node: Node, path: Path) -> Iterator[tuple[str, int]]:
        from rnncalc.network.budget import LAYER_LIMIT

        if not isinstance(node, Mapping):
            self.problem(node.mark, path, f"expected names of layers, each with a number, got {what(node)}")
            return
        if len(node.items) > MOST_LAYER_LIMITS:
            message = f"expected at most {MOST_LAYER_LIMITS:,} layers, got {len(node.items):,}"
            self.problem(node.mark, path, message)
            return
        seen = set()
        for key, below in node.items:
            at = (*path, escape(key.value))
            if key.value in seen:
                self.problem(key.mark, at, "stands here a second time; remove one")
            seen.add(key.value)
            yield key.value, self.value(below, at, LAYER_LIMIT.allowed, 0)


def _as_list(node: Node) -> str:
    """Return the list to write for counts under the names of their layers, or for one count alone."""
    below = [value for _, value in node.items] if isinstance(node, Mapping) else [node]
    counts = [escape(each.value) for each in below if isinstance(each, Scalar) and each.value]
    if not counts or len(counts) < len(below):
        return ""
    order = ", one for each layer in order" if isinstance(node, Mapping) else ""
    return f"; write [{', '.join(counts)}]{order}"
