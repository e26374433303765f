"""Other explanations of a wrong number: another quantity of the network, or its count with one size changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from rnncalc.bounds import MAX_SIZE, MOST_SIZED
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense
from rnncalc.network.network import Network
from rnncalc.questions.answer.reading import GivenNumber
from rnncalc.questions.count import DTYPES, total
from rnncalc.questions.dense import dense_equivalent
from rnncalc.questions.solve import (
    Interpolation,
    Piece,
    SizePlace,
    TriedSizes,
    in_groups,
    interpolation,
    pieces,
    resized,
)
from rnncalc.questions.training import LayerTraining, Training
from rnncalc.records import Record


def _times(number: int | None, times: int) -> int | None:
    return None if number is None else number * times


def _multiply_adds(of: Training) -> int | None:
    return total(layer.placed.multiply_adds for layer in of.layers)


def _multiply_adds_per_step(of: Training) -> int | None:
    once = total(layer.placed.multiply_adds_per_step for layer in of.layers)
    return None if once == _multiply_adds(of) else once


def _without_gates(layer: LayerTraining, of: Training) -> int | None:
    """Return how many activations would be saved if the equations read only the input and the states, not the gates."""
    placed, steps = layer.placed, of.network.parts[layer.placed.part].steps
    if steps is None or not isinstance(placed.layer, Cell) or len(placed.layer.gates(placed.inputs)) == 1:
        return layer.saved
    return min(of.chunk or steps, steps) * (placed.inputs + sum(placed.layer.state_widths()))


QUANTITIES: Mapping[str, Callable[[Training], int | None]] = {
    "dense": lambda of: dense.params if (dense := dense_equivalent(of.network)) else None,
    "multiply-adds": _multiply_adds,
    "multiply-adds per step": _multiply_adds_per_step,
    "bytes": lambda of: DTYPES["float32"] * sum(layer.placed.params for layer in of.layers),
    "gradients": lambda of: of.gradients,
    "saved": lambda of: of.saved,
    "backward": lambda of: of.backward_multiply_adds,
    "states": lambda of: of.states_carried,
    "training bytes": lambda of: of.bytes,
    "gradients per step": lambda of: total(
        layer.gradients and _times(layer.placed.uses, layer.gradients) for layer in of.layers
    ),
    "saved without gates": lambda of: total(_without_gates(layer, of) for layer in of.layers),
    "twice forward": lambda of: _times(_multiply_adds(of), 2),
}
"""The functions that count what a number may be, in the order of the list; each returns None for an unknown number."""

MISCOUNTED = {"gradients per step": "gradients", "saved without gates": "saved", "twice forward": "backward"}
"""The mistakes about training among them: each counts another quantity wrong."""


class KnownQuantity(Record):
    """A quantity of a network that a learner's number may be. right: the right number, if it is counted wrong."""

    name: str
    number: int
    right: int | None = None


def quantities(of: Training, names: Iterable[str] = QUANTITIES) -> Iterator[KnownQuantity]:
    """Yield the known quantities of a network; a mistake comes with the right number."""
    for name in names:
        number = QUANTITIES[name](of)
        right = QUANTITIES[MISCOUNTED[name]](of) if name in MISCOUNTED else None
        if number and number != right and not (name in MISCOUNTED and right is None):
            yield KnownQuantity(name, number, right)


def quantities_of_layer(of: Training, layer: LayerTraining) -> Iterator[KnownQuantity]:
    """Yield the known quantities of one layer; some exist for a network only."""
    alone = of._replace(
        layers=(layer,),
        gradients=layer.gradients,
        saved=layer.saved,
        backward_multiply_adds=layer.backward_multiply_adds,
        states_carried=None,
        bytes=None,
    )
    return quantities(alone, [name for name in QUANTITIES if name != "dense"])


class OtherSize(Record):
    """A changed size that would give the number: `size` instead of `right`. at: the input, or the option of a layer."""

    at: SizePlace
    size: int
    right: int


class SizeCurve(Record):
    """The counts of a network with one size changed, over a range of valid sizes."""

    size: OtherSize
    tried: TriedSizes
    range: Piece
    curve: Interpolation


def size_curves(network: Network) -> list[SizeCurve]:
    """Return how the count depends on each size of a network; nothing for many layers."""
    if sum(len(part.layers) for part in network.parts.values()) > MOST_SIZED:
        return []
    tried = ((size, in_groups(TriedSizes(partial(resized, network, (size.at,)), 1))) for size in _sizes(network))
    return [
        SizeCurve(size, sizes, piece, interpolation(sizes, *piece))
        for size, sizes in tried
        for piece in reversed(pieces(sizes, 1, MAX_SIZE // sizes.step))
    ]


def other_size(curves: Iterable[SizeCurve], given: GivenNumber) -> OtherSize | None:
    """Return the first size that would give the number if it alone were changed, or None."""
    for size, tried, piece, counts in curves:
        best = counts.last_within(*piece, given.number + given.unit // 2)
        if given.means(counts.params(best)) and tried.valid(best) and given.means(tried.params(best)):
            return size._replace(size=best * tried.step)
    return None


def _sizes(network: Network) -> Iterator[OtherSize]:
    """Yield each size of a network, unchanged."""
    for name, part in network.parts.items():
        yield OtherSize(SizePlace(name, None, "input"), part.input, part.input)
        for number, layer in enumerate(part.layers):
            for option in ("units", "projection") if isinstance(layer, Cell | Dense) else ():
                if size := getattr(layer, option, None):
                    yield OtherSize(SizePlace(name, number, option), size, size)
