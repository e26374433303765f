"""`solve`: which size, written `?`, makes a network meet a budget. Exact whole numbers, logarithmic in the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rnncalc.errors import CallError, RefusedError, SpecError
from rnncalc.layers.options import MAX_SIZE
from rnncalc.network.network import Network
from rnncalc.questions.given import network_of, said, whole

Sized = Callable[[int], Network]
"""Gives the network whose sizes marked `?` have a value; raises SpecError where there is none with it."""


class Solution(NamedTuple):
    """The largest size within a budget, and the next one beyond it.

    budget: in parameters; exact: whether it is to be met, not just kept.
    size, params, network: the largest size that fits, the parameters that it gives, and the network that has them; None
        where even the smallest is beyond the budget.
    next_size, next_params: the first size beyond the budget and what it gives; None where the largest size that there
        can be still fits.
    smallest: the network of the smallest size.
    """

    budget: int
    exact: bool
    size: int | None
    params: int | None
    network: Network | None
    next_size: int | None
    next_params: int | None
    smallest: Network

    @property
    def left(self) -> int | None:
        """What is left of the budget; None where no size fits."""
        return None if self.params is None else self.budget - self.params

    @property
    def solved(self) -> bool:
        """Whether there is a size, and, where equality is asked for, whether it is met."""
        return self.size is not None and not (self.exact and self.left)


def solve(sized: Sized, budget: int, *, multiple: int = 1, exact: bool = False) -> Solution:
    """Return the largest size whose network keeps within a budget of parameters.

    sized: a function from a size, 1 or more, to the network that has it, whose parameters do not shrink as the size
        grows: `lambda size: Network(input=4, layers=(LSTM(size),))`.
    multiple: only sizes that this number divides are taken.
    exact: whether the budget is to be met; a solution that only keeps within it is then not `solved`.
    Raises CallError for what is no function, or no whole number, SpecError where there is no network of the smallest
    size, RefusedError where the size does not change the number of parameters.
    """
    _check_call(sized, budget, multiple)
    smallest = network_of(sized(multiple))
    count = counting(sized)
    most = MAX_SIZE // multiple
    if smallest.params == count(most * multiple):
        raise RefusedError("the size written ? does not change the number of parameters; mark another")
    best = largest(lambda step: count(step * multiple), budget, most)
    network = sized(best * multiple) if best else None
    beyond = (best + 1) * multiple if best < most else None
    beyond_params = count(beyond) if beyond else None
    return Solution(
        budget=budget,
        exact=exact,
        size=best * multiple if best else None,
        params=network.params if network else None,
        network=network,
        next_size=beyond if beyond_params is not None else None,
        next_params=beyond_params,
        smallest=smallest,
    )


def _check_call(sized: object, budget: object, multiple: object) -> None:
    if not callable(sized):
        cure = "such as lambda size: Network(input=4, layers=[LSTM(size)])"
        raise CallError(f"sized: expected a function from a size to a network, {cure}, got {said(sized)}")
    whole("budget", budget)
    whole("multiple", multiple, 1)


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
