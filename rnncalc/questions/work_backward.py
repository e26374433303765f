"""`run --work --backward`: a backward pass worked by hand, every gradient with the operations that made it.

Follows the values of a pass worked by hand in reverse. The gradient of each operation is written as its rule says; of a
function that no row writes, only the numbers are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

from rnncalc.conventions import convention
from rnncalc.forward.arrays import Arrays, Matrix, TensorPart
from rnncalc.forward.backward_pass import Loss
from rnncalc.forward.bindings import binding
from rnncalc.forward.layer_pass import History, bound_weights
from rnncalc.forward.tape import LookUp, MatrixUse, TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.network.data import Nested
from rnncalc.network.network import Network
from rnncalc.step.equations import Letter, letters_of
from rnncalc.step.operations import GRADIENT, OPERATIONS, RESULT, WRITTEN, plus
from rnncalc.step.trace import trace


class Variable(NamedTuple):
    """A letter of a layer at a step, counted from 1; step is None without a sequence.

    below: its subscript, if it is not its step. gradient: whether the gradient of the loss with respect to it is meant;
    weights: that of weights, to which the step contributes.
    """

    letter: str
    step: int | None
    layer: str
    below: str = ""
    gradient: bool = False
    weights: bool = False


class WorkedLine(NamedTuple):
    """A value and its name; also the earlier name of the same value, if it has one."""

    name: Variable
    value: TapeValue
    same_as: Variable | None = None


class GradientStep(NamedTuple):
    """The gradients of one step of a layer, in one direction; step is None without a sequence."""

    layer: str
    direction: int | None
    step: int | None
    lines: tuple[WorkedLine, ...]


class WeightGradient(NamedTuple):
    """The gradient of one array of weights: what each of its uses contributes, and the numbers of the weights."""

    name: Variable
    weights: Any
    parts: list[TapeValue]


class GradientWork(NamedTuple):
    """A backward pass worked by hand. summed: all outputs; outputs: their gradients."""

    name_of_loss: str
    loss: float
    summed: Sequence[float]
    outputs: Sequence[Sequence[float]]
    steps: tuple[GradientStep, ...]
    weights: tuple[WeightGradient, ...]


def gradient_work(
    network: Network,
    weights: Mapping[str, Mapping[str, Nested]],
    values: Sequence[TapeValue],
    outputs: Sequence[TapeValue],
    histories: Mapping[str, Sequence[History[TapeValue]]],
    names: dict[int, Variable],
    name_of_loss: str,
    loss: Loss,
) -> GradientWork:
    """Return the backward pass from a loss, from the last value that was computed to the first; adds its names."""
    summed = [number for value in outputs for number in value.numbers]
    amount, slopes = loss([value.numbers for value in outputs])
    writer = _Backward(names, _symbols(network, weights))
    writer.directions = {
        id(value): number if len(ways) > 1 else None
        for ways in histories.values()
        for number, way in enumerate(ways)
        for step in way.steps
        for letter, value in step.items()
        if letter != "x"
    }
    for value, slope in zip(outputs, slopes, strict=True):
        writer.add(value, TapeValue(slope, value.layer))
    for value in reversed(values):
        writer.take(value)
    by_place = groupby(writer.lines, key=lambda each: each[0])
    steps = tuple(
        GradientStep(layer, way, step, tuple(line for _, line in lines)) for (layer, way, step), lines in by_place
    )
    # those of the first layer first, each step after the one before
    totals = [each._replace(parts=each.parts[::-1]) for each in reversed(writer.weights.values())]
    return GradientWork(name_of_loss, amount, summed, slopes, steps, tuple(totals))


class _Backward:
    """Collects the gradients of values in reverse order, each a sum over the values that were computed from it."""

    def __init__(self, names: dict[int, Variable], symbols: Mapping[tuple[str, TensorPart], Letter]) -> None:
        self.names = names
        self.symbols = symbols
        self.directions: Mapping[int, int | None] = {}
        self.lines: list[tuple[tuple[str, int | None, int | None], WorkedLine]] = []
        self.place: tuple[str, int | None, int | None] = ("", None, None)
        self._parts: dict[int, list[TapeValue]] = {}
        self._arguments: dict[int, Variable] = {}  # the names of the arguments of the gates' functions
        self.weights: dict[tuple[str, TensorPart], WeightGradient] = {}

    def add(self, value: TapeValue, gradient: TapeValue) -> None:
        """Add the contribution to a value's gradient of one that was computed from it."""
        if value.piece is not None or isinstance(value, LookUp):
            self._add_weights(value, gradient)
        elif value.needs:
            self._parts.setdefault(id(value), []).append(gradient)

    def take(self, value: TapeValue) -> None:
        """Write the gradient of a value, and add its contributions to those of its operands."""
        parts = self._parts.pop(id(value), [])
        if not parts or value.row is None:
            return
        gradient = parts[0]
        for part in parts[1:]:
            gradient = _apply(plus, gradient, part)
        name = self.names.get(id(value))
        if name is not None:
            self.place = name.layer, self.directions.get(id(value)), name.step
            self._write(name._replace(gradient=True), gradient)
            if value.row.function:
                self._arguments[id(value.operands[0])] = name
        elif id(value) in self._arguments:
            within = self._arguments[id(value)]
            number = within.below or within.step
            below = within.letter if number is None else f"{within.letter},{number}"
            self._write(Variable("delta", None, within.layer, below), gradient)
        values = _Values({**dict(enumerate(value.operands)), RESULT: value, GRADIENT: gradient})
        for operand, rule in zip(value.operands, value.row.gradients, strict=True):
            if operand.needs:
                slope = rule.written(_apply, values)
                if slope.row is None and isinstance(operand, MatrixUse):  # a pair of vectors for each place
                    outer = [[a * b for a in left for b in right] for left, right in slope.numbers]
                    width = len(operand.numbers.rows[0])
                    flat = [sum(column) for column in zip(*outer, strict=True)]
                    slope.numbers = [flat[at : at + width] for at in range(0, len(flat), width)]
                self.add(operand, slope)

    def _write(self, name: Variable, gradient: TapeValue) -> None:
        self.lines.append((self.place, WorkedLine(name, gradient, self.names.get(id(gradient)))))
        self.names.setdefault(id(gradient), name)

    def _add_weights(self, value: TapeValue, gradient: TapeValue) -> None:
        """Write what a step contributes to the gradient of weights, if they are trained."""
        owner = value.owner if isinstance(value, MatrixUse) else value.layer
        if not owner.trained:
            return
        piece = value.row_piece if isinstance(value, LookUp) else value.piece
        numbers = value.numbers
        if isinstance(numbers, Matrix):
            piece, numbers = numbers.origin.piece, numbers.rows
        assert piece is not None  # weights have one
        place = owner.name, piece
        if place not in self.weights:
            letter, below = self.symbols.get(place, (piece.name, ",".join(str(at + 1) for at in piece.at)))
            if isinstance(value, LookUp):
                letter, below = "E", str(piece.start)
            name = Variable(letter, None, place[0], below, gradient=True, weights=True)
            self.weights[place] = WeightGradient(name, numbers, [])
        weights = self.weights[place]
        self._write(weights.name._replace(step=self.place[2]), gradient)
        weights.parts.append(gradient)


class _Values(dict[int, TapeValue]):
    """The values from which the gradients of an operation are made, by place."""

    def width(self, place: int) -> int:
        """Return how many numbers a value has."""
        return len(self[place].numbers)


def _apply(function: Callable[..., Any], *operands: Any) -> TapeValue:
    """Return the result of a function, with how it was made if the function is one that is written."""
    row = WRITTEN.get(function)
    if row is OPERATIONS["linear"]:
        return cast("TapeValue", operands[0])
    numbers = [each.numbers if isinstance(each, TapeValue) else each for each in operands]
    if row is None:
        return TapeValue(function(*numbers), operands[0].layer)
    return TapeValue(row.forward(*numbers), operands[0].layer, row, operands)


def _symbols(network: Network, weights: Mapping[str, Mapping[str, Nested]]) -> dict[tuple[str, TensorPart], Letter]:
    """Return the letters of each piece of the weights, as the equations have them."""
    letters: dict[tuple[str, TensorPart], Letter] = {}
    rules = convention(network.convention)
    shown = {placed.name: placed for placed in network.spelled}
    for placed in network.stack:
        layer = placed.layer
        if not isinstance(layer, Cell):
            for tensor, spelled in zip(placed.tensors, shown[placed.name].tensors, strict=True):
                letter, _, below = spelled.name.partition("_") if network.shown.symbols else (spelled.name, "", "")
                letters[placed.name, TensorPart(tensor.name)] = letter, below
                letters[placed.name, TensorPart(tensor.name, transposed=True)] = letter, below
            continue
        step = trace(layer, placed.inputs, rules)
        spell = letters_of(step, network.spelling)
        arrays = Arrays({**weights[placed.name]}, placed.tensors, placed.copy)
        for backward in range(layer.directions):
            bound = binding(network.convention).cell(arrays, layer, placed.inputs, bool(backward))
            for node in step.nodes:
                if node.weights is not None:
                    letters[placed.name, bound_weights(bound, node.weights).piece] = spell.weights(node.weights)
            for state in layer.states if layer.learned_state else ():
                letters[placed.name, bound.state(state).piece] = spell.named("state", "", state)
    return letters
