"""`run --work --backward`: a backward pass worked by hand, every gradient with the operations that made it.

The pass records how each gradient was computed; here they get their names. Of a function that no row writes, only the
numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rnncalc.conventions import convention
from rnncalc.conventions.tensor import Direction, Role
from rnncalc.forward.arrays import Convolution, Matrix, TensorPart, WeightVector
from rnncalc.forward.backward_pass import BackwardPass, Loss
from rnncalc.forward.tape import TapeValue, apply
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding
from rnncalc.letters import GREEK
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.spelling import joined, numbers_of
from rnncalc.step.equations import Letter, joined_arrays, letters_of
from rnncalc.step.nodes import Weights
from rnncalc.step.operations import GRADIENT, OF_CLASSES, OUTER, RESULT
from rnncalc.step.trace import trace


class Variable(NamedTuple):
    """A letter of a layer at a step, counted from 1; step is None without a sequence.

    below: its subscript, if it is not its step. gradient: whether the gradient of the loss with respect to it is meant.
    uses: of the gradient of weights, the step that contributes it, or a pair of steps as in 2,1; empty for their sum.
    direction: of a state, a gate or weights of a layer with two directions, None where they are merged.
    """

    letter: str
    step: int | None
    layer: str
    below: str = ""
    gradient: bool = False
    uses: str | None = None
    direction: Direction | None = None


class WorkedLine(NamedTuple):
    """A value and its name; also the earlier name of the same value, if it has one."""

    name: Variable
    value: TapeValue
    same_as: Variable | None = None


class GradientStep(NamedTuple):
    """The gradients of one step of a layer, in one direction; step is None without a sequence."""

    layer: str
    direction: Direction | None
    step: int | None
    lines: tuple[WorkedLine, ...]


class WeightGradient(NamedTuple):
    """The gradient of one array of weights: what each of its uses contributes, and the sum.

    weights: their numbers; updated: those after a step of the learning rate, None without one.
    """

    name: Variable
    weights: Any
    parts: list[TapeValue]
    total: Any
    updated: Any


class GradientWork(NamedTuple):
    """A backward pass worked by hand. summed: all outputs; targets: of each step, if any.

    outputs: the gradients of the outputs, or of the arguments of their softmax. rate: the learning rate of the updated
    weights, if any. chunk: the steps that a gradient passes through, if not all.
    """

    name_of_loss: str
    loss: float
    summed: Sequence[float]
    outputs: Sequence[Sequence[float]]
    targets: Sequence[Sequence[float]]
    steps: tuple[GradientStep, ...]
    weights: tuple[WeightGradient, ...]
    rate: float | None = None
    chunk: int | None = None


Place = tuple[str, Direction | None, int | None]
"""A layer, its direction and its step, of the gradients that are written together."""


def gradient_work(
    network: Network,
    recorded: BackwardPass,
    names: dict[int, Variable],
    name_of_loss: str,
    loss: Loss,
    targets: Sequence[Sequence[float]],
    rate: float | None = None,
    arrays: dict[int, tuple[Letter, Sequence[Sequence[Weights | None]]]] | None = None,
) -> GradientWork:
    """Return the backward pass from a loss, from the last value that was computed to the first; adds its names.

    targets: those of the loss, which the pass keeps to be shown. arrays: the letters and blocks of the arrays of
    weights by identity, which a pass that is done again has in common.
    """
    arrays = {} if arrays is None else arrays
    summed = [number for value in recorded.outputs for number in value.numbers]
    amount, slopes = loss([value.numbers for value in recorded.outputs])
    gradients = [TapeValue(numbers, value.layer) for value, numbers in zip(recorded.ends, slopes, strict=True)]
    layers = {placed.name: (placed, shown) for placed, shown in zip(network.stack, network.spelled, strict=True)}
    lines: list[tuple[Place, WorkedLine]] = []
    place: Place = ("", None, None)
    arguments: dict[int, Variable] = {}  # the names of the arguments of the gates' functions
    blocks_of: dict[tuple[str, Letter], dict[Weights | None, tuple[Any, TapeValue]]] = {}  # of arrays, until complete
    uses: dict[tuple[str, TensorPart], tuple[Variable, Any, list[TapeValue]]] = {}  # of each array
    first = {
        id(each.value): each.first
        for owner, values in recorded.values.items()
        for each in values.lettered
        if each.letter not in layers[owner][0].layer.vectors
    }
    steps: dict[int, list[str]] = {}  # of the values without a name, what those that they are within have in common
    step: list[str] = []
    if name_of_loss == "cross_entropy":
        gradients = []
        for p, target in zip(recorded.outputs, targets, strict=True):
            read: Any = {RESULT: p, GRADIENT: TapeValue(target, p.layer)}
            names[id(read[GRADIENT])] = names[id(p)]._replace(letter="y")
            gradients.append(OF_CLASSES.written(apply, read))
            arguments[id(p.operands[0])] = names[id(p)]._replace(gradient=True)
    for value, gradient in recorded.worked(gradients):
        name = names.get(id(value))
        if value.weights is None:
            step = _steps(name) if name else steps.get(id(value), step)
            dot = value.row is not None and value.row.name == "dot"  # of a query and a key for each step
            for index, each in enumerate(value.operands):
                if id(each) not in names:
                    reads = [str(index)] if dot and index else step
                    pairs = zip(steps.get(id(each), reads), reads, strict=False)
                    steps[id(each)] = [one if one == other else "" for one, other in pairs]
        if value.weights is not None:
            owner, declared = value.layer.name, value.weights.declaration
            if id(value.weights) not in arrays:
                arrays[id(value.weights)] = _array(network, *layers[owner], value.weights)
            letter, blocks = arrays[id(value.weights)]
            waiting = blocks_of.setdefault((owner, letter), {})
            waiting[declared] = value.weights, gradient
            if len(waiting) < sum(map(len, blocks)):
                continue  # until the array is complete
            del blocks_of[owner, letter]
            array = Variable(letter[0], None, owner, letter[1], direction=place[1])
            if len(waiting) == 1:  # the equations have the letters of the whole array
                names[id(value)] = array
            weights = [[waiting[each][0] for each in gate] for gate in blocks]
            gradient = _of_blocks([[waiting[each][1] for each in gate] for gate in blocks])
            piece = weights[0][0].piece
            if isinstance(weights[0][0], Convolution):
                kernel = weights[0][0].kernel(gradient.numbers)
                gradient = TapeValue(kernel, gradient.layer, gradient.row, gradient.operands)
            if (owner, piece) not in uses:
                numbers = joined([[*map(numbers_of, gate)] for gate in weights])
                uses[owner, piece] = array._replace(gradient=True, uses=""), numbers, []
            name, *_, parts = uses[owner, piece]
            parts.append(gradient)
            name = name._replace(uses=",".join(filter(None, step)))
        elif name is not None:
            place = name.layer, name.direction, name.step and first.get(id(value), name.step)
            name = name._replace(gradient=True)
            if value.row and value.row.function:
                arguments[id(value.operands[0])] = name
        elif (within := arguments.get(id(value))) is not None:
            place = within.layer, within.direction, within.step
            number = within.below or within.step
            letters = GREEK.get(within.letter, network.spelling.letter(within.letter))
            below = letters if number is None else f"{letters},{number}"
            name = Variable("delta", None, within.layer, below, direction=within.direction)
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
    return GradientWork(name_of_loss, amount, summed, slopes, targets, sections, totals, rate)


def _steps(name: Variable) -> list[str]:
    """Return the steps of a value; a score has two, that of its query and that of its key."""
    return name.below.split(",") if name.below else [] if name.step is None else [str(name.step)]


def _summed(name: Variable, weights: Any, parts: list[TapeValue], rate: float | None) -> WeightGradient:
    """Return the gradient of weights, the sum of its parts from the last step, and the updated weights."""
    parts = parts[::-1]
    total: Any = parts[0].numbers
    for part in parts[1:]:
        total = _combined(total, part.numbers, 1.0)
    updated = None if rate is None else _combined(weights, total, -rate)
    return WeightGradient(name, weights, parts, total, updated)


def _combined(left: Any, right: Any, times: float) -> Any:
    """Return left + times · right, number by number."""
    if isinstance(left, list):
        return [_combined(one, other, times) for one, other in zip(left, right, strict=True)]
    return left + times * right


def _of_blocks(blocks: list[list[TapeValue]]) -> TapeValue:
    """Return the gradient of an array from those of its blocks."""
    first = blocks[0][0]
    if first.row is not OUTER:
        return _one([gate[0] for gate in blocks])
    left, right = _one([gate[0].operands[0] for gate in blocks]), _one([each.operands[1] for each in blocks[0]])
    return TapeValue(OUTER.forward(left.numbers, right.numbers), first.layer, OUTER, (left, right))


def _one(values: list[TapeValue]) -> TapeValue:
    """Return several vectors as one."""
    return values[0] if len(values) == 1 else TapeValue(joined([[each.numbers for each in values]]), values[0].layer)


def _array(
    network: Network, placed: Placed, shown: Placed, weights: Matrix | WeightVector
) -> tuple[Letter, Sequence[Sequence[Weights | None]]]:
    """Return the letters of the array that has a layer's weights in the equations, and its blocks.

    shown: the layer in the notation.
    """
    layer, declared = placed.layer, weights.declaration
    if isinstance(layer, Cell) and declared is not None:
        step = trace(layer, placed.inputs, convention(network.convention))
        alone = {letters_of(step, network.spelling).weights(declared): [[declared]]}
        arrays = joined_arrays(step, network.spelling) | alone
        (letter, below), blocks = next(each for each in arrays.items() if any(declared in gate for gate in each[1]))
        number = max(product.blocks for gate in layer.gates(placed.inputs) for product in gate.products)
        if number > 1 and declared.role is Role.RECURRENT:
            below = f"{below},{weights.piece.start * number // layer.units + 1}"  # a block along the diagonal
        return (letter, below), blocks
    return _letter(placed, shown, weights, symbols=network.shown.symbols), [[declared]]


def _letter(placed: Placed, shown: Placed, weights: Matrix | WeightVector, *, symbols: bool) -> Letter:
    """Return the letters of weights of a layer that is no cell; symbols: whether names of tensors have subscripts."""
    piece = weights.piece
    if isinstance(placed.layer, Embedding) and not piece.at:
        return "E", str(piece.start)
    tensors = zip(placed.tensors, shown.tensors, strict=True)
    shape, name = next((tensor.shape, spelled.name) for tensor, spelled in tensors if tensor.name == piece.name)
    letter, _, below = name.partition("_") if symbols else (name, "", "")
    index = piece.at
    if not piece.each and not (piece.taps and piece.transposed):  # those two have all heads
        rows = len(weights.rows if isinstance(weights, Matrix) else weights.numbers)
        blocks = [piece.start // rows] if rows < shape[-1 if piece.transposed else len(piece.at)] else []
        index = (*blocks, *piece.at, *[place for tap in piece.taps for place in tap])
    return letter, ",".join([*filter(None, [below]), *[str(at + 1) for at in index]])
