"""Scales for the two axes of a curve: linear where the range allows it, logarithmic where it is too long for that."""

from __future__ import annotations

from math import floor, log10
from typing import NamedTuple

LONG = 50
"""Where the largest number is so many times the smallest, a scale is logarithmic."""


class Scale(NamedTuple):
    """Numbers from the first to the last, and whether powers of ten are equally far apart."""

    first: int
    last: int
    logarithmic: bool

    def share(self, number: float) -> float:
        """Return where a number lies, from 0 for the first to 1 for the last."""
        if self.logarithmic:
            return (log10(number) - log10(self.first)) / (log10(self.last) - log10(self.first))
        return (number - self.first) / (self.last - self.first)


def linear_or_logarithmic(numbers: list[int], from_zero: bool) -> Scale:
    """Return the scale for some numbers, all of them positive and not all equal."""
    least, most = min(numbers), max(numbers)
    if most >= LONG * least:
        return Scale(10 ** _power(least), 10 ** (_power(most - 1) + 1), logarithmic=True)
    if not from_zero:
        return Scale(least, most, logarithmic=False)
    step = _step(most)
    return Scale(0, -(-most // step) * step, logarithmic=False)


def ticks(scale: Scale, room: int) -> list[int]:
    """Return the round numbers to write at an axis, at most so many and one."""
    if scale.logarithmic:
        low, high = _power(scale.first), _power(scale.last)
        apart = -(-(high - low) // room)
        return [10**power for power in range(low, high + 1, apart)]
    step = _step(scale.last - scale.first, room)
    first = -(-scale.first // step) * step
    return [*range(first, scale.last + 1, step)]


def _step(most: int, room: int = 5) -> int:
    """Return the round distance of which at most so many go into a number."""
    power = 10 ** max(_power(most) - 1, 0)
    return next(step for times in range(4) for step in _round(power * 10**times) if most <= room * step)


def _round(power: int) -> tuple[int, int, int]:
    return power, 2 * power, 5 * power


def _power(number: int) -> int:
    """Return the power of ten that a number reaches."""
    return max(len(str(number)) - 1, 0) if number >= 1 else floor(0)
