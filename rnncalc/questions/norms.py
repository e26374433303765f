"""How long the gradients of a loss are with respect to the states of a layer, and what its gates keep. Numbers only."""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.tensor import WAYS
from rnncalc.forward.backward_pass import WentBack
from rnncalc.forward.network_pass import LayerRun
from rnncalc.layers.cell import Cell
from rnncalc.step.operations import Vector, times
from rnncalc.step.trace import Trace, trace


class Keeper(NamedTuple):
    """A gate that a state is multiplied with on its way to the next step; or, turned, 1 minus that gate."""

    letter: str
    turned: bool = False


class Norms(NamedTuple):
    """One state of one direction of a layer, its steps in the order of time.

    letter: of the state; norms: ‖∂L/∂h_t‖ for each step t, None where the loss does not depend on it.
    keeper: the gate that the state before is multiplied with, as an LSTM's c is with f, if there is such a gate.
    kept: for each step the largest number of the product of that gate over the later steps.
    """

    direction: str
    letter: str
    norms: tuple[float | None, ...]
    keeper: Keeper | None = None
    kept: tuple[float, ...] = ()


def norms(ran: LayerRun, went: WentBack, convention_name: str) -> tuple[Norms, ...]:
    """Return the norms of every state of every direction of a layer whose pass and gradients were traced."""
    layer = ran.placed.layer
    if not isinstance(layer, Cell) or not went.traces:
        return ()
    of_step = trace(layer, ran.placed.inputs, convention(convention_name))
    found = []
    for number, (direction, way) in enumerate(zip(WAYS, went.traces, strict=False)):
        steps = ran.traces[number].steps
        for letter in layer.states:
            lengths = tuple([_length(step[letter]) for step in way.steps])
            keeper = keeper_of(of_step, letter)
            kept = _kept(keeper, steps[:: -1 if number else 1]) if keeper else ()
            found.append(Norms(direction, letter, lengths, keeper, kept[:: -1 if number else 1]))
    return tuple(found)


def keeper_of(of: Trace, state: str) -> Keeper | None:
    """Return the gate that a state before the step is multiplied with in the sum that it becomes, if there is one."""
    before, sums = of.before[state], [of.after[state]]
    while sums:
        node = of.nodes[sums.pop()]
        if node.operation in ("plus", "shift"):
            sums += node.operands
        if node.operation == "times" and before in node.operands:
            (place,) = [place for place in node.operands if place != before] or [before]
            turned = of.nodes[place].operation == "complement"
            gate = of.nodes[of.nodes[place].operands[0]] if turned else of.nodes[place]
            if gate.letter in of.gates:
                return Keeper(gate.letter, turned)
    return None


def _kept(keeper: Keeper, steps: list[dict[str, Vector]]) -> tuple[float, ...]:
    """Return for each step, in the order in which they are read, the largest product of the gate over later ones."""
    product = [1.0] * len(steps[0][keeper.letter])
    found = []
    for step in reversed(steps):
        found.append(max(product))
        gate = step[keeper.letter]
        product = times(product, [1.0 - number for number in gate] if keeper.turned else gate)
    return tuple(reversed(found))


def _length(gradient: Vector | None) -> float | None:
    return None if gradient is None else hypot(*gradient)
