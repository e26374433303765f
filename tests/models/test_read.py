"""`read`: the spec that a file can be of counts what the file holds, and is the file's own to `check` and to `run`."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from conftest import Call, failing_drafts, file_at, report_of
from models.files.made import Shape, lstm, safetensors, state_dict

TABLE = {"emb.weight": (20, 3)}
DENSE = {"fc.weight": (5, 4), "fc.bias": (5,)}
BOTH_WAYS = {**lstm(3, 2), **lstm(3, 2, mark="_reverse")}


def gates(count: int, inputs: int, units: int) -> dict[str, Shape]:
    return {"rnn.weight_ih_l0": (count * units, inputs), "rnn.weight_hh_l0": (count * units, units)}


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
        (lstm(3, 2), [{"lstm": 2}]),
        (BOTH_WAYS, [{"lstm": 2, "bidirectional": True}]),
        (PROJECTED, [{"lstm": 4, "bias": False, "projection": 2}]),
        ({**lstm(2, 2), **lstm(2, 2, number=1)}, [{"lstm": 2, "repeat": 2}]),
        ({"0.weight": (20, 3), **lstm(3, 2)}, [{"embedding": 3, "path": "0"}, {"lstm": 2}]),
        (
            AWD,
            [
                {"embedding": 8, "path": "encoder"},
                {"lstm": 12, "path": "rnns.0.module"},
                {"lstm": 8, "path": "rnns.1.module"},
            ],
        ),
        ({**lstm(3, 4), **NORM, **DENSE}, [{"lstm": 4}, {"external": {"weight": [4], "bias": [4]}, "path": "bn"}]),
        (  # one bias where there are two or none
            {**gates(4, 3, 2), "rnn.bias_ih_l0": (8,)},
            [{"external": {"weight_ih_l0": [8, 3], "weight_hh_l0": [8, 2], "bias_ih_l0": [8]}}],
        ),
        ({**lstm(3, 4), **lstm(2, 2, "two")}, [{"lstm": 4}, {"external": 0, "outputs": 2}, {"lstm": 2, "path": "two"}]),
    ],
)
def test_a_spec_is_read_that_counts_the_same(
    tmp_path: Path, call: Call, shapes: Mapping[str, Shape], layers: list[dict[str, object]]
) -> None:
    """Cells, directions, layers, projections, biases, tables and the rest, from names and shapes alone."""
    path = state_dict(tmp_path / "model.pt", shapes)
    text = call("read", path).out
    read = yaml.safe_load(text)
    assert read["layers"] == [
        {**layer, "path": layer.get("path", "rnn")} if "outputs" not in layer else layer for layer in layers
    ]
    spec = file_at(tmp_path / "model.yaml", text)
    counted = report_of(call, "count", spec)
    listed = json.loads(call("read", path, "-f", "json").out)["files"][0]
    stored = [tensor["params"] for tensor in listed["tensors"] if tensor["role"] == "parameter"]
    assert counted["params"] == listed["params"] == sum(stored)
    assert listed["spec"] == read
    assert call("check", spec, "--model", path).code == 0


def test_a_sorted_file_gives_the_layers_in_their_order(tmp_path: Path, call: Call) -> None:
    """In a safetensors file names are sorted, and `decoder` comes before `encoder`: widths tell which is first."""
    shapes = {**TABLE, **lstm(3, 6, "encoder"), **lstm(6, 4, "decoder"), **DENSE}
    path = safetensors(tmp_path / "model.safetensors", shapes)
    read = yaml.safe_load(call("read", path).out)
    assert [layer["path"] for layer in read["layers"]] == ["emb", "encoder", "decoder"]
    assert read["output"] == {"units": 5, "path": "fc"}


@pytest.mark.parametrize("bias", [True, False])
def test_tied_outputs(tmp_path: Path, call: Call, bias: bool) -> None:
    """A matrix that is the table's is counted there, whether or not there are biases beside it."""
    from collections import OrderedDict

    from models.files.made import archive, tensor

    shapes = {"emb.weight": (6, 3), **lstm(3, 3), **({"fc.bias": (6,)} if bias else {})}
    value = OrderedDict((name, tensor(str(key), shape)) for key, (name, shape) in enumerate(shapes.items()))
    value["fc.weight"] = value["emb.weight"]
    path = archive(tmp_path / "model.pt", value, {str(key): bytes(4_000) for key in range(len(shapes))})
    text = call("read", path).out
    told = {"units": 6, "path": "fc", "tied": True}
    assert yaml.safe_load(text)["output"] == (told if bias else {**told, "bias": False})
    spec = file_at(tmp_path / "model.yaml", text)
    assert call("check", spec, "--model", path).code == 0
    spec.write_text(text.replace("tied: true", "tied: false"))
    checked = call("check", spec, "--model", path)
    assert checked.code == 1
    own = "" if bias else ", bias: false"
    assert f"write output: {{units: 6{own}, tied: true, path: fc}}\n" in checked.out


def test_prefixes_of_wrappers_do_not_matter(tmp_path: Path, call: Call) -> None:
    """A spec without `module.` and `_orig_mod.` finds its layers behind them."""
    path = state_dict(tmp_path / "model.pt", lstm(3, 2, "module._orig_mod.rnn"))
    spec = file_at(tmp_path / "model.yaml", "convention: pytorch\ninput: 3\nlayers:\n  - lstm: 2\n    path: rnn\n")
    assert call("check", spec, "--model", path).code == 0


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
