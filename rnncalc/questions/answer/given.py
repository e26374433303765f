"""What a learner wrote: a number, exact or rounded, read from text. Knows no network."""

from __future__ import annotations

import re
from typing import NamedTuple

from rnncalc.errors import CallError
from rnncalc.text import escape

_NUMBER = r"(0|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,12}|[1-9][0-9_]{0,39})(?:\.([0-9]{1,12}))?([kKMGB]?)"
_POWERS = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "B": 9}


class Given(NamedTuple):
    """A learner's number; `unit` is what its last digit counts, more than 1 where it was rounded."""

    number: int
    unit: int = 1
    text: str = ""

    def means(self, number: int) -> bool:
        """Return whether a number is the one that was given, rounded as it was."""
        if self.unit == 1 or not self.number:
            return number == self.number
        return abs(self.number - number) * 2 <= self.unit


def read_number(text: str) -> Given:
    """Return a learner's number: 1600, 1,600 or 1_600, or rounded as in 3.8M. Raises CallError if it is none."""
    found = re.fullmatch(_NUMBER, text)
    power = _POWERS[found[3]] if found else 0
    if not found or len(found[2] or "") > power:
        raise CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'")
    decimals = len(found[2] or "")
    unit = 10 ** (power - decimals)
    digits = int(found[1].replace(",", "").replace("_", "") + (found[2] or ""))
    return Given(digits * unit, unit, text)
