"""What the tape of a pass takes in memory, and what the backward pass outputs."""

import pytest

from rnncalc import RNN, Dense, Network, Part
from rnncalc.forward.arrays import PassData
from rnncalc.forward.backward_pass import BackwardPass, backward_pass, taped_bytes, the_sum

FIRST, LATER = 6, 6
"""The values of a step of an RNN: two products, two sums, tanh, and first the bias, later the state that is carried."""


@pytest.mark.parametrize(("units", "steps"), [(1, 1), (1, 2), (1, 5), (3, 4)])
def test_an_operation_takes_so_much_and_each_of_its_numbers(units: int, steps: int) -> None:
    """340 bytes, and 43: told from two steps for any number of them."""
    network = Network(input=1, layers=[RNN(units)], steps=steps)
    weights = PassData(0).weights_of_all(network)
    operations = FIRST + LATER * (steps - 1)
    assert taped_bytes(network, weights) == operations * (340 + 43 * units)
    recording = BackwardPass(network, weights)
    assert (recording.tape.operations, recording.tape.numbers) == (operations, operations * units)


def test_each_half_has_steps_of_its_own() -> None:
    """3 in the encoder; 4 in the decoder, which takes its start out of the encoder's state."""
    halves = [Part(1, (RNN(2),), steps=steps) for steps in (3, 4)]
    network = Network(encoder=halves[0], decoder=halves[1])
    operations = (FIRST + 2 * LATER) + 1 + (FIRST + 3 * LATER)
    assert taped_bytes(network, PassData(0).weights_of_all(network)) == operations * (340 + 2 * 43)


def test_a_frozen_layer_below_is_not_on_the_tape() -> None:
    """Of two layers of one weight each the upper one's product alone, and its bias and their sum."""
    network = Network(input=1, layers=[Dense(1, frozen=True), Dense(1)], topology="one-to-one")
    assert taped_bytes(network, PassData(0).weights_of_all(network)) == 3 * (340 + 43)
    frozen = Network(input=1, layers=[Dense(1, frozen=True)], topology="one-to-one")
    assert taped_bytes(frozen, PassData(0).weights_of_all(frozen)) == 0


def test_the_tape_is_that_of_the_weights_that_are_used() -> None:
    """What a layer without its weights would need cannot be told."""
    assert taped_bytes(Network(input=1, layers=[RNN(1)], steps=3), {}) == 0


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
