"""The JSON of each question, key by key, on networks small enough to work out by hand."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call, report_of

CASES = [*yaml.safe_load_all(Path("tests/questions/reports.yaml").read_text(encoding="utf-8"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["call"])
def test_a_report_worked_out_by_hand(case: dict[str, Any], call: Call) -> None:
    """Each case of `reports.yaml`: the whole object of a call, or some of its keys."""
    report = report_of(call, *shlex.split(case["call"]))
    assert case.get("is", report) == report
    assert {key: report[key] for key in case.get("holds", ())} == case.get("holds", {})
    assert len(case) == 2


def test_run(call: Call) -> None:
    """Two steps of two weights: four multiplications, one vector of one number."""
    report = report_of(call, "run", "-i", 1, "-l", "rnn:1,activation=linear,bias=false", "-T", 2, "--states")
    (layer,) = report.pop("layers")
    output = layer["output"]
    assert report == {
        "name": "network",
        "convention": "textbook",
        "topology": "many-to-one",
        "steps": 2,
        "feedback": False,
        "agrees": True,
        "outputs": output,
    }
    (states,) = layer.pop("states").values()
    assert {**states[-1], "x": None} == {"x": None, "h": output}
    assert len(states) == 2
    assert layer.pop("start") == {"forward": {"h": [0.0]}}
    assert layer == {
        "name": "rnn_1",
        "shape": [1],
        "declared_shape": [1],
        "weights": 2,
        "weights_read": 2,
        "multiply_adds": 4,
        "multiplications": 4,
        "output": output,
        "agrees": True,
        "reason": None,
    }


def test_many_layers_are_named_in_few_words(call: Call) -> None:
    """Three by name, more as a number."""
    for count, words in ((3, "gru_1, gru_2, gru_3"), (4, "gru_1, gru_2, 2 others")):
        report = report_of(call, "-i", 2, "-l", f"gru:2,repeat={count}", "--all-conventions")
        assert report["differences"][0]["text"].startswith(f"{6 * count} more in {words} than")


def test_compare(call: Call) -> None:
    """As wide as 28 parameters allow: 3, 1 and 1; and beside another network, which has no steps either."""
    same = report_of(call, "compare", "specs/dense-equivalent.yaml", "--same-params")
    assert [(row["units"], row["params"]) for row in same["rows"]] == [(None, 28), (3, 28), (1, 20), (1, 26)]
    beside = report_of(call, "compare", "specs/rnn.yaml", "specs/gru.yaml")
    assert beside["name"] == "Comparison"
    assert [(row["name"], row["multiply_adds"]) for row in beside["rows"]] == [
        ("Simple RNN, one layer", None),
        ("GRU, one layer", None),
    ]


def test_check(call: Call) -> None:
    """A limit has its place in the spec."""
    assert report_of(call, "check", "specs/dense-equivalent.yaml")["checks"][0] == {
        "name": "expect.total",
        "convention": "textbook",
        "limit": 28,
        "actual": 28,
        "ok": True,
        "message": None,
        "line": 10,
        "column": 10,
    }
