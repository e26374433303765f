"""Vectors of floats under a meter: what a pass computes with when it only goes forward."""

from __future__ import annotations

from rnncalc.forward import vectors
from rnncalc.forward.arrays import Matrix, Meter, WeightVector
from rnncalc.forward.vectors import ACTIVATIONS, Vector
from rnncalc.network.stack import Placed


class Floats:
    """The vectors of one layer; weights come in through the meter, which sees what is read and multiplied."""

    chunk = 0

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.matrix_product = meter.product
        self.weight = self.number = meter.vector
        self.plus = vectors.plus
        self.times = vectors.times
        self.over = vectors.over
        self.blend = vectors.blend

    def constant(self, numbers: Vector) -> Vector:
        """Return a vector of data."""
        return numbers

    def numbers(self, vector: Vector) -> Vector:
        """Return the numbers of a vector."""
        return vector

    def weighted(self, weights: WeightVector, vector: Vector) -> Vector:
        """Return weights ∘ vector."""
        return self.meter.element_wise(weights, vector)

    def row(self, matrix: Matrix, number: int) -> Vector:
        """Return a row of a table, looked up."""
        self.meter.read(number, len(matrix.rows[number]))
        return matrix.rows[number]

    def activate(self, activation: str, vector: Vector) -> Vector:
        """Return a vector through an activation."""
        return ACTIVATIONS[activation](vector)

    def complement(self, vector: Vector) -> Vector:
        """Return 1 − vector."""
        return [1.0 - number for number in vector]

    def scale(self, scalar: Vector, vector: Vector) -> Vector:
        """Return a vector times a vector of one."""
        (factor,) = scalar
        return [factor * number for number in vector]

    def shift(self, vector: Vector, scalar: Vector) -> Vector:
        """Return a vector plus a vector of one, added to each number."""
        (term,) = scalar
        return [number + term for number in vector]

    def mean(self, left: Vector, right: Vector) -> Vector:
        """Return half the sum of two vectors."""
        return [(a + b) / 2.0 for a, b in zip(left, right, strict=True)]

    def join(self, left: Vector, right: Vector) -> Vector:
        """Return two vectors, one behind the other."""
        return left + right

    def at(self, step: int) -> None:
        """Take notice of the step that is taken, which floats need not."""

    def carry(self, vector: Vector, border: int) -> Vector:
        """Return a state on its way to the next step; the border is the number of the later of the two in time."""
        return vector

    def part(self, vector: Vector, start: int, stop: int) -> Vector:
        """Return some numbers of a vector, from `start` up to `stop`."""
        return vector[start:stop]

    def half(self, vector: Vector, number: int) -> Vector:
        """Return the first half of a vector, or the second."""
        width = len(vector) // 2
        return vector[number * width : (number + 1) * width]


def floats(_: Placed, meter: Meter) -> Floats:
    """Return what a layer computes with in a pass that only goes forward."""
    return Floats(meter)
