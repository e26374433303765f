"""What may be asked of a network's numbers, and the keys that say it: the one declaration of a budget.

A new limit is a new field of Budget: the spec, its schema, the flags of `check` and its verdicts follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.layers.options import Allowed, Count, Ratio

if TYPE_CHECKING:
    from fractions import Fraction


class Quantity(Enum):
    """What is counted of a network or a layer; each is the name of a number of theirs."""

    PARAMS = "params"
    BYTES = "bytes"
    MULTIPLY_ADDS = "multiply_adds"
    DENSE_RATIO = "dense_ratio"


class Rule(Enum):
    """What a limit asks of a number: of itself, or of how it changed."""

    EXACTLY = "exactly"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    GROWTH = "more than before by at most"
    FALL = "less than before by at most"


class BudgetKey(NamedTuple):
    """A key of a budget: what it limits, what it may be, and its meaning for people."""

    rule: Rule
    quantity: Quantity
    allowed: Allowed
    meaning: str


def _key(rule: Rule, quantity: Quantity, allowed: Allowed, meaning: str) -> Any:
    return field(default=None, metadata={"key": BudgetKey(rule, quantity, allowed, meaning)})


_COUNT, _BYTES = Count(suffixes=True), Count(suffixes=True, unit="B")


@dataclass(frozen=True)
class Budget:
    """The limits that a network is to keep, each None where there is none.

    layers: pairs of a layer's name and the most parameters that it may have.
    """

    max_params: int | None = _key(Rule.AT_MOST, Quantity.PARAMS, _COUNT, "The most parameters, such as 1M.")
    min_params: int | None = _key(Rule.AT_LEAST, Quantity.PARAMS, _COUNT, "The least parameters.")
    max_bytes: int | None = _key(Rule.AT_MOST, Quantity.BYTES, _BYTES, "The most bytes, such as 4MB.")
    min_bytes: int | None = _key(Rule.AT_LEAST, Quantity.BYTES, _BYTES, "The least bytes.")
    max_multiply_adds: int | None = _key(
        Rule.AT_MOST, Quantity.MULTIPLY_ADDS, _COUNT, "The most multiply-adds of one pass, such as 10M."
    )
    min_multiply_adds: int | None = _key(
        Rule.AT_LEAST, Quantity.MULTIPLY_ADDS, _COUNT, "The least multiply-adds of one pass."
    )
    min_dense_ratio: Fraction | float | None = _key(  # noqa: RUF009  _key() declares a field, as field() does
        Rule.AT_LEAST, Quantity.DENSE_RATIO, Ratio(), "The least dense-equivalent parameters for each one."
    )
    layers: tuple[tuple[str, int], ...] = ()


BUDGET_KEYS: dict[str, BudgetKey] = {key.name: key.metadata["key"] for key in fields(Budget) if key.metadata}
"""The keys with one number each; `layers` has one a layer."""

LAYER_LIMIT = BUDGET_KEYS["max_params"]
"""What each of the numbers under `layers` is."""
