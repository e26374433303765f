"""`rnncalc count` of several files, and beside a training step."""

import json
import re
from pathlib import Path

import pytest
from conftest import Call

FILES = ("specs/gru.yaml", "specs/lstm.yaml")


@pytest.mark.parametrize("flags", [(), ("--training",), ("--cost", "--tensors")])
def test_each_of_several_files_is_named_above_its_table(call: Call, flags: tuple[str, ...]) -> None:
    """And a line for each ends it."""
    out = call(*FILES, *flags).out
    assert [line for line in out.splitlines() if line in FILES] == [*FILES]
    assert call(FILES[1], *flags).out in out
    summary = out.partition("\nSummary\n")[2]
    assert summary.startswith("2 networks\n")
    rows = dict(re.findall(r"^(specs/\S+) .* ([0-9,]+)$", summary, re.MULTILINE))
    assert rows == {"specs/gru.yaml": "1,200", "specs/lstm.yaml": "1,600"}


def test_a_folder_is_several_files(call: Call, tmp_path: Path) -> None:
    """Of one spec alone there is no summary."""
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text("input: 3\nlayers: [rnn: 2]\n")
        assert call(tmp_path).out.count("\nSummary\n") == (name == "b")


def test_programs_get_no_titles(call: Call) -> None:
    """JSON and CSV are reports alone."""
    reports = json.loads(call(*FILES, "-f", "json").out)["reports"]
    assert [report["params"] for report in reports] == [1200, 1600]
    assert "Summary" not in call(*FILES, "-f", "csv").out
    assert "### specs/gru.yaml\n" in call(*FILES, "-f", "markdown").out
    assert "Summary" in call(*FILES, "-f", "html").out


FLAGS = ("-i", 13, "-l", "lstm:29", "-T", 100)


def test_cost_and_training_fit_beside_each_other(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns, in one table, by saying less."""
    monkeypatch.setenv("COLUMNS", "80")
    for spec in ("specs/translation.yaml", "specs/speech-model.yaml", "specs/word-language-model.yaml"):
        out = call(spec, "--cost", "--training", "-T", 35).out
        assert out.count("────\n") == 2
        assert max(map(len, out.split("\n\n")[1].splitlines())) <= 80
        assert {"Parameters", "Saved", "Forward", "Backward"} <= {*out.split()}


def test_rows_a_tensor_are_those_of_the_count(call: Call) -> None:
    """CSV has a row a tensor, which holds nothing; tables have both."""
    assert call(*FLAGS, "--tensors", "--training", "-f", "csv") == call(*FLAGS, "--tensors", "-f", "csv")
    assert "Tensors" in call(*FLAGS, "--tensors", "--training").out


@pytest.mark.parametrize(("flags", "times"), [((), 0), (("--chunk", 4), 0), (("--chunk", 3), 1)])
def test_what_a_chunk_keeps_of_the_terms_is_said_once(call: Call, flags: tuple[object, ...], times: int) -> None:
    """Below the last of the four weights of an LSTM and the only one of an RNN; 4 steps are chunks of 3 and 1.

    One chunk of all steps is not truncated.
    """
    sentence = "Truncated: the last chunk has 1 step, and keeps that many terms of each weight, the first ones."
    for layer, weights in (("lstm:1", 4), ("rnn:1", 1)):
        out = call("run", "-i", 2, "-l", layer, "-T", 4, "--backward", "--verify", "--states", *flags).out
        assert out.count(": the terms of ") == weights
        assert out.count(sentence) == out.count("Truncated") == times
        assert not times or out.index(sentence) > out.rindex(": the terms of ")
