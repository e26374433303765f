"""The same network under every convention, and where the counts differ from the textbook's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from rnncalc.conventions.catalogue import CONVENTIONS
from rnncalc.conventions.formula import Expression, Plus, Times
from rnncalc.conventions.layout import Layout
from rnncalc.conventions.tensor import Role, Tensor
from rnncalc.errors import Problem, SpecError
from rnncalc.network.network import Network

BASE = "textbook"
"""The convention that the others are held against."""


class Difference(NamedTuple):
    """Where a convention's count is not the textbook's, for all layers that differ in one way.

    params: how many parameters more it has, or fewer where that is below 0.
    biases, biases_of_textbook: the numbers of their biases; tensors: the names of those that they have.
    layers: the names of the layers.
    """

    convention: str
    params: int
    biases: Expression
    biases_of_textbook: Expression
    tensors: tuple[str, ...]
    layers: tuple[str, ...]


class Allocations(NamedTuple):
    """A network as each convention allocates it.

    networks: by convention, None where that cannot express it; problems: why it cannot, for just those.
    """

    network: Network
    networks: Mapping[str, Network | None]
    problems: Mapping[str, Problem]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences to the textbook, of each convention in turn."""
        base = self.networks[BASE]
        return tuple(
            difference
            for name, network in self.networks.items()
            if base and network
            for difference in _differences(base, network, name)
        )


def compare_conventions(network: Network) -> Allocations:
    """Return a network under every convention, whatever its own."""
    networks: dict[str, Network | None] = {}
    problems: dict[str, Problem] = {}
    for name in CONVENTIONS:
        try:
            networks[name] = network.replace(convention=name, notation=None)
        except SpecError as error:
            networks[name] = None
            problems[name] = error.problems[0]
    return Allocations(network, networks, problems)


BiasDifference = tuple[Expression, Expression, tuple[str, ...]]
"""How a layer differs: its biases, the textbook's, and the names of its own."""


def _differences(base: Network, network: Network, name: str) -> Iterator[Difference]:
    """Yield a difference for each way in which layers have more or fewer biases."""
    ways: dict[BiasDifference, list[tuple[int, str]]] = {}
    for was, now in zip(base.stack, network.stack, strict=True):
        more = now.params - was.params
        if more:
            way = _biases(now.layout), _biases(was.layout), _bias_names(now.layout)
            ways.setdefault(way, []).append((more, now.name))
    for way, found in ways.items():
        yield Difference(name, sum(more for more, _ in found), *way, tuple(name for _, name in found))


def _biases(layout: Layout) -> Expression:
    """Return how many numbers the biases of a layout are, both directions together."""
    terms: dict[str, int] = {}
    for tensor in layout.own:
        if _is_bias(tensor):
            letters = "".join(axis.letter for axis in tensor.axes)
            terms[letters] = terms.get(letters, 0) + prod(axis.times for axis in tensor.axes)
    return Plus(tuple(Times((number, *letters) if number > 1 else (*letters,)) for letters, number in terms.items()))


def _bias_names(layout: Layout) -> tuple[str, ...]:
    """Return the names of the biases whose numbers are counted, in both directions where there are two."""
    return tuple(tensor.name for tensor in layout.own if _is_bias(tensor))


def _is_bias(tensor: Tensor) -> bool:
    return tensor.role in (Role.BIAS, Role.RECURRENT_BIAS)
