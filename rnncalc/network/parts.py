"""The pieces a network is described with: its parts, and what is known or asked of its counts."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from rnncalc.layers.layer import Layer, Output


class Topology(StrEnum):
    """Where a network reads and hands on: at one step, or at all of them."""

    ONE_TO_ONE = "one-to-one"
    ONE_TO_MANY = "one-to-many"
    MANY_TO_ONE = "many-to-one"
    MANY_TO_MANY = "many-to-many"


TOPOLOGIES = tuple(topology.value for topology in Topology)
TopologyName = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
ConventionName = Literal["textbook", "pytorch", "keras", "flax-linen", "flax-nnx", "onnx"]
PartName = Literal["encoder", "decoder"]


class Part(NamedTuple):
    """A stack of layers: a whole network, or one half of an encoder-decoder.

    input: features per step, or the vocabulary when an embedding comes first.
    steps: the sequence length T, None when it is not known.
    """

    input: int
    layers: tuple[Layer, ...]
    output: Output | None = None
    steps: int | None = None


class Expect(NamedTuple):
    """The known counts of an exercise: the total, and each layer's, the output layer last."""

    total: int | None = None
    layers: tuple[int, ...] | None = None


class Budget(NamedTuple):
    """The most a network may have; `min_dense_ratio` is the least dense-equivalent parameters per parameter."""

    max_params: int | None = None
    max_bytes: int | None = None
    max_multiply_adds: int | None = None
    min_dense_ratio: float | None = None


class Described(Protocol):
    """A network as it is described, before anything is known of whether it can be."""

    @property
    def input(self) -> int | None: ...
    @property
    def layers(self) -> Iterable[Layer]: ...
    @property
    def output(self) -> Output | int | None: ...
    @property
    def steps(self) -> int | None: ...
    @property
    def topology(self) -> str | None: ...
    @property
    def encoder(self) -> Part | None: ...
    @property
    def decoder(self) -> Part | None: ...
    @property
    def convention(self) -> str: ...
    @property
    def expect(self) -> Expect | None: ...


Parts = Mapping[str | None, Part]
"""The parts of a network by name: `None` for a whole one, or `encoder` and `decoder`."""


def part_of(input: int, layers: Iterable[Layer], output: Output | int | None = None, steps: int | None = None) -> Part:
    """Return a part from what a caller may write: any iterable of layers, an output layer or its units."""
    return Part(input, tuple(layers), Output(output) if isinstance(output, int) else output, steps)


def parts_of(network: Described) -> dict[str | None, Part]:
    """Return the parts that are there, of a network that may yet be wrong."""
    halves = {"encoder": network.encoder, "decoder": network.decoder}
    if network.encoder or network.decoder:
        return {name: part for name, part in halves.items() if part}
    steps = 1 if network.topology == Topology.ONE_TO_ONE else network.steps
    return {None: part_of(network.input or 0, network.layers, network.output, steps)}
