"""Numbers as a line of bars as high as they are, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10

BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 60
"""Of more numbers, so many are drawn, evenly apart, the first and the last among them."""


def spark(numbers: Sequence[float | None]) -> str:
    """Return `▂▄█, from 1.2e-05 to 0.8 on a logarithmic scale`; what is 0, or no finite number, is a blank."""
    count = min(len(numbers), MOST_BARS)
    shown = [numbers[place * (len(numbers) - 1) // max(count - 1, 1)] for place in range(count)]
    drawn = [number for number in shown if number and isfinite(number)]
    if not drawn:
        return "no finite number but 0"
    least, most = min(drawn), max(drawn)
    range_ = log10(most) - log10(least)
    top = len(BARS) - 1

    def bar(number: float | None) -> str:
        if not number or not isfinite(number):
            return " "
        return BARS[round(top * (log10(number) - log10(least)) / range_) if range_ else top]

    line = "".join(map(bar, shown))
    every = "" if count == len(numbers) else f"; {count} of {len(numbers):,} steps"
    return f"{line}  from {least:.3g} to {most:.3g} on a logarithmic scale{every}"
