"""The terms of the gradient of a recurrent weight in a layer of one unit: one for each step that the weight acts in.

dh_T/dw is the sum over k of ∂h_T/∂h_k times the explicit ∂h_k/∂w, in which the step before is held fast; where a layer
has several states, each term is itself a sum over them. A chunk of K steps keeps the last K terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from rnncalc.bounds import MOST_TERMS
from rnncalc.conventions.tensor import Role
from rnncalc.forward.arrays import Nested, number_at
from rnncalc.forward.backward_pass import Recording
from rnncalc.forward.network_pass import LayerRun
from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed

Weights = Mapping[str, Nested]


class Term(NamedTuple):
    """One term: of step k, counted from 1.

    reached: ∂h_T/∂s_k for each s, a state or what is handed on; explicit: ∂s_k/∂w for each; product: the sum of their
    products; total: that of the terms from step T down to this one.
    """

    step: int
    reached: Mapping[str, float]
    explicit: Mapping[str, float]
    product: float
    total: float


class Terms(NamedTuple):
    """The terms of one weight, from the last step to the first; `tensor` and `place` say which weight it is."""

    tensor: str
    place: tuple[int, ...]
    terms: tuple[Term, ...]


def terms(ran: LayerRun, weights: Weights, convention: str) -> tuple[Terms, ...]:
    """Return the terms of each recurrent weight of a layer of one unit whose pass was traced; none of another layer.

    weights: the layer's, by tensor.
    """
    placed = ran.placed
    if not isinstance(placed.layer, Cell) or placed.layer.directions > 1 or not ran.traces:
        return ()
    if any(placed.sizes[width] > 1 for width in placed.layer.states.values()):
        return ()
    (trace,) = ran.traces
    if len(trace.steps) > MOST_TERMS:
        return ()
    own = [tensor.sized(placed.sizes) for tensor in placed.layout.own]  # as a layer that is not repeated has them
    names = {tensor.name: one.name for tensor, one in zip(placed.tensors, own, strict=True)}
    alone = {one: weights[name] for name, one in names.items()}
    of = _Unit(placed, alone, convention, [trace.start, *trace.steps])
    spots = [
        (tensor.name, place)
        for tensor in placed.tensors
        if tensor.role is Role.RECURRENT
        for place in _places(tensor.shape)
    ]
    reached, explicit = of.reached(), of.explicit()
    return tuple(Terms(name, place, tuple(_sum(reached, explicit, names[name], place))) for name, place in spots)


def _sum(
    reached: list[dict[str, float]], explicit: list[dict[str, dict[str, Nested]]], name: str, place: tuple[int, ...]
) -> Iterator[Term]:
    total = 0.0
    for step in range(len(reached), 0, -1):
        slopes = {letter: number_at(gradients[name], place) for letter, gradients in explicit[step - 1].items()}
        term = sum(reached[step - 1][letter] * slope for letter, slope in slopes.items())
        total += term
        yield Term(step, reached[step - 1], slopes, term, total)


class _Unit:
    """A layer of one unit by itself, over the vectors that it read; `went` are the start and the steps after it."""

    def __init__(
        self, placed: Placed, weights: dict[str, Nested], convention: str, went: list[dict[str, list[float]]]
    ) -> None:
        assert isinstance(placed.layer, Cell)
        self.cell = placed.layer.replace(name=None, extra_inputs=0, repeat=1, learned_state=False, frozen=False)
        self.network = Network(
            input=placed.inputs, layers=(self.cell,), topology="many-to-many", convention=convention, steps=1
        )
        (alone,) = self.network.stack
        self.name = alone.name
        self.weights = {self.name: weights}
        self.went = went

    def reached(self) -> list[dict[str, float]]:
        """Return for each step ∂h_T/∂s, for each state after it and for what it hands on."""
        steps = len(self.went) - 1
        recording = self._recorded(self.network.replace(steps=steps), 1, steps)
        recording.back([(recording.outputs[-1], [1.0])])
        letters = [*dict.fromkeys(("h", *self.cell.states))]
        found = [dict.fromkeys(letters, 0.0) for _ in range(steps)]
        states = [*self.cell.states]
        for number, (border, node) in enumerate(recording.tape.carried):
            found[border - 1][states[number % len(states)]] = node.gradient[0] if node.gradient else 0.0
        found[-1]["h"] = 1.0
        return found

    def explicit(self) -> list[dict[str, dict[str, Nested]]]:
        """Return for each step, and for each state and what is handed on, the gradients of the weights in it alone."""
        found = []
        for step in range(1, len(self.went)):
            of_step: dict[str, dict[str, Nested]] = {}
            for letter in dict.fromkeys(("h", *self.cell.states)):
                recording = self._recorded(self.network, step, 1)
                (trace,) = recording.kept[self.name]
                (layer,) = recording.back([(trace.steps[0][letter], [1.0])])
                of_step[letter] = layer.gradients
            found.append(of_step)
        return found

    def _recorded(self, network: Network, first: int, count: int) -> Recording:
        """Return a pass over some steps, from the states before them."""
        before = self.went[first - 1]
        return Recording(
            network,
            self.weights,
            inputs={None: [step["x"] for step in self.went[first : first + count]]},
            start={self.name: {letter: before[letter] for letter in self.cell.states}},
            traced=True,
        )


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Return the places of a tensor, the last axis fastest."""
    return product(*map(range, shape))
