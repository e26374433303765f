"""`explain`: every line of arithmetic it prints is true, under every convention."""

import io
import json
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
from rnncalc.reports.sheet import Arithmetic
from rnncalc.spec import parse
from rnncalc.step.equations import Symbol, within


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


def test_where_the_widths_come_from(call: Call) -> None:
    """The layer below, both its directions, extra inputs: each is named."""
    out = call("explain", "specs/translation.yaml").out
    assert "m = 256 + 512 = 768: the output of embedding_2, and 512 extra inputs" in out
    assert "m = 8000: the vocabulary" in out
    out = call("explain", "-i", 3, "-l", "lstm:4,bidirectional", "-l", "rnn:2").out
    assert "m = 8: the output of lstm_1, its two directions of 4 joined by concat" in out
    assert "Forget gate f: how much of the cell state to keep." in out


def test_the_dense_equivalent_is_derived_too(call: Call) -> None:
    """12 → 9 → 1, 9 × (12 + 1) and 1 × (9 + 1), 117 + 10."""
    report = report_of(call, "explain", "specs/dense-equivalent.yaml")
    assert [step["substituted"] for step in report["dense"]] == ["9 × (12 + 1)", "1 × (9 + 1)", "117 + 10"]
    assert report["params"] == 28


def test_one_layer_alone(call: Call) -> None:
    """--only NAME leaves the others out; a name that is none is refused."""
    out = call("explain", "specs/time-series-gru.yaml", "--only", "gru_2").out
    assert "gru_2" in out
    assert "\noutput\n" not in out
    refused = call("explain", "specs/time-series-gru.yaml", "--only", "gru_3")
    assert refused.code == 2
    assert "did you mean 'gru_" in refused.err


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


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "json"])
def test_every_format_is_written(form: str, call: Call) -> None:
    """Each says the total."""
    result = call("explain", "specs/dense-equivalent.yaml", "-f", form)
    assert result.code == 0
    assert "28" in result.out


def derived(call: Call, *args: object) -> list[dict[str, Any]]:
    report = report_of(call, "explain", *args)
    layers: list[dict[str, Any]] = report["layers"]
    return layers


def test_a_derivation_line_by_line(call: Call) -> None:
    """An LSTM of 3 units on 4 features with everything: each line written down by hand."""
    options = "bidirectional,projection=2,peepholes,learned_state"
    (layer,) = derived(call, "-i", 4, "-l", f"lstm:3,{options}")
    assert layer["letters"] == ["m = 4: the network's input", "h = 3: units", "p = 2: the width of the projection"]
    steps = [(step["label"], step["formula"], step["substituted"], step["params"]) for step in layer["steps"]]
    assert steps == [
        ("forward/W_xi", "h × m", "3 × 4", 12),
        ("forward/W_hi", "h × p", "3 × 2", 6),
        ("forward/b_i", "h", "3", 3),
        ("one block", "12 + 6 + 3", "12 + 6 + 3", 21),
        ("4 blocks", "4 × 21", "4 × 21", 84),
        ("forward/w_ci", "h", "3", 3),
        ("forward/w_cf", "h", "3", 3),
        ("forward/w_co", "h", "3", 3),
        ("forward/W_hp", "p × h", "2 × 3", 6),
        ("forward/h_0", "p", "2", 2),
        ("forward/c_0", "h", "3", 3),
        ("sum", "84 + 3 + 3 + 3 + 6 + 2 + 3", "84 + 3 + 3 + 3 + 6 + 2 + 3", 104),
        ("2 directions", "2 × 104", "2 × 104", 208),
        (
            "formula",
            "2 × (4h(m + p + 1) + 3h + h·p + p + h)",
            "2 × (4 × 3 × (4 + 2 + 1) + 3 × 3 + 3 × 2 + 2 + 3)",
            208,
        ),
    ]
    whats = [step["what"] for step in layer["steps"]]
    assert whats[:5] == ["input matrix", "recurrent matrix", "bias", "", "3 gates and the candidate: i, f, g, o"]
    assert whats[5:] == [
        *["peephole weights"] * 3,
        *("projection of the output", "learned initial state", "learned initial state"),
        *("", "forward, backward", "all of it in one"),
    ]
    assert layer["gates"][0] == "i, input gate: how much of the candidate to write"
    assert layer["params"] == 208


def test_fused_tensors_name_their_gates(call: Call) -> None:
    """Four gates in one tensor, two vectors of biases."""
    (layer,) = derived(call, "-i", 4, "-l", "lstm:3", "-c", "pytorch")
    assert [(step["label"], step["what"], step["substituted"]) for step in layer["steps"]] == [
        ("weight_ih_l0", "input matrix of i, f, g and o", "12 × 4"),
        ("weight_hh_l0", "recurrent matrix of i, f, g and o", "12 × 3"),
        ("bias_ih_l0", "biases of i, f, g and o", "12"),
        ("bias_hh_l0", "recurrent biases of i, f, g and o", "12"),
        ("sum", "", "48 + 36 + 12 + 12"),
        ("formula", "all of it in one", "4 × 3 × (4 + 3 + 2)"),
    ]
    assert layer["remarks"] == [
        "Biases: two bias vectors per gate, on the input and on the recurrent side; "
        "cuDNN's kernels, which it uses, add a bias to each of the two products."
    ]


@pytest.mark.parametrize("layer", ["sru:5", "rnn:5,recurrence=diagonal", "gru:5,recurrence=diagonal"])
def test_a_diagonal_recurrence_is_no_matrix(layer: str, call: Call) -> None:
    """Weights that are a vector are told as one per unit; of a full recurrence, also of one unit, as a matrix."""
    (of,) = derived(call, "-i", 4, "-l", layer)
    assert {step["what"] for step in of["steps"] if "recurrent" in step["what"]} == {"recurrent weights, one per unit"}
    (full,) = derived(call, "-i", 4, "-l", "rnn:1")
    assert [step["what"] for step in full["steps"]][1] == "recurrent matrix"


def test_what_is_remarked(call: Call, tmp_path: Path) -> None:
    """Tied, frozen, without biases, fed by extra inputs and by merged directions."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "input: 9\nlayers:\n  - {embedding: 4, frozen: true}\n"
        "  - {rnn: 4, bidirectional: true, merge: sum, bias: false}\n"
        "  - {rnn: 4, extra_inputs: 2}\n  - external: 7\n  - dropout: 0.5\noutput: {units: 9, tied: true}\n"
    )
    embedding, merged, fed, external, dropout, output = derived(call, spec)
    assert embedding["letters"] == ["m = 9: the vocabulary", "d = 4: the width of a vector"]
    assert embedding["remarks"] == ["Frozen: counted, but not trained."]
    assert merged["remarks"] == ["Biases: none, by bias: false."]
    joined = "its two directions of 4 joined by sum"
    assert fed["letters"][0] == f"m = 4 + 2 = 6: the output of rnn_1, {joined}, and 2 extra inputs"
    assert external["letters"] == []
    assert [step["what"] for step in external["steps"]] == ["counted elsewhere"]
    assert dropout["steps"] == []
    assert output["remarks"] == ["The matrix is the embedding's, transposed: it is counted there, once."]
    out = call("explain", spec).out
    assert "No parameters." in out
    assert out.index("Total") > out.index("output")


def test_what_was_told_of_a_kind_is_not_told_again(call: Call) -> None:
    """Two GRUs, one explanation of the gates; the dense network is told with its steps."""
    out = call("explain", "specs/time-series-gru.yaml").out
    assert out.count("Update gate z") == 1
    assert "all 168 steps at once, no weights shared" in out
    assert "70,592,280 is 2,950.20 × this network's 23,928." in out
    assert "Dense equivalent" not in call("explain", "specs/gru.yaml").out


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


def test_remarks_are_told_of_every_layer(call: Call) -> None:
    """What is so of one layer alone is said there; what is so of a kind is said once, and again where it differs."""
    out = call(
        "explain", "-i", 3, *("-l", "gru:3"), *("-l", "gru:3,frozen,bias=false"), *("-l", "gru:3,frozen"), "-o", 3
    ).out
    assert out.count("Frozen: counted, but not trained.") == 2
    assert out.count("Biases: none, by bias: false.") == 1
    assert out.count("Biases: one bias vector per gate") == 1
    assert out.count("Update gate z") == 1
    out = call("explain", "-i", 3, "-l", "gru:3", "-l", "gru:3,update_gate=replaces", "-o", "3,bias=false").out
    assert out.count("Update gate z: how much of the old state to keep.") == 1
    assert out.count("Update gate z: how much of the old state to replace.") == 1
    assert out.count("Reset gate r") == 1
    assert out.count("Biases: none, by bias: false.") == 1


def test_a_network_without_parameters_has_arithmetic_too(call: Call) -> None:
    """Nothing is 0, not an empty text."""
    report = report_of(call, "explain", "-i", 4, "-l", "dropout:0.5", "-T", 2)
    assert [(row["formula"], row["substituted"], row["params"]) for row in report["dense"]] == [("0", "0", 0)]


def test_equations_have_no_needless_spaces(call: Call) -> None:
    """A shape that is wider than its term takes the room beside it."""
    for spec in sorted(Path("specs").glob("*.yaml")):
        for line, below in pairwise(call("explain", spec).out.splitlines()):
            if re.match(r"\w+ = |\w_t = ", line):
                for gap in re.finditer("  +", line):
                    assert below[gap.start() : gap.end()].strip(), (spec, line)
    lines = call("explain", "-i", 8, "-l", "gru:16").out.splitlines()
    assert lines[6:8] == ["z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)", " 16     16×8  8   16×16    16      16"]


def test_names_of_the_textbook_are_mathematics(call: Call) -> None:
    """In LaTeX a symbol is typeset as one; the names of a framework are words."""
    out = call("explain", "-i", 8, "-l", "fastgrnn:16,bidirectional,learned_state", "-o", 2, "-f", "latex").out
    assert r"\derived{forward $W_{x}$, input matrix of z and n:}{$" in out
    assert r"\derived{forward $\zeta$, trained number:}{$1$}" in out
    assert r"\derived{$W_{hy}$, matrix:}{$n \times m$ $= 2 \times 32$ $= 64$}" in out
    assert r"W\_" not in out
    assert (
        r"\derived{weight\_ih\_l0, input matrix"
        in call("explain", "-i", 8, "-l", "rnn:16", "-c", "pytorch", "-f", "latex").out
    )
    (layer,) = derived(call, "-i", 8, "-l", "rnn:2,bidirectional")
    assert [step["label"] for step in layer["steps"]][:2] == ["forward/W_xh", "forward/W_hh"]


@pytest.mark.parametrize(
    ("notation", "first", "last", "shapes"),
    [
        ("w", "h_t = tanh(W_xh x_t + W_hh h_(t−1) + b_h)", "y_t = softmax(W_hy h_t + b_y)", {"W_hy": [2, 3]}),
        ("uvw", "h_t = tanh(U x_t + W h_(t−1) + b)", "y_t = softmax(V h_t + c)", {"V": [2, 3], "h_t": [3]}),
        ("rows", "h_t = tanh(x_t W_xh + h_(t−1) W_hh + b_h)", "y_t = softmax(h_t W_hy + b_y)", {"h_t": [1, 3]}),
        ("columns", "h_t = tanh(W_h [h_(t−1); x_t] + b_h)", "y_t = softmax(W_hy h_t + b_y)", {"W_hy": [2, 3]}),
        ("stacked", "h_t = tanh([h_(t−1), x_t] W_h + b_h)", "y_t = softmax(h_t W_hy + b_y)", {"W_hy": [3, 2]}),
    ],
)
def test_a_notation_is_for_the_whole_network(
    notation: str, first: str, last: str, shapes: dict[str, list[int]], call: Call
) -> None:
    """The cell's equations and the output layer's, with shapes that fit; the counts are the same."""
    network = ("-i", 4, "-l", "rnn:3", "-o", "2,activation=softmax", "--topology", "many-to-many")
    asked = call("explain", *network, "--notation", notation, "-f", "json")
    (report,) = json.loads(asked.out)["reports"]
    lines = [line for layer in report["layers"] for line in layer["equations"]]
    assert [line["text"] for line in lines] == [first, last]
    assert shapes.items() <= lines[-1]["shapes"].items()
    assert (report["notation"], report["params"]) == (notation, 3 * (4 + 3 + 1) + 2 * (3 + 1))
    text = call("explain", *network, "--notation", notation).out
    assert ("Notation: " in text) == (notation != "w")


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


def test_the_first_layer_of_a_half_reads_the_input_of_that_half(call: Call) -> None:
    """The network as a whole has no one input there."""
    text = call("explain", "specs/encoder-decoder.yaml").out
    assert "m = 93: the decoder's input" in text
    assert "the encoder's input" in text
    assert "the network's input" not in text
    assert "m = 8: the network's input" in call("explain", "specs/lstm.yaml").out


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
        window = layer.window_of(step, steps)
        assert [place if 1 <= place <= steps else None for place in read] == [
            place if place is None else place + 1 for place in window
        ]


@pytest.mark.parametrize(
    ("form", "index"), [("table", "x_(2t−1)"), ("latex", r"{x_{2t-1}}"), ("html", '<mn>2</mn><mi>t</mi><mo lspace="0"')]
)
def test_a_stride_in_every_format(form: str, index: str, call: Call) -> None:
    """It multiplies t in a subscript."""
    flags = ("-i", 3, "-l", "conv1d:5,kernel=3,padding=same,stride=2", "-T", 40, "--format", form)
    assert index in call("explain", *flags).out


def test_the_shapes_in_the_equation_of_a_convolution(call: Call) -> None:
    """Two features in, three filters; after a last step there is no t."""
    flags = ("-l", "conv1d:3,kernel=2", "-l", "rnn:4", "-l", "last", "-l", "layer_norm", "-T", 9)
    convolved, _, _, normed = derived(call, "-i", 2, *flags)
    shapes = {"y_t": [3], "W_1": [3, 2], "x_t": [2], "W_2": [3, 2], "x_(t+1)": [2], "b": [3]}
    assert convolved["equations"][0]["shapes"] == shapes
    assert normed["equations"] == [{"text": "y = norm(x) ∘ g + b", "shapes": {"y": [4], "x": [4], "g": [4], "b": [4]}}]
