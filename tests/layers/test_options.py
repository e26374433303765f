"""What a value may be, checked on Python values: the same words refuse them from a file, a flag or a call."""

import pytest

from rnncalc.layers.options import Allowed, Choice, Rate, Ratio, Real, Size, Switch, Text, WholeNumber

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("allowed", "good", "bad"),
    [
        (Size(), [1, 10**12], [0, -1, True, 1.0, "1", None, 10**12 + 1]),
        (Size(0), [0, 1, 10**12], [-1, False, 0.0, 10**12 + 1]),
        (Rate(), [0, 0.5, 1, 1.0], [-0.1, 1.1, True, "0.5", NAN, INF]),
        (Switch(), [True, False], [0, 1, "true", None]),
        (Choice(("a", "b")), ["a", "b"], ["c", "A", "", None]),
        (Text(), ["a", " a", "x" * 200], ["", "  ", 3, None, "x" * 201]),
        (Text(most=3), ["abc"], ["abcd"]),
        (WholeNumber(), [0, 10**30], [-1, 1.0, True, "1"]),
        (Ratio(), [0, 0.5, 4, 1e300], [-0.1, True, "4", INF, NAN]),
        (Real(), [-1, 0, 0.5, -1e300], [True, "1", INF, -INF, NAN]),
    ],
    ids=str,
)
def test_what_fits_and_what_does_not(allowed: Allowed, good: list[object], bad: list[object]) -> None:
    """A problem is told in words that name what was expected; what fits has none."""
    assert [value for value in good if allowed.problem(value)] == []
    for value in bad:
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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("20000", 20_000),
        ("20,000", 20_000),
        ("20_000", 20_000),
        ("20 000", 20_000),
        ("20'000", 20_000),
        ("1.000.000", 10**6),
        ("20k", 20_000),
        ("1.6k", 1_600),
        ("1,6k", 1_600),
        ("1.600k", 1_600),
        ("7B", 7 * 10**9),
        ("2e3", 2_000),
        ("1.5Ki", 1_536),
        ("1.600", None),  # 1.6 to a reader of YAML
        ("1.6", None),
        ("1.1Ki", None),
        ("010", None),
        ("01.5k", None),
        ("1e3k", None),
        ("1__000", None),
        ("-1", None),
        ("5·10^3", 5_000),
        ("2+3k", None),
        ("k", None),
        ("", None),
    ],
)
def test_a_limit_is_written_as_any_number(text: str, number: int | None) -> None:
    """With a group of thousands or a suffix, whatever the language; a point is a decimal point."""
    assert WholeNumber(suffixes=True).number(text) == number
    assert WholeNumber(suffixes=True, unit="B").number(f"{text}B") == (None if text in ("", "k", "5·10^3") else number)
