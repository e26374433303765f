"""`run --targets`: what a network from flags should give, in a file of its own."""

import json
from pathlib import Path

import pytest
from conftest import Call

NUMBERS = {
    "weights": "rnn_1: {W_xh: [[0]], W_hh: [[0.5]], b_h: [0.1]}",
    "inputs": "[[0], [0], [0]]",
    "start": "rnn_1: {h: [0.3]}",
}
"""Those of `specs/one-unit.yaml`, a sigmoid unit that reads nothing: h_3 is 0.597983."""


def test_a_network_in_flags_has_targets(tmp_path: Path, call: Call) -> None:
    """Its loss is half the squared error, L = (h_3 − y)²/2; ∂L/∂w is 0.0957935631 by hand for y = 0, of h_3 ∂h_3/∂w."""
    words = ["run", "-i", 1, "-l", "rnn:1,activation=sigmoid", "-T", 3, "--backward", "-f", "json"]
    for key, text in NUMBERS.items():
        (tmp_path / key).write_text(text)
        words += [f"--{key}", tmp_path / key]
    for target, by_hand in ((0, 0.0957935631), (1, 0.0957935631 * (0.597983 - 1) / 0.597983)):
        (tmp_path / "targets").write_text(f"[{target}]")
        (report,) = json.loads(call(*words, "--targets", tmp_path / "targets").out)["reports"]
        (layer,) = report["layers"]
        assert report["loss"] == pytest.approx((0.597983 - target) ** 2 / 2, rel=1e-5)
        assert layer["gradients"]["W_hh"][0][0] == pytest.approx(by_hand, rel=1e-5)


def test_they_stand_in_place_of_the_spec_s(tmp_path: Path, call: Call) -> None:
    """The file of the flag is the nearer one; without it, the spec's own."""
    for key, text in {"own": "[0]", "targets": "[1]"}.items():
        (tmp_path / key).write_text(text)
    words = ("run", "specs/one-unit.yaml", "--backward")
    assert call(*words, "--targets", tmp_path / "own").out == call(*words).out
    assert call(*words, "--targets", tmp_path / "targets").out != call(*words).out
