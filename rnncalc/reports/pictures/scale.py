"""Scales for the two axes of a curve: linear where the range allows it, logarithmic where it is too long for that."""

from __future__ import annotations

from math import log10
from typing import NamedTuple

LONG = 50
"""Where the largest number is so many times the smallest, a scale is logarithmic."""

MOST_MARKS = 5
"""An axis has so many numbers at the most, beside that at its start."""


class Scale(NamedTuple):
    """Numbers from the first to the last, in equal steps: `step` further each, or, on a logarithmic one, `step` times.

    So many steps reach from the first to the last without a rest.
    """

    first: int
    last: int
    step: int
    logarithmic: bool

    def share(self, number: float) -> float:
        """Return where a number lies, from 0 for the first to 1 for the last."""
        if self.logarithmic:
            return (log10(number) - log10(self.first)) / (log10(self.last) - log10(self.first))
        return (number - self.first) / (self.last - self.first)

    @property
    def steps(self) -> int:
        """The number of steps from the first to the last."""
        if self.logarithmic:
            return (_power(self.last) - _power(self.first)) // _power(self.step)
        return (self.last - self.first) // self.step

    @property
    def marks(self) -> list[int]:
        """The round numbers to write at an axis."""
        if self.logarithmic:
            return [self.first * self.step**place for place in range(self.steps + 1)]
        return [self.first + self.step * place for place in range(self.steps + 1)]


def linear_or_logarithmic(numbers: list[int]) -> Scale:
    """Return the scale for some numbers, all of them positive."""
    least, most = min(numbers), max(numbers)
    if most < LONG * least:
        step = _step(most)
        return Scale(0, -(-most // step) * step, step, logarithmic=False)
    low, high = _power(least), _power(most - 1) + 1
    apart = -(-(high - low) // MOST_MARKS)
    high = low + -(-(high - low) // apart) * apart
    return Scale(10**low, 10**high, 10**apart, logarithmic=True)


def _step(most: int) -> int:
    """Return the least round step of which so many as are allowed reach a number."""
    power: int = 10 ** max(_power(most) - 1, 0)
    return next(step for step in (power, 2 * power, 5 * power, 10 * power, 20 * power) if most <= MOST_MARKS * step)


def _power(number: int) -> int:
    """Return the power of ten that a number reaches."""
    return len(str(number)) - 1
