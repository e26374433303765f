"""Vectors that know how they came about: what a pass computes with when it is to be shown as work.

The third reader of a pass: it computes as `floats.py` does, and beside each vector keeps the operation that made it, on
numbers. Knows no network, no cell and no letters; says nothing of how an operation is written down.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from rnncalc.forward.arrays import Matrix, Meter, WeightVector
from rnncalc.forward.floats import Floats
from rnncalc.forward.vectors import Rows, Vector
from rnncalc.network.stack import Placed


class MatrixProduct(NamedTuple):
    """A matrix times a vector."""

    rows: Rows
    vector: Worked


class Sum(NamedTuple):
    """Two vectors, added."""

    left: Worked
    right: Worked


class Elementwise(NamedTuple):
    """Two vectors, multiplied number by number, or a number and a vector."""

    left: Worked
    right: Worked


class Quotient(NamedTuple):
    """Two vectors, divided number by number."""

    left: Worked
    right: Worked


class Mean(NamedTuple):
    """Half the sum of two vectors."""

    left: Worked
    right: Worked


class Joined(NamedTuple):
    """Two vectors, one behind the other."""

    left: Worked
    right: Worked


class Complement(NamedTuple):
    """One minus a vector."""

    vector: Worked


class Applied(NamedTuple):
    """An activation of a vector."""

    activation: str
    vector: Worked


class LookedUp(NamedTuple):
    """A row of a table, by its number."""

    number: int


Operation = Union[MatrixProduct, Sum, Elementwise, Quotient, Mean, Joined, Complement, Applied, LookedUp]  # noqa: UP007  refers to itself


class Worked:
    """A vector and the operation that made it, None for what was there before: two are the same if they are one."""

    __slots__ = ("made", "numbers")

    def __init__(self, numbers: Vector, made: Operation | None = None) -> None:
        self.numbers = numbers
        self.made = made


class WorkedVectors:
    """`steps.Vectors` of a layer that is shown as work."""

    chunk = 0

    def __init__(self, floats: Floats) -> None:
        self.floats = floats

    def constant(self, numbers: Vector) -> Worked:
        return Worked(numbers)

    def numbers(self, vector: Worked) -> Vector:
        return vector.numbers

    def matrix_product(self, matrix: Matrix, vector: Worked) -> Worked:
        return Worked(self.floats.matrix_product(matrix, vector.numbers), MatrixProduct(matrix.rows, vector))

    def weighted(self, weights: WeightVector, vector: Worked) -> Worked:
        done = self.floats.weighted(weights, vector.numbers)
        return Worked(done, Elementwise(Worked(weights.numbers), vector))

    def weight(self, weights: WeightVector) -> Worked:
        return Worked(self.floats.weight(weights))

    def number(self, weights: WeightVector) -> Worked:
        return self.weight(weights)

    def row(self, matrix: Matrix, number: int) -> Worked:
        return Worked(self.floats.row(matrix, number), LookedUp(number))

    def activate(self, activation: str, vector: Worked) -> Worked:
        if activation == "linear":
            return vector
        return Worked(self.floats.activate(activation, vector.numbers), Applied(activation, vector))

    def plus(self, left: Worked, right: Worked) -> Worked:
        return Worked(self.floats.plus(left.numbers, right.numbers), Sum(left, right))

    def times(self, left: Worked, right: Worked) -> Worked:
        return Worked(self.floats.times(left.numbers, right.numbers), Elementwise(left, right))

    def over(self, left: Worked, right: Worked) -> Worked:
        return Worked(self.floats.over(left.numbers, right.numbers), Quotient(left, right))

    def blend(self, gate: Worked, where_one: Worked, where_zero: Worked) -> Worked:
        done = self.floats.blend(gate.numbers, where_one.numbers, where_zero.numbers)
        ones = self.times(gate, where_one)
        return Worked(done, Sum(ones, self.times(self.complement(gate), where_zero)))

    def complement(self, vector: Worked) -> Worked:
        return Worked(self.floats.complement(vector.numbers), Complement(vector))

    def scale(self, scalar: Worked, vector: Worked) -> Worked:
        return Worked(self.floats.scale(scalar.numbers, vector.numbers), Elementwise(scalar, vector))

    def shift(self, vector: Worked, scalar: Worked) -> Worked:
        return Worked(self.floats.shift(vector.numbers, scalar.numbers), Sum(vector, scalar))

    def mean(self, left: Worked, right: Worked) -> Worked:
        return Worked(self.floats.mean(left.numbers, right.numbers), Mean(left, right))

    def join(self, left: Worked, right: Worked) -> Worked:
        return Worked(left.numbers + right.numbers, Joined(left, right))

    def part(self, vector: Worked, start: int, stop: int) -> Worked:
        return Worked(vector.numbers[start:stop])

    def half(self, vector: Worked, number: int) -> Worked:
        return Worked(self.floats.half(vector.numbers, number))

    def at(self, step: int) -> None:
        """Take no notice: where a vector stands in time its layer's trace says."""

    def carry(self, vector: Worked, border: int) -> Worked:
        return vector


def worked(_: Placed, meter: Meter) -> WorkedVectors:
    """Return what a layer computes with in a pass that is shown as work."""
    return WorkedVectors(Floats(meter))
