"""A pass back through a network: the gradient of every weight, and what going back was seen to do.

The pass goes forward on a tape and back along it: no layer and no cell has a rule of its own for that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rnncalc.forward.arrays import Meter, Nested
from rnncalc.forward.losses import Loss
from rnncalc.forward.network_pass import Pass, Ran
from rnncalc.forward.recurrent import Trace
from rnncalc.forward.tape import LayerTape, Node, Tape
from rnncalc.forward.taped import Taped
from rnncalc.forward.vectors import Vector
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed

OPERATION, NUMBER = 840, 38
"""The bytes that a tape was measured to take for an operation, and for each number that it makes."""


class WentBack(NamedTuple):
    """What going back through one layer was seen to do.

    gradients: of each trained tensor by its name, in the shape of the weights that were used.
    held_read: the most numbers of forward values that were read for one chunk, each vector once.
    multiplications: of the matrix products of going back, those for the weights and those for what lies below.
    traces: for each direction what `Trace` has, but the gradients with respect to it, where they were traced; None
        where the loss does not depend on it.
    """

    placed: Placed
    gradients: dict[str, Nested]
    held_read: int
    multiplications: int
    traces: tuple[Trace[Vector | None], ...] = ()


class Back(NamedTuple):
    """A pass forward and back. loss: None, and no layer went back, where a layer could not be run."""

    ran: tuple[Ran, ...]
    loss: float | None = None
    layers: tuple[WentBack, ...] = ()


def go_back(
    network: Network,
    loss: Loss,
    weights: dict[str, dict[str, Nested]],
    *,
    inputs: dict[str | None, list[Any]] | None = None,
    start: dict[str, dict[str, Nested]] | None = None,
    seed: int = 0,
    chunk: int | None = None,
    traced: bool = False,
) -> Back:
    """Run a network whose numbers of steps are known, and go back from its loss, `chunk` steps together.

    weights: of every layer, by layer and tensor. inputs, start: as in `Pass`. traced: whether to keep the gradients
    with respect to what recurrent layers went through.
    """
    tape = Tape(chunk)
    layers: dict[str, LayerTape] = {}

    def taped(place: Placed, meter: Meter) -> Taped:
        layers[place.name] = LayerTape(weights.get(place.name, {}), trained=not place.layer.frozen)
        return Taped(meter, tape, layers[place.name])

    forward = Pass(network, taped, seed=seed, weights=weights, inputs=inputs, start=start, traced=traced)
    ran = tuple(forward.run())
    if any(layer.reason for layer in ran):
        return Back(ran)
    total, gradients = loss([node.numbers for node in forward.handed])
    for node, gradient in zip(forward.handed, gradients, strict=True):
        node.add(gradient)
    tape.back()
    for layer in layers.values():
        layer.finish()
    went = (_went_back(each.placed, layers[each.placed.name], forward.kept.get(each.placed.name, ())) for each in ran)
    return Back(ran, total, tuple(went))


def taped_bytes(network: Network, weights: dict[str, dict[str, Nested]]) -> int:
    """Return the memory that the tape of a pass would take, from what a step of it is seen to add."""

    def of(longer: tuple[str | None, ...]) -> int:
        tape = Tape()

        def taped(place: Placed, meter: Meter) -> Taped:
            return Taped(meter, tape, LayerTape({}, trained=not place.layer.frozen))

        steps = {name: min(part.steps or 1, 2 if name in longer else 1) for name, part in network.parts.items()}
        parts = {name: part._replace(steps=steps[name]) for name, part in network.parts.items()}
        for _ in Pass(network.with_parts(parts), taped, weights=weights).run():
            pass
        return tape.operations * OPERATION + tape.numbers * NUMBER

    one = of(())
    return one + sum(((part.steps or 1) - 1) * (of((name,)) - one) for name, part in network.parts.items())


def _went_back(placed: Placed, layer: LayerTape, kept: tuple[Trace[Node], ...]) -> WentBack:
    traces = tuple([Trace(_of(trace.start), [_of(step) for step in trace.steps]) for trace in kept])
    return WentBack(placed, layer.gradients, layer.held_at_once, layer.multiplications, traces)


def _of(step: dict[str, Node]) -> dict[str, Vector | None]:
    return {letter: node.gradient for letter, node in step.items()}
