"""`run --work --backward`: a backward pass worked by hand, every gradient with the operations that made it.

The pass records how each gradient was computed; here they get their names. Of a function that no row writes, only the
numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rnncalc.conventions import convention
from rnncalc.forward.arrays import Matrix, TensorPart, WeightVector
from rnncalc.forward.backward_pass import BackwardPass, Loss
from rnncalc.forward.tape import TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.equations import Letter, letters_of
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
    """The gradient of one array of weights, of one direction: what each of its uses contributes, and the sum.

    weights: their numbers; updated: those after a step of the learning rate, None without one.
    """

    name: Variable
    direction: int | None
    weights: Any
    parts: list[TapeValue]
    total: Any
    updated: Any


class GradientWork(NamedTuple):
    """A backward pass worked by hand. summed: all outputs; outputs: their gradients.

    rate: the learning rate of the updated weights, if any.
    """

    name_of_loss: str
    loss: float
    summed: Sequence[float]
    outputs: Sequence[Sequence[float]]
    steps: tuple[GradientStep, ...]
    weights: tuple[WeightGradient, ...]
    rate: float | None = None


Place = tuple[str, int | None, int | None]
"""A layer, its direction and its step, of the gradients that are written together."""


def gradient_work(
    network: Network,
    recorded: BackwardPass,
    names: dict[int, Variable],
    name_of_loss: str,
    loss: Loss,
    rate: float | None = None,
) -> GradientWork:
    """Return the backward pass from a loss, from the last value that was computed to the first; adds its names."""
    summed = [number for value in recorded.outputs for number in value.numbers]
    amount, slopes = loss([value.numbers for value in recorded.outputs])
    directions = {
        id(value): number if len(values.histories) > 1 else None
        for values in recorded.values.values()
        for number, way in enumerate(values.histories)
        for step in way.steps
        for letter, value in step.items()
        if letter != "x"
    }
    layers = {placed.name: (placed, shown) for placed, shown in zip(network.stack, network.spelled, strict=True)}
    lines: list[tuple[Place, WorkedLine]] = []
    place: Place = ("", None, None)
    arguments: dict[int, Variable] = {}  # the names of the arguments of the gates' functions
    uses: dict[tuple[str, TensorPart], tuple[Variable, int | None, Any, list[TapeValue]]] = {}  # of each array
    first = {id(each.value): each.first for values in recorded.values.values() for each in values.lettered}
    steps: dict[int, int | None] = {}  # of the values without a name, those of the values that they are within
    step: int | None = None
    for value, gradient in recorded.worked(slopes):
        name = names.get(id(value))
        if value.weights is None:
            step = name.step if name else steps.get(id(value), step)
            steps |= {id(each): step for each in value.operands if id(each) not in names}
        if value.weights is not None:
            owner, weights = value.layer.name, value.weights
            if (owner, weights.piece) not in uses:
                letter, below = _letter(network, *layers[owner], weights)
                numbers = weights.rows if isinstance(weights, Matrix) else weights.numbers
                name = Variable(letter, None, owner, below, gradient=True, weights=True)
                uses[owner, weights.piece] = name, place[1], numbers, []
            name, *_, parts = uses[owner, weights.piece]
            parts.append(gradient)
            name = name._replace(step=step)
        elif name is not None:
            place = name.layer, directions.get(id(value)), name.step and first.get(id(value), name.step)
            name = name._replace(gradient=True)
            if value.row and value.row.function:
                arguments[id(value.operands[0])] = name
        elif (within := arguments.get(id(value))) is not None:
            number = within.below or within.step
            below = within.letter if number is None else f"{within.letter},{number}"
            name = Variable("delta", None, within.layer, below)
        else:
            continue
        lines.append((place, WorkedLine(name, gradient, names.get(id(gradient)))))
        names.setdefault(id(gradient), name)
    by_place = groupby(lines, key=lambda each: each[0])
    sections = tuple(
        GradientStep(layer, way, at, tuple(line for _, line in lines)) for (layer, way, at), lines in by_place
    )
    # those of the first layer first, each step after the one before
    totals = tuple(_summed(*of_array, rate) for of_array in reversed(uses.values()))
    return GradientWork(name_of_loss, amount, summed, slopes, sections, totals, rate)


def _summed(
    name: Variable, direction: int | None, weights: Any, parts: list[TapeValue], rate: float | None
) -> WeightGradient:
    """Return the gradient of weights, the sum of its parts from the last step, and the updated weights."""
    parts = parts[::-1]
    total: Any = parts[0].numbers
    for part in parts[1:]:
        total = _combined(total, part.numbers, 1.0)
    updated = None if rate is None else _combined(weights, total, -rate)
    return WeightGradient(name, direction, weights, parts, total, updated)


def _combined(left: Any, right: Any, times: float) -> Any:
    """Return left + times · right, number by number."""
    if isinstance(left, list):
        return [_combined(one, other, times) for one, other in zip(left, right, strict=True)]
    return left + times * right


def _letter(network: Network, placed: Placed, shown: Placed, weights: Matrix | WeightVector) -> Letter:
    """Return the letters of a layer's weights, as the equations have them; shown: the layer in the notation."""
    layer, piece = placed.layer, weights.piece
    if isinstance(layer, Cell) and weights.declaration is not None:
        step = trace(layer, placed.inputs, convention(network.convention))
        return letters_of(step, network.spelling).weights(weights.declaration)
    if isinstance(layer, Embedding) and not piece.at:
        return "E", str(piece.start)
    tensors = zip(placed.tensors, shown.tensors, strict=True)
    shape, name = next((tensor.shape, spelled.name) for tensor, spelled in tensors if tensor.name == piece.name)
    letter, _, below = name.partition("_") if network.shown.symbols else (name, "", "")
    index = piece.at
    if not piece.each and not (piece.taps and piece.transposed):  # those two have all heads
        rows = len(weights.rows if isinstance(weights, Matrix) else weights.numbers)
        blocks = [piece.start // rows] if rows < shape[-1 if piece.transposed else len(piece.at)] else []
        index = (*blocks, *piece.at, *[place for tap in piece.taps for place in tap])
    return letter, ",".join([*filter(None, [below]), *[str(at + 1) for at in index]])
