"""`count`: how many parameters, layer by layer, what a pass costs and what the weights weigh."""

from collections.abc import Iterable, Iterator
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
    """The counts of one layer, or of each of several equal neighbours.

    name: of the layer, or of the first of the neighbours; copies: how many they are.
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
    copies: int
    placed: Placed

    @property
    def names(self) -> list[str]:
        """The names of all the neighbours."""
        return [self.placed.name_of(copy) for copy in range(self.copies)]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that the layer, or the first of the neighbours, owns, each with its shape."""
        return self.placed.tensors

    @property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors that it uses but another layer owns and counts, as a tied output does the embedding's."""
        return self.placed.shared

    def each(self) -> "Iterator[LayerCount]":
        """Yield each of the neighbours by itself."""
        for copy in range(self.copies):
            placed = self.placed.one(copy)
            yield self._replace(name=placed.name, copies=1, placed=placed)


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
        """The counts of every layer by itself, in order, the output layer last."""
        return tuple(each for entry in self.stack() for each in entry.each())

    def stack(self) -> Iterator[LayerCount]:
        """Yield the counts of the layers in order, equal neighbours as one with `copies`; none of them is kept."""
        size = bytes_of(self.dtype)
        return (_layer(entry, size) for entry in self.network.stack)

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
        multiply_adds=total((entry.multiply_adds, entry.copies) for entry in stack),
        multiply_adds_per_step=total((entry.multiply_adds_per_step, entry.copies) for entry in stack),
        bytes=params * size,
    )


def bytes_of(dtype: str) -> int:
    """Return the bytes of one parameter of a dtype. Raises CallError where there is no such dtype."""
    return DTYPES[word("dtype", dtype, tuple(DTYPES))]


def total(amounts: Iterable[tuple[int | None, int]]) -> int | None:
    """Return the sum of amounts, each so many times, or None where one of them is not known."""
    known = 0
    for amount, times in amounts:
        if amount is None:
            return None
        known += amount * times
    return known


def numbered(placed: Placed) -> bool:
    """Return whether equal neighbours' tensors differ in their names: a framework numbers those of a repeated layer."""
    return placed.copies > 1 and placed.layer.repeat > 1 and any(tensor.around for tensor in placed.layout.own)


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
        copies=placed.copies,
        placed=placed,
    )
