"""What a value may be, checked on Python values: the same words refuse them from a file, a flag or a call."""

from typing import Any

import pytest
from case_files import cases, worked_out

from rnncalc.layers import options
from rnncalc.layers.options import Allowed, Choice, Size, Text, WholeNumber


@pytest.mark.parametrize("case", cases("layers/values.yaml"), ids=lambda case: str(case["allowed"]))
def test_what_fits_and_what_does_not(case: dict[str, Any]) -> None:
    """A problem is told in words that name what was expected; what fits has none."""
    allowed: Allowed = eval(case["allowed"], vars(options))
    assert [value for value in worked_out(case["good"]) if allowed.problem(value)] == []
    for value in worked_out(case["bad"]):
        problem = allowed.problem(value)
        assert problem is not None
        assert problem.startswith("expected ")
        assert ", got " in problem


def test_limits_are_told_with_what_was_got() -> None:
    """Separators make large numbers readable."""
    assert Size().problem(10**12 + 1) == "expected at most 10^12, got 1,000,000,000,001"
    assert Size(0).problem(-1) == "expected a whole number, 0 or more, got -1"
    assert Text(most=3).problem("abcd") == "expected at most 3 characters, got 4"
    assert WholeNumber(suffixes=True, unit="B").problem(-1) == "expected a whole number, or one such as 4MB, got -1"
    assert Choice(("a", "b", "c")).problem("d") == "expected a, b or c, got 'd'"


@pytest.mark.parametrize(("text", "number"), cases("layers/limits.yaml"))
def test_a_limit_is_written_as_any_number(text: str, number: int | None) -> None:
    """With a group of thousands or a suffix, whatever the language; a point is a decimal point."""
    assert WholeNumber(suffixes=True).number(text) == number
    assert WholeNumber(suffixes=True, unit="B").number(f"{text}B") == (None if text in ("", "k", "5·10^3") else number)
