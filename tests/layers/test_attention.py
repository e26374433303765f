"""Attention over a sequence: counts, costs and numbers by hand."""

from math import exp, tanh

import pytest

from rnncalc import Network, count, run, training
from rnncalc.layers.attention import Attention


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
