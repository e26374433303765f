"""What a pass computes with: operations of the table on vectors, and the weights that these meet under a meter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from rnncalc.forward.arrays import Matrix, Meter, WeightVector
from rnncalc.network.stack import Placed
from rnncalc.step.operations import Operation, Vector

Value = TypeVar("Value")


class Vectors(Protocol[Value]):
    """What a layer computes with in a pass; a value is a vector of floats, or whatever stands for one."""

    @property
    def chunk(self) -> int:
        """The chunk of steps that the present step is in: what is made in one is not kept for another."""

    def constant(self, numbers: Vector) -> Value:
        """Return a vector of data."""

    def numbers(self, vector: Value) -> Vector:
        """Return the numbers of a vector."""

    def product(self, matrix: Matrix, vector: Value) -> Value:
        """Return a matrix times a vector."""

    def weight(self, weights: WeightVector) -> Value:
        """Return a vector of weights: a bias, what multiplies element by element, or a trained number."""

    def state(self, weights: WeightVector) -> Value:
        """Return a learned state before the first step."""

    def row(self, matrix: Matrix, number: int) -> Value:
        """Return a row of a table, looked up."""

    def operation(self, row: Operation) -> Callable[..., Value]:
        """Return what does an operation of the table."""

    def at(self, step: int) -> None:
        """Take notice of the step that is taken next, counted from 0."""

    def carry(self, vector: Value, border: int) -> Value:
        """Return a state on its way to the next step; the border is the number of the later of the two in time."""


class Floats:
    """Plain vectors of one layer, for a pass that only goes forward; the meter sees what is read and multiplied."""

    chunk = 0

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.product = meter.product
        self.weight = self.state = meter.vector

    def constant(self, numbers: Vector) -> Vector:
        return numbers

    def numbers(self, vector: Vector) -> Vector:
        return vector

    def row(self, matrix: Matrix, number: int) -> Vector:
        self.meter.read(number, len(matrix.rows[number]))
        return matrix.rows[number]

    def operation(self, row: Operation) -> Callable[..., Vector]:
        return row.forward

    def at(self, step: int) -> None:
        """Take no notice."""

    def carry(self, vector: Vector, border: int) -> Vector:
        return vector


def floats(_: Placed, meter: Meter) -> Floats:
    """Return what a layer computes with in a pass that only goes forward."""
    return Floats(meter)
