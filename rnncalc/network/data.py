"""A user's own numbers, for `run`: nested lists, compared with the shapes that a network declares.

The one set of rules for files and for Python callers. How a value is read, and where a problem is reported, is up to
the `Source`. Knows neither YAML nor the use of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from rnncalc.conventions.tensor import Role
from rnncalc.errors import Path
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.layers.options import Allowed, Real, Size
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.network.stack import levels_of
from rnncalc.words import bracketed, brief, plural

Nested = Any
"""Numbers in nested lists, one level for each axis."""

Weights = dict[str, dict[str, Nested]]
"""The tensors of each layer by name, as nested lists."""

Inputs = dict[str | None, list[Nested]]
"""The inputs of each part: a list of T vectors, or of T token numbers before an embedding."""

Start = dict[str, dict[str, Nested]]
"""The states of layers before the first step, by letter; for a bidirectional layer, a list for each direction."""

Targets = list[Nested] | int
"""What the network should output: a vector or the number of a class, or a list of T of them."""


class Data(NamedTuple):
    """A network's own numbers; None for none."""

    weights: Weights | None = None
    inputs: Inputs | None = None
    start: Start | None = None
    targets: Targets | None = None


Node = TypeVar("Node")


class Source(Protocol[Node]):
    """Where numbers come from: reads nodes and notes problems with them."""

    def note(self, node: Node, path: Path, message: str) -> None:
        """Note a problem with a node."""

    def keys(self, node: Node, path: Path, known: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
        """Yield the known keys of a node with their values; note unknown keys, or that there are none."""

    def has_keys(self, node: Node) -> bool:
        """Return whether a node has keys."""

    def items(self, node: Node) -> Sequence[Node] | None:
        """Return the items of a list, None for anything else."""

    def value(self, node: Node, path: Path, allowed: Allowed, stand_in: Any) -> Any:
        """Return the value of a node; if it is wrong, note that and return the stand-in."""

    def got(self, node: Node) -> str:
        """Return the description of a node, for messages."""


def read_weights(reading: Source[Node], node: Node, path: Path, network: Network) -> Weights:
    """Return `{layer: {tensor: nested lists}}`; note wrong shapes, names and numbers.

    The tensors of a layer are those of the convention, or of the notation if only it has their names or shapes.
    """
    expected, shown = (
        {placed.name: {each.name: each.shape for each in placed.stored} for placed in stack}
        for stack in ([each for each in network.stack if not isinstance(each.layer, External)], network.spelled)
    )
    variance = Role.RUNNING_VARIANCE
    variances = {(each.name, one.name) for each in network.stack for one in each.stored if one.role is variance}
    names = tuple(name for name, tensors in expected.items() if tensors)
    of_convention = f"; a layer's weights are in the shapes of {network.convention}, or all in those of the notation"
    nodes = dict(reading.keys(node, path, names))
    weights: Weights = {}
    spelling, levels = network.spelling, levels_of(network.stack)
    for name in names:
        if name not in nodes:
            reading.note(node, (*path, name), "missing; give the weights of every layer")
            continue
        plain = {spelling.at(levels.get(name, 0)).numbered(tensor): tensor for tensor in shown[name]}
        read = reading.keys(nodes[name], (*path, name), tuple({**shown[name], **expected[name], **plain}))
        below = {plain.get(tensor, tensor): node for tensor, node in read}
        shapes = {tensor: _shape(reading, numbers) for tensor, numbers in below.items()}
        spelled = shapes == shown[name] != expected[name]
        tensors = expected[name] if below and below.keys() <= expected[name].keys() and not spelled else shown[name]
        remark = of_convention if network.notation and tensors is expected[name] else ""
        weights[name] = {}
        for tensor, shape in tensors.items():
            at = (*path, name, tensor)
            if tensor in below:
                weights[name][tensor] = numbers = _nested(reading, below[tensor], at, shape, shape, remark)
                if (name, tensor) in variances and numbers and min(numbers) < 0:
                    reading.note(below[tensor], at, f"a variance is 0 or more, got {min(numbers):g}")
            elif reading.has_keys(nodes[name]):
                reading.note(nodes[name], at, f"missing; expected shape {bracketed(shape)}{remark}")
    return weights


def _shape(reading: Source[Node], node: Node) -> tuple[int, ...]:
    """Return the shape of nested lists, by the first of each."""
    items = reading.items(node)
    return (len(items), *_shape(reading, items[0])) if items else ()


def read_inputs(reading: Source[Node], node: Node, path: Path, network: Network) -> Inputs:
    """Return the inputs of each part, a vector or a token for each step; note those that do not fit."""
    inputs: Inputs = {}
    read = inputs_of(network.flow)
    halves = tuple(str(name) for name in read if name)
    nodes = dict(reading.keys(node, path, halves)) if halves else {}
    for name in read:
        part, at = network.parts[name], (*path, name) if name else path
        if name and name not in nodes:
            reading.note(node, at, "missing; give the inputs of both halves")
            continue
        steps = part.steps if read[name].sequence else 1
        items = _steps(reading, nodes[name] if name else node, at, steps)
        if not isinstance(part.layers[0], Embedding):
            shape = (part.width,)
            inputs[name] = [_nested(reading, item, (*at, step), shape, shape) for step, item in enumerate(items)]
            continue
        inputs[name] = [reading.value(item, (*at, step), Size(0), 0) for step, item in enumerate(items)]
        for step, token in enumerate(inputs[name]):
            if token >= part.input:
                message = f"expected a token number below {part.input:,}, got {token:,}"
                reading.note(items[step], (*at, step), message)
    return inputs


def read_start(reading: Source[Node], node: Node, path: Path, network: Network) -> Start:
    """Return `{layer: {state: numbers}}`; note states that a layer does not have, or gets from elsewhere.

    A state is called as in the textbook, or as the letters of the network have it.
    """
    recurrent = {placed.name: placed for placed in network.stack if isinstance(placed.layer, Cell)}
    start: Start = {}
    for name, states in reading.keys(node, path, tuple(recurrent)):
        placed, at = recurrent[name], (*path, name)
        layer, sizes = placed.layer, placed.sizes
        assert isinstance(layer, Cell)
        why = ""
        if layer.learned_state:
            why = "its states are learned, so they are among the weights; remove the states here"
        elif layer.initial_state is not None:
            why = "does not apply: its states come from a vector through a dense layer; remove it"
        elif placed.part == "decoder":
            why = "does not apply in a decoder, which starts from the encoder's final state; remove it"
        if why:
            reading.note(states, at, why)
            continue
        letters = {network.spelling.letter(state): state for state in layer.states}
        start[name] = {}
        for letter, numbers in reading.keys(states, at, tuple({**letters, **layer.states})):
            state = letters.get(letter, letter)
            width = sizes[layer.states[state]]
            shape = (2, width) if layer.bidirectional else (width,)
            items = reading.items(numbers)
            if layer.bidirectional and items and all(reading.items(item) is None for item in items):
                message = f"expected a list for each direction, shape {bracketed(shape)}, got one list"
                reading.note(numbers, (*at, letter), message)
                continue
            start[name][state] = _nested(reading, numbers, (*at, letter), shape, shape)
    return start


def read_targets(reading: Source[Node], node: Node, path: Path, network: Network) -> Targets:
    """Return the targets; note those without the shape of the output. If T is unknown, any T is accepted."""
    *steps, width = network.stack[-1].output_shape
    if not steps:
        target: Targets = _target(reading, node, path, width or 0)
        return target
    items = _steps(reading, node, path, steps[0])
    return [_target(reading, item, (*path, step), width or 0) for step, item in enumerate(items)]


def _target(reading: Source[Node], node: Node, path: Path, width: int) -> Any:
    """Return a vector, or the number of a class among several."""
    if width > 1 and reading.items(node) is None and not reading.has_keys(node):
        return reading.value(node, path, _ClassNumber(0, classes=width), 0)
    return _nested(reading, node, path, (width,), (width,))


class _ClassNumber(Size):
    """The number of a class, from 0."""

    classes: int = 2

    @property
    def expected(self) -> str:
        return f"a list of {self.classes} numbers, or the number of a class from 0 to {self.classes - 1}"

    def problem(self, value: object) -> str | None:
        number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < self.classes
        return None if number else f"expected {self.expected}, got {brief(value)}"


def with_steps_of(network: Network, inputs: Inputs | None) -> Network:
    """Return the network with the number of steps of its inputs if it has none; one-to-many has one input."""
    parts = {
        name: part._replace(steps=len(inputs[name]))
        for name, part in network.parts.items()
        if part.steps is None and inputs and inputs.get(name) and inputs_of(network.flow)[name].sequence
    }
    return network.with_parts(network.parts | parts) if parts else network


def _steps(reading: Source[Node], node: Node, path: Path, steps: int | None) -> Sequence[Node]:
    """Return the node of each step of a sequence; note a wrong number of steps."""
    items = reading.items(node)
    if not items:
        reading.note(node, path, f"expected a list of {steps or 'T'} steps, got {reading.got(node)}")
        return ()
    if steps is not None and len(items) != steps:
        reading.note(node, path, f"expected {plural(steps, 'step')}, got {len(items):,}")
    return items


_REAL = Real()  # made once, not for each of a million weights


def _nested(
    reading: Source[Node], node: Node, path: Path, shape: tuple[int, ...], rest: tuple[int, ...], remark: str = ""
) -> Nested:
    """Return the numbers under a node, which must have the shape `rest`, the last axes of the tensor's `shape`.

    remark: an addition to a message about a wrong shape.
    """
    if not rest:
        return float(reading.value(node, path, _REAL, 0.0))
    items = reading.items(node)
    if items is None:
        one = "; one number is a list too, [1] say" if rest == (1,) else ""
        reading.note(node, path, f"expected shape {bracketed(shape)}, got {reading.got(node)}{one}{remark}")
        return []
    if len(items) != rest[0]:
        noun = "number" if len(rest) == 1 else "row"
        where = "" if len(rest) == len(shape) else f", so {plural(rest[0], noun)} in each row"
        message = f"expected shape {bracketed(shape)}{where}, got {plural(len(items), noun)}{remark}"
        reading.note(node, path, message)
        return []
    return [_nested(reading, item, (*path, place), shape, rest[1:], remark) for place, item in enumerate(items)]
