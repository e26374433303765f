"""A limit, a number, and one held against the other. Knows neither networks nor where limits come from.

Whole numbers and fractions decide, never floats: a limit that is met exactly is kept.
"""

from __future__ import annotations

from enum import Enum, auto
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.errors import Path
from rnncalc.network.budget import Quantity, Rule

if TYPE_CHECKING:
    from fractions import Fraction

    Number = int | Fraction


class Unknown(Enum):
    """Why a number is not known."""

    STEPS_NOT_GIVEN = auto()
    COUNTED_ELSEWHERE = auto()
    NO_PARAMS = auto()
    NOT_KNOWN_BEFORE = auto()
    NO_SUCH_TENSOR = auto()
    GROWN_FROM_NOTHING = auto()


class Limit(NamedTuple):
    """What a number may be, and where that is written.

    path: of the keys in a spec; flag: what stands in their place.
    layer: the name of the layer that it is on; None when it is on the network.
    percent: of what it was before, for growth and fall.
    tensor, shape: the name of a tensor and what its shape is to be; `value` is then how many numbers that holds.
    """

    rule: Rule
    quantity: Quantity
    value: Number
    path: Path = ()
    flag: str = ""
    layer: str | None = None
    percent: bool = False
    tensor: str | None = None
    shape: tuple[int, ...] = ()

    @property
    def compares(self) -> bool:
        """Whether it is on a change since the baseline."""
        return self.rule in (Rule.GROWTH, Rule.FALL)


class Numbers(NamedTuple):
    """What of a network may be limited; None is what is not known."""

    params: int
    bytes: int | None = None
    multiply_adds: int | None = None
    dense_params: int | None = None
    held: int | None = None
    backward_multiply_adds: int | None = None
    training_bytes: int | None = None

    @property
    def dense_ratio(self) -> Fraction | None:
        """The parameters of the dense equivalent for each of the network's; None when it has none."""
        if not self.params or self.dense_params is None:
            return None
        from fractions import Fraction  # with decimal behind it, 2 ms that most calls do without

        return Fraction(self.dense_params, self.params)

    def of(self, quantity: Quantity) -> Number | None:
        """Return one of them."""
        number: Number | None = getattr(self, quantity.value)
        return number


class Difference(NamedTuple):
    """A number before and after; None where there is no such network: it is new, or removed."""

    before: Number | None
    after: Number | None

    @property
    def growth(self) -> Number:
        """How much more there is now."""
        return (self.after or 0) - (self.before or 0)

    @property
    def percent(self) -> Fraction | None:
        """The growth in percent of before; None where there was nothing, or nothing is left."""
        if not self.before or self.after is None:
            return None
        from fractions import Fraction

        return Fraction(100 * self.growth) / self.before


class LimitCheck(NamedTuple):
    """A limit, and the number that it was held against.

    actual: None when it is not known, and `unknown` says why; what it grew or fell by where that is limited.
    line, column: where the limit is written, None for a flag.
    difference: of what grew or fell.
    shape: of the tensor whose shape is limited.
    """

    limit: Limit
    actual: Number | None
    kept: bool
    unknown: Unknown | None = None
    line: int | None = None
    column: int | None = None
    difference: Difference | None = None
    shape: tuple[int, ...] = ()


def check_number(limit: Limit, actual: Number | None, why: Unknown | None = None) -> LimitCheck:
    """Hold a limit on a number itself against it; `why` it is not known, where it is not."""
    if actual is None:
        return LimitCheck(limit, None, False, why)
    match limit.rule:
        case Rule.EXACTLY:
            return LimitCheck(limit, actual, actual == limit.value)
        case Rule.AT_MOST:
            return LimitCheck(limit, actual, actual <= limit.value)
        case _:
            return LimitCheck(limit, actual, actual >= limit.value)


def check_shape(limit: Limit, shape: tuple[int, ...] | None) -> LimitCheck:
    """Hold the shape of a tensor against what it is; None where there is no such tensor."""
    if shape is None:
        return LimitCheck(limit, None, False, Unknown.NO_SUCH_TENSOR)
    return LimitCheck(limit, prod(shape), shape == limit.shape, shape=shape)


def check_difference(limit: Limit, difference: Difference, why: Unknown | None = None) -> LimitCheck:
    """Hold a limit on growth, or on a fall, against what a number was and is; `why` it is not known what it is."""
    before, after = difference
    if after is None or before is None:
        return LimitCheck(limit, None, False, why if after is None else Unknown.NOT_KNOWN_BEFORE)
    grown = difference.growth if limit.rule is Rule.GROWTH else -difference.growth
    if not limit.percent:
        return LimitCheck(limit, grown, grown <= limit.value, difference=difference)
    if grown and not before:
        return LimitCheck(limit, None, False, Unknown.GROWN_FROM_NOTHING, difference=difference)
    percent = 0 if difference.percent is None else difference.percent
    share = percent if limit.rule is Rule.GROWTH else -percent
    return LimitCheck(limit, share, 100 * grown <= limit.value * before, difference=difference)
