"""`rnncalc run`: the targets and the weights that it reads, and the weights that it writes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call, file_at, refusal
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import RNN, Dense, Embedding, Network
from rnncalc.conventions import CONVENTIONS
from rnncalc.errors import RefusedError, SpecError
from rnncalc.formats.yaml import weights_text
from rnncalc.questions.run import run, weights_in_use
from rnncalc.spec import Spec, parse, parse_data
from rnncalc.spec.nodes import Flag, Mapping

NUMBERS = {
    "weights": "rnn_1: {W_xh: [[0]], W_hh: [[0.5]], b_h: [0.1]}",
    "inputs": "[[0], [0], [0]]",
    "start": "rnn_1: {h: [0.3]}",
}
"""Those of `specs/one-unit.yaml`, a sigmoid unit that reads nothing: h_3 is 0.597983."""


def test_a_network_in_flags_has_targets(tmp_path: Path, call: Call) -> None:
    """Its loss is half the squared error, L = (h_3 − y)²/2; ∂L/∂w is 0.0957935631 by hand for y = 0, of h_3 ∂h_3/∂w."""
    words = ["run", "-i", 1, "-l", "rnn:1,activation=sigmoid", "-T", 3, "--backward", "--verify", "-f", "json"]
    for key, text in NUMBERS.items():
        (tmp_path / key).write_text(text)
        words += [f"--{key}", tmp_path / key]
    for target, by_hand in ((0, 0.0957935631), (1, 0.0957935631 * (0.597983 - 1) / 0.597983)):
        (tmp_path / "targets").write_text(f"[{target}]")
        (report,) = json.loads(call(*words, "--targets", tmp_path / "targets").out)["reports"]
        (layer,) = report["layers"]
        assert report["loss"] == pytest.approx((0.597983 - target) ** 2 / 2, rel=1e-5)
        assert layer["gradients"]["W_hh"][0][0] == pytest.approx(by_hand, rel=1e-5)


def test_they_stand_instead_of_the_spec_s(tmp_path: Path, call: Call) -> None:
    """The file of the flag is the nearer one; without it, the spec's own."""
    for key, text in {"own": "[0]", "targets": "[1]"}.items():
        (tmp_path / key).write_text(text)
    words = ("run", "specs/one-unit.yaml", "--backward", "--verify")
    assert call(*words, "--targets", tmp_path / "own").out == call(*words).out
    assert call(*words, "--targets", tmp_path / "targets").out != call(*words).out


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read(network: Network, text: str) -> Any:
    """Return what `--weights` makes of a file."""
    spec = Spec(Mapping(Flag("")), "", "")
    vars(spec)["described"] = network
    return parse_data(spec, weights=(text.encode(), "weights.yaml")).weights


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_random_pass_is_repeated_from_its_weights(convention: str, call: Call, tmp_path: Path) -> None:
    """Under every convention: both directions, copies of a layer, layers without weights, names that need quotes."""
    layers = (
        "-l",
        "lstm:2,bidirectional",
        "-l",
        "dropout:0.5",
        "-l",
        "external:3",
        "-l",
        "gru:2,repeat=2",
        "-l",
        "dense:2,name=no: way",
    )
    path = tmp_path / "weights.yaml"
    args = ("run", "-i", 3, *layers, "-o", 2, "-T", 4, "-c", convention, "-f", "json")
    there = call(*args, "--save-weights", path)
    assert there.code == 0
    assert call(*args, "--weights", path).out == there.out
    again = tmp_path / "again.yaml"
    call(*args, "--weights", path, "--save-weights", again)
    assert again.read_bytes() == path.read_bytes()


@given(st.lists(FLOATS, min_size=6, max_size=6), st.text(min_size=1, max_size=8))
def test_every_float_and_every_name_is_itself_again(floats: list[float], name: str) -> None:
    """To our reader and to PyYAML's, to the bit."""
    layer = Dense(2, bias=True, name=name)
    try:
        network = Network(input=2, layers=(layer,), steps=1)
    except SpecError:  # a name of blanks alone, say
        return
    if any("\ud800" <= char <= "\udfff" for char in name):
        return  # half a character has no place in UTF-8
    weights = {name: {"W": [floats[:2], floats[2:4]], "b": floats[4:]}}
    text = weights_text(weights.items())
    assert repr(read(network, text)) == repr(weights)
    assert repr(yaml.safe_load(text)) == repr(weights)


def test_the_floats_of_the_seed() -> None:
    """What is written is what a run takes: the same outputs to the bit, of an embedding and an output that is tied."""
    network = Network(input=5, layers=(Embedding(3), RNN(3)), steps=2, topology="many-to-many")
    weights = dict(weights_in_use(network, seed=7))
    assert [*weights] == ["embedding_1", "rnn_1"]
    inputs = [4, 1]
    assert run(network, weights=weights, inputs=inputs).outputs == run(network, seed=7, inputs=inputs).outputs
    assert read(network, weights_text(weights.items())) == weights


def test_a_network_without_weights(call: Call, tmp_path: Path) -> None:
    """An empty file of weights is one too."""
    path = tmp_path / "weights.yaml"
    assert call("run", "-i", 2, "-l", "dropout:0.5", "--save-weights", path).code == 0
    assert call("run", "-i", 2, "-l", "dropout:0.5", "--weights", path).code == 0


@pytest.mark.broad
def test_more_than_can_be_read_is_not_written(tmp_path: Path, call: Call) -> None:
    """Ten million bytes are the most that `--weights` reads."""
    with pytest.raises(RefusedError, match="the weights take more than the 10,000,000 bytes"):
        weights_text([("a", {"W": [[0.123456789] * 1_000] * 1_000})])
    with pytest.raises(RefusedError, match="750,000 numbers"):
        weights_text([("a", {"W": [[0.0] * 1_000] * 800})])
    path = tmp_path / "weights.yaml"
    refusal(call, "run", "-i", 700, "-l", "dense:800", "-T", 1, "--save-weights", path)
    assert [*tmp_path.iterdir()] == []


def test_never_over_a_folder_and_never_half(call: Call, tmp_path: Path) -> None:
    """What was there stays as it was where nothing can be written, and nothing is left behind."""
    args = ("run", "-i", 2, "-l", "rnn:2", "-T", 1, "--save-weights")
    folder = tmp_path / "folder"
    folder.mkdir()
    assert refusal(call, *args, folder) == f"rnncalc: --save-weights '{folder}': is a folder; name a file in it\n"
    assert call(*args, tmp_path / "nowhere" / "w.yaml").code == 2
    assert [*tmp_path.iterdir()] == [folder]
    kept = file_at(tmp_path / "kept.yaml", "mine")
    assert call("run", "-i", 2, "-l", "rnn:2", "--save-weights", kept, "--max-multiply-adds", "1").code == 2
    assert kept.read_text() == "mine"
    assert call(*args, kept).code == 0
    assert kept.read_text().startswith("rnn_1:\n  W_xh: [[")
    assert os.listdir(folder) == []


def test_weights_that_stand_in_the_spec(call: Call, tmp_path: Path) -> None:
    """Are those in use, unless a file of their own is in their place."""
    spec, own, out = tmp_path / "spec.yaml", tmp_path / "own.yaml", tmp_path / "out.yaml"
    spec.write_text("input: 1\nlayers: [{rnn: 1, bias: false}]\nweights: {rnn_1: {W_xh: [[1]], W_hh: [[1e-7]]}}\n")
    own.write_text("rnn_1: {W_xh: [[0.5]], W_hh: [[2]]}\n")
    call("run", spec, "--save-weights", out)
    assert out.read_text() == "rnn_1:\n  W_xh: [[1.0]]\n  W_hh: [[1.0e-07]]\n"
    report = json.loads(call("run", spec, "--weights", own, "--save-weights", out, "-f", "json").out)
    assert report["reports"][0]["agrees"]
    assert out.read_text() == "rnn_1:\n  W_xh: [[0.5]]\n  W_hh: [[2.0]]\n"
    assert parse(spec.read_bytes(), "spec").network.params == 2
