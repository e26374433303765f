"""The weights of a pass that gives none of its own: random ones, the same for the same seed on every machine."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from random import Random

from rnncalc.forward.arrays import Nested, filled
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed


def source(seed: int) -> Callable[[], float]:
    """Return what draws numbers from 0 to 1.

    Python promises the same numbers from `random()` for the same seed, on every machine and in every version.
    """
    return Random(f"{seed} weights").random


def drawn(place: Placed, random: Callable[[], float]) -> dict[str, Nested]:
    """Return the weights of a layer by tensor; those of layers must be drawn in the order of the network."""
    if isinstance(place.layer, External):
        return {}
    fan = place.outputs if isinstance(place.layer, Cell) else place.inputs
    bound = 1.0 if isinstance(place.layer, Embedding) else 1.0 / sqrt(fan)
    return {tensor.name: filled(tensor, bound, random) for tensor in place.tensors}


def all_drawn(network: Network, seed: int) -> dict[str, dict[str, Nested]]:
    """Return the weights of every layer, by layer and tensor: those that a pass with this seed draws by itself."""
    random = source(seed)
    return {place.name: drawn(place, random) for place in network.placed}
