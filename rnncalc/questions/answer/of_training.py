"""What of training a number may be, and which mistake about training gives it: one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.questions.count import total
from rnncalc.questions.training import LayerTraining, Training, training


class OfTraining(Enum):
    """What of training a number may be; the last three are mistakes."""

    GRADIENTS = auto()
    HELD = auto()
    BACKWARD = auto()
    STATES_HELD = auto()
    BYTES = auto()
    GRADIENTS_A_STEP = auto()
    HELD_WITHOUT_GATES = auto()
    TWICE_FORWARD = auto()


class Row(NamedTuple):
    """How a number of training comes about, and of a mistake the right one in its place."""

    what: OfTraining
    number: Callable[[Training], int | None]
    right: Callable[[Training], int | None] | None = None


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
    forward = total(placed.multiply_adds for placed in of.network.stack)
    return forward and 2 * forward


def _gradients(of: Training) -> int:
    return of.gradients


def _held(of: Training) -> int | None:
    return of.held


def _backward(of: Training) -> int | None:
    return of.backward_multiply_adds


ROWS = (
    Row(OfTraining.GRADIENTS, _gradients),
    Row(OfTraining.HELD, _held),
    Row(OfTraining.BACKWARD, _backward),
    Row(OfTraining.STATES_HELD, lambda of: of.states_held),
    Row(OfTraining.BYTES, lambda of: of.bytes),
    Row(OfTraining.GRADIENTS_A_STEP, _of_steps, _gradients),
    Row(OfTraining.HELD_WITHOUT_GATES, _without_gates, _held),
    Row(OfTraining.TWICE_FORWARD, _twice_forward, _backward),
)


def of_training(network: Network, means: Callable[[int], bool]) -> Iterator[tuple[OfTraining, int | None]]:
    """Yield what of training is meant, each with the right number in its place, if it is a mistake."""
    of = training(network)
    for row in ROWS:
        number = row.number(of)
        right = row.right(of) if row.right else None
        if number and number != right and means(number) and not (row.right and right is None):
            yield row.what, right
