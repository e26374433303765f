"""The table of other programs in docs/conventions.md: what is written under `count with` gives the numbers seen."""

import json
import re

import pytest
from conftest import Call
from documents import ROOT

ROWS = re.findall(
    r"^\| (.+?) \| ([–\d,]+, [–\d,]+, [–\d,]+) \| (the textbook|`.+?`) \|",
    (ROOT / "docs/conventions.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def total(call: Call, flags: str) -> int:
    params: int = json.loads(call(*flags.split(), "-f", "json").out)["reports"][0]["params"]
    return params


@pytest.mark.parametrize(("numbers", "how"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_the_way_to_count_gives_the_numbers(numbers: str, how: str, call: Call) -> None:
    """Of 16 units on 8 inputs; what is no flag is an option of the layer."""
    words = how.replace("the textbook", "").strip("`")
    after = f" {words}" if words.startswith("-c") else f",{words}" if words else ""
    for kind, seen in zip(("rnn", "gru", "lstm"), numbers.split(", "), strict=True):
        if seen != "–":
            assert total(call, f"-i 8 -l {kind}:16{after}") == int(seen.replace(",", ""))


def test_the_rows_are_found() -> None:
    assert len(ROWS) >= 10


@pytest.mark.parametrize(
    ("flags", "beside", "seen"),
    [
        ("-i 8 -l gru:16,reset_gate=false,bias=false", 64, 832),
        ("-i 16 -l lstm:48 -l lstm:96 -l lstm:96 -l lstm:192 -o 111", 160, 385_807),
        ("-i 21 -l embedding:8 -l lstm:16 -o 6", 0, 1870),
    ],
    ids=["SpeechBrain", "Tesseract", "brain.js"],
)
def test_what_others_differ_in(flags: str, beside: int, seen: int, call: Call) -> None:
    assert total(call, flags) + beside == seen
