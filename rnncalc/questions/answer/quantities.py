"""Other explanations of a wrong number: another quantity of the network, or its count with one size changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from typing import NamedTuple

from rnncalc.bounds import MAX_SIZE, MOST_SIZED
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense
from rnncalc.network.network import Network
from rnncalc.questions.answer.reading import GivenNumber
from rnncalc.questions.count import DTYPES, total
from rnncalc.questions.dense import dense_equivalent
from rnncalc.questions.solve import Piece, Sized, SizePlace, TriedSizes, best_place, pieces, resized
from rnncalc.questions.training import LayerTraining, Training


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


class OtherQuantity(Enum):
    """The quantities that a number may be, in the order of the list; the last three are mistakes about training.

    text: what it is, in words. count: the function that counts it; None for an unknown number.
    wrong_for: the name of the quantity that it counts wrong; `{right}` in the text is the number of that one.
    """

    DENSE = (
        "the count of the dense equivalent, which shares no weights over time",
        lambda of: dense.params if (dense := dense_equivalent(of.network)) else None,
    )
    MULTIPLY_ADDS = "the number of multiply-adds in one pass, not of parameters", _multiply_adds
    MULTIPLY_ADDS_PER_STEP = "the number of multiply-adds in one step, not of parameters", _multiply_adds_per_step
    BYTES = (
        "the number of bytes in float32, four for each parameter",
        lambda of: DTYPES["float32"] * sum(layer.placed.params for layer in of.layers),
    )
    GRADIENTS = "the number of gradients, one for each parameter that is trained", lambda of: of.gradients
    SAVED = "the number of saved activations, not of parameters", lambda of: of.saved
    BACKWARD = (
        "the number of multiply-adds of the backward pass, not of parameters",
        lambda of: of.backward_multiply_adds,
    )
    STATES_CARRIED = "the number of values in the states of all steps, not of parameters", lambda of: of.states_carried
    TRAINING_BYTES = "the number of bytes that training takes in float32", lambda of: of.bytes
    GRADIENTS_A_STEP = (
        "a gradient for each parameter and step; those of all steps are summed: {right}",
        lambda of: total(layer.gradients and _times(layer.placed.uses, layer.gradients) for layer in of.layers),
        "GRADIENTS",
    )
    SAVED_WITHOUT_GATES = (
        "the saved activations without the gates, which the backward equations read too: {right}",
        lambda of: total(_without_gates(layer, of) for layer in of.layers),
        "SAVED",
    )
    TWICE_FORWARD = (
        "twice the multiply-adds of the forward pass; the backward pass takes {right}",
        lambda of: _times(_multiply_adds(of), 2),
        "BACKWARD",
    )

    def __init__(self, text: str, count: Callable[[Training], int | None], wrong_for: str = "") -> None:
        self.text = text
        self.count = count
        self.wrong_for = wrong_for


class KnownQuantity(NamedTuple):
    """A quantity of a network that a learner's number may be. right: the right number, if it is counted wrong."""

    quantity: OtherQuantity
    number: int
    right: int | None = None

    @property
    def text(self) -> str:
        """What the number is, in words."""
        return self.quantity.text.format(right=f"{self.right or 0:,}")


def quantities(of: Training, asked: Iterable[OtherQuantity] = OtherQuantity) -> Iterator[KnownQuantity]:
    """Yield the known quantities of a network; a mistake comes with the right number."""
    for quantity in asked:
        number = quantity.count(of)
        right = OtherQuantity[quantity.wrong_for].count(of) if quantity.wrong_for else None
        if number and number != right and not (quantity.wrong_for and right is None):
            yield KnownQuantity(quantity, number, right)


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
    return quantities(alone, [quantity for quantity in OtherQuantity if quantity is not OtherQuantity.DENSE])


class OtherSize(NamedTuple):
    """A changed size that would give the number: `size` instead of `right`.

    part: encoder, decoder or None; place: of the layer in its part, from 0, None for the part's input; letter: h or p.
    """

    part: str | None
    place: int | None
    letter: str
    size: int
    right: int


def tried_sizes(network: Network) -> list[tuple[OtherSize, TriedSizes, list[Piece]]]:
    """Return the sizes of a network, each with the pieces of other sizes that it may have; none for many layers."""
    if sum(len(part.layers) for part in network.parts.values()) > MOST_SIZED:
        return []
    tried = ((size, TriedSizes(sized, 1)) for size, sized in _sizes(network))
    return [(size, sizes, pieces(sizes, 1, MAX_SIZE)) for size, sizes in tried]


def other_size(sizes: Iterable[tuple[OtherSize, TriedSizes, list[Piece]]], given: GivenNumber) -> OtherSize | None:
    """Return the first size that would give the number if it alone were changed, or None."""
    for size, tried, found in sizes:
        best = best_place(tried, found, given.number + given.unit // 2)
        if best is not None and given.means(tried.params(best)):
            return size._replace(size=best)
    return None


def _sizes(network: Network) -> Iterator[tuple[OtherSize, Sized]]:
    """Yield each size of a network, and the function that returns the network with another size."""
    for name, part in network.parts.items():
        sizes: list[tuple[int | None, str, str, int | None]] = [(None, "input", "m", part.input)]
        for number, layer in enumerate(part.layers):
            options = (("units", "h"), ("projection", "p")) if isinstance(layer, Cell | Dense) else ()
            sizes += [(number, option, letter, getattr(layer, option, None)) for option, letter in options]
        for place, key, letter, size in sizes:
            if size is not None:
                at = SizePlace(name, place, key)
                yield OtherSize(name, place, letter, size, size), partial(resized, network, (at,))
