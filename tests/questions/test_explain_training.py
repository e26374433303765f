"""`explain --training`: the lines lead to what is counted, and each is true."""

import re
from typing import Any

import pytest
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, fitting, network, network_of

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    Conv1D,
    DecoderAttention,
    Dense,
    Embedding,
    Layer,
    MultiHeadAttention,
    Network,
    Output,
    Part,
    RefusedError,
    training,
)
from rnncalc.conventions.formula import letters
from rnncalc.questions.explain_training import Kind, explain_training
from rnncalc.reports.explain import in_words
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.step.costs import Gradient
from rnncalc.step.equations import Symbol


def report(network: Network, chunk: int | None = None) -> dict[str, Any]:
    trained = training(network, chunk=chunk)
    return TrainingExplanationReport(trained, explain_training(trained)).data()


def evaluated(text: str) -> Any:
    return eval(text.replace("×", "*"))


@given(network(steps=True) | encoder_decoder(), st.none() | st.integers(1, 4))
def test_every_line_is_true_and_the_last_is_what_is_counted(spec: Spec, chunk: int | None) -> None:
    """With the numbers in, each is arithmetic that gives its number; the others lead to the last."""
    net = network_of(spec)
    chunk = fitting(chunk, net)
    counted = {layer.name: layer for layer in training(net, chunk=chunk).layers}
    for layer in report(net, chunk)["layers"]:
        of = counted[layer["name"]]
        for rows, number in ((layer["saved"], of.saved), (layer["backward_multiply_adds"], of.backward_multiply_adds)):
            for row in rows:
                assert evaluated(row["substituted"]) == row["number"]
            assert sum(row["number"] for row in rows[:-1]) == (rows[-1]["number"] if rows else 0) == (number or 0)


def test_latex_has_it_too(call: Call) -> None:
    """A document of its own, in characters that amsmath alone sets, with each sum."""
    done = call("explain", "-i", 3, "-l", "fastgrnn:5", "-T", 7, "--training", "--chunk", 3, "-f", "latex")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    pairs = (("L", "W"), ("L", "h_{T}"), ("h_{T}", "h_{k}"), ("h_{k}", "W"))
    whole, *factors = (rf"\frac{{\partial {of}}}{{\partial {by}}}" for of, by in pairs)
    product = r" \cdot ".join(factors)
    assert rf"${whole} = \sum_{{k}} {product}$, $k$ from 1 to $T$" in done.out
    assert done.out.count(r"\begin{align*}") == 2
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
    out = re.sub(r'aria-label="[^"]*"', "", call("explain", *flags).out)
    assert state in out
    assert gradient in out
    assert through in out
    assert not re.findall(r"[hLWx]\\?_[(htTkx]", out)
    assert "∂L/∂" not in out


def test_backward_equations_by_hand() -> None:
    """Of an Elman network, as in Goodfellow et al. 2016, section 10.2.2, and of the same with vectors as rows."""
    network = Network(input=3, layers=[RNN(2)], output=1, steps=4, topology="many-to-many")
    rnn, output = report(network)["layers"]
    assert output["gradients"] == ["∂L/∂h_t = W_hyᵀ ∂L/∂y_t", "∂L/∂W_hy = Σ_t ∂L/∂y_t h_tᵀ", "∂L/∂b_y = Σ_t ∂L/∂y_t"]
    assert rnn["gradients"] == [
        "∂L/∂h_t = above_t + W_hhᵀ δ_(h,t+1)",
        "δ_h,t = ∂L/∂h_t ∘ (1 − h_t ∘ h_t)",
        "∂L/∂W_xh = Σ_t δ_h,t x_tᵀ",
        "∂L/∂b_h = Σ_t δ_h,t",
        "∂L/∂W_hh = Σ_t δ_h,t h_(t−1)ᵀ",
    ]
    frozen = report(network.replace(layers=[RNN(2, frozen=True)], notation="rows"))["layers"]
    assert [layer["gradients"] for layer in frozen] == [
        [],
        ["∂L/∂W_hy = Σ_t h_tᵀ ∂L/∂y_t", "∂L/∂b_y = Σ_t ∂L/∂y_t"],
    ]


def test_equations_of_an_embedding_by_hand() -> None:
    """Each step adds its gradient to the row of its word, and to that of its position."""
    network = Network(input=7, layers=[Embedding(3, positions=5), RNN(2)], output=1, steps=4)
    embedding, *_ = report(network)["layers"]
    assert embedding["equations"] == ["y_t = E_(x_t) + P_t"]
    assert embedding["gradients"] == ["∂L/∂E_i = Σ_t [x_t=i] · ∂L/∂y_t", "∂L/∂P_t = ∂L/∂y_t"]
    assert [row["label"] for row in embedding["saved"]] == ["x_t", "saved"]
    frozen, *_ = report(network.replace(layers=[Embedding(3, frozen=True), RNN(2)]))["layers"]
    assert (frozen["equations"], frozen["gradients"], frozen["saved"]) == (["y_t = E_(x_t)"], [], [])


def test_a_subscript_has_a_subscript_in_mathematics(call: Call) -> None:
    """A word's vector is written with its number below, in LaTeX and MathML."""
    words = ("explain", "-i", 7, "-l", "embedding:3", "-l", "rnn:2", "-T", 4, "--format")
    assert r"\underset{3}{E_{x_{t}}}" in call(*words, "latex").out
    below = "<mrow><msub><mrow><mi>x</mi></mrow><mrow><mi>t</mi></mrow></msub></mrow>"
    assert f"<msub><mi>E</mi>{below}</msub>" in call(*words, "html").out


@pytest.mark.parametrize(
    ("attention", "equations", "first", "notes"),
    [
        (
            DecoderAttention("dot"),
            ["∂L/∂q_t = Σ_s ∂L/∂e_(t,s) · h_s", "∂L/∂h_s = Σ_t α_(t,s) · ∂L/∂c_t + Σ_t ∂L/∂e_(t,s) · q_t"],
            "∂L/∂h_0 = above_0 + W_hhᵀ δ_h,1",
            [
                "∂L/∂c_t is the part of the context in ∂L/∂x_t of the decoder's first recurrent layer.",
                "∂L/∂q_t is part of above_(t−1) of the decoder's last recurrent layer, and ∂L/∂h_s of above_s of the "
                "encoder.",
            ],
        ),
        (
            DecoderAttention("concat", units=1, query="after", context="both", bias=False),
            [
                "∂L/∂a_(t,s) = vᵀ ∂L/∂e_(t,s)",
                "δ_a,t,s = ∂L/∂a_(t,s) ∘ (1 − a_(t,s) ∘ a_(t,s))",
                "∂L/∂q_t = Σ_s W_qᵀ δ_a,t,s",
                "∂L/∂h_s = Σ_t α_(t,s) · ∂L/∂c_t + Σ_t W_hᵀ δ_a,t,s",
                "∂L/∂W_q = Σ_s,t δ_a,t,s q_tᵀ",
                "∂L/∂W_h = Σ_s,t δ_a,t,s h_sᵀ",
                "∂L/∂v = Σ_s,t ∂L/∂e_(t,s) a_(t,s)ᵀ",
            ],
            "∂L/∂h_0 = W_hhᵀ δ_h,1",
            [
                "W_q and W_h are the parts of W for q_t and h_s.",
                "∂L/∂c_t is the part of the context in ∂L/∂x_(t+1) of the decoder's first recurrent layer and of the "
                "gradient of the vector that the layer after its last one reads.",
                "∂L/∂q_t is part of above_t of the decoder's last recurrent layer, and ∂L/∂h_s of above_s of the "
                "encoder.",
            ],
        ),
    ],
)
def test_backward_equations_of_a_decoders_attention_by_hand(
    attention: DecoderAttention, equations: list[str], first: str, notes: list[str]
) -> None:
    """Of Luong et al. 2015: α is a softmax of the scores, and each key is in its score and in the sum of the context.

    The state before the first step is in the first query too.
    """
    network = Network(encoder=Part(2, (RNN(3),), steps=4), decoder=Part(2, (RNN(3),), Output(1), 4, attention))
    layers = {layer["name"]: layer["gradients"] for layer in report(network)["layers"]}
    softmax = ["∂L/∂α_(t,s) = h_sᵀ ∂L/∂c_t", "∂L/∂e_t = α_t ∘ (∂L/∂α_t − α_tᵀ ∂L/∂α_t)"]
    assert layers["attention"] == [*softmax, *equations]
    assert first in layers["rnn_2"]
    trained = training(network)
    (*_, sheet) = TrainingExplanationReport(trained, explain_training(trained, ("attention",))).sheets()
    assert [*map(in_words, sheet.notes)] == ["Sums are over the steps that read each other.", *notes]


def test_each_remainder_of_a_stride_has_all_of_its_taps() -> None:
    """Of y_t = Σ_k W_k x_(2t−2+k) by hand: x_(2t) is in y_(t+1−k/2) through each even k; of five, two are left out."""
    derived = report(Network(input=1, layers=[Dense(1), Conv1D(1, kernel=10, stride=2)], steps=20))["layers"][1]
    assert derived["equations"] == ["y_t = W_1 x_(2t−1) + W_2 x_(2t) + ⋯ + W_10 x_(2t+8) + b"]
    assert derived["gradients"] == [
        "∂L/∂x_(2t+1) = W_1ᵀ ∂L/∂y_(t+1) + W_3ᵀ ∂L/∂y_t + ⋯ + W_9ᵀ ∂L/∂y_(t−3)",
        "∂L/∂x_(2t) = W_2ᵀ ∂L/∂y_t + W_4ᵀ ∂L/∂y_(t−1) + ⋯ + W_10ᵀ ∂L/∂y_(t−4)",
        "∂L/∂W_1 = Σ_t ∂L/∂y_t x_(2t−1)ᵀ",
        "∂L/∂W_2 = Σ_t ∂L/∂y_t x_(2t)ᵀ",
        "∂L/∂W_10 = Σ_t ∂L/∂y_t x_(2t+8)ᵀ",
        "∂L/∂b = Σ_t ∂L/∂y_t",
    ]


def test_delta_is_explained_where_it_is() -> None:
    """It belongs to a value with a function; a linear convolution has none."""
    note = "δ of a value is the gradient of the loss with respect to the argument of its function."
    for activation, delta in (("linear", False), ("tanh", True)):
        trained = training(Network(input=2, layers=[Conv1D(1, kernel=2, activation=activation)], steps=3))
        data = TrainingExplanationReport(trained, explain_training(trained)).data()
        assert (note in data["remarks"]) == delta


def test_the_letter_of_the_steps_is_that_of_a_chunk_where_one_is_shorter() -> None:
    """T steps in one go, K of them where a sequence is cut: two letters, since both numbers are beside each other."""
    network = Network(input=2, layers=[RNN(2)], steps=5)
    found = [explain_training(training(network, chunk=chunk))[0] for chunk in (None, 5, 2)]
    assert [(each.letter, each.steps) for each in found] == [("T", 5), ("T", 5), ("K", 1)]


def test_the_formula_of_attention_has_its_own_steps_and_the_encoders() -> None:
    """Of 4 steps the queries, and for each of 6 keys a score's u numbers and its weight; the keys once.

    Joined, a query is saved with each key.
    """
    attention = DecoderAttention(units=5, bias=False)
    decoder = Part(3, (GRU(2, initial_state=4),), Output(2), 4, attention)
    of = Network(encoder=Part(3, (GRU(4),), steps=6), decoder=decoder)
    (derived,) = explain_training(training(of), ("attention",))
    assert letters(derived.formula) == "T(q + 6u + 6) + 6k"
    joined = DecoderAttention("concat", units=5, bias=False)
    (derived,) = explain_training(training(of.replace(decoder=decoder._replace(attention=joined))), ("attention",))
    assert letters(derived.formula) == "T(6 × (q + k) + 6u + 6) + 6k"


@pytest.mark.parametrize(
    "score", [{"score": each} for each in ("additive", "dot", "general", "concat")] + [{"heads": 2}]
)
def test_rows_of_attention_are_named_as_in_its_equations(score: dict[str, Any]) -> None:
    """Vectors that are joined, or made without a name of their own, are written out."""
    decoder = Part(3, (GRU(4, initial_state=4),), Output(2), 4, DecoderAttention(**score))
    layers = report(Network(encoder=Part(3, (GRU(4),), steps=6), decoder=decoder))["layers"]
    (layer,) = (each for each in layers if each["name"] == "attention")
    rows = layer["backward_multiply_adds"][:-1]
    names = [row["label"].removeprefix("the gradient of ") for row in rows]
    names += [row["what"].removeprefix("back through ") for row in rows if not row["what"].startswith("its ")]
    names += [row["label"] for row in layer["saved"][:-1]]
    equations = "\n".join([*layer["equations"], *layer["gradients"]])
    assert [name for name in names if name not in equations] == []


def test_widths_of_all_heads_are_written_as_products() -> None:
    """As in the formula of the count."""
    network = Network(input=6, layers=(MultiHeadAttention(2, 4, 5),), output=3, steps=7)
    (attention, _) = explain_training(training(network))
    assert "7h·v" in [letters(line.expression) for line in attention.saved]
    assert {letters(line.expression) for line in attention.work} >= {"7h·k·m", "7h·v·m", "7m·h·v"}


def test_products_by_whose_matrices_they_are() -> None:
    """Gates that are alike together in their order, a dense layer's matrix and vector as its equation has them."""
    layers: list[Layer] = [Dense(3), LSTM(5), GRU(4, reset_after=False)]
    network = Network(input=2, layers=layers, output=6, steps=7, topology="many-to-many")
    dense, lstm, gru, output = explain_training(training(network))
    into, through = Gradient.MATRIX, Gradient.VECTOR
    assert [line[:3] for line in dense.work] == [(into, (Symbol("W"),), Symbol("x", time="t", axes=("m",)))]
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
        (into, (Symbol("W", "hy"),), Symbol("h", time="t", axes=("m",)), 7 * 6 * 4),
        (through, (Symbol("W", "hy"),), Symbol("h", time="t", axes=("m",)), 7 * 6 * 4),
    ]
    assert [(line.kind, line.number, line.gate) for line in lstm.saved] == [
        (Kind.INPUT, 7 * 3, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        *[(Kind.GATE, 7 * 5, name) for name in ("input gate", "forget gate", "candidate", "output gate")],
        (Kind.OTHER, 7 * 5, ""),
    ]
    assert [(line.kind, line.number) for line in output.saved] == [(Kind.INPUT, 7 * 4)]


def test_without_steps_there_is_nothing_to_derive() -> None:
    """In Python there is no -T to give."""
    with pytest.raises(RefusedError, match=r"need the number of steps; give steps$"):
        explain_training(training(Network(input=3, layers=[RNN(5)])))
