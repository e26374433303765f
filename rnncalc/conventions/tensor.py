"""What a tensor is: a name, a role, and axes in letters that become a shape in numbers. Knows no layer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import prod
from typing import NamedTuple


class Role(StrEnum):
    """What a tensor is for."""

    INPUT = "input"
    RECURRENT = "recurrent"
    LEFT = "recurrent_left"
    RIGHT = "recurrent_right"
    """The two matrices whose product is a recurrent one of low rank."""
    BIAS = "bias"
    RECURRENT_BIAS = "recurrent_bias"
    GAIN = "gain"
    """What multiplies a gate's normalised sum."""
    PROJECTION = "projection"
    MATRIX = "matrix"
    """A matrix beside the gates that is no projection of the output."""
    PEEPHOLE = "peephole"
    VECTOR = "vector"
    """A vector beside the gates."""
    STATE = "state"
    KERNEL = "kernel"
    EMBEDDING = "embedding"
    EXTERNAL = "external"
    SCALAR = "scalar"
    SCALE = "scale"
    RUNNING_MEAN = "running_mean"
    RUNNING_VARIANCE = "running_variance"


STORED = (Role.RUNNING_MEAN, Role.RUNNING_VARIANCE)
"""The roles of arrays that are stored and not trained."""

BIASES = (Role.BIAS, Role.RECURRENT_BIAS)
"""The roles of bias vectors of gates and layers."""


class Direction(StrEnum):
    """Which copy of a recurrent layer a tensor belongs to."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


WAYS = (Direction.FORWARD, Direction.BACKWARD)
"""The directions that a layer reads in, the first alone where there is one."""


class Axis(NamedTuple):
    """An axis of a multiple of a letter's width: `Axis(4, "h")` has the length 4h. Without a letter it is a number."""

    times: int
    letter: str = ""

    def size(self, sizes: Mapping[str, int]) -> int:
        """Return its length with numbers for the letters."""
        return self.times * sizes[self.letter] if self.letter else self.times


class StackedAxis(Axis):
    """An axis of several widths, one after the other: `StackedAxis(1, "h+m")` has the length h + m."""

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the widths."""
        return tuple(self.letter.split("+"))

    def size(self, sizes: Mapping[str, int]) -> int:
        return self.times * sum(sizes[letter] for letter in self.letters)


class TensorBlock(NamedTuple):
    """What of a tensor the textbook has by itself: a gate's product, its bias on one side, an array of a layer.

    role, letter, vector: of a cell, as in `step.nodes.Weights`; else the layer's own name of the array is the letter.
    axes: its own. starts: where it begins along each axis of the tensor. along: which of its own axes each axis of the
    tensor is, None if it is none.
    """

    role: Role | None
    letter: str
    vector: str
    direction: Direction | None
    axes: tuple[Axis, ...]
    starts: tuple[Axis, ...]
    along: tuple[int | None, ...]


class Tensor(NamedTuple):
    """One array of parameters.

    direction: of a recurrent layer, else None.
    gates: the letters of the gates it holds, in the order they lie in it.
    axes: its shape in letters; shape: the same in numbers, empty until it is `sized`.
    around: what is before and after the number of a repeated layer in its name, where the name has one;
        None of a tensor that is `sized`, whose name is whole.
    blocks: what it is made of; none of a part that is counted elsewhere.
    """

    name: str
    role: Role
    direction: Direction | None
    gates: str
    axes: tuple[Axis, ...]
    shape: tuple[int, ...] = ()
    around: tuple[str, str] | None = None
    blocks: tuple[TensorBlock, ...] = ()

    @property
    def params(self) -> int:
        """The number of its parameters: the product of its shape."""
        return prod(self.shape)

    @property
    def plain_shape(self) -> tuple[int, ...]:
        """Its shape; for a row vector without the axis of 1."""
        row = len(self.axes) == 2 and self.axes[0] == Axis(1)
        return self.shape[1:] if row else self.shape

    def sized(self, sizes: Mapping[str, int], copy: int = 0) -> Tensor:
        """Return the tensor with numbers for its letters, as the copy of a repeated layer has it."""
        name, role, direction, gates, axes, _, around, blocks = self
        if around and copy:
            name = f"{around[0]}{copy}{around[1]}"
        return Tensor(name, role, direction, gates, axes, tuple([axis.size(sizes) for axis in axes]), None, blocks)
