"""Which single size of a network, changed, would give a learner's number: what is left to ask when no mistake does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Layer
from rnncalc.layers.options import MAX_SIZE
from rnncalc.network.network import Network
from rnncalc.questions.answer.given import Given
from rnncalc.questions.pieces import Sized
from rnncalc.questions.solve import counting, largest

MOST_DIFFERENT = 30
"""In a network of more different layers no size is looked for: each is tried some forty times."""


class OtherSize(NamedTuple):
    """A size that would give the number: `size` instead of `right`.

    part: encoder, decoder or None; place: of the layer in its part, from 0, None for the part's input; letter: h or p.
    """

    part: str | None
    place: int | None
    letter: str
    size: int
    right: int


def other_size(network: Network, given: Given) -> OtherSize | None:
    """Return the first size that, changed alone, would give a number, or None."""
    if len(network.stack) > MOST_DIFFERENT:
        return None
    for right, sized in _sizes(network):
        count = counting(sized)
        best = largest(count, given.number + given.unit // 2, MAX_SIZE)
        params = count(best)
        if params is not None and given.means(params):
            return right._replace(size=best)
    return None


def _sizes(network: Network) -> Iterator[tuple[OtherSize, Sized]]:
    """Yield each size of a network, and the network with another."""
    for name, part in network.parts.items():
        yield OtherSize(name, None, "m", part.input, part.input), partial(_resized, network, name, None, "input")
        for place, layer in enumerate(part.layers):
            for option, letter in (("units", "h"), ("projection", "p")):
                size = getattr(layer, option, None)
                if size is not None and isinstance(layer, Cell | Dense):
                    yield OtherSize(name, place, letter, size, size), partial(_resized, network, name, place, option)


def _resized(network: Network, name: str | None, place: int | None, option: str, size: int) -> Network:
    """Return the network with another size of a part's input, or of the layer at a place."""
    part = network.parts[name]
    if place is None:
        new = part._replace(input=size)
    else:
        options: dict[str, Any] = {option: size}
        new = part._replace(layers=_replaced(part.layers, place, part.layers[place].replace(**options)))
    return network.with_parts({**network.parts, name: new})


def _replaced(layers: tuple[Layer, ...], place: int, layer: Layer) -> tuple[Layer, ...]:
    return (*layers[:place], layer, *layers[place + 1 :])
