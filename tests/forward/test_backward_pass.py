"""What the tape of a pass takes in memory, and what the backward pass outputs."""

import pytest

from rnncalc import LSTM, RNN, Conv1D, Dense, Flatten, MultiHeadAttention, Network, Part
from rnncalc.forward.arrays import PassData
from rnncalc.forward.backward_pass import BackwardPass, backward_pass, taped_bytes, the_sum


@pytest.mark.parametrize(
    "network",
    [
        Network(input=1, layers=[RNN(3)], steps=4),
        Network(encoder=Part(1, (RNN(2),), steps=3), decoder=Part(1, (RNN(2),), steps=4)),
        Network(input=1, layers=[Dense(1, frozen=True), Dense(1)], topology="one-to-one"),
        Network(input=1, layers=[Dense(1, frozen=True)], topology="one-to-one"),
        Network(input=4, layers=[Conv1D(6, kernel=3, groups=2), MultiHeadAttention(2), Flatten()], output=1, steps=9),
        Network(input=2, layers=[LSTM(3, bidirectional=True, peepholes=True)], steps=7),
    ],
)
def test_the_memory_of_a_tape_is_known_before_the_pass(network: Network) -> None:
    """340 bytes for each operation, and 43 for each of its numbers, within a quarter."""
    tape = BackwardPass(network, PassData(0).weights_of_all(network)).tape
    taken = sum(340 + len(value.numbers) * 43 for value in tape.values)
    assert taped_bytes(network) == pytest.approx(taken, rel=0.25)


def test_where_a_layer_cannot_be_run_there_is_no_backward_pass() -> None:
    """There is no loss then."""
    done = backward_pass(Network(input=1, layers=[RNN(1)], steps=2), the_sum, {})
    assert (done.loss, done.layers) == (None, ())
    assert [layer.reason is None for layer in done.ran] == [False]


def test_gradients_of_what_a_layer_went_through() -> None:
    """Of a linear unit, h₂ = 3 h₁: the sum has the slope 1 in the last state, and 3 in the one before."""
    network = Network(input=1, layers=[RNN(1, activation="linear", bias=False)], steps=2)
    weights = {"rnn_1": {"W_xh": [[2.0]], "W_hh": [[3.0]]}}
    given = {"inputs": {None: [[1.0], [0.0]]}, "start": {"rnn_1": {"h": [7.0]}}}
    (layer,) = backward_pass(network, the_sum, weights, traced=True, **given).layers
    (trace,) = layer.traces
    assert [step["h"] for step in trace.steps] == [[3.0], [1.0]]
    assert layer.gradients == {"W_xh": [[3.0 * 1.0]], "W_hh": [[3.0 * 7.0 + 1.0 * (2.0 + 21.0)]]}
    (cut,) = backward_pass(network, the_sum, weights, traced=True, chunk=1, **given).layers
    assert [step["h"] for step in cut.traces[0].steps] == [None, [1.0]]
    assert cut.gradients == {"W_xh": [[0.0]], "W_hh": [[23.0]]}
