"""The shapes that a spec expects of its tensors are held one by one, and told where they are written."""

import json
from pathlib import Path

import pytest
from conftest import Call

from rnncalc import LSTM, Expect, Network, SpecError
from rnncalc.questions.check import check

SPEC = "input: 10\nlayers:\n  - rnn: 20\noutput: 5\nexpect:\n  tensors:\n"


def written(folder: Path, tensors: str) -> Path:
    """Return a spec that expects some tensors."""
    path = folder / "spec.yaml"
    path.write_text(SPEC + tensors)
    return path


def test_shapes_that_are_so_pass(call: Call, tmp_path: Path) -> None:
    """Any tensors of any layers, each a check of its own."""
    path = written(tmp_path, "    rnn_1: {W_xh: [20, 10], b_h: [20]}\n    output: {W_hy: [5, 20]}\n")
    result = call("check", path, "-f", "json")
    checks = json.loads(result.out)["reports"][0]["checks"]
    assert result.code == 0
    assert [(each["name"], each["limit"], each["actual"], each["ok"]) for each in checks] == [
        ("expect.tensors.rnn_1.W_xh", [20, 10], [20, 10], True),
        ("expect.tensors.rnn_1.b_h", [20], [20], True),
        ("expect.tensors.output.W_hy", [5, 20], [5, 20], True),
    ]


def test_a_wrong_shape_fails_where_it_is_written(call: Call, tmp_path: Path) -> None:
    """Transposed is another shape, though it holds as many numbers; so is a tensor that the layer does not have."""
    path = written(tmp_path, "    rnn_1:\n      W_xh: [10, 20]\n      kernel: [10, 20]\n")
    result = call("check", path)
    assert result.code == 1
    assert f"{path}:8:13: expect.tensors.rnn_1.W_xh: expected (10, 20) in rnn_1, got (20, 10)" in result.out
    missing = "expected (10, 20), and rnn_1 has no such tensor; rnncalc count --tensors lists them"
    assert f"{path}:9:15: expect.tensors.rnn_1.kernel: {missing}" in result.out
    github = call("check", path, "-f", "github").out
    assert "line=8" in github
    assert "(20, 10)" in github
    assert "expected (10, 20) in rnn_1, got (20, 10)" in call("check", path, "-f", "junit").out


def test_under_another_convention_they_are_left_out(call: Call, tmp_path: Path) -> None:
    """They are the names and shapes of the spec's own."""
    path = written(tmp_path, "    rnn_1: {W_xh: [20, 10]}\n")
    assert call("check", path, "-c", "keras").code == 0
    assert call("count", path, "-c", "keras").code == 0


def test_a_python_caller_expects_shapes_too() -> None:
    """Of each of equal neighbours by its own name; of a layer that is not there, a SpecError."""
    network = Network(input=20, layers=[LSTM(20)] * 3, expect=Expect(tensors={"lstm_2": {"W_xi": (20, 20)}}))
    (held,) = check(network).limits
    assert held.kept
    assert held.limit.layer == "lstm_2"
    with pytest.raises(SpecError, match=r"expect\.tensors\.nix: no layer has this name"):
        Network(input=20, layers=[LSTM(20)], expect=Expect(tensors={"nix": {}}))
