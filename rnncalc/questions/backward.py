"""`run --backward`: a forward and a backward pass, compared with the equations and finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import dist, fsum, hypot, isnan, nan, prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import ENOUGH_DIFFERENCES, MOST_DIFFERENCES, MOST_MULTIPLY_ADDS
from rnncalc.conventions.tensor import STORED
from rnncalc.display import displayed
from rnncalc.errors import CallError, RefusedError
from rnncalc.forward.arrays import Nested, PassData, Progress, flat, number_at, shape_of
from rnncalc.forward.backward_pass import (
    BackwardPass,
    LayerGradients,
    Loss,
    backward_pass,
    cross_entropy,
    squared,
    taped_bytes,
    the_sum,
)
from rnncalc.forward.differences import TOLERANCE, Differences, Spot, spots
from rnncalc.forward.network_pass import LayerRun
from rnncalc.layers.layer import Dense, DenseClasses, External, Output, OutputClasses
from rnncalc.network.data import Targets
from rnncalc.network.network import Network
from rnncalc.questions import network_of, whole, word
from rnncalc.questions.price import refuse_bytes, refuse_costly, refuse_large, work_of
from rnncalc.questions.run import Run, assumed_steps, own_numbers, seed_of, with_steps_to_run
from rnncalc.questions.training import LayerTraining, Training, training

if TYPE_CHECKING:
    from rnncalc.questions.gradient_steps import Norms, WeightTerms


LOSSES: Mapping[str, Callable[[Any], Loss]] = {
    "sum": lambda _: the_sum,
    "squared": squared,
    "cross_entropy": cross_entropy,
}
"""The losses by name: the function that makes each from targets."""

WITHOUT_TARGETS = ("sum",)
"""The losses that need no targets."""

NEAR_ONE = 1e-6
"""How far the sum of targets that are probabilities may be from 1."""

FEWEST_CLASSES = 2
"""The fewest classes: a softmax of one number is 1."""

FLOAT = 32
"""The bytes of one number of a gradient: a float and its place in a list."""


class LayerBackward(NamedTuple):
    """The backward pass through one layer: what was observed, beside what is declared.

    ran, seen: the observed forward and backward pass. declared: gradients, saved activations, multiply-adds.
    worst_difference: the largest distance between a weight's gradient and its finite difference, relative to the
        largest of 1, the gradient and the loss; None if nothing in it is trained.
    norms: the norms of the gradients at each step. terms: those of each recurrent weight in a layer of one unit.
        Both only if states were requested.
    errors: for each trained tensor the distance of its truncated gradient from the full one, relative to the norm of
        the full one; None if the full one is zero. Empty if nothing is truncated.
    """

    ran: LayerRun
    seen: LayerGradients
    declared: LayerTraining
    worst_difference: float | None
    errors: Mapping[str, float | None]
    norms: tuple[Norms, ...] = ()
    terms: tuple[WeightTerms, ...] = ()

    @property
    def gradients(self) -> int:
        """The number of its gradients, one for each trained weight."""
        return sum(prod(shape_of(gradient)) for gradient in self.seen.gradients.values())

    @property
    def shapes_agree(self) -> bool:
        """Whether each trained tensor, and no other, has a gradient, in its own shape."""
        tensors = self.ran.placed.tensors if self.ran.placed.trainable else ()
        return {tensor.name: tensor.shape for tensor in tensors if tensor.role not in STORED} == {
            name: shape_of(gradient) for name, gradient in self.seen.gradients.items()
        }

    @property
    def agrees(self) -> bool:
        """Whether shapes, saved activations, multiplications and gradients agree with the declaration."""
        return (
            self.shapes_agree
            and self.seen.saved_read == self.declared.saved
            and self.seen.multiplications == self.declared.backward_multiply_adds
            and (self.worst_difference is None or self.worst_difference <= TOLERANCE)
        )


@displayed("rnncalc.reports.run:BackwardReport")
class Backward(NamedTuple):
    """A forward pass and a backward pass.

    run: the forward pass. layers: the observations of each layer, none if the forward pass failed.
    chunk: the steps of one backward pass, None for all of them.
    name_of_loss: one of LOSSES. loss: its value, None if the forward pass failed.
    compared: how many weights were compared with finite differences, None if none was asked for. weights: how many are
    trained. kinks: at how many of those compared the slope jumps; there any gradient between the slopes of both sides
    is right.
    """

    run: Run
    layers: tuple[LayerBackward, ...]
    chunk: int | None
    name_of_loss: str
    loss: float | None
    compared: int | None
    weights: int
    kinks: int = 0

    @property
    def agrees(self) -> bool:
        """Whether every layer agrees with its declaration in both passes."""
        return self.run.agrees and all(layer.agrees for layer in self.layers)


def backward(
    network: Network,
    *,
    chunk: int | None = None,
    loss: str | None = None,
    targets: Sequence[Nested] | Mapping[Any, Sequence[Nested]] | None = None,
    seed: int = 0,
    weights: Mapping[str, Mapping[str, Nested]] | None = None,
    inputs: Sequence[Nested] | Mapping[Any, Sequence[Nested]] | None = None,
    start: Mapping[str, Mapping[str, Nested]] | None = None,
    states: bool = False,
    verify: bool = False,
    most_multiply_adds: int = MOST_MULTIPLY_ADDS,
    progress: Progress | None = None,
) -> Backward:
    """Run a forward pass and a backward pass from its loss, and return the observations.

    chunk: the steps of one backward pass; by default those of the network's `training`, else all. loss: `sum`, of
    all outputs; `squared`, half the sum of the squared differences from `targets`, which have the outputs' shape; or
    `cross_entropy`, −Σ y log p of a softmax p and the targets y, class numbers from 0 or lists that sum to 1.
    The default is cross_entropy if targets are class numbers, squared if there are others, else sum.
    verify: whether to compare gradients with finite differences.
    Everything else is as in `run`. Raises CallError and SpecError as that does, and RefusedError if all passes,
    those of finite differences too, would do more work than `most_multiply_adds`, or need more than 2 GB.
    """
    network, most = network_of(network), whole("most_multiply_adds", most_multiply_adds)
    data = own_numbers(network, weights, inputs, start, targets)
    name = loss_name(loss, data.targets)
    timed = with_loss(with_steps_to_run(network, data.inputs), name)
    counted = counted_of(timed, chunk)
    passes = "the passes and the finite differences" if verify else "the two passes"
    refuse_costly(whole_work(counted, verify=verify), most, f"{passes} would do the work of")
    refuse_large(timed, traced=states)
    used = PassData(seed_of(seed), data.weights).weights_of_all(timed)
    refuse_bytes(timed, taped_bytes(timed, traced=states) + 2 * FLOAT * timed.params)
    function = LOSSES[name](in_steps(timed, data.targets, name))
    arguments: dict[str, Any] = {"inputs": data.inputs, "start": data.start, "seed": seed, "progress": progress}
    full = backward_pass(timed, function, used, **arguments)
    cut = counted.chunk if counted.truncated else None
    back = backward_pass(timed, function, used, chunk=cut, **arguments) if cut else full
    traced = backward_pass(timed, function, used, chunk=cut, traced=True, **arguments) if states else back
    done = Backward(
        Run(timed, traced.ran, assumed_steps(network, data.inputs)), (), cut, name, back.loss, 0 if verify else None, 0
    )
    if back.loss is None:
        return done
    far: list[float | None] = [None] * len(back.layers)
    if verify:
        compared = spots(timed, _compared(timed), seed)
        differences = Differences(timed, function, used, chunk=cut, **arguments)
        far = [*_farthest(back, compared, differences)]
        done = done._replace(compared=len(compared), kinks=differences.kinks)
    layers = [
        LayerBackward(*row) for row in zip(back.ran, back.layers, counted.layers, far, _errors(full, back), strict=True)
    ]
    if states:
        from rnncalc.questions.gradient_steps import norms, terms  # imported only for a pass that shows its steps

        for number, (ran, seen) in enumerate(zip(traced.ran, traced.layers, strict=True)):
            shown = terms(ran, used[ran.placed.name], timed.convention)
            layers[number] = layers[number]._replace(ran=ran, norms=norms(ran, seen, timed.convention), terms=shown)
    return done._replace(layers=tuple(layers), weights=timed.trainable)


def loss_name(loss: str | None, targets: Targets | None) -> str:
    """Return the name of the loss, by default the one that fits the targets. Raises CallError if they do not fit it."""
    classes = isinstance(targets, int) or any(isinstance(target, int) for target in targets or ())
    default = "sum" if targets is None else "cross_entropy" if classes else "squared"
    name = default if loss is None else word("loss", loss, tuple(LOSSES))
    if name not in WITHOUT_TARGETS and targets is None:
        raise CallError(f"loss: {name} needs targets, what the outputs should be; a spec has them under targets")
    if name == "squared" and classes:
        raise CallError("loss: squared needs a list of numbers for each output, not class numbers; use cross_entropy")
    return name


def with_loss(network: Network, name: str) -> Network:
    """Return the network with the softmax of a cross-entropy at its output; any other loss changes nothing.

    Raises CallError if its output is not the probabilities of classes.
    """
    if name != "cross_entropy":
        return network
    (half, part), layer = [*network.parts.items()][-1], network.stack[-1].layer
    if not isinstance(layer, Dense):
        raise CallError(f"loss: {name} needs an output layer, with a unit for each class; add output: N")
    if layer.units < FEWEST_CLASSES:
        raise CallError(
            f"loss: {name} needs an output of {FEWEST_CLASSES} units or more: one unit is 1 after a softmax"
        )
    if layer.activation not in ("linear", "softmax"):
        cure = f"remove its activation, {layer.activation}, or choose another loss"
        raise CallError(f"{network.stack[-1].name}: the output under {name} is a softmax; {cure}")
    new = (OutputClasses if isinstance(layer, Output) else DenseClasses)(**{**layer.values(), "activation": "softmax"})
    changed = {"output": new} if isinstance(layer, Output) else {"layers": (*part.layers[:-1], new)}
    return network.with_parts(network.parts | {half: part._replace(**changed)})


def counted_of(network: Network, chunk: int | None) -> Training:
    """Return the counts of a backward pass with chunks of a size, by default that of the network.

    Raises CallError for an invalid chunk, and RefusedError if a part is counted elsewhere, because its backward pass is
    unknown.
    """
    if chunk is not None:
        whole("chunk", chunk, 1)
    for entry in network.stack:
        if isinstance(entry.layer, External):
            message = f"{entry.name} is counted elsewhere, and nothing is known of how a gradient goes through it"
            raise RefusedError(f"{message}; leave it out")
    return training(network, chunk=chunk)


def whole_work(counted: Training, *, verify: bool = True) -> int:
    """Return the multiply-adds of a forward pass, a backward pass and, to verify them, the finite differences."""
    network = network_of(counted.network)
    forward = work_of(network)
    back = counted.backward_multiply_adds
    assert back is not None  # parts that are counted elsewhere were refused
    passes = 2 * _compared(network) + 1 if verify else 0
    return (forward + back) * (2 if counted.truncated else 1) + passes * forward


def _compared(network: Network) -> int:
    """Return how many weights are compared with finite differences: enough, and one of each tensor, up to a limit."""
    tensors = sum(len(placed.tensors) for placed in network.stack if placed.trainable)
    return min(max(tensors, ENOUGH_DIFFERENCES), MOST_DIFFERENCES, network.trainable)


def in_steps(network: Network, targets: Targets | None, loss: str = "") -> list[list[float]]:
    """Return the targets as one vector for each step with an output. Raises CallError for targets that do not fit."""
    *steps, width = network.stack[-1].output_shape
    if targets is None:
        return [[]]
    each: list[Any] = targets if steps and isinstance(targets, list) else [targets]
    if steps and len(each) != steps[0]:
        raise CallError(f"targets: expected {steps[0]} steps, as many as are run, got {len(each)}; give steps")
    vectors = [
        [float(number == target) for number in range(width or 0)] if isinstance(target, int) else target
        for target in each
    ]
    for number, vector in enumerate(vectors if loss == "cross_entropy" else ()):
        if min(vector) < 0 or abs(fsum(vector) - 1) > NEAR_ONE:
            where, cure = f"[{number}]" * bool(steps), "or the number of a class, from 0"
            raise CallError(f"targets{where}: expected probabilities, 0 or more, with the sum 1, {cure}")
    return vectors


def _farthest(back: BackwardPass, compared: list[Spot], differences: Differences) -> Iterator[float | None]:
    """Yield for each layer the largest distance of a gradient from its finite difference, None without gradients."""
    for seen in back.layers:
        distances = []
        for spot in compared:
            if spot.layer == seen.placed.name:
                gradient = number_at(seen.gradients[spot.tensor], spot.place)
                distances.append(differences.distance(spot, gradient))
        yield nan if any(map(isnan, distances)) else max(distances, default=None)


def _errors(full: BackwardPass, truncated: BackwardPass) -> Iterator[dict[str, float | None]]:
    """Yield for each layer, by tensor, the distance of its two gradients relative to the norm of the full one."""
    for layer, without in zip(full.layers, truncated.layers, strict=True):
        errors: dict[str, float | None] = {}
        for name, gradient in layer.gradients.items() if truncated is not full else ():
            there, here = [*flat(gradient)], [*flat(without.gradients[name])]
            length = hypot(*there)
            errors[name] = dist(here, there) / length if length else None
        yield errors
