"""What the exercise page makes of an answer, without a browser: it solves the exercise, or not, or is not read."""

import sys
from typing import Any

import pytest
from case_files import ROOT

sys.path.insert(0, str(ROOT / "docs" / "playground"))
ONE = "-i 1 -l rnn:1 -T 2"
"""With the seed 4 h_1 = tanh(0.7·(−0.7) − 0.7), h_2 = tanh(0.7·(−0.9) − 0.8·h_1 − 0.7) and L = (h_2 − 0.5)²/2."""
TWO = "-i 8 -l gru:56 -o 5"
"""3·56·65 = 10,920 and 5·57 = 285, together 11,205."""


@pytest.mark.parametrize(
    ("network", "ask", "solved", "wrong", "unread"),
    [
        (
            ONE,
            "gradients:h_1,L",
            ["h_1 = -0.8306\nL = 0.5854", "-0.8306; 0.5854", "L = 0.58540, h_1 = tanh(-1.19)"],
            ["-0.8306; 0.3", "L = 0.5854", "h_1 = -0.83"],
            ["0.5854", "h_3 = 1", "see page 2"],
        ),
        (
            TWO,
            "layers",
            ["10920 285", "10920, 285", "10920; 285", "10920 and 285", "gru_1: 10920 output: 285"],
            ["10920, 280", "gru: 10920", "output: 285", "biases: 173", "gru: 10920, output: 280"],
            ["10920", "11205", "total: 11205", "foo: 10920, bar: 285", "10920, 285, 7, 8"],
        ),
        (
            TWO,
            "total",
            ["11205", "11205 parameters", "10920, 285, total: 11205", "Total = 3 × 3735", "10920 + 285 = 11205"],
            ["10920", "11.2k", "10920, 285, total: 11200", "10920 + 285 = 11206"],
            ["biases: 173", "foo: 11205", "see page 2"],
        ),
    ],
)
def test_how_the_page_takes_an_answer(
    network: str, ask: str, solved: list[str], wrong: list[str], unread: list[str]
) -> None:
    """Exactly, and only the whole."""
    from session import hint

    settings: dict[str, Any] = {"form": "flags", "network": network, "ask": ask, "seed": "4", "vary": ""}
    said = {text: hint(settings, text).get("right") for text in (*solved, *wrong, *unread)}
    assert said == dict.fromkeys(solved, True) | dict.fromkeys(wrong, False) | dict.fromkeys(unread)
