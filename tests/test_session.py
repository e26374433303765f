"""What the exercise page makes of an answer, without a browser: it solves the exercise, or not, or is not read."""

import sys
from typing import Any

import pytest
from case_files import ROOT

sys.path.insert(0, str(ROOT / "docs" / "playground"))
TWO = "-i 8 -l gru:56 -o 5"
"""3·56·65 = 10,920 and 5·57 = 285, together 11,205."""


@pytest.mark.parametrize(
    ("ask", "solved", "wrong", "unread"),
    [
        (
            "layers",
            ["10920 285", "10920, 285", "10920; 285", "10920 and 285", "gru_1: 10920 output: 285"],
            ["10920, 280", "gru: 10920", "output: 285", "biases: 173", "gru: 10920, output: 280"],
            ["10920", "11205", "total: 11205", "foo: 10920, bar: 285", "10920, 285, 7, 8"],
        ),
        (
            "total",
            ["11205", "11205 parameters", "10920, 285, total: 11205", "Total = 3 × 3735", "10920 + 285 = 11205"],
            ["10920", "11.2k", "10920, 285, total: 11200", "10920 + 285 = 11206"],
            ["biases: 173", "foo: 11205", "see page 2"],
        ),
    ],
)
def test_how_the_page_takes_an_answer(ask: str, solved: list[str], wrong: list[str], unread: list[str]) -> None:
    """Exactly, and only the whole."""
    from session import hint

    settings: dict[str, Any] = {"form": "flags", "network": TWO, "ask": ask, "seed": "", "vary": ""}
    said = {text: hint(settings, text).get("right") for text in (*solved, *wrong, *unread)}
    assert said == dict.fromkeys(solved, True) | dict.fromkeys(wrong, False) | dict.fromkeys(unread)
