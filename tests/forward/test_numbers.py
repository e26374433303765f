"""The numbers that are drawn: within their bounds and all over them, the same for the same seed."""

from math import sqrt

import pytest

from rnncalc import LSTM, Embedding, Layer, Network, Output
from rnncalc.forward.arrays import PassData, flat


def test_what_comes_from_no_layer_is_between_minus_one_and_one() -> None:
    """Features beside an input, and vectors that are read."""
    drawn = PassData(3).elsewhere(1_000)
    assert len(drawn) == 1_000
    assert -1.0 <= min(drawn) < -0.98
    assert 0.98 < max(drawn) < 1.0
    assert drawn == PassData(3).elsewhere(1_000)
    assert drawn != PassData(4).elsewhere(1_000)


@pytest.mark.parametrize(
    ("layers", "place", "bound"),
    [
        ((Embedding(50),), 0, 1.0),
        ((LSTM(25),), 0, 1 / sqrt(25)),
        ((LSTM(9, projection=4),), 0, 1 / sqrt(4)),
        ((LSTM(16),), 1, 1 / sqrt(16)),
    ],
)
def test_weights_are_bounded_as_frameworks_bound_them(layers: tuple[Layer, ...], place: int, bound: float) -> None:
    """By 1/√h in a cell, by 1/√m in a dense layer; the rows of a table are as large as inputs are."""
    net = Network(input=200, layers=layers, output=Output(100))
    weights = [number for array in PassData(1).weights_of(net.stack[place]).values() for number in flat(array)]
    assert max(map(abs, weights)) <= bound
    assert max(weights) > 0.95 * bound
    assert min(weights) < -0.95 * bound
