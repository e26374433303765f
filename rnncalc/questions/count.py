"""`count`: how many parameters, layer by layer, what a pass costs and what the weights weigh."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.conventions.tensor import Tensor
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


class LayerCount(NamedTuple):
    """The counts of one layer.

    kind: as a spec writes it, lstm say; part: encoder, decoder, or None in a network without halves.
    inputs, units, outputs: widths, in numbers a step; units is None where a layer has none.
    output_shape: (steps, width) where a sequence leaves the layer, (width,) where one vector does; no batch axis, and
        None for steps that are not known.
    formula, substituted: the count of parameters as arithmetic, in letters and with the numbers in.
    params, trainable: parameters, and those of them that training changes.
    multiply_adds: multiplications in the matrix products of one pass over one sequence; None where steps, or what a
        part counted elsewhere does, are not known. multiply_adds_per_step: of applying the layer once.
    bytes: what its parameters take.
    placed: the layer in its place.
    """

    name: str
    kind: str
    part: str | None
    inputs: int
    units: int | None
    outputs: int
    output_shape: tuple[int | None, ...]
    formula: str
    substituted: str
    params: int
    trainable: int
    multiply_adds: int | None
    multiply_adds_per_step: int | None
    bytes: int
    placed: Placed

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that the layer owns, each with its shape."""
        return self.placed.tensors

    @property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors that it uses but another layer owns and counts, as a tied output does the embedding's."""
        return self.placed.shared


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
    def layers(self) -> tuple[LayerCount, ...]:
        """The counts of the layers in order, the output layer last."""
        size = bytes_of(self.dtype)
        return tuple(_layer(placed, size) for placed in self.network.stack)

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


def _layer(placed: Placed, size: int) -> LayerCount:
    letters, numbers = placed.formula
    return LayerCount(
        name=placed.name,
        kind=placed.layer.kind,
        part=placed.part,
        inputs=placed.inputs,
        units=getattr(placed.layer, "units", None),
        outputs=placed.outputs,
        output_shape=placed.output_shape,
        formula=letters,
        substituted=numbers,
        params=placed.params,
        trainable=placed.trainable,
        multiply_adds=placed.multiply_adds,
        multiply_adds_per_step=placed.multiply_adds_per_step,
        bytes=placed.params * size,
        placed=placed,
    )
