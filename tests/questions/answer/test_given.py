"""How a learner's number is read."""

import pytest
from conftest import Call

from rnncalc import External, Network
from rnncalc.questions.answer.given import Given, read_number
from rnncalc.questions.answer.grading import judge


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("7", 7, 1),
        ("0", 0, 1),
        ("1_600", 1_600, 1),
        ("12,345,678", 12_345_678, 1),
        ("2k", 2_000, 1_000),
        ("2K", 2_000, 1_000),
        ("2.5k", 2_500, 100),
        ("3M", 3_000_000, 1_000_000),
        ("3.77M", 3_770_000, 10_000),
        ("1G", 10**9, 10**9),
        ("1.5B", 1_500_000_000, 10**8),
    ],
)
def test_how_numbers_are_read(text: str, number: int, unit: int) -> None:
    """A number, and what its last digit counts."""
    assert read_number(text) == Given(number, unit, text)


def test_a_rounding_in_millions() -> None:
    """3.8M for 3,778,580, and not 3.7M."""
    net = Network(input=10, layers=(External(3_778_580),))
    assert judge(net, [read_number("3.8M")]).right
    assert not judge(net, [read_number("3.7M")]).right


@pytest.mark.parametrize("text", ["x", "-3", "1.5", "1.2345k", "3.8T", "", "0x10", "1,6,0", "01600", "1e3"])
def test_what_is_no_number_is_refused(call: Call, text: str) -> None:
    """One line, exit 2."""
    result = call("answer", "specs/lstm.yaml", "--", text)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("rnncalc: expected a whole number")
