"""`explain --training`: the lines lead to what is counted, and each is true."""

import json
from typing import Any

import pytest
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, fitting, network, network_of

from rnncalc import GRU, LSTM, RNN, DecoderAttention, MultiHeadAttention, Network, Output, Part, RefusedError, training
from rnncalc.conventions.formula import letters
from rnncalc.questions.explain_training import Kind, explain_training
from rnncalc.reports.explain_training import TrainingExplanationReport


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
        assert layer["backward_multiply_adds"] == of.backward_multiply_adds
        rows = layer["saved"]
        for row in rows:
            assert evaluated(row["substituted"]) == row["number"]
        assert sum(row["number"] for row in rows[:-1]) == (rows[-1]["number"] if rows else 0) == (of.saved or 0)


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
    assert done.out.count(r"\derived{saved") == 1


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
    names = [row["label"] for row in layer["saved"][:-1]]
    equations = "\n".join([*layer["equations"], *layer["gradients"]])
    assert [name for name in names if name not in equations] == []


def test_widths_of_all_heads_are_written_as_products() -> None:
    """As in the formula of the count."""
    network = Network(input=6, layers=(MultiHeadAttention(2, 4, 5),), output=3, steps=7)
    (attention, _) = explain_training(training(network))
    assert "7h·v" in [letters(line.expression) for line in attention.saved]


def test_saved_vectors_in_the_order_of_their_kinds() -> None:
    """Inputs, states, gates in the order of their equations, and what has no kind."""
    network = Network(input=3, layers=[LSTM(5)], output=6, steps=7, topology="many-to-many")
    lstm, output = explain_training(training(network))
    assert [(line.kind, line.number, line.gate) for line in lstm.saved] == [
        (Kind.INPUT, 7 * 3, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        (Kind.STATE_BEFORE, 7 * 5, ""),
        *[(Kind.GATE, 7 * 5, name) for name in ("input gate", "forget gate", "candidate", "output gate")],
        (Kind.OTHER, 7 * 5, ""),
    ]
    assert [(line.kind, line.number) for line in output.saved] == [(Kind.INPUT, 7 * 5)]


def test_without_steps_there_is_nothing_to_derive() -> None:
    """In Python there is no -T to give."""
    with pytest.raises(RefusedError, match=r"need the number of steps; give steps$"):
        explain_training(training(Network(input=3, layers=[RNN(5)])))


def test_a_cross_entropy_begins_at_the_argument_of_its_softmax(call: Call) -> None:
    """δ = p − y at each step; what is saved, and the multiply-adds, are those of a softmax."""
    words = ("explain", "-i", 2, "-l", "gru:3", "-o", "4,activation=softmax", "-T", 2, "--topology", "many-to-many")
    plain, loss = (
        json.loads(call(*words, "--training", *flags, "-f", "json").out)["reports"][0]["layers"][-1]
        for flags in ((), ("--loss", "cross_entropy"))
    )
    assert plain["equations"] == ["y_t = softmax(W_hy h_t + b_y)"]
    assert loss["equations"] == ["p_t = softmax(W_hy h_t + b_y)"]
    assert loss["gradients"][0] == "δ_p,t = p_t − y_t"
    assert [row["number"] for row in loss["saved"]] == [row["number"] for row in plain["saved"]]
    assert loss["backward_multiply_adds"] == plain["backward_multiply_adds"]
