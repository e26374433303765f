"""The algebra of a step on plain lists of floats: as much of it as the cells' equations need, and no more."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import copysign, exp, fsum, inf, nan, tanh
from operator import add, mul, truediv

Vector = list[float]
Rows = list[Vector]

if sys.version_info >= (3, 12):
    from math import sumprod

    def product(rows: Rows, x: Vector) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return [sumprod(row, x) for row in rows]

else:

    def product(rows: Rows, x: Vector) -> Vector:
        """Return the matrix of these rows times x. Rows and x must be of one length."""
        return [sum(map(mul, row, x)) for row in rows]


class LengthError(ValueError):
    """Two vectors of different lengths where one length is needed."""

    def __init__(self, *vectors: Vector) -> None:
        super().__init__(f"vectors of {' and '.join(str(len(vector)) for vector in vectors)} numbers do not match")


def plus(left: Vector, right: Vector) -> Vector:
    """Return the element-wise sum."""
    if len(left) != len(right):
        raise LengthError(left, right)
    return list(map(add, left, right))


def times(left: Vector, right: Vector) -> Vector:
    """Return the element-wise product, ∘ in the equations."""
    if len(left) != len(right):
        raise LengthError(left, right)
    return list(map(mul, left, right))


def over(left: Vector, right: Vector) -> Vector:
    """Return the element-wise quotient."""
    if len(left) != len(right):
        raise LengthError(left, right)
    return list(map(truediv if all(right) else _quotient, left, right))


def _quotient(left: float, right: float) -> float:
    """Return left / right; by zero, as frameworks have it, infinity or no number."""
    if right:
        return left / right
    return copysign(inf, right) * left if left else nan


def blend(gate: Vector, where_one: Vector, where_zero: Vector) -> Vector:
    """Return g ∘ a + (1 - g) ∘ b: a where the gate is one, b where it is zero."""
    if not len(gate) == len(where_one) == len(where_zero):
        raise LengthError(gate, where_one, where_zero)
    return [g * a + (1.0 - g) * b for g, a, b in zip(gate, where_one, where_zero, strict=False)]


def _sigmoid(vector: Vector) -> Vector:
    """Return σ of each number, in a form that overflows on neither side; no call for each, which takes as long."""
    return [1.0 / (1.0 + exp(-x)) if x >= 0 else (power := exp(x)) / (1.0 + power) for x in vector]


def _softmax(vector: Vector) -> Vector:
    most = max(vector, default=0.0)
    powers = [exp(x - most) for x in vector]
    total = fsum(powers)
    return [power / total for power in powers]


ACTIVATIONS: dict[str, Callable[[Vector], Vector]] = {
    "tanh": lambda vector: list(map(tanh, vector)),
    "relu": lambda vector: [x if x > 0 else 0.0 for x in vector],
    "sigmoid": _sigmoid,
    "linear": lambda vector: vector,
    "softmax": _softmax,
}
"""Each activation, of a whole vector at once: a softmax needs all of it."""


def _of_softmax(given: Vector, gradient: Vector) -> Vector:
    inner = sum(map(mul, given, gradient))
    return [y * (g - inner) for y, g in zip(given, gradient, strict=True)]


DERIVATIVES: dict[str, Callable[[Vector, Vector], Vector]] = {
    "tanh": lambda given, gradient: [g * (1.0 - y * y) for y, g in zip(given, gradient, strict=True)],
    "sigmoid": lambda given, gradient: [g * y * (1.0 - y) for y, g in zip(given, gradient, strict=True)],
    "relu": lambda given, gradient: [g if y > 0 else 0.0 for y, g in zip(given, gradient, strict=True)],
    "softmax": _of_softmax,
}
"""For each activation what goes back through it: from what it gave and the gradient of that."""
