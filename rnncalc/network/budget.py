"""The limits on a network's numbers, and their keys: the one declaration of a budget.

A new limit is a new field of Budget: the spec, its schema, the flags of `check` and its verdicts follow from it.
Imported only for a budget or a check.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from rnncalc.errors import Problem
from rnncalc.layers.options import Allowed, Ratio, WholeNumber
from rnncalc.printable import escape
from rnncalc.words import all_of, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction


class Quantity(Enum):
    """The numbers of a network or a layer that may be limited."""

    PARAMS = "params"
    BYTES = "bytes"
    MULTIPLY_ADDS = "multiply_adds"
    DENSE_RATIO = "dense_ratio"
    SAVED = "saved"
    BACKWARD_MULTIPLY_ADDS = "backward_multiply_adds"
    TRAINING_BYTES = "training_bytes"
    STATE = "state"
    STATE_BYTES = "state_bytes"
    MULTIPLY_ADDS_PER_STEP = "multiply_adds_per_step"
    MULTIPLY_ADDS_PER_SECOND = "multiply_adds_per_second"


OF_TRAINING = frozenset((Quantity.SAVED, Quantity.BACKWARD_MULTIPLY_ADDS, Quantity.TRAINING_BYTES))
"""The numbers of training."""

OF_STREAM = frozenset(map(Quantity, ("state", "state_bytes", "multiply_adds_per_step", "multiply_adds_per_second")))
"""What is counted of running step by step."""


class Rule(Enum):
    """What a limit requires of a number or of its change."""

    EXACTLY = "exactly"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    GROWTH = "more than before by at most"


class BudgetKey(NamedTuple):
    """A key of a budget: what it limits, its allowed values, and its meaning for people."""

    rule: Rule
    quantity: Quantity
    allowed: Allowed
    meaning: str


AMOUNT, BYTES = WholeNumber(suffixes=True), WholeNumber(suffixes=True, unit="B")

GROWING = {
    quantity.value: BYTES if quantity in (Quantity.BYTES, Quantity.STATE_BYTES) else AMOUNT
    for quantity in (Quantity.PARAMS, Quantity.BYTES, Quantity.MULTIPLY_ADDS, *Quantity)
    if quantity is not Quantity.DENSE_RATIO and quantity not in OF_TRAINING
}
"""The quantities whose growth may be limited, and the allowed values of a limit that is not a percentage."""


class GrowthLimit(NamedTuple):
    """A limit on growth: a number, or a percentage of the earlier number."""

    value: "Fraction | float"
    percent: bool = False


class Budget(NamedTuple):
    """The limits that a network must keep; None for no limit. A name says which number is limited, and how.

    max_growth: the most that quantities may grow since a baseline, by their names, or in pairs of both.
    layers: the most parameters that a layer may have, likewise. networks: the same of the networks of a model.
    """

    max_params: Annotated[int | None, AMOUNT, "The most parameters, such as 1M."] = None
    max_bytes: Annotated[int | None, BYTES, "The most bytes, such as 4MB."] = None
    max_multiply_adds: Annotated[int | None, AMOUNT, "The most multiply-adds of one pass: 10M."] = None
    min_dense_ratio: Annotated["Fraction | float | None", Ratio(), "The least dense-equivalent ratio, such as 4."] = (
        None
    )
    max_saved: Annotated[int | None, AMOUNT, "The most saved activations of a sequence."] = None
    max_training_bytes: Annotated[int | None, BYTES, "The most bytes of a training step: 4GB."] = None
    max_state: Annotated[int | None, AMOUNT, "The most numbers carried from step to step."] = None
    max_state_bytes: Annotated[int | None, BYTES, "The most bytes carried from step to step, such as 2kB."] = None
    max_multiply_adds_per_step: Annotated[int | None, AMOUNT, "The most multiply-adds of one step: 400k."] = None
    max_multiply_adds_per_second: Annotated[int | None, AMOUNT, "The most multiply-adds per second: 40M."] = None
    max_growth: "Mapping[str, GrowthLimit] | tuple[tuple[str, GrowthLimit], ...]" = ()
    layers: "Mapping[str, int] | tuple[tuple[str, int], ...]" = ()
    networks: "Mapping[str, int] | tuple[tuple[str, int], ...]" = ()


RULES = {"max_": Rule.AT_MOST, "min_": Rule.AT_LEAST}

BUDGET_KEYS: dict[str, BudgetKey] = {
    name: BudgetKey(RULES[name[:4]], Quantity(name[4:]), *declared.__metadata__)
    for name, declared in Budget.__annotations__.items()
    if hasattr(declared, "__metadata__")
}
"""The keys with one number each; `max_growth` has one for each quantity, `layers` one for each layer."""

ALLOWED = {key: key_type.allowed for key, key_type in BUDGET_KEYS.items()}
"""The allowed values of each."""

LAYER_LIMIT = BUDGET_KEYS["max_params"]
"""The allowed values of the numbers under `layers` and `networks`."""

BY_NAME = ("layers", "networks")
"""The keys of a budget with a limit for each name."""


def problems_of(budget: object, layers: Iterable[str], networks: Iterable[str] = ()) -> Iterator[Problem]:
    """Yield the invalid limits of a budget, and those of layers and networks that there are not."""
    if not isinstance(budget, Budget):
        yield Problem(("budget",), f"expected a Budget, such as Budget(max_params=10**6), got {budget!r}")
        return
    for (key, entry), value in zip(BUDGET_KEYS.items(), budget, strict=False):
        if value is not None and (problem := entry.allowed.problem(value)):
            yield Problem(("budget", key), problem)
    growths: dict[str, object]
    try:
        growths = {**dict(budget.max_growth)}
    except (TypeError, ValueError):
        growths = {"": budget.max_growth}
    for name, growth in growths.items():
        limit = growth.value if isinstance(growth, GrowthLimit) else -1
        if name not in GROWING or Ratio().problem(limit):
            example = "{'params': GrowthLimit(5, percent=True)}"
            expected = f"expected one of {', '.join(GROWING)} with a GrowthLimit, such as {example}"
            yield Problem(("budget", "max_growth"), f"{expected}, got {budget.max_growth!r}")
    for key, candidates in zip(BY_NAME, (layers, networks), strict=True):
        yield from _by_name(key, getattr(budget, key), candidates)


def _by_name(key: str, amounts: Any, candidates: Iterable[str]) -> Iterator[Problem]:
    try:
        limits = dict(amounts)
    except (TypeError, ValueError):
        yield Problem(("budget", key), f"expected pairs of a name and a number, got {amounts!r}")
        return
    for name, value in limits.items():
        if problem := LAYER_LIMIT.allowed.problem(value):
            yield Problem(("budget", key, escape(str(name))), problem)
    names = [*candidates] if limits else []
    among = {*names}
    for name in limits:
        if name not in among:
            near = did_you_mean(str(name), names) or (f"; the {key} are {all_of(names)}" if 0 < len(names) < 9 else "")
            message = f"no {key[:-1]} has this name{near}"
            yield Problem(("budget", key, escape(str(name))), message, follows=True)
