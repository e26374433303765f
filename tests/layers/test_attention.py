"""Attention over a sequence: counts, costs and numbers by hand."""

from math import exp, tanh

import pytest
from conftest import Call

from rnncalc import (
    GRU,
    DecoderAttention,
    Embedding,
    Layer,
    Network,
    Output,
    Part,
    SpecError,
    compare,
    count,
    run,
    training,
)
from rnncalc.layers.attention import Attention, MultiHeadAttention, Transformer
from rnncalc.reports.compare import ComparisonReport


def test_the_numbers_of_attention() -> None:
    """Scores v · tanh(W x + b), a softmax over the steps, the inputs so weighted; each written out."""
    x = [[1.0, 2.0], [-1.0, 0.5], [0.0, 3.0]]
    weights = {"W": [[0.5, -1.0]], "b": [0.25], "v": [2.0]}
    done = run(Network(input=2, layers=[Attention(1)], steps=3), inputs=x, weights={"attention_1": weights})
    scores = [exp(2 * tanh(0.5 * a - b + 0.25)) for a, b in x]
    alpha = [score / sum(scores) for score in scores]
    wanted = [sum(share * each[place] for share, each in zip(alpha, x, strict=True)) for place in range(2)]
    assert done.layers[0].agrees
    assert done.layers[0].output == pytest.approx(wanted, abs=1e-12)


def test_what_attention_costs() -> None:
    """Of 5 steps of 6 numbers and 3 units: W x 3 · 6 and v · k 3 a step, and the sum of the inputs 6 a step.

    Going back it reads x, k and α, and multiplies twice as much: for each product once for either operand.
    """
    network = Network(input=6, layers=[Attention(3)], steps=5)
    assert count(network).params == 3 * 6 + 2 * 3
    assert count(network).multiply_adds == 5 * (3 * 6 + 3 + 6)
    assert training(network).saved == 5 * (6 + 3 + 1)
    below = Network(input=6, layers=[Attention(3, score_bias=True)], steps=5)
    assert count(below).params == 3 * 6 + 2 * 3 + 1
    assert training(below).backward_multiply_adds == 5 * (3 * 6 + 2 * 3 + 6)  # nothing is trained below x


@pytest.mark.parametrize(
    ("total", "inputs", "layer", "convention"),
    [
        # https://github.com/pytorch/pytorch/issues/60853: 1,050,624 whatever the number of heads
        *[(1_050_624, 512, MultiHeadAttention(heads), "pytorch") for heads in (1, 2, 8, 64)],
        # https://github.com/keras-team/keras/issues/18373: with key_dim=64, and with key_dim=512
        (1_050_624, 512, MultiHeadAttention(8, key_size=64), "keras"),
        (8_401_408, 512, MultiHeadAttention(8, key_size=512), "keras"),
        (1_050_624, 512, MultiHeadAttention(8), "flax-linen"),
        (1_050_624, 512, MultiHeadAttention(8), "flax-nnx"),
        # https://github.com/tensorflow/tensorflow/issues/46762
        (400, 1, MultiHeadAttention(10, key_size=10, bias=False), "keras"),
        # a TransformerEncoderLayer with 512, 8 and 2048, and six of them
        (3_152_384, 512, Transformer(8, feed_forward=2048), "pytorch"),
        (6 * 3_152_384, 512, Transformer(8, feed_forward=2048, repeat=6), "pytorch"),
        (12 * 7_087_872, 768, Transformer(12, feed_forward=3072, repeat=12), "textbook"),
    ],
)
def test_totals_of_frameworks(total: int, inputs: int, layer: Layer, convention: str) -> None:
    assert count(Network(input=inputs, layers=[layer], convention=convention)).params == total


def test_a_bert_with_an_output_of_its_own() -> None:
    """12 blocks of 7,087,872, a table of 30,000 × 768, and 768 × 30,000 + 30,000 of the output."""
    layers = [Embedding(768), Transformer(12, feed_forward=3072, repeat=12)]
    network = Network(input=30_000, layers=layers, output=30_000, topology="many-to-many")
    assert count(network).params == 131_164_464


def test_heads_of_other_sizes() -> None:
    """h(2k + v)(m + 1) + m(h·v + 1): of 2 heads on 3 numbers, keys of 4 and values of 5."""
    layer = MultiHeadAttention(2, key_size=4, value_size=5)
    (placed,) = Network(input=3, layers=[layer]).stack
    assert placed.params == 2 * (4 + 4 + 5) * (3 + 1) + 3 * (2 * 5 + 1)
    assert placed.formula == "2h·k(m + 1) + h·v(m + 1) + m(h·v + 1)"
    assert MultiHeadAttention(2).values()["key_size"] is None
    (placed,) = Network(input=4, layers=[MultiHeadAttention(2)]).stack
    assert placed.formula == "4m(m + 1)"
    (placed,) = Network(input=4, layers=[Transformer(2, feed_forward=8)]).stack
    assert placed.formula == "4m(m + 1) + f(m + 1) + m(f + 1) + 4m"


@pytest.mark.parametrize(("causal", "pairs"), [(False, 7 * 7), (True, 7 * 8 // 2)])
def test_pairs_of_steps(causal: bool, pairs: int) -> None:
    """Four products of 6 · 6 at each of 7 steps, and for each pair 6 of the scores and 6 of the values."""
    (placed,) = Network(input=6, layers=[MultiHeadAttention(3, causal=causal)], steps=7).stack
    assert placed.multiply_adds == 7 * 4 * 6 * 6 + 2 * 6 * pairs
    assert placed.multiply_adds_per_step == 4 * 6 * 6 + 2 * 6 * 7  # at the last step


def test_a_mask_is_distinguished_from_what_frameworks_compute(call: Call) -> None:
    """Beside the multiply-adds that it halves, with a reason if T is a letter; not without a mask or without costs."""
    words = "ts multiply-adds are those of T(T + 1)/2 pairs of steps, and frameworks compute all T² and mask them"
    network = ("-i", 6, "-l", "multi_head_attention:3,causal")
    assert f"multi_head_attention_1: i{words}.\n" in call("count", *network, "-T", 7, "--cost").out
    assert f"I{words}.\n" in call("explain", *network, "-T", 7).out
    assert f"{words}; half of T(T + 1) has no formula" in call("count", *network, "-T", "t", "--cost").out
    assert words not in call("count", *network, "-T", 7).out
    assert words not in call("count", "-i", 6, "-l", "multi_head_attention:3", "-T", 7, "--cost").out


def test_a_comparison_without_steps_says_what_it_lacks(call: Call) -> None:
    """The pairs of an attention, in one part or two; a cell's multiply-adds per step are known without steps."""
    sentence = "Multiply-adds: not known without the number of steps; give steps, or -T."
    attention = ("compare", "-i", 6, "-l", "rnn:6", "-l", "multi_head_attention:3")
    assert sentence in call(*attention).out
    assert sentence not in call(*attention, "-T", 7).out
    assert sentence not in call("compare", "-i", 6, "-l", "rnn:6").out
    decoder = Part(2, (GRU(3),), Output(2), attention=DecoderAttention("dot"))
    translation = Network(encoder=Part(2, (GRU(3),)), decoder=decoder)
    (sheet,) = ComparisonReport(compare(translation)).sheets()[:1]
    assert sentence in sheet.notes


def test_a_learned_table_of_positions() -> None:
    """N·d more, added to what is looked up; a longer sequence is refused."""
    network = Network(input=5, layers=[Embedding(3, positions=4)], steps=2, topology="many-to-many")
    assert count(network).params == 5 * 3 + 4 * 3
    tables = {"E": [[float(row)] * 3 for row in range(5)], "P": [[row / 10] * 3 for row in range(4)]}
    done = run(network, inputs=[4, 2], weights={"embedding_1": tables})
    assert done.layers[0].output == [[4.0] * 3, [2.1] * 3]
    assert done.layers[0].agrees
    with pytest.raises(SpecError, match=r"positions: expected one for each step, 5 or more, got 4"):
        Network(input=5, layers=[Embedding(3, positions=4)], steps=5, topology="many-to-many")


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            MultiHeadAttention(3),
            "multi_head_attention: 3 heads do not divide the input's 4; change one, or give it key_size",
        ),
        (Transformer(3, feed_forward=8), "transformer: 3 heads do not divide the input's 4; change one"),
        (Transformer(2, feed_forward=0), "feed_forward: expected a positive whole number, got 0"),
    ],
)
def test_what_is_refused(layer: Layer, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Network(input=4, layers=[layer])


def test_the_root_of_a_width_in_latex(call: Call) -> None:
    written = call("explain", "-i", 4, "-l", "multi_head_attention:2", "-f", "latex").out
    assert r"e_{i,t,s} &= (\underset{2}{q_{i,t}} \cdot \underset{2}{k_{i,s}}) / \sqrt{k}" in written
