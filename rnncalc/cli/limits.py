"""The limits that a call of `check` sets: those of a budget, and those on what changed since a baseline."""

from __future__ import annotations

from collections.abc import Mapping

from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Ratio, WholeNumber
from rnncalc.network.budget import BUDGET_KEYS, Quantity, Rule
from rnncalc.questions.limits import Limit
from rnncalc.spec.flags import read_value
from rnncalc.text import escape

COMPARISONS = {
    "max_growth": (Rule.GROWTH, Quantity.PARAMS),
    "max_bytes_growth": (Rule.GROWTH, Quantity.BYTES),
    "max_multiply_adds_growth": (Rule.GROWTH, Quantity.MULTIPLY_ADDS),
    "max_dense_ratio_fall": (Rule.FALL, Quantity.DENSE_RATIO),
}
"""The limits on what changed since a baseline, by the flag that sets each."""


def read_limits(given: Mapping[str, str | None], *, compares: bool) -> tuple[Limit, ...]:
    """Return the limits of a call, by the keys of their flags and as typed; `compares`: whether there is a baseline.

    Raises SpecError where one is no number, CallError where there is nothing that it could be compared with.
    """
    texts = {key: text for key, text in given.items() if text is not None}
    for key in texts:
        if key in COMPARISONS and not compares:
            raise CallError(f"{_flag(key)} compares: give --baseline too")
    return tuple(
        read_comparison(key, text) if key in COMPARISONS else read_limit(key, text) for key, text in texts.items()
    )


def read_limit(key: str, text: str) -> Limit:
    """Return the limit of a flag, which has a budget's key."""
    rule, quantity, allowed, _ = BUDGET_KEYS[key]
    return Limit(rule, quantity, read_value(_flag(key), text, allowed), flag=_flag(key))


def read_comparison(key: str, text: str) -> Limit:
    """Return what `5%` or `10k` allows a number to grow or fall by."""
    try:
        return _comparison(key, text)
    except SpecError:
        bare = "".join(text.split()).replace(",", ".")  # 5 % and 5,5%
        quantity, percent = COMPARISONS[key][1], text.endswith("%")
        such = "0.5" if quantity is Quantity.DENSE_RATIO and not percent else f"10k{_unit(quantity)}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        raise SpecError((Problem((), f"{message}{_cure(key, text, bare)}", _flag(key)),)) from None


def _comparison(key: str, text: str) -> Limit:
    rule, quantity = COMPARISONS[key]
    flag, percent = _flag(key), text.endswith("%")
    fraction = percent or quantity is Quantity.DENSE_RATIO
    allowed = Ratio() if fraction else WholeNumber(suffixes=True, unit=_unit(quantity))
    return Limit(rule, quantity, read_value(flag, text.removesuffix("%"), allowed), flag=flag, percent=percent)


def _cure(key: str, text: str, bare: str) -> str:
    """Return `; write 5%` where the text without its spaces and its comma can be read."""
    try:
        _comparison(key, bare)
    except SpecError:
        return ""
    return f"; write {escape(bare)}" if bare != text else ""


def _unit(quantity: Quantity) -> str:
    return "B" if quantity is Quantity.BYTES else ""


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"
