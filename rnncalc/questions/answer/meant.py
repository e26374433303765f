"""What else of a network a number may be: its multiply-adds, bytes, dense equivalent, or a number of its training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.questions.answer.given import Given
from rnncalc.questions.count import DTYPES, total
from rnncalc.questions.dense import dense_equivalent
from rnncalc.questions.training import LayerTraining, Training


class Quantity(Enum):
    """What a number may be; the last three are mistakes about training."""

    DENSE = auto()
    MULTIPLY_ADDS = auto()
    MULTIPLY_ADDS_PER_STEP = auto()
    BYTES = auto()
    GRADIENTS = auto()
    HELD = auto()
    BACKWARD = auto()
    STATES_HELD = auto()
    TRAINING_BYTES = auto()
    GRADIENTS_A_STEP = auto()
    HELD_WITHOUT_GATES = auto()
    TWICE_FORWARD = auto()


class Meant(NamedTuple):
    """What else a number is the number of; `right`: where it is counted wrong, the right number in its place."""

    what: Quantity
    right: int | None = None


class Row(NamedTuple):
    """How a number comes about, and of a mistake the right one in its place. None is what is not known."""

    what: Quantity
    number: Callable[[Training], int | None]
    right: Callable[[Training], int | None] | None = None


def _dense(of: Training) -> int | None:
    dense = dense_equivalent(of.network)
    return dense.params if dense else None


def _multiply_adds(of: Training) -> int | None:
    return total(layer.placed.multiply_adds for layer in of.layers)


def _multiply_adds_per_step(of: Training) -> int | None:
    once = total(layer.placed.multiply_adds_per_step for layer in of.layers)
    return None if once == _multiply_adds(of) else once


def _bytes(of: Training) -> int | None:
    each = DTYPES["float32"]  # the type that bytes are given in where none is named
    return each * sum(layer.placed.params for layer in of.layers)


def _of_steps(of: Training) -> int | None:
    """Return the gradients as they are before those of all steps are summed."""
    return total(layer.gradients and _uses(layer.placed.uses, layer.gradients) for layer in of.layers)


def _uses(uses: int | None, gradients: int) -> int | None:
    return None if uses is None else uses * gradients


def _without_gates(of: Training) -> int | None:
    """Return what would be held if the equations of a cell read its input and its states alone."""
    return total(_states_alone(of, layer) for layer in of.layers)


def _states_alone(of: Training, layer: LayerTraining) -> int | None:
    placed, steps = layer.placed, of.network.parts[layer.placed.part].steps
    if steps is None or not isinstance(placed.layer, Cell) or len(placed.layer.gates(placed.inputs)) == 1:
        return layer.held
    return min(of.chunk or steps, steps) * (placed.inputs + sum(placed.layer.state_widths()))


def _twice_forward(of: Training) -> int | None:
    forward = _multiply_adds(of)
    return forward and 2 * forward


def _gradients(of: Training) -> int:
    return of.gradients


def _held(of: Training) -> int | None:
    return of.held


def _backward(of: Training) -> int | None:
    return of.backward_multiply_adds


ROWS = (
    Row(Quantity.DENSE, _dense),
    Row(Quantity.MULTIPLY_ADDS, _multiply_adds),
    Row(Quantity.MULTIPLY_ADDS_PER_STEP, _multiply_adds_per_step),
    Row(Quantity.BYTES, _bytes),
    Row(Quantity.GRADIENTS, _gradients),
    Row(Quantity.HELD, _held),
    Row(Quantity.BACKWARD, _backward),
    Row(Quantity.STATES_HELD, lambda of: of.states_held),
    Row(Quantity.TRAINING_BYTES, lambda of: of.bytes),
    Row(Quantity.GRADIENTS_A_STEP, _of_steps, _gradients),
    Row(Quantity.HELD_WITHOUT_GATES, _without_gates, _held),
    Row(Quantity.TWICE_FORWARD, _twice_forward, _backward),
)


def meant(of: Training, given: Given, rows: Sequence[Row] = ROWS) -> Iterator[Meant]:
    """Yield what of a network a number is the number of; a mistake with the right number in its place."""
    for row in rows:
        number = row.number(of)
        right = row.right(of) if row.right else None
        if number and number != right and given.means(number) and not (row.right and right is None):
            yield Meant(row.what, right)


def meant_of_layer(of: Training, layer: LayerTraining, given: Given) -> Iterator[Meant]:
    """Yield what of one layer a number is the number of, but for what only a network has."""
    alone = of._replace(
        layers=(layer,),
        gradients=layer.gradients,
        held=layer.held,
        backward_multiply_adds=layer.backward_multiply_adds,
        states_held=None,
        bytes=None,
    )
    return meant(alone, given, [row for row in ROWS if row.what is not Quantity.DENSE])
