"""`count`: how many parameters, layer by layer, what a pass costs and what the weights weigh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rnncalc.conventions.tensor import Tensor
from rnncalc.errors import CallError
from rnncalc.network.network import Network, Placed
from rnncalc.questions.dense import DenseEquivalent, dense_equivalent
from rnncalc.questions.stack import Stacked, stack_of
from rnncalc.text import did_you_mean, escape, one_of

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

    names: of all the neighbours, or of the one layer alone.
    kind: as a spec writes it, lstm say; part: encoder, decoder, or None in a network without halves.
    inputs, units, outputs: widths, in numbers a step; units is None where a layer has none.
    output_shape: (steps, width) where a sequence leaves the layer, (width,) where one vector does; no batch axis, and
        None for steps that are not known.
    formula, substituted: the count of parameters as arithmetic, in letters and with the numbers in.
    params, trainable: parameters, and those of them that training changes.
    multiply_adds: multiplications in the matrix products of one pass over one sequence; None where steps, or what a
        part counted elsewhere does, are not known. multiply_adds_per_step: of applying the layer once.
    bytes: what its parameters take.
    placed: the layer in its place, or the first of the neighbours.
    """

    names: tuple[str, ...]
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
    def name(self) -> str:
        """The name of the layer, or of the first of the neighbours."""
        return self.names[0]

    @property
    def copies(self) -> int:
        """How many equal neighbours it stands for, itself included."""
        return len(self.names)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that it owns, each with its shape."""
        return self.placed.weights.own

    @property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors that it uses and another layer owns and counts: a tied output's matrix."""
        return self.placed.weights.shared


@dataclass(frozen=True)
class Count:
    """The counts of a network: sums over its layers.

    params, trainable: parameters, and those of them that training changes.
    multiply_adds: multiplications in the matrix products of one pass over one sequence, multiply_adds_per_step: of
        applying each layer once; None where they are not known.
    bytes: what the parameters take in the `dtype`, one of DTYPES.
    """

    network: Network
    dtype: str
    params: int
    trainable: int
    multiply_adds: int | None
    multiply_adds_per_step: int | None
    bytes: int

    @cached_property
    def layers(self) -> tuple[LayerCount, ...]:
        """The counts of every layer by itself, in order, the output layer last."""
        return tuple(layer._replace(names=(name,)) for layer in self.stack() for name in layer.names)

    def stack(self) -> Iterator[LayerCount]:
        """Yield the counts of the layers in order, equal neighbours as one with `copies`; none of them is kept."""
        size = bytes_of(self.dtype)
        return (_layer(stacked, size) for stacked in stack_of(self.network))

    @cached_property
    def dense(self) -> DenseEquivalent | None:
        """The dense equivalent; None where the number of steps is not known."""
        return dense_equivalent(self.network)


def count(network: Network, dtype: str = "float32") -> Count:
    """Return the counts of a network, with bytes for parameters of a `dtype`, one of DTYPES.

    Raises CallError for another dtype.
    """
    size = bytes_of(dtype)
    stack = [(stacked.placed, stacked.copies) for stacked in stack_of(network)]
    params = sum(placed.params * copies for placed, copies in stack)
    return Count(
        network=network,
        dtype=dtype,
        params=params,
        trainable=sum(placed.trainable * copies for placed, copies in stack),
        multiply_adds=total((placed.multiply_adds, copies) for placed, copies in stack),
        multiply_adds_per_step=total((placed.multiply_adds_per_step, copies) for placed, copies in stack),
        bytes=params * size,
    )


def bytes_of(dtype: str) -> int:
    """Return the bytes of one parameter of a dtype. Raises CallError where there is no such dtype."""
    if dtype not in DTYPES:
        known = tuple(DTYPES)
        raise CallError(f"dtype: expected {one_of(known)}, got {escape(dtype)!r}{did_you_mean(dtype, known)}")
    return DTYPES[dtype]


def total(amounts: Iterable[tuple[int | None, int]]) -> int | None:
    """Return the sum of amounts, each so many times, or None where one of them is not known."""
    known = 0
    for amount, times in amounts:
        if amount is None:
            return None
        known += amount * times
    return known


def _layer(stacked: Stacked, size: int) -> LayerCount:
    placed = stacked.placed
    layer, params, (letters, numbers) = placed.layer, placed.params, placed.weights.formula
    return LayerCount(
        stacked.names,
        layer.kind,
        placed.part,
        placed.inputs,
        getattr(layer, "units", None),
        placed.outputs,
        placed.output_shape,
        letters,
        numbers,
        params,
        placed.trainable,
        placed.multiply_adds,
        placed.multiply_adds_per_step,
        params * size,
        placed,
    )
