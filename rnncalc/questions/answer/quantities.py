"""Other explanations of a wrong number: another quantity of the network, or its count with one size changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import cache, partial
from typing import Any, NamedTuple

from rnncalc.bounds import MAX_SIZE, MOST_SIZED
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Layer
from rnncalc.network.network import Network
from rnncalc.questions.answer.reading import GivenNumber
from rnncalc.questions.count import DTYPES, total
from rnncalc.questions.dense import dense_equivalent
from rnncalc.questions.pieces import Sized
from rnncalc.questions.solve import counting, largest
from rnncalc.questions.training import LayerTraining, Training


class OtherQuantity(Enum):
    """The quantities that a number may be; the last three are mistakes about training."""

    DENSE = auto()
    MULTIPLY_ADDS = auto()
    MULTIPLY_ADDS_PER_STEP = auto()
    BYTES = auto()
    GRADIENTS = auto()
    SAVED = auto()
    BACKWARD = auto()
    STATES_CARRIED = auto()
    TRAINING_BYTES = auto()
    GRADIENTS_A_STEP = auto()
    SAVED_WITHOUT_GATES = auto()
    TWICE_FORWARD = auto()


class Meaning(NamedTuple):
    """The quantity that a number is. right: the right number, if that quantity itself is counted wrong."""

    quantity: OtherQuantity
    right: int | None = None


def _dense(of: Training) -> int | None:
    dense = dense_equivalent(of.network)
    return dense.params if dense else None


def _multiply_adds(of: Training) -> int | None:
    return total(layer.placed.multiply_adds for layer in of.layers)


def _multiply_adds_per_step(of: Training) -> int | None:
    once = total(layer.placed.multiply_adds_per_step for layer in of.layers)
    return None if once == _multiply_adds(of) else once


def _bytes(of: Training) -> int | None:
    each = DTYPES["float32"]  # the dtype of bytes if none is named
    return each * sum(layer.placed.params for layer in of.layers)


def _of_steps(of: Training) -> int | None:
    """Return how many gradients there are if those of different steps are not summed."""
    return total(layer.gradients and _uses(layer.placed.uses, layer.gradients) for layer in of.layers)


def _uses(uses: int | None, gradients: int) -> int | None:
    return None if uses is None else uses * gradients


def _without_gates(of: Training) -> int | None:
    """Return how many activations would be saved if the equations read only the input and the states, not the gates."""
    return total(_states_alone(of, layer) for layer in of.layers)


def _states_alone(of: Training, layer: LayerTraining) -> int | None:
    placed, steps = layer.placed, of.network.parts[layer.placed.part].steps
    if steps is None or not isinstance(placed.layer, Cell) or len(placed.layer.gates(placed.inputs)) == 1:
        return layer.saved
    return min(of.chunk or steps, steps) * (placed.inputs + sum(placed.layer.state_widths()))


def _twice_forward(of: Training) -> int | None:
    forward = _multiply_adds(of)
    return forward and 2 * forward


NUMBERS: Mapping[OtherQuantity, Callable[[Training], int | None]] = {
    OtherQuantity.DENSE: _dense,
    OtherQuantity.MULTIPLY_ADDS: _multiply_adds,
    OtherQuantity.MULTIPLY_ADDS_PER_STEP: _multiply_adds_per_step,
    OtherQuantity.BYTES: _bytes,
    OtherQuantity.GRADIENTS: lambda of: of.gradients,
    OtherQuantity.SAVED: lambda of: of.saved,
    OtherQuantity.BACKWARD: lambda of: of.backward_multiply_adds,
    OtherQuantity.STATES_CARRIED: lambda of: of.states_carried,
    OtherQuantity.TRAINING_BYTES: lambda of: of.bytes,
    OtherQuantity.GRADIENTS_A_STEP: _of_steps,
    OtherQuantity.SAVED_WITHOUT_GATES: _without_gates,
    OtherQuantity.TWICE_FORWARD: _twice_forward,
}
"""The function that counts each quantity, in the order of the list; it returns None for an unknown number."""

MISTAKEN_FOR: Mapping[OtherQuantity, OtherQuantity] = {
    OtherQuantity.GRADIENTS_A_STEP: OtherQuantity.GRADIENTS,
    OtherQuantity.SAVED_WITHOUT_GATES: OtherQuantity.SAVED,
    OtherQuantity.TWICE_FORWARD: OtherQuantity.BACKWARD,
}
"""The quantities that are mistakes, each with the quantity that it counts wrong."""


class KnownQuantity(NamedTuple):
    """A quantity of a network that a learner's number may be, with its number."""

    meaning: Meaning
    number: int


def quantities(of: Training, asked: Iterable[OtherQuantity] = tuple(NUMBERS)) -> Iterator[KnownQuantity]:
    """Yield the known quantities of a network; a mistake comes with the right number."""
    for quantity in asked:
        number = NUMBERS[quantity](of)
        meant = MISTAKEN_FOR.get(quantity)
        right = NUMBERS[meant](of) if meant else None
        if number and number != right and not (meant and right is None):
            yield KnownQuantity(Meaning(quantity, right), number)


def meanings(known: Iterable[KnownQuantity], given: GivenNumber) -> Iterator[Meaning]:
    """Yield the quantities that have the learner's number."""
    return (quantity.meaning for quantity in known if given.means(quantity.number))


def meanings_in_layer(of: Training, layer: LayerTraining, given: GivenNumber) -> Iterator[Meaning]:
    """Yield the quantities of one layer that have the learner's number; some exist for a network only."""
    alone = of._replace(
        layers=(layer,),
        gradients=layer.gradients,
        saved=layer.saved,
        backward_multiply_adds=layer.backward_multiply_adds,
        states_carried=None,
        bytes=None,
    )
    asked = [quantity for quantity in NUMBERS if quantity is not OtherQuantity.DENSE]
    return meanings(quantities(alone, asked), given)


class OtherSize(NamedTuple):
    """A changed size that would give the number: `size` instead of `right`.

    part: encoder, decoder or None; place: of the layer in its part, from 0, None for the part's input; letter: h or p.
    """

    part: str | None
    place: int | None
    letter: str
    size: int
    right: int


class SizeCount(NamedTuple):
    """A size of a network, with two functions from another size to the count: an exact one and a fast estimate."""

    size: OtherSize
    params: Callable[[int], int | None]
    quick: Callable[[int], int | None]


def size_counts(network: Network) -> list[SizeCount]:
    """Return the sizes of a network that are tried; none if it has many layers."""
    if sum(len(part.layers) for part in network.parts.values()) > MOST_SIZED:
        return []
    counts = [(right, cache(counting(sized))) for right, sized in _sizes(network)]
    return [SizeCount(right, count, _quadratic(count) or count) for right, count in counts]


def other_size(sizes: Iterable[SizeCount], given: GivenNumber) -> OtherSize | None:
    """Return the first size that would give the number if it alone were changed, or None."""
    for right, count, quick in sizes:
        best = largest(quick, given.number + given.unit // 2, MAX_SIZE)
        params = count(best) if best and (quick is count or given.means(quick(best) or 0)) else None
        if params is not None and given.means(params):
            return right._replace(size=best)
    return None


def _quadratic(count: Callable[[int], int | None]) -> Callable[[int], int] | None:
    """Return the count as a quadratic function of a size; None if it is not quadratic.

    Building a network for a size takes milliseconds, and a search tries forty sizes.
    """
    sizes = (1, 2, 3, 10, 1_000)
    known = [params for size in sizes if (params := count(size)) is not None]
    if len(known) < len(sizes):
        return None
    one, two, three, *others = known
    twice = three - 2 * two + one  # twice the coefficient of the square

    def quadratic(size: int) -> int:
        return one + (two - one) * (size - 1) + twice * (size - 1) * (size - 2) // 2

    return quadratic if [quadratic(size) for size in sizes[3:]] == others else None


def _sizes(network: Network) -> Iterator[tuple[OtherSize, Sized]]:
    """Yield each size of a network, and the function that returns the network with another size."""
    for name, part in network.parts.items():
        yield OtherSize(name, None, "m", part.input, part.input), partial(_resized, network, name, None, "input")
        for place, layer in enumerate(part.layers):
            for option, letter in (("units", "h"), ("projection", "p")):
                size = getattr(layer, option, None)
                if size is not None and isinstance(layer, Cell | Dense):
                    yield OtherSize(name, place, letter, size, size), partial(_resized, network, name, place, option)


def _resized(network: Network, name: str | None, place: int | None, option: str, size: int) -> Network:
    """Return the network with another size: of a part's input, or of the layer at a place."""
    part = network.parts[name]
    if place is None:
        new = part._replace(input=size)
    else:
        options: dict[str, Any] = {option: size}
        new = part._replace(layers=_replaced(part.layers, place, part.layers[place].replace(**options)))
    return network.with_parts({**network.parts, name: new})


def _replaced(layers: tuple[Layer, ...], place: int, layer: Layer) -> tuple[Layer, ...]:
    return (*layers[:place], layer, *layers[place + 1 :])
