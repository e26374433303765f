"""Which YAML files of a folder are meant to be specs, and what becomes of the others."""

import json
from pathlib import Path

import pytest
from conftest import Call

from rnncalc.errors import SpecError
from rnncalc.spec import parse_if_meant

GOOD = "input: 4\nlayers:\n  - rnn: 3\noutput: 1\nexpect: 28\n"
OTHERS = {
    "a workflow": "name: ci\non: push\njobs: {a: {steps: [{uses: x, with: {input: 3}}]}}\n",
    "an action": "name: x\ndescription: y\ninputs: {a: {default: b}}\nruns: {using: composite, steps: []}\n",
    "settings of a translator": "layers: 6\nencoder: brnn\nrnn_size: 500\nsave_model: x\ntrain_steps: 9\ndata: y\n",
    "a template": "name: {{ .Values.name }}\n---\n- [\n",
    "manifests": "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Pod\n",
    "a list": "- input: 3\n- layers: 4\n",
    "a word": "input\n",
    "nothing": "",
    "a comment": "# input: 3\n",
    "tags": "Resources: !Ref x\nOutputs: !Sub y\n",
    "text": "layers of \x07 paint: |\n  input: 3\n",
    "other JSON": '{"a": {"input": 3, "layers": 4}, "b": [}\n',
    "bytes": "\udcff\udcfe\udcc0x",
}
SPECS = {
    "no layers": "input: 3\n",
    "a misspelt key": "input: 3\nlayer: [rnn: 3]\n",
    "two misspelt keys": "input: 3\nlayer: [rnn: 3]\nouput: 3\nsteps: 3\n",
    "no YAML": "input: 3\nlayers: [\n",
    "two documents": f"{GOOD}---\n{GOOD}",
    "a tab": "input: 3\nlayers:\n\t- rnn: 3\n",
    "a wrong character": "input: 3\nlayers: [rnn: \x07]\n",
    "JSON": '{"input": 3, "layers": [{"rnm": 3}]}\n',
    "JSON cut short": '{"input": 3, "layers": [{"rnn": 3, "bidirectional": true, "bias": false,',
    "half a translator": "encoder: {input: 3}\n",
    "in quotes": "'input': x\n\"layers\" : 3\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_has_other_keys_is_no_spec(text: str) -> None:
    """Whatever else is written in YAML, or in what only looks like it."""
    for overrides in ({}, {"steps": "3", "convention": "keras", "topology": "one-to-one"}):
        assert parse_if_meant(text.encode("utf-8", "surrogateescape"), "x.yaml", **overrides) is None


@pytest.mark.parametrize("text", SPECS.values(), ids=SPECS)
def test_a_spec_that_is_wrong_is_told_of_it(text: str) -> None:
    """What has the keys of a spec, or half of them, is one, and not left out for its mistakes."""
    for data in (text.encode(), text.encode("utf-16")):
        with pytest.raises(SpecError):
            parse_if_meant(data, "x.yaml")


def test_a_spec_is_read() -> None:
    """As it is everywhere."""
    spec = parse_if_meant(GOOD.encode(), "x.yaml", convention="pytorch")
    assert spec
    assert (spec.network.params, spec.own_convention) == (31, "textbook")


def test_other_files_of_a_folder_are_left_out_and_counted(tmp_path: Path, call: Call) -> None:
    """Those of a folder; a file that is named is read, whatever it is."""
    for number, text in enumerate((GOOD, *OTHERS.values())):
        (tmp_path / f"{number}.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")
    result = call("check", tmp_path)
    assert result.code == 0
    assert "1 spec, 1 check" in result.out
    assert f"{len(OTHERS)} YAML files without the keys of a spec were left out" in result.out
    result = call("check", tmp_path, "-f", "json")
    assert len(json.loads(result.out)["reports"]) == 1
    assert result.err == f"{len(OTHERS)} YAML files without the keys of a spec were left out\n"
    assert call("check", tmp_path, tmp_path / "1.yaml").code == 2
    assert call("check", tmp_path / "0.yaml", "--baseline", tmp_path).code == 0


def test_a_folder_without_a_spec_is_an_error(tmp_path: Path, call: Call) -> None:
    """Nothing was checked, and that is no success."""
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "a.yaml").write_text(GOOD)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.yaml").write_text(OTHERS["a workflow"])
    result = call("check", tmp_path / "good", tmp_path / "other", "-f", "json")
    assert result.code == 2
    assert f"{tmp_path / 'other'}: 1 YAML file below this folder, none a spec by its keys\n" in result.err
    assert call("check", tmp_path).code == 0
