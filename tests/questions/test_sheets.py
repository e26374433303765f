"""The tables people see say what the data says: the same numbers, in every format, for every question."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, Screen, report_of

from rnncalc.conventions import CONVENTIONS

QUESTIONS: list[tuple[str, list[object]]] = [
    ("count", ["specs/translation.yaml", "--tensors", "--cost"]),
    ("count", ["specs/lstm.yaml", "--cost"]),
    ("count", ["-i", 5, "-l", "lstm:6,frozen,repeat=2", "-o", 3]),
    ("count", ["specs/time-series-gru.yaml", "--all-conventions"]),
    ("count", ["specs/encoder-decoder.yaml", "--all-conventions"]),
    ("run", ["specs/many-to-many.yaml", "--verify"]),
    ("run", ["specs/encoder-decoder.yaml", "-T", 2, "--verify"]),
    ("explain", ["specs/speech-model.yaml"]),
    ("explain", ["specs/sentiment-classifier.yaml"]),
    ("answer", ["specs/gru.yaml", 1152]),
    ("answer", ["specs/two-rnn-layers.yaml", 15, 28, 5]),
    ("solve", ["-i", 70, "-l", "rnn:?", "--params", "5k"]),
    ("compare", ["specs/time-series-gru.yaml"]),
    ("compare", ["specs/time-series-gru.yaml", "--same-params"]),
    ("compare", ["specs/time-series-gru.yaml", "--steps", "1..9"]),
]
HIDDEN = {"steps", "output_shape", "shape", "units", "inputs", "outputs", "output", "ratio", "bytes", "version"}
"""What a table leaves out or writes otherwise."""


def counts(value: Any, key: str = "") -> list[int]:
    """Return the counts in a JSON report."""
    if isinstance(value, dict):
        return [number for name, below in value.items() for number in counts(below, f"{key}.{name}")]
    if isinstance(value, list):
        return [number for below in value for number in counts(below, key)]
    shown = isinstance(value, int) and not isinstance(value, bool) and not {*key.split(".")} & HIDDEN
    return [value] if shown and ("param" in key or "weights" in key or "multipl" in key or key == ".rows.dense") else []


@pytest.mark.broad
@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize(("command", "args"), QUESTIONS, ids=lambda value: str(value))
def test_a_table_says_what_the_data_says(command: str, args: list[object], form: str, call: Call) -> None:
    """Every count of the JSON report is in the table, written with separators."""
    reports = json.loads(call(command, *args, "-f", "json").out)["reports"]
    text = call(command, *args, "-f", form).out
    numbers = {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)}
    for report in reports:
        report.pop("dense", None)
        if "--tensors" not in args:
            report.pop("roles", None)
        for part in (report, *report.get("layers", []), *report.get("rows", [])):
            if part.get("multiply_adds") is not None:  # then the table shows the whole pass, not a step of it
                part.pop("multiply_adds_per_step", None)
        for layer in report.get("layers", []):
            if "--tensors" not in args:
                layer.pop("tensors", None)
            if "--cost" not in args and command == "count":
                layer.pop("multiply_adds", None)
                layer.pop("multiply_adds_per_step", None)
        if "--cost" not in args and command == "count":
            report.pop("multiply_adds", None)
            report.pop("multiply_adds_per_step", None)
    expected = counts(reports)
    assert expected
    assert not {*expected} - numbers


def test_run_in_csv_and_states(call: Call) -> None:
    """A row a layer, and a table for each direction's steps."""
    lines = call("run", "specs/many-to-many.yaml", "-f", "csv").out.splitlines()
    assert lines[0] == "network,name,shape,declared_shape,weights,weights_read,multiply_adds,multiplications,agrees"
    assert lines[1] == 'A label at every step,lstm_1,"(4, 10)","(4, 10)",680,680,2560,2560,true'
    out = call("run", "-i", 2, "-l", "gru:3,bidirectional", "-T", 2, "--states").out
    assert "gru_1, forward" in out
    assert "gru_1, backward" in out
    assert len(re.findall(r"Step +x +h +z +r +n\n", out)) == 2


def test_all_conventions_in_csv(call: Call) -> None:
    """A column a convention, and the totals last."""
    lines = call("-i", 8, "-l", "gru:16", "--all-conventions", "-f", "csv").out.splitlines()
    header, layer, total = (line.split(",") for line in lines)
    assert header == ["network", "name", "kind", "part", *CONVENTIONS]
    counts = {"textbook": "1200", "pytorch": "1248", "keras": "1248", "flax-linen": "1216", "onnx": "1248"}
    assert layer[:4] == ["network", "gru_1", "gru", ""]
    assert counts.items() <= dict(zip(header[4:], layer[4:], strict=True)).items()
    assert total == ["network", "", "total", "", *layer[4:]]


def test_both_halves_are_told_apart(call: Call, screen: Screen) -> None:
    """An encoder-decoder has a column for the part in every table, and in each piece of one that is split."""
    spec = "specs/encoder-decoder.yaml"
    lines = call(spec, "--tensors").out.splitlines()
    assert lines[1].startswith("encoder-decoder, 16 and 59 steps; convention textbook")
    assert [line.split() for line in lines if line.startswith("Part")] == [
        ["Part", "Layer", "Kind", "In", "→", "out", "Output", "shape", "Formula", "Parameters"],
        ["Part", "Layer", "Tensor", "Role", "Shape", "Parameters"],
    ]
    assert [line.split()[0] for line in lines if "W_xi" in line] == ["encoder", "decoder"]
    lines = screen(50, spec, "--all-conventions").splitlines()
    assert lines[1] == "encoder-decoder, 16 and 59 steps"
    assert {line.split()[0] for line in lines if line.endswith("as the textbook")} >= {"flax-nnx", "tfjs"}


def test_states_step_by_step(call: Call, tmp_path: Path) -> None:
    """h_t = h_(t-1) + x_t + 0.5 for 1, 2; backwards 2·2 at step 2, then 4 + 2·1 at step 1: by their time."""
    spec = tmp_path / "sums.yaml"
    spec.write_text(
        "input: 1\nlayers: [{rnn: 1, activation: linear, bidirectional: true}]\ninputs: [[1], [2]]\nweights:\n"
        "  rnn_1: {forward/W_xh: [[1]], forward/W_hh: [[1]], forward/b_h: [0.5],\n"
        "          backward/W_xh: [[2]], backward/W_hh: [[1]], backward/b_h: [0]}\n"
    )
    out = call("run", spec, "--states").out
    tables = out[out.index("rnn_1, forward") :].splitlines()
    assert [line.split() for line in tables if line and not line.startswith(("─", "✓"))] == [
        *(["rnn_1,", "forward", "direction"], ["Step", "x", "h"], ["0", "0.0"], ["1", "1", "1.5"], ["2", "2", "4.0"]),
        ["rnn_1,", "backward", "direction"],
        ["read", "from", "step", "2", "to", "step", "1;", "step", "3", "is", "its", "start"],
        *(["Step", "x", "h"], ["1", "1", "6"], ["2", "2", "4"], ["3", "0"]),
    ]
    (layer,) = report_of(call, "run", spec, "--states")["layers"]
    assert [step["h"] for step in layer["states"]["backward"]] == [[6], [4]]
    assert [step["x"] for step in layer["states"]["backward"]] == [[1], [2]]
    assert layer["start"] == {"forward": {"h": [0]}, "backward": {"h": [0]}}
    assert "Output: 4 6" in out
    alone = call("run", "-i", 1, "-l", "rnn:1", "-T", 1, "--states").out
    assert "\nrnn_1\n" in alone


def test_states_stand_below_each_other(call: Call, tmp_path: Path) -> None:
    """Points below points, as many digits as a column needs, tiny and huge numbers by their powers; the first six."""
    spec = tmp_path / "columns.yaml"
    spec.write_text(
        "input: 7\nlayers: [{rnn: 2, activation: linear, bias: false, name: r}]\n"
        "inputs: [[1, -20, 0.5, 0, 0, 0, 0], [-300, 4, 0.25, 0, 0, 0, 0]]\nstart: {r: {h: [0.5, 1e-9]}}\nweights:\n"
        "  r: {W_xh: [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]], W_hh: [[2, 0], [0, 1e9]]}\n"
    )
    out = call("run", spec, "--states").out
    assert out[out.index("Step") :].splitlines()[:-2] == [
        "Step                                     x                        h",
        "───────────────────────────────────────────────────────────────────",
        "   0                                        5.00000e-01 1.00000e-09",
        "   1     1.00 -20.00 0.50 0.00 0.00 0.00 …  1.00000e+00 1.00000e+00",
        "   2  -300.00   4.00 0.25 0.00 0.00 0.00 …  2.00000e+00 1.00000e+09",
    ]


def test_long_outputs_are_cut(call: Call) -> None:
    """Eight numbers of a vector, four vectors of a sequence, and a sign that there is more."""
    out = call("run", "-i", 2, "-l", "rnn:9", "-T", 5, "--topology", "many-to-many").out
    (line,) = (line for line in out.splitlines() if line.startswith("Output: "))
    assert line.count("; ") == 4
    assert line.endswith("; …")
    assert all(len(vector.split()) == 9 for vector in line.removeprefix("Output: ").split("; ")[:4])


def test_each_piece_of_a_split_table_names_its_rows(screen: Screen) -> None:
    """On a screen too narrow for a table its columns are in several, and the rows' names in all of them."""
    lines = screen(32, "explain", "specs/gru.yaml").splitlines()
    assert sum(line.startswith("Step") for line in lines) == 3
    assert sum(line.startswith("W_xz ") for line in lines) == 3


def test_verdicts(call: Call) -> None:
    """Correct and wrong, word for word."""
    assert "\n✓ Correct.\n" in call("answer", "specs/gru.yaml", 1200).out
    assert "\n✗ Wrong: 1,152 is 48 less than the correct 1,200.\n" in call("answer", "specs/gru.yaml", 1152).out
    assert call("answer", "specs/gru.yaml", 1200).out.endswith("✓ Correct.\n")


@pytest.mark.parametrize(
    ("args", "title"),
    [
        (["-i", 10, "-l", "lstm:20", "-o", 5], "lstm 20 → dense 5"),
        (["-i", 10, "-l", "lstm:20,repeat=12", "-l", "gru:3", "-l", "gru:3"], "lstm 20 ×12 → gru 3 ×2"),
        (
            ["-i", 9, "-l", "embedding:4", "-l", "rnn:2,bidirectional", "-l", "dropout:0.5"],
            "embedding 4 → bidirectional rnn 2 → dropout 0.5",
        ),
        (
            ["-i", 9, *(word for n in range(1, 10) for word in ("-l", f"rnn:{n}"))],
            "rnn 1 → rnn 2 → rnn 3 → … → rnn 8 → rnn 9",
        ),
    ],
)
def test_flags_have_a_title(args: list[object], title: str, call: Call) -> None:
    """The network that they describe, for people; its name for programs is as before."""
    assert call(*args).out.splitlines()[0] == title
    for command in (["explain"], ["run", "-T", 2], ["compare"]):
        assert call(*command, *args).out.splitlines()[0] == title
    assert report_of(call, *args)["name"] == "network"
    assert (
        call("solve", "-i", 70, "-l", "rnn:50", "-o", "?", "--params", 6152).out.splitlines()[0] == "rnn 50 → dense ?"
    )


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_pipe_has_no_width(columns: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the shell exports that of its screen."""
    wide = call("specs/speech-model.yaml", "--cost").out
    monkeypatch.setenv("COLUMNS", columns)
    assert call("specs/speech-model.yaml", "--cost").out == wide
