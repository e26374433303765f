"""`explain --training`: the lines lead to what is counted, and each is true."""

import json
import re
from typing import Any

import pytest
from conftest import Call, refusal, report_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, RNN, Dense, External, Layer, Network, RefusedError, training
from rnncalc.layers.convolution import Conv1D
from rnncalc.questions.explain_training import Kind, explain_training
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.step.costs import Gradient


def report(network: Network, chunk: int | None = None) -> dict[str, Any]:
    trained = training(network, chunk=chunk)
    return TrainingExplanationReport(trained, explain_training(trained)).data()


def evaluated(text: str) -> Any:
    return eval(text.replace("×", "*"))


@given(network(steps=True) | encoder_decoder(), st.none() | st.integers(1, 4))
def test_every_line_is_true_and_the_last_is_what_is_counted(spec: Spec, chunk: int | None) -> None:
    """With the numbers in, each is arithmetic that gives its number; the others lead to the last."""
    net = network_of(spec)
    counted = {layer.name: layer for layer in training(net, chunk=chunk).layers}
    for layer in report(net, chunk)["layers"]:
        of = counted[layer["name"]]
        for rows, number in ((layer["saved"], of.saved), (layer["backward_multiply_adds"], of.backward_multiply_adds)):
            for row in rows:
                assert evaluated(row["substituted"]) == row["number"]
            assert sum(row["number"] for row in rows[:-1]) == (rows[-1]["number"] if rows else 0) == (number or 0)


def test_a_product_that_is_done_once_has_no_factor_of_one() -> None:
    """Four gates of one step: 4·h·m into the weights of the input, and nothing for the state, which is given."""
    (layer,) = report(Network(input=4, layers=[LSTM(3)], steps=1))["layers"]
    assert [row["substituted"] for row in layer["backward_multiply_adds"]] == ["4 × 3 × 4", "4 × 3 × 3", "48 + 36"]


@pytest.mark.parametrize(
    ("layer", "formula"),
    [
        (RNN(5), "T(m + h) + h"),
        (LSTM(5), "T(m + 7h)"),
        (GRU(5, reset_after=True), "T(m + 5h)"),
        (GRU(5, reset_after=False), "T(m + 5h)"),
    ],
)
def test_what_is_held_is_the_formula_of_textbooks(layer: Layer, formula: str) -> None:
    """In letters, T being the steps."""
    (found,) = report(Network(input=3, layers=[layer], steps=7, topology="many-to-many"))["layers"]
    assert found["saved"][-1]["formula"] == formula


def test_vectors_are_called_as_in_the_equations() -> None:
    """And gates by what they are."""
    (layer,) = report(Network(input=3, layers=[LSTM(5)], steps=7, topology="many-to-many"))["layers"]
    assert [(row["label"], row["what"], row["formula"]) for row in layer["saved"][:-1]] == [
        ("x_t", "input", "7m"),
        ("h_(t−1)", "state before a step", "7h"),
        ("c_(t−1)", "state before a step", "7h"),
        ("i_t", "input gate", "7h"),
        ("f_t", "forget gate", "7h"),
        ("g_t", "candidate", "7h"),
        ("o_t", "output gate", "7h"),
        ("tanh(c_t)", "", "7h"),
    ]
    assert [(row["label"], row["number"]) for row in layer["backward_multiply_adds"]] == [
        ("∂L/∂W_x", 4 * 7 * 5 * 3),
        ("∂L/∂W_h", 4 * 7 * 5 * 5),
        ("∂L/∂h_(t−1)", 4 * 6 * 5 * 5),
        ("backward", 4 * (7 * 15 + 13 * 25)),
    ]


def test_matrices_are_called_as_the_notation_has_them(call: Call) -> None:
    """U and W of an RNN, V of the output; with the gates' letters where one gate's is meant."""
    flags = ("-i", 3, "-l", "gru:5", "-l", "rnn:2", "-o", 1, "-T", 7, "--training", "--notation", "uvw", "-f", "json")
    (data,) = json.loads(call("explain", *flags).out)["reports"]
    gru, rnn, output = ([row["label"] for row in layer["backward_multiply_adds"]] for layer in data["layers"])
    assert gru == ["∂L/∂U", "∂L/∂W", "∂L/∂h_(t−1)", "∂L/∂h_(t−1)", "backward"]
    assert rnn == ["∂L/∂U", "∂L/∂x_t", "∂L/∂W", "∂L/∂h_(t−1)", "backward"]
    assert output == ["∂L/∂V", "∂L/∂h", "backward"]
    through = [row["what"] for row in data["layers"][0]["backward_multiply_adds"]]
    assert "back through W_n" in through


@pytest.mark.parametrize(
    ("layer", "lines"),
    [
        (
            "gru:3",
            [
                ("∂L/∂W", "the rows for x in W_z, W_r and W_n"),
                ("∂L/∂W", "the rows for h in W_z, W_r and W_n"),
                ("∂L/∂h_(t−1)", "back through the rows for h in W_n"),
                ("∂L/∂h_(t−1)", "back through the rows for h in W_z and W_r"),
            ],
        ),
        (
            "gru:3,reset_after",
            [
                ("∂L/∂W", "W_xn, and the rows for x in W_z and W_r"),
                ("∂L/∂W", "W_hn, and the rows for h in W_z and W_r"),
                ("∂L/∂h_(t−1)", "back through W_hn, and the rows for h in W_z and W_r"),
            ],
        ),
        (
            "fastgrnn:3",
            [
                ("∂L/∂W", "the rows for x in W"),
                ("∂L/∂W", "the rows for h in W"),
                ("∂L/∂h_(t−1)", "back through the rows for h in W"),
            ],
        ),
        ("rnn:3,recurrence=diagonal", [("∂L/∂W_xh", "its matrix")]),
    ],
)
def test_of_a_stacked_matrix_it_says_which_rows(layer: str, lines: list[tuple[str, str]], call: Call) -> None:
    """The matrices are those of the equations; one that the equations do not stack has its own letters."""
    flags = ("-i", 4, "-l", layer, "-T", 3, "--training", "--notation", "stacked", "-f", "json")
    (data,) = json.loads(call("explain", *flags).out)["reports"]
    (of,) = data["layers"]
    assert [(row["label"], row["what"]) for row in of["backward_multiply_adds"][:-1]] == lines


def test_it_says_what_a_chunk_leaves_out(call: Call) -> None:
    """Beside the sum over the steps, in tables and for programs."""
    whole = call("explain", "-i", 3, "-l", "gru:5", "-T", 9, "--training").out
    chunked = call("explain", "-i", 3, "-l", "gru:5", "-T", 9, "--training", "--chunk", 4).out
    assert "∂L/∂W = Σ_k" in whole
    assert "Truncated" not in whole
    assert "Truncated: chunks of 4 steps, 3 updates per sequence" in chunked
    assert "what h_T owes to others is left out" in chunked
    report = report_of(call, "explain", "-i", 3, "-l", "gru:5", "-T", 9, "--training")
    assert any("Σ_k" in remark for remark in report["remarks"])


def test_one_layer_alone(call: Call) -> None:
    """As in any explanation; the numbers are those it has in its network."""
    flags = ("-i", 3, "-l", "rnn:3,repeat=3", "-T", 9, "--training", "--only", "rnn_2", "-f", "json")
    (data,) = json.loads(call("explain", *flags).out)["reports"]
    assert [layer["name"] for layer in data["layers"]] == ["rnn_2"]
    assert data["layers"][0]["backward_multiply_adds"][-1]["number"] == 9 * 9 * 3 + 8 * 9


def test_what_is_not_known_is_said(call: Call) -> None:
    """Without the steps there is nothing to derive; of a part elsewhere nothing is known."""
    with pytest.raises(RefusedError, match="need the number of steps; give steps"):
        explain_training(training(Network(input=3, layers=[RNN(5)])))
    assert refusal(call, "explain", "-i", 3, "-l", "rnn:5", "--training").endswith("; give steps, or -T\n")
    assert report(Network(input=3, layers=[External(5)], steps=2))["layers"][0]["saved"] == []
    assert "counted elsewhere" in call("explain", "-i", 3, "-l", "external:5", "-T", 2, "--training").out


def test_latex_has_it_too(call: Call) -> None:
    """A document of its own, in characters that amsmath alone sets, with each sum."""
    done = call("explain", "-i", 3, "-l", "fastgrnn:5", "-T", 7, "--training", "--chunk", 3, "-f", "latex")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    pairs = (("L", "W"), ("L", "h_{T}"), ("h_{T}", "h_{k}"), ("h_{k}", "W"))
    whole, *factors = (rf"\frac{{\partial {of}}}{{\partial {by}}}" for of, by in pairs)
    product = r" \cdot ".join(factors)
    assert rf"${whole} = \sum_{{k}} {product}$, $k$ from 1 to $T$" in done.out
    assert done.out.count(r"\begin{align*}") == 1
    assert done.out.count(r"\derived{saved") == done.out.count(r"\derived{backward") == 1
    assert r"{$h\cdot m$ $= 5 \times 3$ $= 15$}" in done.out


@pytest.mark.parametrize(
    ("form", "state", "gradient", "through"),
    [
        (
            "latex",
            r"\derived{$h_{t-1}$, ",
            r"\derived{$\frac{\partial L}{\partial h_{t-1}}$, ",
            "back through $W_{hn}$",
        ),
        ("markdown", "| $h_{t-1}$ | ", r"| $\frac{\partial L}{\partial h_{t-1}}$ | ", "back through $W_{hn}$"),
        (
            "html",
            '<th scope="row"><math><msub><mi>h</mi><mrow><mi>t</mi><mo lspace="0" rspace="0">−</mo><mn>1</mn></mrow>',
            "<mfrac><mrow><mi>∂</mi><mi>L</mi></mrow><mrow><mi>∂</mi><msub><mi>h</mi>",
            "back through <math><msub><mi>W</mi>",
        ),
    ],
)
def test_vectors_and_gradients_are_mathematics(form: str, state: str, gradient: str, through: str, call: Call) -> None:
    """In labels, words and notes, as they are in the equations beside them."""
    flags = ("-i", 3, "-l", "gru:5", "-T", 6, "--training", "--chunk", 3, "-f", form)
    out = call("explain", *flags).out
    assert state in out
    assert gradient in out
    assert through in out
    assert not re.findall(r"[hLWx]\\?_[(htTkx]", re.sub(r'aria-label="[^"]*"', "", out))
    assert "∂L/∂" not in out


def test_a_matrix_beside_the_gates_reads_a_vector_of_its_own(call: Call) -> None:
    """Its gradient is with respect to that, whatever it is; before a projection it is h."""
    projected = call("explain", "-i", 3, "-l", "lstm:5,projection=2", "-T", 7, "--training").out
    assert "∂L/∂h before it is projected" in projected


def test_the_letter_of_the_steps_is_that_of_a_chunk_where_one_is_shorter() -> None:
    """T steps in one go, K of them where a sequence is cut: two letters, since both numbers are beside each other."""
    network = Network(input=2, layers=[RNN(2)], steps=5)
    found = [explain_training(training(network, chunk=chunk))[0] for chunk in (None, 5, 2)]
    assert [(each.letter, each.steps) for each in found] == [("T", 5), ("T", 5), ("K", 1)]


def test_products_by_whose_matrices_they_are() -> None:
    """Gates that are alike together in their order, a dense layer's matrix without a letter, the output's as y."""
    layers: list[Layer] = [Dense(3), LSTM(5), GRU(4, reset_after=False)]
    network = Network(input=2, layers=layers, output=6, steps=7, topology="many-to-many")
    dense, lstm, gru, output = explain_training(training(network))
    into, through = Gradient.MATRIX, Gradient.VECTOR
    assert [line[:3] for line in dense.work] == [(into, ("",), "x")]
    assert [(*line[:3], line.number) for line in lstm.work] == [
        (into, tuple("ifgo"), "x", 4 * 7 * 5 * 3),
        (through, tuple("ifgo"), "x", 4 * 7 * 5 * 3),
        (into, tuple("ifgo"), "h", 4 * 7 * 5 * 5),
        (through, tuple("ifgo"), "h", 4 * 6 * 5 * 5),
    ]
    assert [(*line[:3], line.number) for line in gru.work] == [
        (into, tuple("zrn"), "x", 3 * 7 * 4 * 5),
        (through, tuple("zrn"), "x", 3 * 7 * 4 * 5),
        (into, tuple("zrn"), "h", 3 * 7 * 4 * 4),
        (through, ("n",), "h", 7 * 4 * 4),
        (through, tuple("zr"), "h", 2 * 6 * 4 * 4),
    ]
    assert [(*line[:3], line.number) for line in output.work] == [
        (into, ("y",), "h", 7 * 6 * 4),
        (through, ("y",), "h", 7 * 6 * 4),
    ]
    assert [(line.kind, line.number, line.gate) for line in lstm.saved] == [
        (Kind.INPUT, 7 * 3, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        *[(Kind.GATE, 7 * 5, name) for name in ("input gate", "forget gate", "candidate", "output gate")],
        (Kind.OTHER, 7 * 5, ""),
    ]
    assert [(line.kind, line.number) for line in output.saved] == [(Kind.INPUT, 7 * 4)]


def test_what_is_held_once_has_no_letter_of_the_steps() -> None:
    """Nor a time: in dense layers after the sequence, what they read, what an activation has given, and gradients."""
    net = Network(input=3, layers=[RNN(5), Dense(4, activation="tanh")], output=2, steps=7)
    _, dense, output = report(net)["layers"]
    assert [(row["label"], row["formula"]) for row in dense["saved"]] == [("x", "m"), ("y", "n"), ("saved", "m + n")]
    assert [row["label"] for row in output["saved"]] == ["h", "saved"]
    assert [each["backward_multiply_adds"][1]["label"] for each in (dense, output)] == ["∂L/∂x", "∂L/∂h"]
    _, dense, output = report(net.replace(topology="many-to-many"))["layers"]
    assert [row["label"] for row in (*dense["saved"], *output["saved"])] == ["x_t", "y_t", "saved", "h_t", "saved"]
    assert [each["backward_multiply_adds"][1]["label"] for each in (dense, output)] == ["∂L/∂x_t", "∂L/∂h_t"]


def test_what_a_convolution_saves_is_what_its_windows_read() -> None:
    """All 5 steps of 2 features, and 4 outputs of 3 filters for the slope of relu; 2 × 4 products of 3 × 2 each way."""
    layers: list[Layer] = [RNN(2), Conv1D(3, 2, activation="relu"), RNN(1)]
    _, convolved, _ = report(Network(input=2, layers=layers, steps=5))["layers"]
    assert [(row["label"], row["what"], row["number"]) for row in convolved["saved"]] == [
        ("x_t", "input", 10),
        ("y_t", "output", 12),
        ("saved", "all of it", 22),
    ]
    assert [(row["label"], row["what"], row["number"]) for row in convolved["backward_multiply_adds"]] == [
        ("∂L/∂W", "its matrix", 48),
        ("∂L/∂x_t", "back through W", 48),
        ("backward", "all of it", 96),
    ]
