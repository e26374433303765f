"""How gradients flow from step to step in a recurrent layer. Numbers only.

Norms: the norm of the loss gradient with respect to each state at each step, and the share that gates keep.

Terms: in a layer of one unit, the gradient of a recurrent weight has one term for each step. dh_T/dw is the sum over k
of ∂h_T/∂h_k times the explicit ∂h_k/∂w, which treats the step before as a constant. With several states, each term is a
sum over the states. A chunk of K steps keeps the last K terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import hypot
from typing import NamedTuple

from rnncalc.bounds import MOST_TERMS
from rnncalc.conventions import convention
from rnncalc.conventions.tensor import WAYS, Role
from rnncalc.forward.arrays import Nested, number_at
from rnncalc.forward.backward_pass import BackwardPass, LayerGradients
from rnncalc.forward.network_pass import LayerRun
from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.step.nodes import Trace
from rnncalc.step.operations import Vector, times
from rnncalc.step.trace import trace


class Keeper(NamedTuple):
    """A gate that multiplies a state on its way to the next step. turned: whether the factor is 1 minus the gate."""

    letter: str
    turned: bool = False


class Norms(NamedTuple):
    """One state of one direction of a layer, its steps in the order of time.

    letter: of the state. norms: ‖∂L/∂h_t‖ for each step t, None if the loss does not depend on it.
    keeper: the gate that multiplies the previous state, as f multiplies an LSTM's c, if there is such a gate.
    kept: for each step the product of that gate over the later steps, its largest element.
    """

    direction: str
    letter: str
    norms: tuple[float | None, ...]
    keeper: Keeper | None = None
    kept: tuple[float, ...] = ()


def norms(ran: LayerRun, seen: LayerGradients, convention_name: str) -> tuple[Norms, ...]:
    """Return the norms of every state of every direction of a layer whose pass and gradients were traced."""
    layer = ran.placed.layer
    if not isinstance(layer, Cell) or not seen.traces:
        return ()
    of_step = trace(layer, ran.placed.inputs, convention(convention_name))
    states = []
    for number, (direction, way) in enumerate(zip(WAYS, seen.traces, strict=False)):
        steps = ran.traces[number].steps
        for letter in layer.states:
            lengths = tuple([None if (gradient := step[letter]) is None else hypot(*gradient) for step in way.steps])
            keeper = keeper_of(of_step, letter)
            kept = _kept(keeper, steps[:: -1 if number else 1]) if keeper else ()
            states.append(Norms(direction, letter, lengths, keeper, kept[:: -1 if number else 1]))
    return tuple(states)


def keeper_of(trace: Trace, state: str) -> Keeper | None:
    """Return the gate that multiplies the previous state in the sum that gives the next, if there is one."""
    before, sums = trace.before[state], [trace.after[state]]
    while sums:
        node = trace.nodes[sums.pop()]
        if node.operation in ("plus", "shift"):
            sums += node.operands
        if node.operation == "times" and before in node.operands:
            (place,) = [place for place in node.operands if place != before] or [before]
            turned = trace.nodes[place].operation == "complement"
            gate = trace.nodes[trace.nodes[place].operands[0]] if turned else trace.nodes[place]
            if gate.letter in trace.gates:
                return Keeper(gate.letter, turned)
    return None


def _kept(keeper: Keeper, steps: list[dict[str, Vector]]) -> tuple[float, ...]:
    """Return for each step, in reading order, the largest element of the gate's product over later steps."""
    product = [1.0] * len(steps[0][keeper.letter])
    products = []
    for step in reversed(steps):
        products.append(max(product))
        gate = step[keeper.letter]
        product = times(product, [1.0 - number for number in gate] if keeper.turned else gate)
    return tuple(reversed(products))


Slopes = list[tuple[dict[str, float], dict[str, Mapping[str, Nested]]]]
"""For each step, the last first: ∂h_T/∂s for each state after it and its output, and the gradients of the weights in
each of these alone."""


class GradientTerm(NamedTuple):
    """The term of step k, counted from 1.

    reached: ∂h_T/∂s_k for each s, a state or the output; explicit: ∂s_k/∂w for each; product: the sum of their
    products; total: that of the terms from step T down to this one.
    """

    step: int
    reached: Mapping[str, float]
    explicit: Mapping[str, float]
    product: float
    total: float


class WeightTerms(NamedTuple):
    """The terms of one weight, from the last step to the first. tensor, place: which weight it is."""

    tensor: str
    place: tuple[int, ...]
    terms: tuple[GradientTerm, ...]


def terms(ran: LayerRun, weights: Mapping[str, Nested], convention: str) -> tuple[WeightTerms, ...]:
    """Return the terms of each recurrent weight of a traced layer of one unit; none for another layer.

    weights: the layer's, by tensor.
    """
    placed = ran.placed
    if not isinstance(placed.layer, Cell) or placed.layer.directions > 1 or not ran.traces:
        return ()
    (trace,) = ran.traces
    if len(trace.steps) > MOST_TERMS or any(placed.sizes[width] > 1 for width in placed.layer.states.values()):
        return ()
    # named as in a layer that is not repeated
    tensors = [tensor.sized(placed.sizes) for tensor in placed.layout.tensors]
    names = {tensor.name: one.name for tensor, one in zip(placed.tensors, tensors, strict=True)}
    alone = {one: weights[name] for name, one in names.items()}
    slopes = _slopes(placed.layer, placed.inputs, alone, convention, [trace.start, *trace.steps])
    return tuple(
        WeightTerms(tensor.name, place, tuple(_terms(slopes, names[tensor.name], place)))
        for tensor in placed.tensors
        if tensor.role is Role.RECURRENT
        for place in product(*map(range, tensor.shape))
    )


def _terms(slopes: Slopes, name: str, place: tuple[int, ...]) -> Iterator[GradientTerm]:
    """Yield the terms of a weight, the last step's first."""
    total = 0.0
    for number, (reached, gradients) in enumerate(slopes):
        explicit = {letter: number_at(each[name], place) for letter, each in gradients.items()}
        term = sum(reached[letter] * slope for letter, slope in explicit.items())
        total += term
        yield GradientTerm(len(slopes) - number, reached, explicit, term, total)


def _slopes(
    layer: Cell, inputs: int, weights: dict[str, Nested], convention: str, steps: Sequence[dict[str, Vector]]
) -> Slopes:
    """Return the slopes of a layer of one unit, by itself, over the vectors that it read: a pass for each step.

    steps: the start and the steps after it.
    """
    cell = layer.replace(name=None, extra_inputs=0, repeat=1, learned_state=False, initial_state=None, frozen=False)
    network = Network(input=inputs, layers=(cell,), topology="many-to-many", convention=convention, steps=1)
    (alone,) = network.stack
    letters = [*dict.fromkeys(("h", *cell.states))]
    reached, slopes = dict.fromkeys(letters, 0.0) | {"h": 1.0}, Slopes()
    for before, step in reversed([*pairwise(steps)]):
        slopes.append((reached, {}))
        later, reached = reached, dict.fromkeys(letters, 0.0)
        start = {alone.name: {state: before[state] for state in cell.states}}
        for letter in letters:
            recording = BackwardPass(
                network, {alone.name: weights}, inputs={None: [step["x"]]}, start=start, traced=True, every=True
            )
            (values,) = recording.values[alone.name].histories
            (seen,) = recording.backward([(values.steps[0][letter], [1.0])])
            slopes[-1][1][letter] = seen.gradients
            for state, gradient in seen.traces[0].start.items():
                reached[state] += later[letter] * (gradient[0] if gradient else 0.0)
    return slopes
