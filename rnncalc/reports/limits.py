"""What is said of one limit that was held against a number: its name, its two cells in a table, what is wrong."""

from __future__ import annotations

from rnncalc.errors import dotted
from rnncalc.questions.check import Difference, HeldLimit, Limit, Number, Quantity, Rule, Unknown
from rnncalc.reports.sheet import Value
from rnncalc.text import escape

_UNITS = {
    Quantity.PARAMS: "parameters",
    Quantity.BYTES: "bytes",
    Quantity.MULTIPLY_ADDS: "multiply-adds",
    Quantity.DENSE_RATIO: "dense-equivalent parameters for each one",
}

_NEEDS = {
    Quantity.MULTIPLY_ADDS: "multiply-adds are not known",
    Quantity.DENSE_RATIO: "the dense equivalent is not known",
}


def name(limit: Limit) -> str:
    """Return the limit as people write it: `budget.max_params`, `--max-params`."""
    return limit.flag or dotted(limit.path)


def cells(held: HeldLimit) -> tuple[Value, Value]:
    """Return the limit and the number as a table has them."""
    if held.limit.percent:
        return f"{held.limit.value:,.2f}%", None if held.actual is None else f"{held.actual:,.2f}%"
    return held.limit.value, held.actual


def message(held: HeldLimit) -> str | None:
    """Return what is wrong; None when nothing is."""
    if held.kept:
        return None
    limit, actual = held.limit, held.actual
    if actual is None:
        return f"cannot be judged: {_why_unknown(held)}"
    match limit.rule:
        case Rule.GROWTH:
            most = f"{limit.value:,g}%" if limit.percent else f"{limit.value:,}"
            return f"expected at most {most} more than before, got {_grown(held.difference)}"
        case Rule.AT_LEAST:
            return f"expected {limit.value} {_UNITS[limit.quantity]} at least, got {actual}"
        case Rule.AT_MOST:
            unit = _UNITS[limit.quantity]
            return f"expected at most {limit.value:,} {unit}, got {actual:,}: {actual - limit.value:,} too many"
        case Rule.EXACTLY:
            where = f" in {escape(limit.layer)}" if limit.layer else ""
            return f"expected {limit.value:,}{where}, got {actual:,}: {_more(actual - limit.value)}"


def _why_unknown(held: HeldLimit) -> str:
    match held.unknown:
        case Unknown.NO_PARAMS:
            return "a network without parameters has no ratio; remove the limit"
        case Unknown.COUNTED_ELSEWHERE:
            return "what an external part costs is not known; remove the limit, or the external part"
        case _:
            return f"{_NEEDS[held.limit.quantity]} without the number of steps; give steps, or -T"


def _more(number: Number) -> str:
    return f"{number:,} more" if number > 0 else f"{-number:,} fewer"


def _grown(difference: Difference | None) -> str:
    if difference is None:
        return ""
    share = "" if difference.percent is None else f" ({difference.percent:+,.2f}%)"
    return f"{difference.growth:+,}{share}: {difference.before or 0:,} before, {difference.after or 0:,} now"
