"""`explain`: every line of arithmetic it prints is true, under every convention."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network

from rnncalc import Network
from rnncalc.model.conventions import CONVENTIONS
from rnncalc.questions.conventions import all_conventions
from rnncalc.questions.explain import Explanation
from rnncalc.questions.report import Equation
from rnncalc.reports import write
from rnncalc.spec import parse


def evaluated(text: str) -> int:
    value = eval(text.replace("×", "*"))
    assert isinstance(value, int)
    return value


def letters_evaluated(text: str, words: dict[str, int]) -> int:
    """Return the value of a formula such as 4h(m + h + 1) or 2h × m with numbers for its letters."""
    text = text.replace("×", "*").replace("·", "*")
    text = re.sub(r"(?<=[\da-z)])(?=[a-zN(])", "*", text)
    return evaluated(re.sub(r"[a-zN]", lambda letter: str(words[letter[0]]), text))


@given(st.one_of(network(), encoder_decoder()), st.sampled_from([*CONVENTIONS]))
@settings(max_examples=200)
def test_every_derivation_is_true(spec: Spec, convention: str) -> None:
    """Each line evaluates to its number, letters and numbers alike, and the last line of a layer to its count."""
    net = all_conventions(parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network).networks[convention]
    if net is None:
        return
    explanation = Explanation(net)
    for placed, each in zip(net.placed, explanation.derivations(), strict=True):
        words = placed.layer.words(placed.inputs)
        for step in each.steps:
            assert evaluated(step.arithmetic.numbers) == step.params
            assert letters_evaluated(step.arithmetic.letters, words) == step.params
        assert (each.steps[-1].params if each.steps else 0) == each.params == placed.params
        for line in each.letters:
            letter, _, value = line.partition(":")[0].partition(" = ")
            assert words[letter] == int(value.rpartition("= ")[2])
    for sheet in explanation.sheets():
        for row in sheet.rows:
            (equation,) = (value for value in row if isinstance(value, Equation))
            assert evaluated(equation.numbers) == row[-1]


def test_it_follows_the_declaration() -> None:
    """Another convention, other tensors, other text."""
    said = {}
    for convention in CONVENTIONS:
        net = all_conventions(Network(input=8, layers=(gru(),))).networks[convention]
        assert net is not None
        said[convention] = [step.label for step in Explanation(net).derivations()[0].steps]
    assert "bias_hh_l0" in said["pytorch"]
    assert "recurrent_kernel" in said["keras"]
    assert "hn/bias" in said["flax-linen"]
    assert said["textbook"] == ["W_xz", "W_hz", "b_z", "one gate", "3 gates", "formula"]


def gru() -> Any:
    from rnncalc import GRU

    return GRU(16)


def test_where_the_widths_come_from(call: Call) -> None:
    """The layer below, both its directions, extra inputs: each is named."""
    out = call("explain", "specs/translation.yaml").out
    assert "m = 256 + 512 = 768: what embedding_2 hands on, and 512 extra inputs" in out
    assert "m = 8000: the vocabulary" in out
    out = call("explain", "-i", 3, "-l", "lstm:4,bidirectional", "-l", "rnn:2").out
    assert "m = 8: what lstm_1 hands on, its two directions of 4 joined by concat" in out
    assert "Gate f, forget gate: how much of the cell state to keep." in out


def test_the_dense_equivalent_is_derived_too(call: Call) -> None:
    """12 → 9 → 1, 9 × (12 + 1) and 1 × (9 + 1), 117 + 10."""
    (report,) = json.loads(call("explain", "specs/dense-equivalent.yaml", "-f", "json").out)["reports"]
    assert [step["substituted"] for step in report["dense"]] == ["9 × (12 + 1)", "1 × (9 + 1)", "117 + 10"]
    assert report["params"] == 28


def test_one_layer_alone(call: Call) -> None:
    """--layer NAME leaves the others out; a name that is none is refused."""
    out = call("explain", "specs/time-series-gru.yaml", "--layer", "gru_2").out
    assert "gru_2" in out
    assert "output" not in out
    refused = call("explain", "specs/time-series-gru.yaml", "--layer", "gru_3")
    assert refused.code == 2
    assert "did you mean 'gru_" in refused.err


def test_latex_compiles(tmp_path: Path) -> None:
    """A document with every kind of layer goes through LaTeX, where there is one; nothing beyond amsmath is loaded."""
    names = ("speech-model", "translation", "bidirectional", "word-language-model")
    text = io.StringIO()
    specs = [parse(Path(f"specs/{name}.yaml").read_bytes(), "50% of #1_{x}~^\\&$").network for name in names]
    write([Explanation(net) for net in specs], "latex", text)
    assert text.getvalue().count("\\usepackage") == text.getvalue().count("\\usepackage{amsmath}") == 1
    assert text.getvalue().isascii()
    engine = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("xelatex")
    if engine:
        (tmp_path / "explain.tex").write_text(text.getvalue())
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "explain.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "json"])
def test_every_format_is_written(form: str, call: Call) -> None:
    """Each says the total."""
    result = call("explain", "specs/dense-equivalent.yaml", "-f", form)
    assert result.code == 0
    assert "28" in result.out
