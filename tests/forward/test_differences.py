"""Finite differences: what they say where a slope changes at once, and which weights are looked at."""

from typing import Any

import pytest
from verified import backward

from rnncalc import GRU, RNN, Dense, Network, Output
from rnncalc.forward.backward_pass import the_sum
from rnncalc.forward.differences import NUDGE, Differences, Spot, spots

KINK = Network(input=1, layers=[RNN(1, activation="relu", bias=False)], output=Output(1), steps=1)
"""y = relu(w·1) + 5 at w = 0: the slope is 0 below, and 1 above."""


def kinked() -> Differences:
    weights = {"rnn_1": {"W_xh": [[0.0]], "W_hh": [[0.0]]}, "output": {"W_hy": [[1.0]], "b_y": [5.0]}}
    return Differences(KINK, the_sum, weights, inputs={None: [[1.0]]})  # type: ignore[arg-type]  # nested lists


@pytest.mark.parametrize(("gradient", "off"), [(0, 0), (0.25, 0), (1, 0), (-0.5, 1 / 5), (2, 1.5 / 5)])
def test_at_a_kink_any_slope_between_the_two_sides_is_right(gradient: float, off: float) -> None:
    """And is counted. Any other is as far off as from halfway, 1/2, as a share of the loss, 5, the largest of three."""
    differences = kinked()
    assert differences.distance(Spot("rnn_1", "W_xh", (0, 0)), gradient) == pytest.approx(off, abs=1e-9)
    assert differences.kinks == (not off)


def test_where_the_slope_is_one_there_is_no_kink() -> None:
    """A bias moves the output as far as it is moved; a weight is where it was when it has been looked at."""
    differences = kinked()
    assert differences.distance(Spot("output", "b_y", (0,)), 1.0) == pytest.approx(0, abs=NUDGE)
    assert differences.kinks == 0
    assert differences.weights["output"]["b_y"] == [5.0]


def test_all_weights_are_looked_at_and_of_many_some_of_every_tensor() -> None:
    """Those that are trained: a frozen layer has no gradient."""
    net = Network(input=4, layers=[GRU(3), Dense(2, frozen=True)], output=5)
    every = spots(net, 10_000, 0)
    assert len(every) == len({*every}) == net.trainable
    assert {spot.layer for spot in every} == {"gru_1", "output"}
    few = spots(net, 11, 0)
    assert few == spots(net, 11, 0) != spots(net, 11, 1)
    tensors = [(place.name, tensor.name) for place in net.stack if place.trainable for tensor in place.tensors]
    assert [(spot.layer, spot.tensor) for spot in few] == tensors
    shapes = {(place.name, tensor.name): tensor.shape for place in net.stack for tensor in place.tensors}
    for spot in every:
        assert all(at < size for at, size in zip(spot.place, shapes[spot[:2]], strict=True))


def at_zero(activation: Any, x: float) -> Differences:
    """Return the differences of a unit with weights of 0 that reads x."""
    net = Network(input=1, layers=[RNN(1, activation=activation, bias=False)], steps=1)
    return Differences(net, the_sum, {"rnn_1": {"W_xh": [[0.0]], "W_hh": [[0.0]]}}, inputs={None: [[x]]})


def test_far_off_is_told_as_a_share_of_the_largest() -> None:
    """Of 1, the gradient and the loss, which is here 0: a slope of 1 that is said to be 1/2 is half of 1 off."""
    differences = at_zero("linear", 1.0)
    assert differences.distance(Spot("rnn_1", "W_xh", (0, 0)), 0.5) == pytest.approx(0.5)
    assert differences.distance(Spot("rnn_1", "W_xh", (0, 0)), 4.0) == pytest.approx(3.0 / 4.0)


def test_a_strong_curve_is_no_difference() -> None:
    """σ(1000·w) at w = 0, where its slope is 250 and as steep on both sides: NUDGE moves the argument by 0.01."""
    differences = at_zero("sigmoid", 1000.0)
    assert differences.distance(Spot("rnn_1", "W_xh", (0, 0)), 250.0) < 1e-9
    assert differences.kinks == 0
    assert differences.distance(Spot("rnn_1", "W_xh", (0, 0)), 249.0) == pytest.approx(1 / 250, rel=0.01)


def test_every_weight_at_a_kink_is_counted() -> None:
    """y = relu(w·1 + b), twice, at w = b = 0: two weights and two biases, and a state of 0 that no weight moves."""
    net = Network(input=1, layers=[RNN(2, activation="relu")], steps=1)
    weights = {"rnn_1": {"W_xh": [[0.0], [0.0]], "W_hh": [[0.0, 0.0], [0.0, 0.0]], "b_h": [0.0, 0.0]}}
    done = backward(net, weights=weights, inputs=[[1.0]])
    assert (done.agrees, done.compared, done.kinks) == (True, 8, 4)
