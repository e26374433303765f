"""The numbers that a pass computes with: those that are given, and random ones from a seed for the rest."""

from __future__ import annotations

from math import sqrt
from random import Random
from typing import Any

from rnncalc.forward.arrays import Arrays, Nested, filled
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed


class Numbers:
    """Weights, inputs and start states: by layer and tensor, by part, and by layer and letter.

    Random ones are made as they are asked for, so that each is to be asked for once, layers in their order.
    """

    def __init__(
        self,
        seed: int = 0,
        weights: dict[str, dict[str, Nested]] | None = None,
        inputs: dict[str | None, list[Any]] | None = None,
        start: dict[str, dict[str, Nested]] | None = None,
    ) -> None:
        self.weights = weights
        self.given_inputs = inputs or {}
        self.start = start or {}
        # Python promises the same numbers from `random()` for the same seed, on every machine and in every version.
        self._of_weights = Random(f"{seed} weights").random
        self._of_inputs = Random(f"{seed} inputs").random

    def weights_of(self, place: Placed) -> dict[str, Nested]:
        """Return the weights of a layer by tensor."""
        if isinstance(place.layer, External):
            return {}
        if self.weights is not None:
            return self.weights.get(place.name, {})
        fan = place.outputs if isinstance(place.layer, Cell) else place.inputs
        bound = 1.0 if isinstance(place.layer, Embedding) else 1.0 / sqrt(fan)
        return {tensor.name: filled(tensor, bound, self._of_weights) for tensor in place.tensors}

    def weights_of_all(self, network: Network) -> dict[str, dict[str, Nested]]:
        """Return the weights of every layer, by layer and tensor."""
        return {place.name: self.weights_of(place) for place in network.stack}

    def arrays(self, place: Placed) -> Arrays:
        """Return the same as arrays, which hand out pieces of them by name."""
        return Arrays(self.weights_of(place), place.tensors, place.copy)

    def inputs(self, name: str | None, part: Part, count: int) -> list[Any]:
        """Return the inputs of a part; random ones are as wide as the spec says, whatever the stack declares."""
        if given := self.given_inputs.get(name):
            return given
        if isinstance(part.layers[0], Embedding):
            return [int(self._of_inputs() * part.input) for _ in range(count)]
        return [self.elsewhere(part.input) for _ in range(count)]

    def elsewhere(self, count: int) -> list[float]:
        """Return so many numbers between -1 and 1, such as those that come from no layer."""
        return [2.0 * self._of_inputs() - 1.0 for _ in range(count)]
