"""`solve`: which size, written `?`, makes a network meet a budget. Exact whole numbers, logarithmic in the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rnncalc.errors import RefusedError, SpecError
from rnncalc.layers.options import MAX_SIZE
from rnncalc.network.network import Network
from rnncalc.reports.sheet import Column, Sheet, Value, setting

Sized = Callable[[int], Network]
"""Gives the network whose sizes marked `?` have a value; raises SpecError where there is none with it."""


class Solution(NamedTuple):
    """The largest size within a budget, and the next one beyond it.

    budget: in parameters; size is None when even the smallest is beyond it, next_size when the largest still fits.
    """

    name: str
    setting: str
    budget: int
    size: int | None
    params: int | None
    next_size: int | None
    next_params: int | None
    exact: bool

    @property
    def left(self) -> int | None:
        """What is left of the budget."""
        return None if self.params is None else self.budget - self.params

    @property
    def solved(self) -> bool:
        """Whether there is a size, and, where equality is asked for, whether it is met."""
        return self.size is not None and not (self.exact and self.left)

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        data = self._asdict()
        del data["setting"]
        return {**data, "left": self.left, "solved": self.solved}

    def sheets(self) -> list[Sheet]:
        """Return the size that fits and the next one, and what is left."""
        rows: list[tuple[Value, ...]] = []
        if self.size is not None:
            rows.append((f"? = {self.size:,}", self.params, self.left))
        if self.next_size is not None and self.next_params is not None:
            rows.append((f"? = {self.next_size:,}", self.next_params, self.budget - self.next_params))
        columns = (Column("Size", key=True), Column("Parameters", right=True), Column("Left of the budget", right=True))
        return [Sheet(columns, rows, title=self.name, subtitle=self.setting, notes=(self._words(),))]

    def _words(self) -> str:
        budget = f"{self.budget:,} parameters"
        if self.size is None:
            return f"✗ No size fits: even {self.next_size:,} needs {self.next_params:,}, and the budget is {budget}."
        if not self.left:
            return f"✓ {self.size:,} gives exactly {budget}."
        if self.exact:
            return f"✗ No size gives exactly {budget}."
        if self.next_size is None:
            return f"✓ {self.size:,} fits in {budget}, and it is the largest size there can be; {self.left:,} are left."
        return f"✓ {self.size:,} is the largest that fits in {budget}; {self.left:,} are left."


def solve(sized: Sized, budget: int, *, multiple: int = 1, exact: bool = False) -> Solution:
    """Return the largest multiple of `multiple` that, in place of every `?`, keeps the count within the budget.

    Raises SpecError when the network is wrong whatever the size, RefusedError when the size does not change the count.
    """
    smallest = sized(multiple)
    count = counting(sized)
    most = MAX_SIZE // multiple
    first, last = count(multiple), count(most * multiple)
    if first == last:
        raise RefusedError("the size written ? does not change the number of parameters; mark another")
    best = largest(lambda step: count(step * multiple), budget, most)
    size = best * multiple if best else None
    beyond = (best + 1) * multiple if best < most else None
    beyond_params = count(beyond) if beyond else None
    return Solution(
        name=smallest.name,
        setting=setting(smallest),
        budget=budget,
        size=size,
        params=count(size) if size else None,
        next_size=beyond if beyond_params is not None else None,
        next_params=beyond_params,
        exact=exact,
    )


def counting(sized: Sized) -> Callable[[int], int | None]:
    """Return the function from a size to its count, None where no network has that size."""

    def count(size: int) -> int | None:
        try:
            return sized(size).params
        except SpecError:
            return None

    return count


def largest(count: Callable[[int], int | None], budget: int, most: int) -> int:
    """Return the largest size from 1 to `most` whose count is within the budget, or 0; counts grow with the size.

    A size without a count, such as a projection wider than its cell, is beyond the budget.
    """

    def fits(size: int) -> bool:
        params = count(size)
        return params is not None and params <= budget

    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= most and fits(high):
        low, high = high, high * 2
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
