"""The layers of a network with equal neighbours as one, so that a question asks a layer repeated 100,000 times once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.network.network import Network, Placed


class Stacked(NamedTuple):
    """Neighbours that differ in nothing but their names: the first of them in its place, and the names of all."""

    placed: Placed
    names: tuple[str, ...]

    @property
    def copies(self) -> int:
        """How many they are."""
        return len(self.names)


def stack_of(network: Network) -> Iterator[Stacked]:
    """Yield the layers of a network in order, equal neighbours as one."""
    first: Placed | None = None
    names: list[str] = []
    for placed in network.placed:
        if first is not None and _equal(first, placed):
            names.append(placed.name)
            continue
        if first is not None:
            yield Stacked(first, tuple(names))
        first, names = placed, [placed.name]
    if first is not None:
        yield Stacked(first, tuple(names))


def _equal(one: Placed, other: Placed) -> bool:
    alike = one.weights is other.weights and one.output_shape == other.output_shape and one.uses == other.uses
    return alike and one.part == other.part and one.inputs == other.inputs and one.layer == other.layer
