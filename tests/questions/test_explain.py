"""`explain`: every line of arithmetic it prints is true, under every convention."""

import io
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, report_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, MGU, RNN, FastGRNN, MinGRU, Network, Part
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.formula import Plus
from rnncalc.formats import write
from rnncalc.layers.convolution import Conv1D
from rnncalc.questions.compare import compare_conventions
from rnncalc.questions.explain import StepKind, explain
from rnncalc.reports.explain import ExplanationReport
from rnncalc.spec import parse
from rnncalc.step.equations import Symbol, within
from rnncalc.typeset.sheet import Arithmetic


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
def test_every_derivation_is_true(spec: Spec, convention: str) -> None:
    """Each line evaluates to its number, letters and numbers alike, and the last line of a layer to its count."""
    of = network_of(spec)
    net = compare_conventions(of).networks[convention]
    if net is None:
        return
    report = ExplanationReport(explain(net))
    for each, said in zip(report.explanation.layers, report.data()["layers"], strict=True):
        sizes = dict(each.placed.sizes)
        for step, line in zip(each.steps, said["steps"], strict=True):
            assert evaluated(line["substituted"]) == step.params == line["params"]
            assert letters_evaluated(line["formula"], sizes) == step.params
        assert (each.steps[-1].params if each.steps else 0) == each.placed.params == said["params"]
        for line in said["letters"]:
            letter, _, value = line.partition(":")[0].partition(" = ")
            assert sizes[letter] == int(value.rpartition("= ")[2])
    for sheet in report.sheets():
        for row in [*sheet.rows, *([sheet.total] if sheet.total else [])]:
            (arithmetic,) = (value for value in row if isinstance(value, Arithmetic))
            assert evaluated(arithmetic.numbers) == row[-1]
    assert sum(each.placed.params for each in report.explanation.layers) == net.params


def test_it_follows_the_declaration() -> None:
    """Another convention, other tensors, other text."""
    said = {}
    for convention in CONVENTIONS:
        net = compare_conventions(Network(input=8, layers=(gru(),))).networks[convention]
        assert net is not None
        (layer,) = ExplanationReport(explain(net)).data()["layers"]
        said[convention] = [step["label"] for step in layer["steps"]]
    assert "bias_hh_l0" in said["pytorch"]
    assert "recurrent_kernel" in said["keras"]
    assert "hn/bias" in said["flax-linen"]
    assert said["textbook"] == ["W_xz", "W_hz", "b_z", "one block", "3 blocks", "formula"]


def gru() -> Any:
    from rnncalc import GRU

    return GRU(16)


def test_latex_compiles(tmp_path: Path) -> None:
    """A document with every kind of layer goes through LaTeX, where there is one; nothing beyond amsmath is loaded."""
    names = ("speech-model", "translation", "bidirectional", "word-language-model")
    text = io.StringIO()
    specs = [parse(Path(f"specs/{name}.yaml").read_bytes(), "50% of #1_{x}~^\\&$").network for name in names]
    write([ExplanationReport(explain(net)) for net in specs], "latex", text)
    assert text.getvalue().count("\\usepackage") == text.getvalue().count("\\usepackage{amsmath}") == 1
    assert text.getvalue().isascii()
    engine = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("xelatex")
    if engine:
        (tmp_path / "explain.tex").write_text(text.getvalue())
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "explain.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


def derived(call: Call, *args: object) -> list[dict[str, Any]]:
    report = report_of(call, "explain", *args)
    layers: list[dict[str, Any]] = report["layers"]
    return layers


def test_meanings_follow_the_convention() -> None:
    """What a gate is said to do with the old state is what the equation of that convention does with it."""
    seen = set()
    layers = [MGU(3), GRU(3), GRU(3, update_gate="replaces"), MinGRU(3), FastGRNN(3)]
    for layer in layers:
        for convention, net in compare_conventions(Network(input=3, layers=(layer,))).networks.items():
            if net is None:
                continue
            (said,) = ExplanationReport(explain(net)).data()["layers"]
            state = said["equations"][-1]["text"]
            for gate in said["gates"]:
                letter, _, meaning = gate.partition(", ")
                verb = re.search(r"how much of the old state to (keep|replace)", meaning)
                if (verb and f"{letter}_t ∘" in state) or f"(1 − {letter}_t) ∘" in state:
                    assert verb
                    keeps = f"{letter}_t ∘ h_(t−1)" in state.replace(f"(1 − {letter}_t) ∘", "")
                    assert verb[1] == ("keep" if keeps else "replace"), (layer, convention)
                    seen.add((layer.kind, convention, verb[1]))
    assert {("mgu", "textbook", "replace"), ("mgu", "flax-linen", "keep"), ("gru", "keras", "keep")} <= seen


def test_equations_have_no_needless_spaces(call: Call) -> None:
    """A shape that is wider than its term takes the room beside it."""
    for spec in sorted(Path("specs").glob("*.yaml")):
        for line, below in pairwise(call("explain", spec).out.splitlines()):
            if re.match(r"\w+ = |\w_t = ", line):
                for gap in re.finditer("  +", line):
                    assert below[gap.start() : gap.end()].strip(), (spec, line)
    lines = call("explain", "-i", 8, "-l", "gru:16").out.splitlines()
    assert lines[6:8] == ["z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)", " 16     16×8  8   16×16    16      16"]


def test_layers_by_their_names_in_a_notation() -> None:
    """One name or several; each keeps the layer below it, also one of several copies, and nothing is totalled."""
    net = Network(input=4, layers=[RNN(3), RNN(3), RNN(3)], output=2, steps=5)
    whole = explain(net, notation="uvw")
    assert [(each.placed.name, each.below and each.below.name) for each in whole.layers] == [
        ("rnn_1", None),
        ("rnn_2", "rnn_1"),
        ("rnn_3", "rnn_2"),
        ("output", "rnn_3"),
    ]
    assert whole.total is not None
    assert (whole.total.what, whole.total.params, whole.total.expression) == (StepKind.TOTAL, 74, Plus((24, 21, 21, 8)))
    assert whole.dense is not None
    some = explain(net, ["output", "rnn_3"], "uvw")
    assert (some.total, some.dense, some.network.notation) == (None, None, "uvw")
    found = [(each.placed.name, each.below and each.below.name, each.notation.name) for each in some.layers]
    assert found == [("rnn_3", "rnn_2", "uvw"), ("output", "rnn_3", "uvw")]
    assert some.layers == whole.layers[2:]
    assert explain(net, "rnn_3", "uvw").layers == whole.layers[2:3]
    assert {each.notation.name for each in (*explain(net).layers, *explain(net, "rnn_1").layers)} == {"w"}


def test_one_of_several_copies_reads_from_the_one_before() -> None:
    """Not from the first; and what reads from several reads from the last."""
    net = Network(input=3, layers=[RNN(3, repeat=4), GRU(2)])
    layers = explain(net, ["rnn_1", "rnn_3", "rnn_4", "gru_1"]).layers
    assert [(each.placed.name, each.below and each.below.name) for each in layers] == [
        ("rnn_1", None),
        ("rnn_3", "rnn_2"),
        ("rnn_4", "rnn_3"),
        ("gru_1", "rnn_4"),
    ]
    assert explain(net).layers[2].below == layers[1].below


def test_the_halves_of_a_network_begin_anew() -> None:
    """The first layer of a decoder reads its inputs, and not what the encoder outputs."""
    halves = [Part(2, (RNN(3), RNN(3)), steps=3), Part(4, (RNN(3), RNN(3)), steps=2)]
    layers = explain(Network(encoder=halves[0], decoder=halves[1])).layers
    assert [each.below and each.below.name for each in layers] == [None, "rnn_1", None, "rnn_3"]


EXPLAINED = re.findall(
    r"^(-.*)\n((?:  .*\n)+)", Path(__file__).with_name("explained.txt").read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.mark.parametrize(("flags", "below"), EXPLAINED, ids=[flags for flags, _ in EXPLAINED])
def test_a_layer_around_the_cells(flags: str, below: str, call: Call) -> None:
    """A window's steps, counted from 1, zeros around a sequence, and letters with the layer's own numbers."""
    layer = derived(call, *flags.split())[-1]
    shown = {
        "equations": [line["text"] for line in layer["equations"]],
        "letters": layer["letters"],
        "remarks": layer["remarks"][1:] or ["none"],
    }
    expected = [line.strip().split(": ", 1) for line in below.splitlines()]
    for part in {part for part, _ in expected} & {*shown}:
        assert shown[part] == [text for key, text in expected if key == part]
    assert all(text in " ".join(layer["remarks"]) for part, text in expected if part == "says")


@pytest.mark.parametrize("padding", ["valid", "same", "causal"])
@pytest.mark.parametrize(("kernel", "stride", "dilation"), [(2, 1, 1), (3, 2, 1), (4, 3, 1), (2, 4, 3), (3, 2, 2)])
@pytest.mark.parametrize("steps", [11, 12, 13])
def test_the_steps_in_an_equation_are_those_of_the_window(
    steps: int, kernel: int, stride: int, dilation: int, padding: str
) -> None:
    """At every step of the output, but for those outside the sequence, which are zeros."""
    layer = Conv1D(2, kernel, stride=stride, dilation=dilation, padding=padding)
    (derived,) = explain(Network(input=3, layers=[layer], steps=steps, topology="many-to-many")).layers
    symbols = (each for each in within(derived.equations[0].right) if isinstance(each, Symbol))
    times = [each.time for each in symbols if each.letter == "x"]
    assert len(times) == kernel
    for step in range(layer.output_shape((steps, 3))[0]):
        read = []
        for time in times:
            factor, _, more = time.partition("t")
            read.append(int(factor or 1) * (step + 1) + int(more.replace("−", "-") or 0))
        assert read == [place + 1 for place in layer.window_of(step, steps)]
