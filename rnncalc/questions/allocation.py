"""Whose tensors: the same network under every convention, and where the counts differ from the textbook's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rnncalc.conventions.convention import CONVENTIONS
from rnncalc.conventions.layout import Layout
from rnncalc.conventions.tensor import Polynomial, Tensor
from rnncalc.errors import Fault, Problem, SpecError
from rnncalc.network.network import Network
from rnncalc.questions.stack import stack_of

BASE = "textbook"
"""The convention that the others are held against."""

Terms = tuple[tuple[int, str], ...]
"""A sum of products, each a whole number and its letters: `((3, "h"),)` is 3h."""


class Difference(NamedTuple):
    """Where a convention's count is not the textbook's, for all layers that differ in one way.

    params: how many parameters more it has, or fewer where that is below 0.
    biases, biases_of_textbook: the numbers of their biases; tensors: the names of those that they have.
    layers: the names of the layers.
    """

    convention: str
    params: int
    biases: Terms
    biases_of_textbook: Terms
    tensors: tuple[str, ...]
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Allocations:
    """A network as each convention allocates it.

    networks: by convention, None where that cannot express it; problems: why it cannot, for just those.
    """

    network: Network
    networks: Mapping[str, Network | None]
    problems: Mapping[str, Problem | Fault]

    @cached_property
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
    problems: dict[str, Problem | Fault] = {}
    for name in CONVENTIONS:
        try:
            networks[name] = replace(network, convention=name)
        except SpecError as error:
            networks[name] = None
            problems[name] = error.problems[0]
    return Allocations(network, networks, problems)


Way = tuple[Terms, Terms, tuple[str, ...]]
"""How a layer differs: its biases, the textbook's, and the names of its own."""


def _differences(base: Network, network: Network, name: str) -> Iterator[Difference]:
    """Yield a difference for each way in which layers have more or fewer biases."""
    ways: dict[Way, list[tuple[int, tuple[str, ...]]]] = {}
    told: dict[tuple[Layout, Layout], Way] = {}
    for was, now in zip(stack_of(base), stack_of(network), strict=True):
        more = (now.placed.params - was.placed.params) * now.copies
        if not more:
            continue
        layouts = (now.placed.weights.layout, was.placed.weights.layout)
        if layouts not in told:  # thousands of layers of different widths have one layout
            told[layouts] = (_biases(layouts[0]), _biases(layouts[1]), _bias_names(layouts[0]))
        ways.setdefault(told[layouts], []).append((more, now.names))
    for way, found in ways.items():
        yield Difference(name, sum(more for more, _ in found), *way, tuple(one for _, names in found for one in names))


def _biases(layout: Layout) -> Terms:
    return Polynomial.of(tensor for tensor in layout.own if _is_bias(tensor)).terms


def _bias_names(layout: Layout) -> tuple[str, ...]:
    return tuple(tensor.name for tensor in layout.own if _is_bias(tensor) and tensor.direction != "backward")


def _is_bias(tensor: Tensor) -> bool:
    return tensor.role in ("bias", "recurrent_bias")
