"""The sizes of a network that would give a wrong number, if one of them alone were another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from rnncalc.answers.reading import GivenNumber
from rnncalc.bounds import MAX_SIZE, MOST_SIZED
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense
from rnncalc.network.network import Network
from rnncalc.questions import solve
from rnncalc.questions.solve import SizePlace, TriedSizes, in_groups, resized


class OtherSize(NamedTuple):
    """A changed size that would give the number: `size` instead of `right`.

    at: the input, or the option of a layer. params: the count that it gives, which a rounded number may only be near.
    """

    at: SizePlace
    size: int
    right: int
    params: int


SizeCurve = tuple[OtherSize, TriedSizes, solve.Piece, solve.Interpolation]
"""A size, the sizes tried for it, a range of valid ones, and the counts of the network over that range."""


def size_curves(network: Network) -> list[SizeCurve]:
    """Return how the count depends on each size of a network; nothing for many layers."""
    if sum(len(part.layers) for part in network.parts.values()) > MOST_SIZED:
        return []
    tried = ((size, in_groups(TriedSizes(partial(resized, network, (size.at,)), 1))) for size in _sizes(network))
    return [
        (size, sizes, piece, solve.interpolation(sizes, *piece))
        for size, sizes in tried
        for piece in reversed(solve.pieces(sizes, 1, MAX_SIZE // sizes.step))
    ]


def other_size(curves: Iterable[SizeCurve], answer: GivenNumber) -> OtherSize | None:
    """Return the first size that would give the number if it alone were changed, the nearest of a rounded one's."""

    def off(params: int) -> int:
        return int(abs(params - answer.number))

    for size, tried, (low, high), counts in curves:
        below = counts.last_within(low, high, answer.number)
        near = (below, min(below + 1, high)) if answer.unit > 1 else (below,)
        best = min(near, key=lambda place: off(counts.params(place)))
        if answer.means(counts.params(best)) and tried.valid(best) and answer.means(tried.params(best)):
            return size._replace(size=best * tried.step, params=tried.params(best))
    return None


def _sizes(network: Network) -> Iterator[OtherSize]:
    """Yield each size of a network, unchanged."""
    for name, part in network.parts.items():
        yield OtherSize(SizePlace(name, None, "input"), part.input, part.input, network.params)
        for number, layer in enumerate(part.layers):
            for option in ("units", "projection") if isinstance(layer, Cell | Dense) else ():
                if size := getattr(layer, option, None):
                    yield OtherSize(SizePlace(name, number, option), size, size, network.params)
