"""A pass back through a network: the gradient of every weight, and what going back was seen to do.

The pass goes forward on a tape and back along it: no layer and no cell has a rule of its own for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rnncalc.forward.arrays import Meter, Nested
from rnncalc.forward.layer_pass import History
from rnncalc.forward.losses import Loss
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.forward.tape import LayerTape, Tape, Taped, Value
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.operations import Vector

OPERATION, NUMBER = 340, 43
"""The bytes that a tape was measured to take for an operation, and for each number that it makes."""


class WentBack(NamedTuple):
    """What going back through one layer was seen to do.

    gradients: of each trained tensor by its name, in the shape of the weights that were used.
    saved_read: the most numbers of forward values that were read for one chunk, each vector once.
    multiplications: of the matrix products of going back, those for the weights and those for what lies below.
    traces: for each direction what `History` has, but the gradients with respect to it, where they were traced; None
        where the loss does not depend on it.
    """

    placed: Placed
    gradients: dict[str, Nested]
    saved_read: int
    multiplications: int
    traces: tuple[History[Vector | None], ...] = ()


class Back(NamedTuple):
    """A pass forward and back. loss: None, and no layer went back, where a layer could not be run."""

    ran: tuple[LayerRun, ...]
    loss: float | None = None
    layers: tuple[WentBack, ...] = ()


class Recording:
    """A pass forward on a tape, to be gone back through once.

    ran: what each layer did. outputs: what left the network, a vector for each step that has one; none where a layer
    could not be run. kept: what recurrent layers went through, by their names, if that was traced. Every value then
    gets a gradient, also in frozen layers, so that what going back reads and multiplies is more than training needs.
    """

    def __init__(
        self,
        network: Network,
        weights: dict[str, dict[str, Nested]],
        *,
        inputs: dict[str | None, list[Any]] | None = None,
        start: dict[str, dict[str, Nested]] | None = None,
        seed: int = 0,
        chunk: int | None = None,
        traced: bool = False,
    ) -> None:
        self.tape = Tape(chunk, every=traced)
        self.weights = weights
        self.layers: dict[str, LayerTape] = {}
        forward = Pass(network, self._taped, seed=seed, weights=weights, inputs=inputs, start=start, traced=traced)
        self.ran = tuple(forward.run())
        self.outputs = forward.outputs
        self.kept = forward.histories

    def _taped(self, place: Placed, meter: Meter) -> Taped:
        self.layers[place.name] = LayerTape(self.weights.get(place.name, {}), trained=not place.layer.frozen)
        return Taped(meter, self.tape, self.layers[place.name])

    def back(self, gradients: Iterable[tuple[Value, Vector]]) -> tuple[WentBack, ...]:
        """Go back from some vectors with the gradients of a loss with respect to them."""
        for node, gradient in gradients:
            node.add(gradient)
        self.tape.back()
        for layer in self.layers.values():
            layer.finish()
        return tuple(
            _went_back(ran.placed, self.layers[ran.placed.name], self.kept.get(ran.placed.name, ())) for ran in self.ran
        )


def go_back(network: Network, loss: Loss, weights: dict[str, dict[str, Nested]], **given: Any) -> Back:
    """Run a network whose numbers of steps are known, and go back from its loss.

    weights: of every layer, by layer and tensor. inputs, start, seed: as in `Pass`. chunk: the steps that are gone back
    through together. traced: whether to keep the gradients with respect to what recurrent layers went through.
    """
    recording = Recording(network, weights, **given)
    if any(layer.reason for layer in recording.ran):
        return Back(recording.ran)
    total, gradients = loss([node.numbers for node in recording.outputs])
    return Back(recording.ran, total, recording.back(zip(recording.outputs, gradients, strict=True)))


def taped_bytes(network: Network, weights: dict[str, dict[str, Nested]], *, traced: bool = False) -> int:
    """Return the memory that the tape of a pass would take, from what a step of it is seen to add."""

    def of(longer: tuple[str | None, ...]) -> int:
        tape = Tape(every=traced)

        def taped(place: Placed, meter: Meter) -> Taped:
            return Taped(meter, tape, LayerTape({}, trained=not place.layer.frozen))

        steps = {name: min(part.steps or 1, 2 if name in longer else 1) for name, part in network.parts.items()}
        parts = {name: part._replace(steps=steps[name]) for name, part in network.parts.items()}
        for _ in Pass(network.with_parts(parts), taped, weights=weights).run():
            pass
        return tape.operations * OPERATION + tape.numbers * NUMBER

    one = of(())
    return one + sum(((part.steps or 1) - 1) * (of((name,)) - one) for name, part in network.parts.items())


def _went_back(placed: Placed, layer: LayerTape, kept: tuple[History[Value], ...]) -> WentBack:
    traces = tuple([History(_of(trace.start), [_of(step) for step in trace.steps]) for trace in kept])
    return WentBack(placed, layer.gradients, layer.saved_at_once, layer.multiplications, traces)


def _of(step: dict[str, Value]) -> dict[str, Vector | None]:
    return {letter: node.gradient for letter, node in step.items()}
