"""From a tree of nodes to a Network. Gathers every problem there is, each with its place, before it gives up.

The keys of a layer are the fields of its class and what they may be is `model.values`: nothing about a kind of layer
is said here a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from rnncalc.errors import Path, Problem, SpecError
from rnncalc.layers.cell import CELLS
from rnncalc.layers.layer import Dense, Dropout, Embedding, External, Layer, Output
from rnncalc.layers.options import OPTIONS, Count, Size
from rnncalc.network.budget import BUDGET_KEYS, LAYER_LIMIT, Budget
from rnncalc.network.network import Network
from rnncalc.network.parts import Expect, Part
from rnncalc.network.validation import KEYS
from rnncalc.spec.nodes import Flag, Mapping, Node, Scalar, Sequence, mark_at
from rnncalc.spec.reading import MOST_PROBLEMS, Reading, unknown_key, what
from rnncalc.text import all_of, did_you_mean, escape, one_of

_KINDS: tuple[type[Layer], ...] = (*CELLS, Dense, Embedding, Dropout, External)
KINDS = {kind.kind: kind for kind in _KINDS}
OPTIONS_OF: dict[str, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(of) if field.name != of.number) for kind, of in KINDS.items()
}
OUTPUT_KEYS = ("units", "bias", "tied", "activation", "frozen")
PART_KEYS = ("steps", "input", "layers", "output")
TOP_KEYS = (*KEYS, "layers", "output", "encoder", "decoder", "expect", "budget", "weights", "inputs")
COUNT = Count()
MOST_LAYER_LIMITS = 1_000


def read_network(
    root: Node, source: str, name: str, problems: Iterable[Problem], unknown: int | None = None
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

    def __init__(self, root: Node, source: str, unknown: int | None) -> None:
        super().__init__(root, source, unknown)
        self.layers_read: dict[tuple[tuple[str, str, bool], ...], Layer] = {}

    def network(self, name: str) -> Network | None:
        values = dict(self.keys(self.root, (), TOP_KEYS))
        if not isinstance(self.root, Mapping):
            return None
        given: dict[str, Any] = {"name": name}
        for key in KEYS:
            if key in values:
                given[key] = self.value(values[key], (key,), KEYS[key], stand_in=1 if key == "input" else None)
        given = {key: value for key, value in given.items() if value is not None}
        halves = [half for half in ("encoder", "decoder") if half in values]
        for half in halves:
            given[half] = self.part(values[half], (half,))
        if not halves and "input" not in values:
            self.missing(self.root, ("input",), "the number of features per step, or an embedding's vocabulary")
            given["input"] = 1
        if "layers" in values or not halves:
            given["layers"] = self.layers(values.get("layers"), ())
        if "output" in values:
            given["output"] = self.output(values["output"], ("output",))
        if "expect" in values:
            given["expect"] = self.expect(values["expect"])
        if "budget" in values:
            given["budget"] = self.budget(values["budget"])
        try:
            return Network(**given)
        except SpecError as error:
            told = bool(self.problems)
            for problem in error.problems:
                if not (problem.follows and told):
                    self.problem(mark_at(self.root, problem.path), problem.path, problem.message)
            return None

    def part(self, node: Node, path: Path) -> Part:
        values = dict(self.keys(node, path, PART_KEYS))
        steps = self.value(values["steps"], (*path, "steps"), Size(), None) if "steps" in values else None
        if "input" in values:
            width = self.value(values["input"], (*path, "input"), Size(), 1)
        else:
            width = 1
            if isinstance(node, Mapping):
                self.missing(node, (*path, "input"), "the number of features per step, or an embedding's vocabulary")
        layers = self.layers(values.get("layers"), path, node)
        output = self.output(values["output"], (*path, "output")) if "output" in values else None
        return Part(width, layers, output, steps)

    def layers(self, node: Node | None, path: Path, above: Node | None = None) -> tuple[Layer, ...]:
        at = (*path, "layers")
        if node is None:
            self.missing(above or self.root, at, "at least one layer, such as lstm: 512")
            return (Dropout(0.0),)
        if not isinstance(node, Sequence) or not node.items:
            got = "none" if isinstance(node, Sequence) else what(node)
            self.problem(node.mark, at, f"expected a list of layers, such as - lstm: 512, got {got}")
            return (Dropout(0.0),)
        return tuple(self.layer(item, (*at, place)) for place, item in enumerate(node.items))

    def layer(self, node: Node, path: Path) -> Layer:
        if not isinstance(node, Mapping):
            self.problem(node.mark, path, f"expected a layer, such as lstm: 512, got {what(node)}")
            return Dropout(0.0)
        key = tuple((name.value, of.value, of.plain) for name, of in node.items if isinstance(of, Scalar))
        if len(key) == len(node.items) and key in self.layers_read:
            return self.layers_read[key]
        before = len(self.problems)
        layer = self.new_layer(node, path)
        if len(self.problems) == before:
            self.layers_read[key] = layer
        return layer

    def new_layer(self, node: Mapping, path: Path) -> Layer:
        kinds = [key.value for key, _ in node.items if key.value in KINDS]
        if len(kinds) != 1:
            self.kind_problem(node, path, kinds)
            return Dropout(0.0)
        kind = KINDS[kinds[0]]
        values: dict[str, Any] = {}
        for option, below in self.keys(node, path, (kind.kind, *OPTIONS_OF[kind.kind]), _unknown):
            name = kind.number if option == kind.kind else option
            value = self.value(below, (*path, option), OPTIONS[name], None)
            if value is not None:
                values[name] = value
        values.setdefault(kind.number, 1)
        return kind(**values)

    def kind_problem(self, node: Mapping, path: Path, kinds: list[str]) -> None:
        if kinds:
            message = f"expected one kind of layer, got {all_of(kinds)}; make each a list item"
            self.problem(node.mark, path, message)
            return
        words = [key for key, _ in node.items if key.value not in OPTIONS]
        key = words[0] if words else None
        if key is None:
            self.problem(node.mark, path, f"no kind of layer; add one of {one_of(tuple(KINDS))}")
            return
        if isinstance(key.mark, Flag) and isinstance(first := node.items[0][1], Scalar) and not first.value:
            self.problem(key.mark, path, f"expected KIND:UNITS, such as lstm:512, got '{escape(key.value)}'")
            return
        told = len(self.problems) < MOST_PROBLEMS
        cure = (did_you_mean(key.value, tuple(KINDS)) if told else "") or f"; the kinds are {one_of(tuple(KINDS))}"
        self.problem(key.mark, (*path, escape(key.value)), f"unknown kind of layer{cure}")

    def output(self, node: Node, path: Path) -> Output:
        if isinstance(node, Scalar):
            return Output(self.value(node, path, Size(), 1))
        values: dict[str, Any] = {}
        for key, below in self.keys(node, path, OUTPUT_KEYS):
            value = self.value(below, (*path, key), OPTIONS[key], None)
            if value is not None:
                values[key] = value
        if isinstance(node, Mapping) and node.get("units") is None:
            self.missing(node, (*path, "units"), "the number of outputs")
        values.setdefault("units", 1)
        return Output(**values)

    def expect(self, node: Node) -> Expect:
        if isinstance(node, Scalar):
            return Expect(self.value(node, ("expect",), COUNT, None))
        total, layers = None, None
        for key, below in self.keys(node, ("expect",), ("total", "layers")):
            if key == "total":
                total = self.value(below, ("expect", "total"), COUNT, None)
            elif isinstance(below, Sequence):
                path: Path = ("expect", "layers")
                layers = tuple(self.value(item, (*path, i), COUNT, 0) for i, item in enumerate(below.items))
            else:
                self.problem(below.mark, ("expect", "layers"), f"expected a list of counts, got {what(below)}")
        return Expect(total, layers)

    def budget(self, node: Node) -> Budget:
        values: dict[str, Any] = {}
        for key, below in self.keys(node, ("budget",), (*BUDGET_KEYS, "layers")):
            if key == "layers":
                values[key] = tuple(self.layer_budgets(below))
            else:
                values[key] = self.value(below, ("budget", key), BUDGET_KEYS[key].allowed, None)
        return Budget(**values)

    def layer_budgets(self, node: Node) -> Iterator[tuple[str, int]]:
        path: Path = ("budget", "layers")
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


def _unknown(key: str, known: tuple[str, ...]) -> str:
    """Return what to say of a key that a layer does not know: it may be an option of other kinds."""
    takers = [kind for kind, options in OPTIONS_OF.items() if key in options]
    return f"does not apply to {known[0]}; it applies to {one_of(takers)}" if takers else unknown_key(key, known)
