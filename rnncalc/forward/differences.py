"""Finite differences: the gradient of a weight from two forward passes, without a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice, zip_longest
from random import Random
from typing import Any, NamedTuple

from rnncalc.conventions.tensor import STORED
from rnncalc.forward.arrays import Floats, Meter, Nested, within
from rnncalc.forward.backward_pass import Loss
from rnncalc.forward.network_pass import Pass
from rnncalc.network.network import Network
from rnncalc.step.operations import Vector

NUDGE = 1e-5
"""How far a weight is moved each way; the difference has errors of order NUDGE² and 1e-16 / NUDGE."""

TOLERANCE = 1e-6
"""The allowed distance of a gradient from its difference, relative to the largest of 1, the gradient and the loss."""


class Spot(NamedTuple):
    """The position of a weight: its layer and tensor by name, and its index on each axis."""

    layer: str
    tensor: str
    place: tuple[int, ...]


def spots(network: Network, most: int, seed: int) -> list[Spot]:
    """Return all trained weights; of more than `most`, a random sample that takes the tensors in turn."""
    draw = Random(f"{seed} differences")
    tensors = [
        [
            Spot(placed.name, tensor.name, _place(number, tensor.shape))
            for number in draw.sample(range(tensor.params), min(most, tensor.params))
        ]
        for placed in network.stack
        if placed.trainable
        for tensor in placed.tensors
        if tensor.role not in STORED
    ]
    taken = chain.from_iterable(zip_longest(*tensors))
    return list(islice((spot for spot in taken if spot is not None), most))


def _place(number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the weight of this number; the last axis runs fastest."""
    place: list[int] = []
    for size in reversed(shape):
        number, rest = divmod(number, size)
        place.append(rest)
    return tuple(reversed(place))


class _Pinned(Floats):
    """Floats that continue at the border of a chunk from the state that the first pass had there."""

    def __init__(self, meter: Meter, differences: Differences) -> None:
        super().__init__(meter)
        self.differences = differences

    def carry(self, vector: Vector, border: int) -> Vector:
        """Return a state for the next step; at a border it does not depend on the weights."""
        if self.differences.chunk is None or border % self.differences.chunk:
            return vector
        if self.differences.kept is not None:
            return next(self.differences.kept)
        self.differences.states.append(vector)
        return vector


class Differences:
    """The loss of a network as a function of one weight at a time.

    data: inputs, start, seed and progress, as in `Pass`.
    kinks: how many of the compared weights are at a jump of the slope.
    """

    def __init__(
        self,
        network: Network,
        loss: Loss,
        weights: dict[str, dict[str, Nested]],
        *,
        chunk: int | None = None,
        **data: Any,
    ) -> None:
        self.loss = loss
        self.weights = weights
        self.chunk = chunk
        self.states: list[Vector] = []  # carried over the borders of chunks, in order
        self.kept: Iterator[Vector] | None = None  # the same, for a pass after the first
        self._pass: Callable[[], Pass[Vector]] = lambda: Pass(
            network, lambda _, meter: _Pinned(meter, self), weights=weights, **data
        )
        self.here = self._loss()
        self.kinks = 0

    def _loss(self) -> float:
        forward = self._pass()
        for _ in forward.run():
            pass
        return self.loss(forward.outputs)[0]

    def distance(self, spot: Spot, gradient: float) -> float:
        """Return the distance of a gradient from the difference, of the largest of 1, the gradient and the loss.

        If the loss is strongly curved, as with large inputs, Richardson's extrapolation removes the error of order
        NUDGE². If the slope jumps, as relu's does, any slope between those of both sides is right.
        """
        above, below = self._moved(spot, NUDGE), self._moved(spot, -NUDGE)
        scale = max(1.0, abs(gradient), abs(self.here))
        wide = (above - below) / (2.0 * NUDGE)
        distance = abs(gradient - wide) / scale
        if distance <= TOLERANCE:
            return distance
        half = NUDGE / 2.0
        narrow = (self._moved(spot, half) - self._moved(spot, -half)) / NUDGE
        extrapolated = abs(gradient - (4.0 * narrow - wide) / 3.0) / scale
        if extrapolated <= TOLERANCE:
            return extrapolated
        least, most = sorted(((above - self.here) / NUDGE, (self.here - below) / NUDGE))
        beside = max(least - gradient, gradient - most, 0.0) / scale
        self.kinks += beside <= TOLERANCE
        return beside if beside <= TOLERANCE else distance

    def _moved(self, spot: Spot, by: float) -> float:
        """Return the loss with one weight moved, and move it back."""
        *above, last = spot.place
        array = within(self.weights[spot.layer][spot.tensor], above)
        weight = array[last]
        array[last] = weight + by
        self.kept = iter(self.states)
        try:
            return self._loss()
        finally:
            array[last] = weight
