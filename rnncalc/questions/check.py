"""`check`: whether a network keeps its limits: those of its `expect` and `budget`, of the call, and on its growth.

Gives numbers and names, no sentence. Where a limit is written is handed in; what is said of it is `reports/check.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from rnncalc.errors import Path, Problem
from rnncalc.network.network import Network
from rnncalc.network.parts import Budget
from rnncalc.questions.count import count

Place = tuple[int, int]
Locate = Callable[[Path], Place | None]
"""Returns the line and column where a spec says what stands at a path."""

Number = int | float


class Rule(Enum):
    """What a limit asks of a number."""

    EXACTLY = "exactly"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    GROWTH = "grown by at most"


class Quantity(Enum):
    """What is counted of a network or a layer."""

    PARAMS = "params"
    BYTES = "bytes"
    MULTIPLY_ADDS = "multiply_adds"
    DENSE_RATIO = "dense_ratio"


class Unknown(Enum):
    """Why a number is not known."""

    STEPS_NOT_GIVEN = "the number of steps is not given"
    COUNTED_ELSEWHERE = "what an external part costs is not known"
    NO_PARAMS = "nothing has a ratio to no parameters"


LIMIT_OF = {
    "max_params": (Rule.AT_MOST, Quantity.PARAMS),
    "max_bytes": (Rule.AT_MOST, Quantity.BYTES),
    "max_multiply_adds": (Rule.AT_MOST, Quantity.MULTIPLY_ADDS),
    "min_dense_ratio": (Rule.AT_LEAST, Quantity.DENSE_RATIO),
}
"""What each key of a budget limits."""


class Limit(NamedTuple):
    """What a number may be, and where that is written.

    path: of the keys in a spec; flag: what stands in their place.
    layer: the name of the layer that it is on; None when it is on the network.
    percent: of what it was before, for growth.
    """

    rule: Rule
    quantity: Quantity
    value: Number
    path: Path = ()
    flag: str = ""
    layer: str | None = None
    percent: bool = False


class Numbers(NamedTuple):
    """What of a network may be limited; None is what is not known."""

    params: int
    bytes: int
    multiply_adds: int | None
    dense_params: int | None

    @property
    def dense_ratio(self) -> float | None:
        """The parameters of the dense equivalent for each of the network's; None when it has none."""
        return self.dense_params / self.params if self.params and self.dense_params is not None else None

    def of(self, quantity: Quantity) -> Number | None:
        """Return one of them."""
        number: Number | None = getattr(self, quantity.value)
        return number


class Difference(NamedTuple):
    """Parameters before and after; None where there is no such network: it is new, or removed."""

    before: int | None
    after: int | None

    @property
    def growth(self) -> int:
        """How many more there are now."""
        return (self.after or 0) - (self.before or 0)

    @property
    def percent(self) -> float | None:
        """The growth in percent of before; None where there was nothing."""
        return 100 * self.growth / self.before if self.before and self.after is not None else None


class HeldLimit(NamedTuple):
    """A limit, and the number that it was held against.

    actual: None when it is not known, and `unknown` says why; a growth in percent where its limit is.
    line, column: where the limit is written, None for a flag.
    difference: what grew.
    """

    limit: Limit
    actual: Number | None
    kept: bool
    unknown: Unknown | None = None
    line: int | None = None
    column: int | None = None
    difference: Difference | None = None


class Verdict(NamedTuple):
    """What was found of a network.

    expect_counts: the convention that its `expect` counts, where it is another and `expect` was left out.
    """

    name: str
    convention: str
    numbers: Numbers
    limits: tuple[HeldLimit, ...]
    expect_counts: str | None = None


class Status(Enum):
    """How it stands with a file."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"
    UNCHECKED = "unchecked"
    REMOVED = "removed"


class CheckedFile(NamedTuple):
    """A file with the verdict on its network, or with the problems of one that is no spec; a removed one has neither.

    strict: whether to have no limit is a failure; difference: to the baseline, if there is one.
    """

    file: str
    verdict: Verdict | None = None
    problems: tuple[Problem, ...] = ()
    strict: bool = False
    difference: Difference | None = None

    @property
    def status(self) -> Status:
        """How it stands with the file."""
        if self.problems:
            return Status.BROKEN
        if self.verdict is None:
            return Status.REMOVED
        if not self.verdict.limits:
            return Status.FAILED if self.strict else Status.UNCHECKED
        return Status.PASSED if all(held.kept for held in self.verdict.limits) else Status.FAILED


def check(
    network: Network,
    limits: Iterable[Limit] = (),
    *,
    locate: Locate = lambda _: None,
    dtype: str = "float32",
    own_convention: str | None = None,
    before: int | None = None,
) -> Verdict:
    """Hold a network against its own limits and those of the call, which stand in place of its own.

    own_convention: whose tensors `expect` counts; under another it says nothing, and is left out.
    before: the parameters of the baseline; without it nothing has grown.
    """
    numbers = numbers_of(network, dtype)
    left_out = own_convention if network.expect and own_convention not in (None, network.convention) else None
    held = [] if left_out else [*_expectations(network, numbers, locate)]
    given = [*limits]
    held += [_held(limit, network, numbers, locate) for limit in _bounds(network, given)]
    growths = [limit for limit in given if limit.rule is Rule.GROWTH]
    if before is not None:
        held += [_grown(limit, Difference(before, numbers.params)) for limit in growths]
    return Verdict(network.name, network.convention, numbers, tuple(held), left_out)


def numbers_of(network: Network, dtype: str) -> Numbers:
    """Return what of a network may be limited."""
    counted = count(network, dtype)
    dense = counted.dense
    return Numbers(counted.params, counted.bytes, counted.multiply_adds, dense and dense.params)


def _expectations(network: Network, numbers: Numbers, locate: Locate) -> Iterator[HeldLimit]:
    """Yield the `expect` of a network. Of a layer's, which may be thousands, only a wrong one is looked up."""
    params, layers = network.expect or (None, None)
    if params is not None:
        limit = Limit(Rule.EXACTLY, Quantity.PARAMS, params, ("expect", "total"))
        yield _at(HeldLimit(limit, numbers.params, params == numbers.params), locate)
    for number, (params, placed) in enumerate(zip(layers or (), network.placed, strict=False)):
        limit = Limit(Rule.EXACTLY, Quantity.PARAMS, params, ("expect", "layers", number), layer=placed.name)
        held = HeldLimit(limit, placed.params, params == placed.params)
        yield held if held.kept else _at(held, locate)


def _bounds(network: Network, given: list[Limit]) -> Iterator[Limit]:
    """Yield the limits of the network's budget, each one that is given with the call in place of its own."""
    own = (network.budget or Budget())._asdict()
    flags = {(limit.rule, limit.quantity): limit for limit in given}
    for key, (rule, quantity) in LIMIT_OF.items():
        if (rule, quantity) in flags:
            yield flags[rule, quantity]
        elif own[key] is not None:
            yield Limit(rule, quantity, own[key], ("budget", key))


def _held(limit: Limit, network: Network, numbers: Numbers, locate: Locate) -> HeldLimit:
    actual = numbers.of(limit.quantity)
    if actual is None:
        return _at(HeldLimit(limit, None, False, _why_unknown(limit.quantity, network, numbers)), locate)
    kept = actual <= limit.value if limit.rule is Rule.AT_MOST else actual >= limit.value
    return _at(HeldLimit(limit, actual, kept), locate)


def _grown(limit: Limit, difference: Difference) -> HeldLimit:
    growth = difference.growth
    if not limit.percent:
        return HeldLimit(limit, growth, growth <= limit.value, difference=difference)
    kept = 100 * growth <= limit.value * (difference.before or 0)
    actual = (100.0 if growth else 0.0) if difference.percent is None else difference.percent
    return HeldLimit(limit, actual, kept, difference=difference)


def _why_unknown(quantity: Quantity, network: Network, numbers: Numbers) -> Unknown:
    if quantity is Quantity.DENSE_RATIO and not numbers.params:
        return Unknown.NO_PARAMS
    steps = [part.steps for part in network.parts.values()]
    return Unknown.STEPS_NOT_GIVEN if None in steps else Unknown.COUNTED_ELSEWHERE


def _at(held: HeldLimit, locate: Locate) -> HeldLimit:
    """Return a held limit with the place where it is written, which a flag does not have."""
    place = locate(held.limit.path) if held.limit.path else None
    return held._replace(line=place[0], column=place[1]) if place else held
