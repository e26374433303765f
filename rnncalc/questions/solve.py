"""`solve`: which size, written `?`, makes a network meet a budget. Exact whole numbers, logarithmic in the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from rnncalc.bounds import MAX_SIZE
from rnncalc.display import displayed
from rnncalc.errors import CallError, Cure, Problem, RefusedError, SpecError
from rnncalc.network.network import Network
from rnncalc.questions.given import network_of, said, whole
from rnncalc.questions.pieces import Sized, Sizes, pieces

Piece = tuple[int, int]
"""The first and the last of sizes, in steps, that all can be."""


@displayed
class Solution(NamedTuple):
    """The largest size within a budget, and the next one beyond it.

    budget: in parameters; exact: whether it is to be met, not just kept.
    size, params, network: the largest size that fits, the parameters that it gives, and the network that has them; None
        where even the smallest is beyond the budget.
    next_size, next_params: the next size that there can be, and what it gives; None where there is none.
    smallest, largest: the networks of the smallest and the largest size that there can be.
    bytes: the budget as it was given, where that was in bytes; bytes_each: what a parameter takes.
    """

    budget: int
    exact: bool
    size: int | None
    params: int | None
    network: Network | None
    next_size: int | None
    next_params: int | None
    smallest: Network
    largest: Network
    bytes: int | None = None
    bytes_each: int | None = None

    @property
    def left(self) -> int | None:
        """The parameters that are left of the budget; None where no size fits."""
        return None if self.params is None else self.budget - self.params

    @property
    def left_bytes(self) -> int | None:
        """The bytes that are left of it; None where no size fits, or the budget is not in bytes."""
        if self.params is None or self.bytes is None or self.bytes_each is None:
            return None
        return self.bytes - self.params * self.bytes_each

    @property
    def met(self) -> bool:
        """Whether nothing is left of the budget, neither a parameter nor a byte."""
        return self.left == 0 and not self.left_bytes

    @property
    def solved(self) -> bool:
        """Whether there is a size, and, where equality is asked for, whether it is met."""
        return self.size is not None and (self.met or not self.exact)


def solve(sized: Sized, budget: int, *, multiple: int = 1, exact: bool = False, bytes_each: int = 0) -> Solution:
    """Return the largest size whose network keeps within a budget of parameters.

    sized: a function from a size to the network that has it: `lambda size: Network(input=4, layers=(LSTM(size),))`.
        It may raise SpecError: a size at which the network cannot be is no solution.
    multiple: only sizes that this number divides are taken.
    exact: whether the budget is to be met; a solution that only keeps within it is then not `solved`.
    bytes_each: where the budget is in bytes, how many a parameter takes.
    Raises CallError for what is no function, or no whole number; SpecError where no size makes a network; RefusedError
    where the size does not change the count, and where there are too many different layers to count them again and
    again.
    """
    _check_call(sized, budget, multiple)
    whole("bytes_each", bytes_each)
    return solution(Sizes(lambda size: network_of(sized(size)), multiple), budget, exact=exact, bytes_each=bytes_each)


def solution(sizes: Sizes, budget: int, *, exact: bool = False, bytes_each: int = 0) -> Solution:
    """Do what `solve` does, with sizes to try."""
    params = budget // bytes_each if bytes_each else budget
    found = [*pieces(sizes, 0, 0), *pieces(sizes, 1, MAX_SIZE // sizes.step)]
    if not found:
        raise _none(sizes)
    smallest, largest = found[0][0], found[-1][1]
    if smallest < largest and sizes.params(smallest) == sizes.params(largest):
        raise RefusedError("the size does not change the number of parameters", Cure.ANOTHER_SIZE)
    met = exact and not (bytes_each and budget % bytes_each)
    best = _best(sizes, found, params, met)
    beyond = _next(found, best)
    size = None if best is None else best * sizes.step
    return Solution(
        budget=params,
        exact=exact,
        size=size,
        params=None if best is None else sizes.params(best),
        network=None if size is None else sizes.sized(size),
        next_size=None if beyond is None else beyond * sizes.step,
        next_params=None if beyond is None else sizes.params(beyond),
        smallest=sizes.sized(smallest * sizes.step),
        largest=sizes.sized(largest * sizes.step),
        bytes=budget if bytes_each else None,
        bytes_each=bytes_each or None,
    )


def _check_call(sized: object, budget: object, multiple: object) -> None:
    if not callable(sized):
        cure = "such as lambda size: Network(input=4, layers=[LSTM(size)])"
        raise CallError(f"sized: expected a function from a size to a network, {cure}, got {said(sized)}")
    whole("budget", budget)
    whole("multiple", multiple, 1)


def _best(sizes: Sizes, found: Sequence[Piece], budget: int, exact: bool) -> int | None:
    """Return the largest place within the budget; where it is to be met and can be, the largest that meets it."""
    best: int | None = None
    for low, high in reversed(found):
        if sizes.params(low) > budget:
            continue
        place = _last_within(sizes, low, high, budget)
        if best is None:
            best = place
        if not exact or sizes.params(place) == budget:
            return place
    return best


def _next(found: Sequence[Piece], best: int | None) -> int | None:
    """Return the first place after one at which there is a network."""
    after = -1 if best is None else best
    return next((max(low, after + 1) for low, high in found if high > after), None)


def _last_within(sizes: Sizes, low: int, high: int, budget: int) -> int:
    """Return the last place of a piece within the budget, its first being so."""
    if sizes.params(high) <= budget:
        return high
    guess = _guess([(place, sizes.params(place)) for place in (low, low + 1, high - 1, high)], low, high, budget)
    for place in (guess, guess + 1, (low + high) // 2):
        if low < place < high:
            low, high = (place, high) if sizes.params(place) <= budget else (low, place)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sizes.params(middle) <= budget else (low, middle)
    return low


def _guess(known: Sequence[tuple[int, int]], low: int, high: int, budget: int) -> int:
    """Return where the polynomial through the known counts passes the budget; it is only a guess."""
    points = [*dict(known).items()]
    terms = [
        ([x for x, _ in points if x != at], Fraction(y, prod(at - x for x, _ in points if x != at))) for at, y in points
    ]

    def count(place: int) -> Fraction:
        return sum((factor * prod(place - x for x in others) for others, factor in terms), Fraction())

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= budget else (low, middle)
    return low


def _none(sizes: Sizes) -> SpecError:
    """Return what is wrong at every size, or else, of some sizes, what is wrong there."""
    reasons = {place: {str(problem): problem for problem in of.problems} for place, of in sizes.tried.items() if place}
    first, *others = reasons.values()
    same = {said: problem for said, problem in first.items() if all(said in other for other in others)}
    if same:
        return SpecError(tuple(same.values()))
    told = "; ".join(f"at {place * sizes.step:,}, {next(iter(reasons[place]))}" for place in _telling(reasons))
    return SpecError((Problem((), f"no {sizes.what} makes a network: {told}"),))


def _telling(reasons: dict[int, dict[str, Problem]]) -> list[int]:
    """Return the size with the fewest problems, and one at which another thing is wrong, if there is one."""
    best, *others = sorted(reasons, key=lambda place: (len(reasons[place]), place))
    told = {problem.path for problem in reasons[best].values()}
    other = [place for place in others if told.isdisjoint(problem.path for problem in reasons[place].values())]
    return sorted([best, *other[:1]])


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
