"""What is said of one limit that was held against a number: its name, its two cells in a table, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnncalc.errors import dotted
from rnncalc.network.budget import Quantity, Rule
from rnncalc.questions.limits import Difference, Limit, LimitCheck, Unknown
from rnncalc.reports.sheet import Value
from rnncalc.text import bracketed, escape

if TYPE_CHECKING:
    from rnncalc.questions.limits import Number

UNITS = {
    Quantity.PARAMS: "parameters",
    Quantity.BYTES: "bytes",
    Quantity.MULTIPLY_ADDS: "multiply-adds",
    Quantity.DENSE_RATIO: "dense-equivalent parameters for each one",
    Quantity.HELD: "held values",
    Quantity.BACKWARD_MULTIPLY_ADDS: "multiply-adds of going back",
    Quantity.TRAINING_BYTES: "bytes of training",
}

_WITHOUT_STEPS = {
    Quantity.MULTIPLY_ADDS: "multiply-adds are not known",
    Quantity.DENSE_RATIO: "the dense equivalent is not known",
    Quantity.HELD: "held values are not known",
    Quantity.BACKWARD_MULTIPLY_ADDS: "multiply-adds of going back are not known",
    Quantity.TRAINING_BYTES: "bytes of training are not known",
}

_MOST_DIGITS = 40
"""Two numbers that differ later are shown alike."""


def name(limit: Limit) -> str:
    """Return the limit as people write it: `budget.max_params`, `--max-params`."""
    return limit.flag or dotted(limit.path)


def cells(check: LimitCheck) -> tuple[Value, Value]:
    """Return the limit and the number as a table has them, a fraction with the digits that tell it from the other."""
    limit, actual = check.limit, check.actual
    if limit.shape:
        return bracketed(limit.shape), bracketed(check.shape) if check.shape else None
    if not limit.percent and limit.quantity is not Quantity.DENSE_RATIO:
        assert isinstance(limit.value, int)
        assert actual is None or isinstance(actual, int)
        return limit.value, actual
    sign = "%" if limit.percent else ""
    digits = _digits(limit.value, actual)
    return f"{fixed(limit.value, digits)}{sign}", None if actual is None else f"{fixed(actual, digits)}{sign}"


def as_json(number: Number | None) -> int | float | None:
    """Return a number as JSON has it: a fraction as the float that is nearest."""
    return number if number is None or isinstance(number, int) else float(number)


def numbers(check: LimitCheck) -> tuple[Any, Any]:
    """Return the limit and the number as JSON has them; of a tensor, the shapes."""
    if check.limit.shape:
        return [*check.limit.shape], [*check.shape] or None
    return as_json(check.limit.value), as_json(check.actual)


def message(check: LimitCheck) -> str | None:
    """Return what is wrong; None when nothing is."""
    if check.kept:
        return None
    if check.limit.shape:
        return _shaped(check)
    if check.actual is None:
        return f"cannot be judged: {_why_unknown(check)}"
    if check.limit.compares:
        return _changed(check)
    if check.limit.quantity is Quantity.DENSE_RATIO:
        return _ratio(check.limit, check.actual)
    return _counted(check.limit, check.actual)


def _counted(limit: Limit, actual: Number) -> str:
    where = f" in {escape(limit.layer)}" if limit.layer else ""
    unit = UNITS[limit.quantity]
    difference = actual - limit.value
    match limit.rule:
        case Rule.EXACTLY:
            more = f"{difference:,} more" if difference > 0 else f"{-difference:,} fewer"
            return f"expected {limit.value:,}{where}, got {actual:,}: {more}"
        case Rule.AT_MOST:
            return f"expected at most {limit.value:,} {unit}{where}, got {actual:,}: {difference:,} too many"
        case _:
            cure = "smaller than expected, so update the target"
            return f"expected at least {limit.value:,} {unit}{where}, got {actual:,}: {-difference:,} too few; {cure}"


def _shaped(check: LimitCheck) -> str:
    limit, layer = check.limit, escape(check.limit.layer or "")
    if check.unknown:
        return f"expected {bracketed(limit.shape)}, and {layer} has no such tensor; rnncalc count --tensors lists them"
    return f"expected {bracketed(limit.shape)} in {layer}, got {bracketed(check.shape)}"


def _ratio(limit: Limit, actual: Number) -> str:
    got = fixed(actual, _digits(limit.value, actual))
    return f"expected {_plain(limit.value)} {UNITS[limit.quantity]} at least, got {got}"


def _changed(check: LimitCheck) -> str:
    limit = check.limit
    most = f"{_plain(limit.value)}{'%' if limit.percent else ''}"
    if limit.quantity is Quantity.DENSE_RATIO:
        return f"expected a dense ratio at most {most} below the one before, got {_change(check.difference, check)}"
    unit = "" if limit.quantity is Quantity.PARAMS else f" {UNITS[limit.quantity]}"
    return f"expected at most {most} more{unit} than before, got {_change(check.difference, check)}"


def _change(difference: Difference | None, check: LimitCheck) -> str:
    """Return `+400 (+33.33%): 1,200 before, 1,600 now`."""
    if difference is None:
        return ""
    digits = _digits(check.limit.value, check.actual)
    percent = difference.percent
    share = "" if percent is None else f" ({fixed(percent, digits if check.limit.percent else 2, signed=True)}%)"
    growth, before, after = difference.growth, difference.before or 0, difference.after or 0
    if check.limit.quantity is not Quantity.DENSE_RATIO:
        return f"{growth:+,}{share}: {before:,} before, {after:,} now"
    more = 2 if check.limit.percent else digits
    return f"{fixed(growth, more, signed=True)}{share}: {fixed(before, more)} before, {fixed(after, more)} now"


def _why_unknown(check: LimitCheck) -> str:
    match check.unknown:
        case Unknown.NO_PARAMS:
            return "a network without parameters has no ratio; remove the limit"
        case Unknown.COUNTED_ELSEWHERE:
            return "what an external part costs is not known; remove the limit, or the external part"
        case Unknown.NOT_KNOWN_BEFORE:
            return f"{_WITHOUT_STEPS.get(check.limit.quantity, 'the number is not known')} of the baseline"
        case Unknown.GROWN_FROM_NOTHING:
            after = check.difference.after if check.difference else None
            return f"growth from 0 to {after or 0:,} has no percentage; limit it by a number, such as 10k"
        case _:
            return f"{_WITHOUT_STEPS[check.limit.quantity]} without the number of steps; give steps, or -T"


def _digits(one: Number, other: Number | None) -> int:
    """Return how many digits after the point tell two numbers apart, at least 2."""
    if other is None or one == other:
        return 2
    return next((n for n in range(2, _MOST_DIGITS) if fixed(one, n) != fixed(other, n)), _MOST_DIGITS)


def _plain(number: Number) -> str:
    """Return a number as it was written, without zeros at its end."""
    return fixed(number, _MOST_DIGITS).rstrip("0").rstrip(".")


def fixed(number: Number, digits: int, *, signed: bool = False) -> str:
    """Return a number rounded to some digits after the point; a float could not have them all."""
    scaled = round(abs(number) * 10**digits)
    sign = "-" if number < 0 and scaled else "+" if signed else ""
    whole, rest = divmod(scaled, 10**digits)
    return f"{sign}{whole:,}.{rest:0{digits}}"
