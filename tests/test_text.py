"""Words for people."""

import pytest

from rnncalc.text import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "a second"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (150, "2 minutes"), (3_600, "1 hour"),
     (7_200, "2 hours"), (86_400, "1 day"), (864_000_000, "10,000 days")],
)  # fmt: skip
def test_times_are_told_in_words(seconds: float, text: str) -> None:
    """In the largest unit that fits."""
    assert duration(seconds) == text
