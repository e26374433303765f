"""Words for people."""

import pytest

from rnncalc import text
from rnncalc.text import not_among


def test_of_very_many_unknown_words_a_few_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten of twenty thousand, and what was meant is looked for ten times."""
    looked_for = []

    def watched(word: str, _: object) -> str:
        looked_for.append(word)
        return ""

    monkeypatch.setattr(text, "did_you_mean", watched)
    said = not_among([f"x{number}" for number in range(20_000)], ("rnn_1", "output"))
    assert said.startswith("expected rnn_1 or output, got 'x0', 'x1', ")
    assert said.endswith(", 'x9' and 19,990 more")
    assert looked_for == [f"x{number}" for number in range(10)]
    assert not_among(["x", "rnn_1", "x"], ("rnn_1",)) == "expected rnn_1, got 'x'"
