"""What else of a network a number may be: its multiply-adds, its bytes, its dense equivalent's, training's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from rnncalc.network.network import Network
from rnncalc.questions.answer.given import Given
from rnncalc.questions.answer.of_training import OfTraining, of_training
from rnncalc.questions.count import DTYPES, total
from rnncalc.questions.dense import dense_equivalent


class OfCount(Enum):
    """What a number may be that `count` gives beside the parameters."""

    DENSE = auto()
    MULTIPLY_ADDS = auto()
    MULTIPLY_ADDS_PER_STEP = auto()
    BYTES = auto()


class Meant(NamedTuple):
    """What else a number is the number of; `right`: where it is counted wrong, the right number in its place."""

    what: OfCount | OfTraining
    right: int | None = None


def meant(network: Network, given: Given, *, explained: bool) -> Iterator[Meant]:
    """Yield what of the network a number is the number of.

    explained: whether a mistake gives it. Without its biases a count is that of the multiply-adds in one step, and so
    much is not worth telling then.
    """
    per_step = total(placed.multiply_adds_per_step for placed in network.stack)
    if per_step and given.means(per_step):
        if not explained:
            yield Meant(OfCount.MULTIPLY_ADDS_PER_STEP)
        return
    for what, count in COUNTS.items():
        number = count(network)
        if number and given.means(number):
            yield Meant(what)
    yield from (Meant(*found) for found in of_training(network, given.means))


def _dense(network: Network) -> int | None:
    dense = dense_equivalent(network)
    return dense.params if dense else None


def _multiply_adds(network: Network) -> int | None:
    return total(placed.multiply_adds for placed in network.stack)


def _bytes(network: Network) -> int | None:
    return DTYPES["float32"] * network.params  # the type that bytes are given in where none is named


COUNTS: dict[OfCount, Callable[[Network], int | None]] = {
    OfCount.DENSE: _dense,
    OfCount.MULTIPLY_ADDS: _multiply_adds,
    OfCount.BYTES: _bytes,
}
