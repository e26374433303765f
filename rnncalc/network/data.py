"""Weights and inputs of one's own, for `run`: nested lists of numbers held against the shapes a network declares.

The one set of rules for a spec's files and for Python callers: what a value is, and where a problem with it stands, is
for the `Source` that it comes from to say. Knows neither YAML nor what is done with the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

from rnncalc.errors import Path
from rnncalc.layers.layer import Embedding, External
from rnncalc.layers.options import Allowed, Real, Size
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.text import plural

Nested = Any
"""Numbers in lists in lists, as deep as a shape is long."""

Weights = dict[str, dict[str, Nested]]
"""For each layer's name its tensors by name, each in lists as deep as its shape is long."""

Inputs = dict[str | None, list[Nested]]
"""For each part its inputs: a list of T vectors, or of T token numbers before an embedding."""

Node = TypeVar("Node")


class Source(Protocol[Node]):
    """Where numbers come from: how its nodes are looked into, and problems with them noted."""

    def note(self, node: Node, path: Path, message: str) -> None:
        """Note a problem with a node."""

    def keys(self, node: Node, path: Path, known: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
        """Yield the known keys of a node with what stands there, having noted the others, or that it has no keys."""

    def has_keys(self, node: Node) -> bool:
        """Return whether a node has keys."""

    def items(self, node: Node) -> Sequence[Node] | None:
        """Return the items of a list, None for anything else."""

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return the value of a node, or, having noted what is wrong with it, the stand-in."""

    def got(self, node: Node) -> str:
        """Return what a node is, for people."""


def read_weights(reading: Source[Node], node: Node, path: Path, network: Network) -> Weights:
    """Return `{layer: {tensor: nested lists}}`; notes where a shape, a name or a number is wrong."""
    expected = {placed.name: placed.tensors for placed in network.placed if not isinstance(placed.layer, External)}
    names = tuple(name for name, tensors in expected.items() if tensors)
    given = dict(reading.keys(node, path, names))
    weights: Weights = {}
    for name in names:
        if name not in given:
            reading.note(node, (*path, name), "missing; give the weights of every layer")
            continue
        tensors = {tensor.name: tensor.shape for tensor in expected[name]}
        below = dict(reading.keys(given[name], (*path, name), tuple(tensors)))
        weights[name] = {}
        for tensor, shape in tensors.items():
            at = (*path, name, tensor)
            if tensor in below:
                weights[name][tensor] = _nested(reading, below[tensor], at, shape, shape)
            elif reading.has_keys(given[name]):
                reading.note(given[name], at, f"missing; expected shape {_shape(shape)}")
    return weights


def read_inputs(reading: Source[Node], node: Node, path: Path, network: Network) -> Inputs:
    """Return the inputs of each part, a vector or a token a step; notes where one does not fit."""
    inputs: Inputs = {}
    halves = tuple(str(name) for name in network.parts if name)
    given = dict(reading.keys(node, path, halves)) if halves else {}
    for name, part in network.parts.items():
        at = (*path, name) if name else path
        if name and name not in given:
            reading.note(node, at, "missing; give the inputs of both halves")
            continue
        steps = 1 if network.topology_of(name) == "one-to-many" else part.steps
        inputs[name] = _sequence(reading, given[name] if name else node, at, part, steps)
    return inputs


def _sequence(reading: Source[Node], node: Node, path: Path, part: Part, steps: int | None) -> list[Nested]:
    items = reading.items(node)
    if not items:
        reading.note(node, path, f"expected a list of {steps or 'T'} steps, got {reading.got(node)}")
        return []
    if steps is not None and len(items) != steps:
        reading.note(node, path, f"expected {plural(steps, 'step')}, got {len(items):,}")
    if not isinstance(part.layers[0], Embedding):
        shape = (part.input,)
        return [_nested(reading, item, (*path, step), shape, shape) for step, item in enumerate(items)]
    tokens = [reading.value(item, (*path, step), Size(0), 0) for step, item in enumerate(items)]
    for step, token in enumerate(tokens):
        if token >= part.input:
            message = f"expected a token number below {part.input:,}, got {token:,}"
            reading.note(items[step], (*path, step), message)
    return tokens


def _nested(reading: Source[Node], node: Node, path: Path, shape: tuple[int, ...], rest: tuple[int, ...]) -> Nested:
    """Return the numbers under a node, which must have the shape `rest`, the last axes of the tensor's `shape`."""
    if not rest:
        return float(reading.value(node, path, Real(), 0.0))
    items = reading.items(node)
    if items is None:
        reading.note(node, path, f"expected shape {_shape(shape)}, got {reading.got(node)}")
        return []
    if len(items) != rest[0]:
        of = "number" if len(rest) == 1 else "row"
        where = "" if len(rest) == len(shape) else f", so {plural(rest[0], of)} in each row"
        message = f"expected shape {_shape(shape)}{where}, got {plural(len(items), of)}"
        reading.note(node, path, message)
        return []
    return [_nested(reading, item, (*path, place), shape, rest[1:]) for place, item in enumerate(items)]


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})"
