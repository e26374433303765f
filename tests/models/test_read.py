"""`read`: the spec that a file can be of counts what the file holds, and is the file's own to `check` and to `run`."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from conftest import Call, failing_drafts, file_at, report_of
from models.files.made import Shape, lstm, state_dict

AWD = {  # fastai's WeightDropout keeps the matrix apart from its module, and older ones a copy within
    "encoder.weight": (30, 8),
    "rnns.0.weight_hh_l0_raw": (48, 12),
    **{name: shape for name, shape in lstm(8, 12, "rnns.0.module").items() if "hh_l0" not in name or "bias" in name},
    "rnns.1.weight_hh_l0_raw": (32, 8),
    **lstm(12, 8, "rnns.1.module"),
}
PROJECTED = {"rnn.weight_ih_l0": (16, 3), "rnn.weight_hh_l0": (16, 2), "rnn.weight_hr_l0": (2, 4)}
NORM = {"bn.weight": (4,), "bn.bias": (4,)}


@pytest.mark.parametrize(
    ("shapes", "layers"),
    [
        ({**lstm(3, 2), **lstm(3, 2, mark="_reverse")}, [{"lstm": 2, "bidirectional": True, "path": "rnn"}]),
        (PROJECTED, [{"lstm": 4, "bias": False, "projection": 2, "path": "rnn"}]),
        (
            AWD,
            [
                {"embedding": 8, "path": "encoder"},
                {"lstm": 12, "path": "rnns.0.module"},
                {"lstm": 8, "path": "rnns.1.module"},
            ],
        ),
        (  # one bias where there are two or none
            {"rnn.weight_ih_l0": (8, 3), "rnn.weight_hh_l0": (8, 2), "rnn.bias_ih_l0": (8,)},
            [{"external": {"weight_ih_l0": [8, 3], "weight_hh_l0": [8, 2], "bias_ih_l0": [8]}, "path": "rnn"}],
        ),
    ],
)
def test_a_spec_is_read_that_counts_the_same(
    tmp_path: Path, call: Call, shapes: Mapping[str, Shape], layers: list[dict[str, object]]
) -> None:
    """Directions, projections, weights that are stored apart, and what is no layer; JSON has the same spec."""
    path = state_dict(tmp_path / "model.pt", shapes)
    text = call("read", path).out
    read = yaml.safe_load(text)
    assert read["layers"] == layers
    counted = report_of(call, "count", file_at(tmp_path / "model.yaml", text))
    listed = json.loads(call("read", path, "-f", "json").out)["files"][0]
    stored = [tensor["params"] for tensor in listed["tensors"] if tensor["role"] == "parameter"]
    assert counted["params"] == listed["params"] == sum(stored)
    assert listed["spec"] == read


def test_the_table_keeps_parameters_apart(tmp_path: Path, call: Call) -> None:
    """Buffers and optimizer states have a column of their own, and each column its sum."""
    shapes = {**NORM, "bn.running_mean": (4,), "optimizer.state.0.exp_avg": (4,)}
    out = call("read", state_dict(tmp_path / "model.pt", shapes), "-f", "table").out
    assert out.splitlines()[-3].split() == ["Total", "8", "8"]


def test_a_file_without_parameters_is_a_mistake(tmp_path: Path, call: Call) -> None:
    """If it has arrays; one that holds nothing has no spec, in JSON null."""
    path = state_dict(tmp_path / "model.pt", {"bn.running_mean": (4,)})
    read = call("read", path)
    assert (read.code, read.err) == (2, f"'{path}': has no parameters, only 1 tensor of 4 numbers (buffer)\n")
    empty = state_dict(tmp_path / "empty.pt", {})
    assert "no spec" in call("read", empty).out
    assert json.loads(call("read", empty, "-f", "json").out)["files"][0]["spec"] is None


def test_names_of_strangers_do_no_harm(tmp_path: Path, call: Call) -> None:
    """In no format do they act on a terminal; the spec with them is read back, and finds its module."""
    name = 'a\n\x1b[31m\u202e"::error::x'
    path = state_dict(tmp_path / "model.pt", {f"{name}.weight": (2, 3), f"{name}.bias": (2,), **lstm(2, 2)})
    for form in ("yaml", "table", "json", "csv"):
        out = call("read", path, "-f", form).out
        assert all(char.isprintable() or char == "\n" for char in out)
        assert not any(line.strip().startswith("::") for line in out.splitlines())
    spec = file_at(tmp_path / "model.yaml", call("read", path).out)
    assert call("check", spec, "--model", path).code == 0


def test_the_models_of_the_examples_have_drafts_that_pass() -> None:
    """As those of every file that these tests make."""
    assert failing_drafts(Path("specs/models")) == []


def test_no_file_is_a_mistake(call: Call, tmp_path: Path) -> None:
    """So are a file that is not there, and one of another kind."""
    assert call("read").err == "rnncalc: nothing to read: give a FILE, such as model.safetensors\n"
    assert call("read", tmp_path / "x.pt").err == f"'{tmp_path / 'x.pt'}': no such file or directory\n"
    other = file_at(tmp_path / "x.txt", "hello")
    assert call("read", other).err.startswith(f"'{other}': is not a model file that rnncalc reads; those end in")
    assert call("read", other).code == 2
