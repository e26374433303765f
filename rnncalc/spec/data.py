"""Weights and inputs of one's own, for `run`: nested lists of numbers held against the shapes a network declares.

Knows the network it reads for; what is done with the numbers is `questions/run.py`.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from typing import Any, NamedTuple

from rnncalc.errors import Path
from rnncalc.layers.layer import Embedding, External
from rnncalc.layers.options import Real, Size
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.spec.nodes import Mapping, Node, Scalar, Sequence
from rnncalc.spec.reading import Reading, what
from rnncalc.text import escape, plural

Nested = Any
"""Numbers in lists in lists, as deep as a shape is long."""


class Data(NamedTuple):
    """A network's own numbers: weights by layer and tensor, inputs a list a part, a vector or token a step."""

    weights: dict[str, dict[str, Nested]] | None = None
    inputs: dict[str | None, list[Nested]] | None = None


def read_weights(node: Node, source: str, path: Path, network: Network) -> dict[str, dict[str, Nested]]:
    """Return `{layer: {tensor: nested lists}}`; raises SpecError where a shape, a name or a number is wrong."""
    reading = Reading(node, source)
    expected = {placed.name: placed.tensors for placed in network.placed if not isinstance(placed.layer, External)}
    names = tuple(name for name, tensors in expected.items() if tensors)
    given = dict(reading.keys(node, path, names))
    weights: dict[str, dict[str, Nested]] = {}
    for name in names:
        if name not in given:
            reading.problem(node.mark, (*path, name), "missing; give the weights of every layer")
            continue
        tensors = {tensor.name: tensor.shape for tensor in expected[name]}
        below = dict(reading.keys(given[name], (*path, name), tuple(tensors)))
        weights[name] = {}
        for tensor, shape in tensors.items():
            at = (*path, name, tensor)
            if tensor in below:
                weights[name][tensor] = _nested(reading, below[tensor], at, shape, shape)
            elif isinstance(given[name], Mapping):
                reading.problem(given[name].mark, at, f"missing; expected shape {_shape(shape)}")
    if reading.problems:
        raise reading.error()
    return weights


def read_inputs(node: Node, source: str, path: Path, network: Network) -> dict[str | None, list[Nested]]:
    """Return the inputs of each part, a vector or a token a step; raises SpecError where one does not fit."""
    reading = Reading(node, source)
    inputs: dict[str | None, list[Nested]] = {}
    halves = tuple(str(name) for name in network.parts if name)
    given = dict(reading.keys(node, path, halves)) if halves else {}
    for name, part in network.parts.items():
        at = (*path, name) if name else path
        of = given.get(name) if name else node
        if of is None:
            reading.problem(node.mark, at, "missing; give the inputs of both halves")
            continue
        steps = 1 if network.topology_of(name) == "one-to-many" else part.steps
        inputs[name] = _sequence(reading, of, at, part, steps)
    if reading.problems:
        raise reading.error()
    return inputs


def _sequence(reading: Reading, node: Node, path: Path, part: Part, steps: int | None) -> list[Nested]:
    if not isinstance(node, Sequence) or not node.items:
        reading.problem(node.mark, path, f"expected a list of {steps or 'T'} steps, got {what(node)}")
        return []
    if steps is not None and len(node.items) != steps:
        reading.problem(node.mark, path, f"expected {plural(steps, 'step')}, got {len(node.items):,}")
    if not isinstance(part.layers[0], Embedding):
        shape = (part.input,)
        return [_nested(reading, item, (*path, step), shape, shape) for step, item in enumerate(node.items)]
    tokens = [reading.value(item, (*path, step), Size(0), 0) for step, item in enumerate(node.items)]
    for step, token in enumerate(tokens):
        if token >= part.input:
            message = f"expected a token number below {part.input:,}, got {token:,}"
            reading.problem(node.items[step].mark, (*path, step), message)
    return tokens


def _nested(reading: Reading, node: Node, path: Path, shape: tuple[int, ...], rest: tuple[int, ...]) -> Nested:
    """Return the numbers under a node, which must have the shape `rest`, the last axes of the tensor's `shape`."""
    if not rest:
        return float(reading.value(node, path, Real(), 0.0))
    if not isinstance(node, Sequence):
        reading.problem(node.mark, path, f"expected shape {_shape(shape)}, got {_got(node)}")
        return []
    if len(node.items) != rest[0]:
        of = "number" if len(rest) == 1 else "row"
        where = "" if len(rest) == len(shape) else f", so {plural(rest[0], of)} in each row"
        message = f"expected shape {_shape(shape)}{where}, got {plural(len(node.items), of)}"
        reading.problem(node.mark, path, message)
        return []
    return [_nested(reading, item, (*path, place), shape, rest[1:]) for place, item in enumerate(node.items)]


def _got(node: Node) -> str:
    return f"the number {escape(node.value)}" if isinstance(node, Scalar) and node.value else what(node)


def _shape(shape: Items[int]) -> str:
    return f"({', '.join(map(str, shape))})"
