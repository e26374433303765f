"""Finds the sizes for `?` that make a valid network, as ranges (pieces) of valid sizes.

Within a piece the count only grows. Each problem of an invalid size has a gap: by how much the size is wrong. The gaps
of two neighboring sizes give the valid size, so one valid size among 10^12 is found in a few tries. Knows no budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

from rnncalc.bounds import MOST_COUNTED
from rnncalc.errors import Cure, Problem, RefusedError, SpecError
from rnncalc.layers.cell import Cell
from rnncalc.network.network import Network
from rnncalc.network.parts import OUTPUT
from rnncalc.text import escape

Sized = Callable[[int], Network]
"""Returns the network with a size for every `?`; raises SpecError if it is invalid."""


class SizePlace(NamedTuple):
    """The position of a size: its half, its layer there (None for the half itself), and its key."""

    part: str | None
    place: int | None
    key: str


def resized(network: Network, places: Iterable[SizePlace], size: int) -> Network:
    """Return the network with a size at some places. Raises SpecError if it is then invalid."""
    parts = dict(network.parts)
    for half, place, key in places:
        part = parts[half]
        if place is not None:
            layer = part.layers[place].replace(**{key: size})
            parts[half] = part._replace(layers=(*part.layers[:place], layer, *part.layers[place + 1 :]))
        elif key == OUTPUT and part.output:
            parts[half] = part._replace(output=part.output.replace(units=size))
        elif key == "steps":
            parts[half] = part._replace(steps=size)
        else:
            parts[half] = part._replace(input=size)
    return network.with_parts(parts)


class SizeResult(NamedTuple):
    """The result of one size: its count, or None and the problems.

    bends: for each cell whose gates change where its output is as wide as its input: the input width minus the output
    width.
    """

    params: int | None
    problems: tuple[Problem, ...]
    bends: tuple[int, ...]


class TriedSizes:
    """Sizes in steps of a number, each tried once.

    instead: the cure if that takes too long. what: the name of the sizes in messages.
    """

    def __init__(
        self, sized: Sized, step: int, instead: Cure = Cure.SIZE_OF_YOUR_OWN, what: str = "size for ?"
    ) -> None:
        self.sized = sized
        self.step = step
        self.instead = instead
        self.what = what
        self.tried: dict[int, SizeResult] = {}
        self._name, self._different = "", 0

    def at(self, place: int) -> SizeResult:
        """Return the result of the size at a place. Raises RefusedError after too many tries for such a network."""
        if place not in self.tried:
            try:
                network = self.sized(place * self.step)
            except SpecError as error:
                self.tried[place] = SizeResult(None, error.problems, ())
            else:
                self._name, self._different = escape(network.name), max(self._different, len(network.stack))
                self.tried[place] = SizeResult(network.params, (), tuple(_bends(network)))
        return self.tried[place]

    def params(self, place: int) -> int:
        """Return the count at a place with a valid network."""
        params = self.at(place).params
        assert params is not None
        return params

    def valid(self, place: int) -> bool:
        """Return whether the network at a place is valid."""
        return self.at(place).params is not None

    def refuse_endless(self, more: int) -> None:
        """Raise RefusedError if this many more tries are too many for the number of layers."""
        tries = len(self.tried) + more
        if self._different * tries > MOST_COUNTED:
            layers = f"{self._name} has {self._different:,} different layers"
            message = f"{layers}, and to find a size counts them {tries:,} times or more"
            raise RefusedError(f"{message}, {MOST_COUNTED:,} layers in all being the most", self.instead)


def pieces(sizes: TriedSizes, first: int, last: int) -> list[tuple[int, int]]:
    """Return the pieces from `first` to `last`, in order: ranges with a valid network at every place."""
    found: list[tuple[int, int]] = []
    waiting = [(first, last)]
    while waiting:
        sizes.refuse_endless(len(waiting))
        low, high = waiting.pop()
        if cuts := sorted({cut for cut in _cuts(sizes, low, high) if low <= cut <= high} if low < high else ()):
            edges = sorted({low, high + 1, *cuts, *(cut + 1 for cut in cuts)})
            waiting += [(start, end - 1) for start, end in pairwise(edges)]
        elif sizes.valid(low) and sizes.valid(high):
            found.append((low, high))
        elif sizes.valid(low) or sizes.valid(high):
            found.append(_valid_end(sizes, low, high))
    return sorted(found)


def _valid_end(sizes: TriedSizes, low: int, high: int) -> tuple[int, int]:
    """Return the valid part of a piece, which is at one of its ends."""
    at_low, (good, bad) = sizes.valid(low), (low, high) if sizes.valid(low) else (high, low)
    while abs(bad - good) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if sizes.valid(middle) else (good, middle)
    return (low, good) if at_low else (good, high)


def _cuts(sizes: TriedSizes, low: int, high: int) -> Iterator[int]:
    """Yield the places, extrapolated from the ends of a piece, where a problem vanishes or the count bends."""
    for here, there in ((low, low + 1), (high - 1, high)):
        one, other = sizes.at(here), sizes.at(there)
        for gaps, next_gaps in _paired(one.problems, other.problems):
            for gap, next_gap in zip(gaps, next_gaps, strict=False):
                if gap != next_gap:
                    root = here - Fraction(gap, next_gap - gap)
                    yield from (floor(root), ceil(root))
        if len(one.bends) == len(other.bends):
            for bend, next_bend in {*zip(one.bends, other.bends, strict=True)}:
                if bend != next_bend and bend % (next_bend - bend) == 0:
                    yield here - bend // (next_bend - bend)


Gaps = tuple[int, ...]


def _paired(ones: Sequence[Problem], others: Sequence[Problem]) -> Iterator[tuple[Gaps, Gaps]]:
    """Yield the gaps of the problems that two sizes share, pair by pair."""
    standing: dict[object, list[Problem]] = {}
    for problem in others:
        standing.setdefault((problem.source, problem.path, len(problem.gaps)), []).append(problem)
    for problem in reversed(ones):
        if problem.gaps and (same := standing.get((problem.source, problem.path, len(problem.gaps)))):
            yield problem.gaps, same.pop().gaps


def _bends(network: Network) -> Iterator[int]:
    known: dict[object, bool] = {}
    for entry in network.stack:
        layer = entry.layer
        if isinstance(layer, Cell):
            for width in {layer.units, layer.directions * layer.units}:
                kind = type(layer), layer.choices(), width == layer.units
                if kind not in known:
                    known[kind] = layer.gates(width) != layer.gates(4 * width + 1)
                if known[kind]:
                    yield entry.inputs - width
