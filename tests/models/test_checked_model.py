"""`check --model`: a spec against a file, tensor by tensor, and the change that would make them agree."""

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Call, file_at, refusal, report_of
from models.files.made import Shape, lstm, safetensors, state_dict

HEAD = "convention: pytorch\ninput: {input}\nlayers:\n"
GRU = {"rnn.weight_ih_l0": (6, 3), "rnn.weight_hh_l0": (6, 2), "rnn.bias_ih_l0": (6,), "rnn.bias_hh_l0": (6,)}
TWO_WAYS = {**lstm(3, 2), **lstm(3, 2, mark="_reverse")}
BARE = {name: shape for name, shape in lstm(3, 2).items() if "bias" not in name}


LONG = ".".join(["module"] * 20)
IH, NONE = "rnn.weight_ih_l0", "and the file has no such tensor"


def spec(folder: Path, layers: str, input: int = 3) -> Path:
    path = folder / "spec.yaml"
    path.write_text(HEAD.format(input=input) + layers)
    return path


@pytest.mark.parametrize(
    ("layers", "shapes", "said"),
    [
        ("lstm: 4", lstm(3, 2), "5: lstm_1.units: lstm_1 has 2 units in the file, 4 in the spec; write lstm: 2"),
        ("lstm: 2", lstm(5, 2), "2:8: input: the input is 5 in the file, 3 in the spec; write input: 5"),
        ("lstm: 2", GRU, "lstm_1: the file has gru: 2, the spec lstm: 2; write gru: 2"),
        ("lstm: 2", TWO_WAYS, "the file has lstm: 2, bidirectional: true, the spec lstm: 2; write {lstm: 2, bid"),
        ("lstm: 2, bidirectional: true", lstm(3, 2), "the spec lstm: 2, bidirectional: true; write {lstm: 2} inst"),
        ("lstm: 2", BARE, "lstm_1: the file has lstm: 2, bias: false, the spec lstm: 2; write {lstm: 2, bias: f"),
        ("lstm: 2, bias: false", lstm(3, 2), "the spec lstm: 2, bias: false; write {lstm: 2} instead of"),
        ("lstm: 2", {**lstm(3, 2), **lstm(2, 2, "top")}, "top: the file has this layer, lstm: 2, and the spec"),
        ("lstm: 2", {**lstm(3, 2), **lstm(2, 2, number=1)}, "lstm: 2, repeat: 2, the spec lstm: 2; write {lstm: 2"),
        ("lstm: 2, repeat: 2", lstm(3, 2), "the file has lstm: 2, the spec lstm: 2, repeat: 2; write {lstm: 2} "),
        ("lstm: 2, repeat: 2", {**lstm(3, 2), **lstm(2, 4, number=1)}, "; write {lstm: 2}, then {lstm: 4}"),
        ("lstm: 2, projection: 1", lstm(3, 2), "the spec lstm: 2, projection: 1; write {lstm: 2}"),
        ("external: 7", {"conv.weight": (8,)}, "the file has external: 8, the spec external: 7; write exter"),
        ("lstm: 2", {**lstm(3, 2), "odd": (8,)}, "odd: the file has (8), which no layer has; rnncalc read "),
        ("lstm: 2, path: gone", lstm(3, 2), "lstm_1: not in the file at its path, gone"),
    ],
)
@pytest.mark.parametrize("every", [False, True])
def test_what_differs_is_told_with_its_cure(
    tmp_path: Path, call: Call, layers: str, shapes: Mapping[str, Shape], said: str, every: bool
) -> None:
    """Another width, another kind of cell, a missing or extra direction, bias or layer: exit 1."""
    path, written = state_dict(tmp_path / "model.pt", shapes), spec(tmp_path, f"  - {{{layers}}}\n")
    checked = call("check", written, "--model", path, *["--tensors"] * every)
    assert checked.code == 1
    assert said in checked.out
    rows = [line for line in checked.out.splitlines() if line.startswith(("✗", "✓"))]
    assert len(rows) == 1 or every or "no layer has" in said or "path" in said
    if cure := re.search(r"; write (.*)\n", checked.out):  # followed literally, the spec passes
        text = cure[1] if cure[1].startswith("input") else ""
        new, whole, _ = cure[1].partition(" instead of the whole layer")
        lines = "".join(f"  - {line}\n" for line in (f"{{{layers}}}" if text else new).split(", then "))
        lines += "".join(f"    {option}\n" for option in layers.split(", ")[1:] if not (text or whole))  # in block form
        edited = spec(tmp_path, lines, int(text.removeprefix("input: ") or 3))
        assert call("check", edited, "--model", path).code == 0


def test_a_draft_has_no_line_to_write(tmp_path: Path, call: Call) -> None:
    """A model file instead of the spec is binary."""
    one, other = state_dict(tmp_path / "one.pt", lstm(3, 2)), state_dict(tmp_path / "other.pt", GRU)
    assert (
        f"\n{one}: lstm_1: the file has gru: 2, path: rnn, the spec lstm: 2, path: rnn\n"
        in call("check", one, "--model", other).out
    )
    assert call("run", one, "--weights", other).err.endswith("the spec lstm: 2, path: rnn\n")


def test_a_file_that_fits_is_one_check(tmp_path: Path, call: Call) -> None:
    """With how many tensors it has; an LSTM has four."""
    path, written = state_dict(tmp_path / "model.pt", lstm(3, 2)), spec(tmp_path, "  - lstm: 2\n")
    (check,) = report_of(call, "check", written, "--model", path)["checks"]
    assert (check["name"], check["ok"], check["limit"], check["actual"]) == ("--model", True, 4, 4)
    assert len(report_of(call, "check", written, "--model", path, "--tensors")["checks"]) == 4
    refused = call("check", written, "--tensors")
    assert (refused.code, refused.err) == (2, "--tensors: needs --model; add it, or remove --tensors\n")


def test_a_file_of_one_layer_less_says_so(tmp_path: Path, call: Call) -> None:
    """Each layer that one side alone has."""
    path = state_dict(tmp_path / "model.pt", {**lstm(8, 16), "fc.weight": (5, 16), "fc.bias": (5,)})
    checked = call("check", spec(tmp_path, "  - lstm: 32\n  - lstm: 16\n", 8), "--model", path)
    assert "lstm_1: not in the file\n" in checked.out
    assert "fc: the file has this layer, dense: 5, and the spec lacks it\n" in checked.out
    cured = spec(tmp_path, "  - lstm: 16\n  - dense: 5\n", 8)
    assert call("check", cured, "--model", path).code == 0
    assert call("check", spec(tmp_path, "  - lstm: 16\noutput: 5\n", 8), "--model", path).code == 0


def test_a_file_of_another_network_is_told_in_one_line(tmp_path: Path, call: Call) -> None:
    """Other kinds, and another number of tensors; the table still has them all."""
    path = state_dict(tmp_path / "model.pt", {**lstm(7, 5), **lstm(5, 5, number=1), "fc.weight": (9, 5)})
    named = spec(tmp_path, "  - gru: 2\n")
    checked = call("check", named, "--model", path, "--tensors")
    assert checked.code == 1
    cure = f"rnncalc read {path} drafts its spec"
    assert f"{named}: {path} is of another network: the spec has none of its tensors; {cure}\n" in checked.out
    assert "which no layer has" not in checked.out
    assert "fc.weight" in checked.out


def test_an_output_of_another_size_is_told_as_an_output(tmp_path: Path, call: Call) -> None:
    """As the spec writes it, not as the dense layer that the file has."""
    path = state_dict(tmp_path / "model.pt", {**lstm(3, 2), "fc.weight": (5, 2), "fc.bias": (5,)})
    checked = call("check", spec(tmp_path, "  - lstm: 2\noutput: 4\n"), "--model", path)
    assert "output has 5 units in the file, 4 in the spec; write output: 5\n" in checked.out
    options = {
        "units: 5\n  bias: false": "output: 5 instead of the whole output",
        "units: 4\n  activation: relu": "units: 5",
    }
    for text, cure in options.items():
        block = spec(tmp_path, f"  - lstm: 2\noutput:\n  {text}\n")
        assert f"; write {cure}\n" in call("check", block, "--model", path).out
    both = {
        f"attention.{part}.{end}": (5, 2)[: 1 + (end == "weight")]
        for part in ("Wa", "Ua")
        for end in ("weight", "bias")
    }
    shapes = {**lstm(3, 2, "enc"), **both, "attention.Va.weight": (1, 5), **lstm(6, 2, "dec")}
    halves = "encoder: {input: 3, layers: [{lstm: 2}]}\ndecoder: {input: 4, layers: [{lstm: 2}], attention: {units: 3}}"
    attending = file_at(tmp_path / "b.yaml", f"convention: pytorch\n{halves}\n")
    checked = call("check", attending, "--model", state_dict(tmp_path / "b.pt", shapes))
    assert "expected (3, 2), the file has (5, 2) in attention.Wa.weight; rnncalc read " in checked.out


def test_every_format_of_check(tmp_path: Path, call: Call) -> None:
    """A case a tensor, the failed ones with their place in the spec."""
    written, path = spec(tmp_path, "  - lstm: 2\n"), state_dict(tmp_path / "model.pt", lstm(5, 2))
    checks = report_of(call, "check", written, "--model", path, "--tensors")["checks"]
    assert [check["ok"] for check in checks] == [False, False, True, True, True]
    assert (checks[1]["limit"], checks[1]["actual"], checks[1]["line"]) == ([8, 3], [8, 5], 4)
    junit = call("check", written, "--model", path, "--tensors", "-f", "junit").out
    assert 'tests="5" failures="2"' in junit
    assert f"file={written},line=2,col=8" in call("check", written, "--model", path, "-f", "github").out
    assert "rnn.weight\\_ih\\_l0" in call("check", written, "--model", path, "--tensors", "-f", "markdown").out


SAME = {**lstm(2, 2, "encoder"), **lstm(2, 2, "decoder")}


def test_a_layer_that_may_be_several_is_an_error_with_their_names(tmp_path: Path, call: Call) -> None:
    """And a path settles it; so does the order where the file keeps one, and a layer's name."""
    sorted_, kept = safetensors(tmp_path / "a.safetensors", SAME), state_dict(tmp_path / "a.pt", SAME)
    both = spec(tmp_path, "  - lstm: 2\n  - lstm: 2\n", 2)
    result = call("check", both, "--model", sorted_)
    assert result.code == 2
    assert f"{both}:4:5: layers[0]: may be 'encoder' or 'decoder' of the file; give its path\n" in result.out
    assert call("check", both, "--model", kept).code == 0
    one = spec(tmp_path, "  - lstm: 2\n", 2)
    assert call("check", one, "--model", kept).code == 2
    wrapped = state_dict(tmp_path / "b.pt", {**lstm(2, 2, "a.rnn"), **lstm(2, 2, "b.rnn")})
    result = call("check", spec(tmp_path, "  - lstm: 2\n    path: rnn\n", 2), "--model", wrapped)
    assert (result.code, "may be 'a.rnn' or 'b.rnn' of the file" in result.out) == (2, True)
    for key in ("path", "name"):
        settled = spec(tmp_path, f"  - lstm: 2\n    {key}: encoder\n  - lstm: 2\n    {key}: decoder\n", 2)
        assert call("check", settled, "--model", sorted_).code == 0


def test_an_encoder_decoder(tmp_path: Path, call: Call) -> None:
    """Both halves are held, each at its place; the halves of one size are told apart by the order of the file."""
    shapes = {**lstm(3, 2, "encoder.rnn"), **lstm(3, 2, "decoder.rnn"), "decoder.out.weight": (4, 2)}
    path = state_dict(tmp_path / "a.pt", {**shapes, "decoder.out.bias": (4,)})
    written = tmp_path / "a.yaml"
    half = "  input: 3\n  layers:\n    - lstm: 2\n"
    written.write_text(f"convention: pytorch\nencoder:\n{half}decoder:\n{half}  output: 4\n")
    assert call("check", written, "--model", path).code == 0
    written.write_text(written.read_text().replace("input: 3", "input: 5"))
    checked = call("check", written, "--model", path)
    assert checked.code == 1
    assert f"{written}:3:10: encoder.input: the input is 3 in the file, 5 in the spec; write input: 3\n" in checked.out
    assert f"{written}:7:10: decoder.input: the input is 3 in the file, 5 in the spec; write input: 3\n" in checked.out


def test_a_file_without_parameters_has_no_cure(tmp_path: Path, call: Call) -> None:
    """No spec is drafted of it."""
    path = state_dict(tmp_path / "a.pt", {"bn.running_mean": (4,)})
    checked = call("check", spec(tmp_path, "  - lstm: 2\n"), "--model", path)
    assert (checked.code, "drafts" in checked.out) == (1, False)


def test_another_convention_and_several_specs_are_mistakes(tmp_path: Path, call: Call) -> None:
    """Each with the cure."""
    path = state_dict(tmp_path / "a.pt", lstm(3, 2))
    textbook = file_at(tmp_path / "t.yaml", "input: 3\nlayers: [lstm: 2]\n")
    result = call("check", textbook, "--model", path)
    assert result.code == 2
    assert (
        "the file has the tensors of pytorch, and the spec counts those of textbook; make the convention pytorch"
        in result.out
    )
    assert call("check", textbook, "-c", "pytorch", "--model", path).code == 0
    both = call("check", textbook, spec(tmp_path, "  - lstm: 2\n"), "--model", path)
    assert both.err == "rnncalc: --model is the file of one spec, got 2; give one PATH\n"


def test_a_run_with_the_weights_of_a_file(tmp_path: Path, call: Call) -> None:
    """The numbers of the file, by hand: h = tanh(1/64·x + 1/64·h + 1/64 + 1/64), twice, x being 1."""
    from math import tanh

    shapes = {"rnn.weight_ih_l0": (1, 1), "rnn.weight_hh_l0": (1, 1), "rnn.bias_ih_l0": (1,), "rnn.bias_hh_l0": (1,)}
    inputs = file_at(tmp_path / "inputs.yaml", "[[1], [1]]")
    written = spec(tmp_path, "  - rnn: 1\n", 1)
    first = tanh(3 / 64)
    for path in (state_dict(tmp_path / "a.pt", shapes), safetensors(tmp_path / "a.safetensors", shapes)):
        done = json.loads(call("run", written, "--weights", path, "--inputs", inputs, "-f", "json").out)
        assert done["reports"][0]["outputs"] == [pytest.approx(tanh(3 / 64 + first / 64), rel=1e-12)]


def test_weights_that_do_not_fit_are_refused(tmp_path: Path, call: Call) -> None:
    """Tensor by tensor, with the change, and before a number is read; a pass that is too long is refused unread."""
    path = state_dict(tmp_path / "a.pt", lstm(3, 2))
    err = refusal(call, "run", spec(tmp_path, "  - lstm: 4\n"), "--weights", path)
    assert err.splitlines()[0].endswith("lstm_1 has 2 units in the file, 4 in the spec; write lstm: 2")
    long = call("run", spec(tmp_path, "  - lstm: 2\n"), "--weights", path, "-T", "10M")
    assert "a pass would do" in call("run", spec(tmp_path, "  - lstm: 2\n"), "--weights", path, "-T", 10**9).err
    assert long.code == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_weight_that_is_no_number(tmp_path: Path, call: Call, number: float) -> None:
    """What a diverged training leaves is told with its place, and not run."""
    data = {"rnn.weight_hh_l0": struct.pack("<4f", 1, 1, number, 1)}
    shapes = {"rnn.weight_ih_l0": (2, 3), "rnn.weight_hh_l0": (2, 2)}
    path = safetensors(tmp_path / "a.safetensors", shapes, data=data)
    err = refusal(call, "run", spec(tmp_path, "  - rnn: 2\n    bias: false\n"), "--weights", path)
    assert "weights.rnn_1.weight_hh_l0[1][0]: expected a number" in err


def test_what_else_fails_is_told_beside(tmp_path: Path, call: Call) -> None:
    """Limits of the spec are held in the same call; tensors that are no parameters are counted, not held."""
    path = state_dict(tmp_path / "a.pt", {**lstm(3, 2), "bn.running_mean": (4,)})
    written = spec(tmp_path, "  - lstm: 2\nexpect: 56\nbudget: {max_params: 50}\n")
    result = call("check", written, "--model", path)
    assert result.code == 1
    assert "expected at most 50 parameters, got 56" in result.out
    assert "1 tensor of the model file is not a parameter and was left out." in result.out


TAGGER = {"encoder": lstm(3, 2, "encoder"), "tags": {"tags.weight": (5, 2), "tags.bias": (5,)}}
"""An LSTM of 3 inputs and 2 units, and a dense layer of 5 units behind it."""


def at_paths(tmp_path: Path, encoder: str, tags: str) -> Path:
    """Return a spec of the two at paths of one's own."""
    layers = f"  - lstm: 2\n    path: {encoder}\noutput:\n  units: 5\n  path: {tags}\n"
    return spec(tmp_path, layers)


@pytest.mark.parametrize("prefix", ["model.", "module.model.", "wrapped/"])
def test_a_prefix_that_the_file_has_not_does_not_matter(prefix: str, tmp_path: Path, call: Call) -> None:
    """A spec drafted from a checkpoint holds the state dict within it."""
    path = state_dict(tmp_path / "a.pt", {**TAGGER["encoder"], **TAGGER["tags"]})
    assert call("check", at_paths(tmp_path, f"{prefix}encoder", f"{prefix}tags"), "--model", path).code == 0


def test_a_path_that_the_file_lacks(tmp_path: Path, call: Call) -> None:
    """Both sides are said: what is not at its path, and what the file has elsewhere."""
    path = state_dict(tmp_path / "a.pt", {**TAGGER["encoder"], **TAGGER["tags"]})
    done = call("check", at_paths(tmp_path, "model.encodre", "model.tags"), "--model", path)
    assert done.code == 1
    assert "lstm_1: not in the file at its path, model.encodre\n" in done.out
    assert "encoder: the file has this layer, lstm: 2, and the spec lacks it\n" in done.out


AROUND = {
    "ear.weight": (4, 3, 2),
    "ear.bias": (4,),
    "norm.weight": (4,),
    "norm.bias": (4,),
    "norm.running_mean": (4,),
    "norm.running_var": (4,),
    "norm.num_batches_tracked": (),
    "last.weight": (4,),
    "last.bias": (4,),
}


def test_layers_around_the_cells(tmp_path: Path, call: Call) -> None:
    """Run with the stored means and variances of the file, and not without."""
    path = state_dict(tmp_path / "a.pt", AROUND)
    read = file_at(tmp_path / "read.yaml", call("read", path).out)
    assert call("run", read, "--weights", path, "-T", 2).code == 0
    without = {name: shape for name, shape in AROUND.items() if "running" not in name}
    done = call("run", read, "--weights", state_dict(tmp_path / "b.pt", without))
    assert (done.code, "running_mean" in done.err) == (2, True)
