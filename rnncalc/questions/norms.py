"""How long the gradients of a loss are with respect to what each step of a layer hands on. Numbers only."""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

from rnncalc.forward.backward_pass import WentBack
from rnncalc.forward.vectors import Vector
from rnncalc.layers.cell import Cell

DIRECTIONS = ("forward", "backward")


class Norms(NamedTuple):
    """One direction of a layer, its steps in the order of time.

    letter: of the state; norms: ‖∂L/∂h_t‖ for each step t, None where the loss does not depend on it.
    """

    direction: str
    letter: str
    norms: tuple[float | None, ...]


def norms(went: WentBack) -> tuple[Norms, ...]:
    """Return the norms of every state of every direction of a layer whose gradients were traced."""
    layer = went.placed.layer
    if not isinstance(layer, Cell):
        return ()
    return tuple(
        Norms(direction, letter, tuple([_length(step[letter]) for step in trace.steps]))
        for direction, trace in zip(DIRECTIONS, went.traces, strict=False)
        for letter in layer.states
    )


def _length(gradient: Vector | None) -> float | None:
    return None if gradient is None else hypot(*gradient)
