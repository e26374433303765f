"""What the playground says of a network, without a browser."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "playground"))
import session

SETTINGS = {"form": "flags", "convention": "keras", "steps": "7", "sizes": "", "topology": "", "notation": ""}


def network(text: str, **settings: str) -> dict[str, Any]:
    return session.network(SETTINGS | {"network": text} | settings)


@pytest.mark.parametrize(
    ("typed", "cure"),
    [
        ("lstm 10 20", "-i 10 -l lstm:20"),
        ("nn.LSTM(10, 20)", "-i 10 -l lstm:20"),
        ("torch.nn.GRU(8, 16, num_layers=2)", "-i 8 -l gru:16,repeat=2"),
        ("-i 3 --hidden 5", "-i 3 -l lstm:5"),
        ("-i 3 -l gru:5 --bidirectional=False", "-i 3 -l gru:5,bidirectional=false"),
    ],
)
def test_what_is_written_instead_is_read(typed: str, cure: str) -> None:
    """In the field where it was typed, beside the settings of the page."""
    (problem,) = network(typed)["problems"]
    assert problem["text"].partition("; write ")[2] == cure
    assert "problems" not in network(cure)


def test_the_field_has_the_flags_of_a_network_alone() -> None:
    """Those of the views, and the format, are the page's own."""
    for typed in ("-i 3 -l lstm:4 --cost", "-i 3 -l lstm:4 -f json", "-i 3 -l lstm:4 --json"):
        (problem,) = network(typed)["problems"]
        assert "; write" not in problem["text"]
    assert network("LSTM(20)")["problems"][0]["text"].endswith("write -i INPUT -l lstm:20, with your number for INPUT")
    assert "given twice" in network("-i 3 -l lstm:4 -T 3")["problems"][0]["text"]


@pytest.mark.parametrize("view", session.VIEWS)
@pytest.mark.parametrize("typed", ["-i m -l lstm:h", "-i 3 -l lstm:2 -l lstm:2", "-i 3 -l lstm:40"])
def test_nothing_names_a_flag_that_the_page_lacks(typed: str, view: str) -> None:
    settings = SETTINGS | {"convention": "", "network": typed}
    page, judged = session.show(settings, view), session.judge(settings, "1 2 3 4 5")
    body = page.get("page", "").partition("<body>")[2]
    assert not re.search(r"(?<!\w)--[a-z]", "".join([body.replace('"--', ""), *page.get("problems", [])]))
    assert " --" not in "".join(judged.get("problems", []))
    assert "rnncalc explain" not in session.judge(settings, "1").get("page", "")


def test_an_answer_waits_for_a_network_without_a_mistake() -> None:
    (problem,) = session.judge(SETTINGS | {"network": "nn.LSTM(3, 4)"}, "1")["problems"]
    assert problem == "The network has a mistake, which is shown beside it. Correct it first."
