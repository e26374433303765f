"""`count`: how many parameters, layer by layer, what a pass costs and what the weights weigh."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.display import displayed
from rnncalc.network.network import Network
from rnncalc.network.parts import steps_known
from rnncalc.network.stack import Placed
from rnncalc.questions.given import network_of, word

if TYPE_CHECKING:
    from rnncalc.questions.dense import DenseEquivalent

DTYPES = {
    "float64": 8,
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8": 1,
    "int8": 1,
}
"""The bytes of one parameter."""


@displayed
class Count(NamedTuple):
    """The counts of a network: sums over its layers.

    params, trainable: parameters, and those of them that training changes.
    multiply_adds: multiplications in the matrix products of one pass over one sequence, multiply_adds_per_step: of
        applying each layer once; None where they are not known.
    bytes: what the parameters take in the `dtype`, one of DTYPES.
    What is a property is made anew whenever it is asked for.
    """

    network: Network
    dtype: str
    params: int
    trainable: int
    multiply_adds: int | None
    multiply_adds_per_step: int | None
    bytes: int

    @property
    def layers(self) -> tuple[Placed, ...]:
        """The layers in their places, each with its counts, the output layer last; tensors as they are shown."""
        return self.network.spelled

    @property
    def dense(self) -> "DenseEquivalent | None":
        """The dense equivalent; None where the number of steps is not known."""
        if not steps_known(self.network.parts):
            return None
        from rnncalc.questions.dense import dense_equivalent  # a count without steps pays for none

        return dense_equivalent(self.network)


def count(network: Network, dtype: str = "float32") -> Count:
    """Return the counts of a network, with bytes for parameters of a `dtype`, one of DTYPES.

    Raises CallError for another dtype, and for what is no network.
    """
    network = network_of(network)
    size, stack = bytes_of(dtype), network.stack
    params = network.params
    return Count(
        network=network,
        dtype=dtype,
        params=params,
        trainable=network.trainable,
        multiply_adds=total(placed.multiply_adds for placed in stack),
        multiply_adds_per_step=total(placed.multiply_adds_per_step for placed in stack),
        bytes=params * size,
    )


def bytes_of(dtype: str) -> int:
    """Return the bytes of one parameter of a dtype. Raises CallError where there is no such dtype."""
    return DTYPES[word("dtype", dtype, tuple(DTYPES))]


def total(amounts: Iterable[int | None]) -> int | None:
    """Return the sum of amounts, or None where one of them is not known."""
    known = 0
    for amount in amounts:
        if amount is None:
            return None
        known += amount
    return known
