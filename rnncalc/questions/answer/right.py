"""The right worksheet of a network: a third way to its counts, beside the tensors and the forward pass.

Reads what the gates of each cell declare; of the tensors just how many biases a gate has, which the convention says.
Tests hold it against both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rnncalc.conventions.layout import role_of, width_of
from rnncalc.conventions.tensor import Direction, Role
from rnncalc.layers.cell import Cell, Form
from rnncalc.layers.layer import Dense, Embedding, Output
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.answer.arithmetic import product, total
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read, Source, Worksheet


def worksheet_of(network: Network) -> Worksheet:
    """Return the right worksheet of a network: a line for each layer, or for several equal ones above an equal one."""
    lines: list[Line] = []
    below: Placed | None = None
    for entry in network.stack:
        alike = below is not None and _alike(entry, below)
        if not alike:
            lines.append(_line(entry))
        elif lines[-1].below_alike:
            lines[-1] = lines[-1]._replace(copies=lines[-1].copies + 1, last_name=entry.name)
        else:
            lines.append(_line(entry)._replace(below_alike=True))
        below = entry
    return tuple(lines)


def _alike(one: Placed, other: Placed) -> bool:
    return one.part == other.part and one.inputs == other.inputs and one.layer == other.layer


def one_by_one(network: Network) -> Worksheet:
    """Return the right worksheet of a network with a line for each layer."""
    return tuple(map(_line, network.stack))


def _line(placed: Placed) -> Line:
    line = Line(placed, 0, last_name=placed.name)
    match layer := placed.layer:
        case Cell():
            line = line._replace(others=tuple(_others(placed, layer)), directions=layer.directions)
            return line._replace(h=layer.units, gates=gate_lines(placed, layer), bias_size=layer.units)
        case Dense():
            tied = isinstance(layer, Output) and layer.tied
            gate = GateLine(() if tied else (Read("input", placed.inputs),), int(layer.bias))
            return line._replace(h=layer.units, gates=(gate,), bias_size=layer.units)
        case Embedding():
            return line._replace(h=layer.units, others=(Other("table", product(placed.inputs, layer.units)),))
        case _:
            return line._replace(others=(Other("external", placed.params),))


_SOURCES: Mapping[Role, Source] = {Role.INPUT: "input", Role.RECURRENT: "past", Role.PEEPHOLE: "peephole"}


def gate_lines(placed: Placed, layer: Cell) -> tuple[GateLine, ...]:
    """Return what each gate of a recurrent layer reads, and how many biases the convention gives it."""
    biases = _biases(placed, layer)
    lines = []
    for gate in layer.gates(placed.inputs):
        reads = tuple(
            Read(
                _SOURCES[role_of(layer, product)],
                1 if product.form is Form.DIAGONAL else placed.sizes[width_of(layer, product.of)],
                "" if product.matrix is None else f"{product.of}{product.matrix}",
            )
            for product in gate.products
        )
        lines.append(GateLine(reads, biases[gate.letter], gate.name))
    return tuple(lines)


def _biases(placed: Placed, layer: Cell) -> Counter[str]:
    """Return how many bias vectors each gate has in one direction, by its letter."""
    biases: Counter[str] = Counter()
    for tensor in placed.tensors:
        if tensor.role in (Role.BIAS, Role.RECURRENT_BIAS) and tensor.direction is not Direction.BACKWARD:
            directions = layer.directions if tensor.direction is Direction.BOTH else 1
            for letter in tensor.gates:
                biases[letter] += tensor.params // (len(tensor.gates) * layer.units * directions)
    return biases


def _others(placed: Placed, layer: Cell) -> Iterator[Other]:
    sizes = placed.sizes
    for weight in layer.weights:
        if weight.widths:
            name = "projection" if layer.projects(weight) else weight.letter
            yield Other(name, product(*(sizes[width] for width in weight.widths)))
    if scalars := sum(tensor.params for tensor in placed.tensors if tensor.role is Role.SCALAR):
        yield Other("scalars", scalars // layer.directions)
    if layer.learned_state:
        yield state_of(placed, layer)


def state_of(placed: Placed, layer: Cell) -> Other:
    """Return the numbers of all states of one direction, as a part of the count."""
    widths = Counter(placed.sizes[width] for width in layer.states.values())
    return Other("state", total(product(count, width) for width, count in widths.items()))
