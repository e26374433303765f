"""The same network under every convention, and why the counts differ from the textbook's."""

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
"""The convention that the others are compared with."""


class ConventionDifference(NamedTuple):
    """A difference between a convention's count and the textbook's, for all layers that differ in the same way.

    params: how many more parameters it has; fewer if negative.
    biases, biases_of_textbook: the sizes of the biases. tensors: the names of the convention's biases.
    layers: the names of the layers.
    """

    convention: str
    params: int
    biases: Expression
    biases_of_textbook: Expression
    tensors: tuple[str, ...]
    layers: tuple[str, ...]


class Allocations(NamedTuple):
    """The tensors of a network under each convention.

    networks: by convention, None if the convention cannot express it. problems: why it cannot, for those alone.
    """

    network: Network
    networks: Mapping[str, Network | None]
    problems: Mapping[str, Problem]

    @property
    def differences(self) -> tuple[ConventionDifference, ...]:
        """The differences from the textbook, convention by convention."""
        base = self.networks[BASE]
        return tuple(
            difference
            for name, network in self.networks.items()
            if base and network
            for difference in _differences(base, network, name)
        )


def compare_conventions(network: Network) -> Allocations:
    """Return a network under every convention."""
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
"""A difference of a layer: its biases, the textbook's, and the names of its own."""


def _differences(base: Network, network: Network, name: str) -> Iterator[ConventionDifference]:
    """Yield the differences in biases, one for all layers that differ in the same way."""
    ways: dict[BiasDifference, list[tuple[int, str]]] = {}
    for was, now in zip(base.stack, network.stack, strict=True):
        more = now.params - was.params
        if more:
            way = _biases(now.layout), _biases(was.layout), _bias_names(now.layout)
            ways.setdefault(way, []).append((more, now.name))
    for way, found in ways.items():
        yield ConventionDifference(name, sum(more for more, _ in found), *way, tuple(name for _, name in found))


def _biases(layout: Layout) -> Expression:
    """Return the total size of the biases of a layout, in both directions."""
    terms: dict[str, int] = {}
    for tensor in layout.own:
        if _is_bias(tensor):
            letters = "".join(axis.letter for axis in tensor.axes)
            terms[letters] = terms.get(letters, 0) + prod(axis.times for axis in tensor.axes)
    return Plus(tuple(Times((number, *letters) if number > 1 else (*letters,)) for letters, number in terms.items()))


def _bias_names(layout: Layout) -> tuple[str, ...]:
    """Return the names of the counted biases, of both directions if there are two."""
    return tuple(tensor.name for tensor in layout.own if _is_bias(tensor))


def _is_bias(tensor: Tensor) -> bool:
    return tensor.role in (Role.BIAS, Role.RECURRENT_BIAS)
