"""The limits that a call of `check` sets: those of a budget, and those on what changed since a baseline."""

from __future__ import annotations

from collections.abc import Mapping

from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Allowed, Ratio, WholeNumber
from rnncalc.network.budget import BUDGET_KEYS, Quantity, Rule
from rnncalc.questions.limits import Limit
from rnncalc.spec.flags import read_value
from rnncalc.spec.values import ways_to_write
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
        quantity = COMPARISONS[key][1]
        plain_ratio = quantity is Quantity.DENSE_RATIO and not text.endswith("%")
        such = "0.5" if plain_ratio else f"10k{_unit(quantity)}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        raise SpecError((Problem((), f"{message}{_cure(key, text)}", _flag(key)),)) from None


def _comparison(key: str, text: str) -> Limit:
    rule, quantity = COMPARISONS[key]
    most = read_value(_flag(key), text.removesuffix("%"), _allowed(key, text))
    return Limit(rule, quantity, most, flag=_flag(key), percent=text.endswith("%"))


def _allowed(key: str, text: str) -> Allowed:
    quantity = COMPARISONS[key][1]
    fraction = text.endswith("%") or quantity is Quantity.DENSE_RATIO
    return Ratio() if fraction else WholeNumber(suffixes=True, unit=_unit(quantity))


def _cure(key: str, text: str) -> str:
    """Return `; write 5%` for `5 %`, `; write 5.5%` for `5,5%`, `; write 1000` for `1,000`."""
    bare = "".join(text.split())
    for meant in (bare, bare.replace(",", "."), *ways_to_write(text, _allowed(key, text))):
        try:
            _comparison(key, meant)
        except SpecError:
            continue
        return f"; write {meant}"
    return ""


def _unit(quantity: Quantity) -> str:
    return "B" if quantity is Quantity.BYTES else ""


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"
