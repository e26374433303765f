"""What else of a network a number may be: its multiply-adds, its bytes, its dense equivalent's, training's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rnncalc.network.network import Network
from rnncalc.questions.answer.given import Given
from rnncalc.questions.answer.of_training import of_training
from rnncalc.questions.dense import dense_equivalent


class Quantity(NamedTuple):
    """Something that is counted of a network; `right`: where it is counted wrong, the right number in its place."""

    name: str
    right: int | None = None


BYTES = 4
"""Of one parameter in float32, the type that bytes are given in where none is named."""


def quantities(network: Network, given: Given, *, explained: bool) -> Iterator[Quantity]:
    """Yield what of the network a number is the number of.

    explained: whether a mistake gives it. Without its biases a count is that of the multiply-adds in one step, and so
    much is not worth telling then.
    """
    per_step = _multiply_adds_per_step(network)
    if per_step and given.means(per_step):
        if not explained:
            yield Quantity("multiply-adds per step")
        return
    for name, count in COUNTS.items():
        number = count(network)
        if number and given.means(number):
            yield Quantity(name)
    yield from (Quantity(*found) for found in of_training(network, given.means))


def _dense(network: Network) -> int | None:
    dense = dense_equivalent(network)
    return dense.params if dense else None


def _multiply_adds(network: Network) -> int | None:
    return _sum((entry.multiply_adds, entry.copies) for entry in network.stack)


def _multiply_adds_per_step(network: Network) -> int | None:
    return _sum((entry.multiply_adds_per_step, entry.copies) for entry in network.stack)


def _sum(counts: Iterable[tuple[int | None, int]]) -> int | None:
    """Return the sum of counts, each taken as often as its copies say; None where one is not known."""
    total = 0
    for count, copies in counts:
        if count is None:
            return None
        total += count * copies
    return total


def _bytes(network: Network) -> int | None:
    return BYTES * network.params


COUNTS: dict[str, Callable[[Network], int | None]] = {
    "dense": _dense,
    "multiply-adds": _multiply_adds,
    "bytes": _bytes,
}
