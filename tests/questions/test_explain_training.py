"""`explain --training`: the lines lead to what is counted, and each is true."""

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
    DecoderAttention,
    Dense,
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
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.step.costs import Gradient
from rnncalc.step.equations import Application, Symbol


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
    x, of_x = Symbol("x", time="t", axes=("m",)), Symbol("W", "x")
    h, of_h = Symbol("h", time="t−1", axes=("h",)), Symbol("W", "h")
    lines = [[(*line[:4], line.number) for line in each.work] for each in (dense, lstm, gru, output)]
    assert lines[0] == [(into, (), Symbol("W", axes=("n", "m")), Symbol("x", time="t"), 7 * 3 * 2)]
    assert lines[1] == [
        (into, tuple("ifgo"), of_x, x, 4 * 7 * 5 * 3),
        (through, tuple("ifgo"), of_x, x, 4 * 7 * 5 * 3),
        (into, tuple("ifgo"), of_h, h, 4 * 7 * 5 * 5),
        (through, tuple("ifgo"), of_h, h, 4 * 6 * 5 * 5),
    ]
    reset = Application("times", (Symbol("r", time="t", axes=("h",)), h))
    assert lines[2] == [
        (into, tuple("zrn"), of_x, x, 3 * 7 * 4 * 5),
        (through, tuple("zrn"), of_x, x, 3 * 7 * 4 * 5),
        (into, tuple("zrn"), of_h, reset, 3 * 7 * 4 * 4),
        (through, (), Symbol("W", "hn", axes=("h", "h")), reset, 7 * 4 * 4),
        (through, tuple("zr"), of_h, h, 2 * 6 * 4 * 4),
    ]
    y = Symbol("W", "hy", axes=("n", "m")), Symbol("h", time="t"), 7 * 6 * 4
    assert lines[3] == [(into, (), *y), (through, (), *y)]
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
