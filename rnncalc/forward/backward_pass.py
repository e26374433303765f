"""A backward pass through a network: the gradient of every weight, and the observations of the pass.

A forward pass is recorded on a tape, and the backward pass follows it in reverse: no layer and no cell has its own
rule. It begins with the gradient of a loss with respect to the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import log
from operator import attrgetter
from typing import Any, NamedTuple

from rnncalc.conventions.tensor import STORED
from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import Meter, Nested
from rnncalc.forward.layer_pass import History
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.forward.tape import LayerTape, Tape, Taped, TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, DenseClasses, Embedding, OutputClasses, Transform
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.nodes import STATE, STEPS, WEIGHTS, Repeats
from rnncalc.step.operations import GRADIENT, OF_CLASSES, OPERATIONS, RESULT, Vector, plus
from rnncalc.step.trace import trace

Outputs = list[Vector]
"""The outputs of a network: a vector for each step that has one."""

Loss = Callable[[Outputs], tuple[float, Outputs]]
"""A function of the outputs: returns the loss, and its gradient with respect to them, or to their softmax's arguments.
"""


def the_sum(outputs: Outputs) -> tuple[float, Outputs]:
    """Return the sum of all outputs, whose gradient is one everywhere."""
    return sum(number for output in outputs for number in output), [[1.0] * len(output) for output in outputs]


def squared(targets: Outputs) -> Loss:
    """Return the squared error ½ Σ (y − target)², whose gradient is y − target."""

    def loss(outputs: Outputs) -> tuple[float, Outputs]:
        errors = [plus(output, [-number for number in target]) for output, target in zip(outputs, targets, strict=True)]
        return sum(error * error for vector in errors for error in vector) / 2.0, errors

    return loss


def cross_entropy(targets: Outputs) -> Loss:
    """Return −Σ y log p of the targets y, whose gradient with respect to the argument of p's softmax is p − y.

    Raises RefusedError if a p with a target above 0 is too small for a float.
    """

    def loss(outputs: Outputs) -> tuple[float, Outputs]:
        pairs = [pair for vectors in zip(outputs, targets, strict=True) for pair in zip(*vectors, strict=True)]
        if any(y and not p for p, y in pairs):
            raise RefusedError("cross_entropy: a target has a probability below 1e-323; make the weights smaller")
        values: list[Any] = [{RESULT: p, GRADIENT: y} for p, y in zip(outputs, targets, strict=True)]
        return -sum(y * log(p) for p, y in pairs if y), [*map(OF_CLASSES, values)]

    return loss


class LayerGradients(NamedTuple):
    """The observations of the backward pass through one layer.

    gradients: of each trained tensor by its name, in the shape of the weights that were used.
    saved_read: the most numbers of forward values read in one chunk, each vector once.
    multiplications: of matrix products, for the weights and for the layers below.
    traces: for each direction the gradients with respect to the values of its `History`, if traced; None for a value
        that the loss does not depend on.
    """

    placed: Placed
    gradients: dict[str, Nested]
    saved_read: int
    multiplications: int
    traces: tuple[History[Vector | None], ...] = ()


class BackwardPass:
    """A forward pass on a tape, and one backward pass along it.

    traced: whether to keep the values of all layers. every: whether every value gets a gradient, also in frozen layers,
    so that more is read and multiplied than training needs. data: inputs, start, seed and progress, as in `Pass`.
    ran: the observations of each layer. outputs: the network's, a vector for each step that has one; none if a layer
    could not be run. ends: the values with respect to which the loss has a gradient: the outputs, or the arguments of
    their softmax under a cross-entropy. values: those of each layer by its name, if traced.
    loss, layers: its value, and the observations of the backward pass; None and empty before it, or if a layer failed.
    """

    def __init__(
        self,
        network: Network,
        weights: dict[str, dict[str, Nested]],
        *,
        chunk: int | None = None,
        traced: bool = False,
        every: bool = False,
        **data: Any,
    ) -> None:
        self.tape = Tape(chunk, every=every)
        self.weights = weights
        self.tapes: dict[str, LayerTape] = {}
        forward = Pass(network, self._taped, weights=weights, traced=traced, **data)
        self.ran = tuple(forward.run())
        self.outputs = self.ends = forward.outputs
        if isinstance(network.stack[-1].layer, DenseClasses | OutputClasses):
            self.ends = [value.operands[0] for value in self.outputs]
            for value in filter(attrgetter("needs"), self.outputs):  # the loss reads p
                value.layer.hold(value.numbers, len(value.numbers), value.chunk)
        self.values = forward.values
        self.loss: float | None = None
        self.layers: tuple[LayerGradients, ...] = ()

    def _taped(self, place: Placed, meter: Meter) -> Taped:
        stored = {tensor.name for tensor in place.stored if tensor.role in STORED}
        weights = {name: numbers for name, numbers in self.weights.get(place.name, {}).items() if name not in stored}
        self.tapes[place.name] = LayerTape(weights, trained=not place.layer.frozen, name=place.name)
        return Taped(meter, self.tape, self.tapes[place.name])

    def backward(self, gradients: Iterable[tuple[TapeValue, Vector]]) -> tuple[LayerGradients, ...]:
        """Do the backward pass, once, from some vectors with the gradients of a loss with respect to them."""
        for value, gradient in gradients:
            value.add(gradient)
        self.tape.backward()
        for layer in self.tapes.values():
            layer.finish()
        self.layers = tuple(map(self._observe, self.ran))
        self.tapes.clear()  # the saved values are not needed any more
        return self.layers

    def worked(self, gradients: Iterable[TapeValue]) -> Iterator[tuple[TapeValue, TapeValue]]:
        """Yield each value that the backward pass reaches with its gradient, as `Tape.worked` does.

        gradients: those of a loss with respect to `ends`.
        """
        return self.tape.worked(zip(self.ends, gradients, strict=True))

    def _observe(self, ran: LayerRun) -> LayerGradients:
        name, layer = ran.placed.name, self.tapes[ran.placed.name]
        ways = self.values[name].histories if self.values else ()
        traces = tuple([History(_gradients(way.start), [*map(_gradients, way.steps)]) for way in ways])
        saved = max((sum(values.values()) for values in layer.saved.values()), default=0)
        return LayerGradients(ran.placed, layer.gradients, saved, layer.multiplications, traces)


def _gradients(step: dict[str, TapeValue]) -> dict[str, Vector | None]:
    return {letter: value.gradient for letter, value in step.items()}


def backward_pass(
    network: Network, loss: Loss, weights: dict[str, dict[str, Nested]], *, traced: bool = False, **data: Any
) -> BackwardPass:
    """Run a network whose numbers of steps are known, and do the backward pass from its loss.

    weights: of every layer, by layer and tensor. inputs, start, seed, progress: as in `Pass`. chunk: the steps of one
    backward pass. traced: whether to keep the gradients with respect to the histories of recurrent layers.
    """
    done = BackwardPass(network, weights, traced=traced, every=traced, **data)
    if not any(layer.reason for layer in done.ran):
        done.loss, gradients = loss([value.numbers for value in done.outputs])
        done.backward(zip(done.ends, gradients, strict=True))
    return done


OPERATION, NUMBER = 340, 43
"""The measured bytes of a tape for one operation, and for each number of its result."""


def taped_bytes(network: Network, *, traced: bool = False) -> int:
    """Return the memory of the tape of a pass, estimated from the traces of its layers.

    traced: whether values without a trained weight below them are on it too.
    """
    size, on_tape = 0, traced
    for placed in network.stack:
        layer, uses = placed.layer, placed.uses or 1
        on_tape = on_tape or placed.trainable > 0
        if not (on_tape and isinstance(layer, Cell | Dense | Embedding | Transform)):
            continue
        step = trace(layer, placed.inputs // placed.places, network.shown)
        repeats = placed.repeats or Repeats(uses * layer.directions * placed.places)
        for node, letters in zip(step.nodes, step.repeats, strict=True):
            number, width = repeats.number(letters), placed.sizes.get(node.width, placed.outputs)
            if node.width == STEPS:
                number, width = repeats.number(letters - {"s"}), repeats.steps
            elif node.operation == "matrix" and len(step.nodes[node.operands[0]].axes) > 2:
                taps = placed.sizes[step.nodes[node.operands[0]].axes[2]]
                number, width = number * 2 * taps * node.number, width // node.number
            if node.operation in OPERATIONS or node.operation == STATE or (node.operation == WEIGHTS and node.width):
                size += number * (OPERATION + width * NUMBER)
    return size
