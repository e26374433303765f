"""The operations of a step, counted by hand from the equations of each cell."""

import pytest

from rnncalc import GRU, LSTM, RNN, Cell, FastGRNN, Network
from rnncalc.conventions import convention
from rnncalc.layers.layer import Dense, Output
from rnncalc.step.costs import OperationCounts, operations
from rnncalc.step.trace import trace

M, H = 5, 3
CASES: dict[str, tuple[Cell | Dense, str, OperationCounts]] = {
    # h = tanh(W x + W h + b): the two products add up in one place
    "rnn": (RNN(H), "textbook", OperationCounts(H * (M + H), H, 0, H)),
    "rnn of two biases": (RNN(H), "pytorch", OperationCounts(H * (M + H), 2 * H, 0, H)),
    "rnn without biases": (RNN(H, bias=False), "textbook", OperationCounts(H * (M + H), 0, 0, H)),
    # w ∘ h, and its sum with W x
    "rnn, diagonal": (RNN(H, recurrence="diagonal"), "textbook", OperationCounts(H * M, H, 2 * H, H)),
    # r ∘ h; z ∘ h, 1 − z, (1 − z) ∘ n and the sum of both
    "gru": (GRU(H), "textbook", OperationCounts(3 * H * (M + H), 3 * H, 5 * H, 3 * H)),
    # r ∘ (W h + b), and its sum with W x + b
    "gru that resets after": (GRU(H), "pytorch", OperationCounts(3 * H * (M + H), 6 * H, 6 * H, 3 * H)),
    # f ∘ c, i ∘ g, their sum, o ∘ tanh c
    "lstm": (LSTM(H), "textbook", OperationCounts(4 * H * (M + H), 4 * H, 4 * H, 5 * H)),
    # w ∘ c and its sum in three gates
    "lstm with peepholes": (
        LSTM(H, peepholes=True),
        "textbook",
        OperationCounts(4 * H * (M + H), 4 * H, 10 * H, 5 * H),
    ),
    # f ∘ c, 1 − f, (1 − f) ∘ g, their sum, o ∘ tanh c
    "lstm, coupled": (
        LSTM(H, coupled=True),
        "textbook",
        OperationCounts(3 * H * (M + H), 3 * H, 5 * H, 4 * H),
    ),
    # norm takes 5 for each number, γ one; the bias is after
    "rnn, normalised": (RNN(H, layer_norm=True), "textbook", OperationCounts(H * (M + H), H, 6 * H, H)),
    # the same in four gates, and for c
    "lstm, normalised": (
        LSTM(H, layer_norm=True),
        "textbook",
        OperationCounts(4 * H * (M + H), 5 * H, 4 * H + 5 * 6 * H, 5 * H),
    ),
    "lstm with a projection": (
        LSTM(H, projection=2),
        "textbook",
        OperationCounts(4 * H * (M + 2) + 2 * H, 4 * H, 4 * H, 5 * H),
    ),
    # σ(ζ) and σ(ν); 1 − z, times σ(ζ), plus σ(ν), ∘ n, z ∘ h and the sum; a matrix product of both gates is one
    "fastgrnn": (FastGRNN(H), "textbook", OperationCounts(H * (M + H), 2 * H, 6 * H, 2 * H + 2)),
    "dense": (Dense(H, activation="relu"), "textbook", OperationCounts(H * M, H, 0, H)),
    "output": (Output(H, bias=False), "textbook", OperationCounts(H * M, 0, 0, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_operations_by_hand(case: str) -> None:
    """Multiply-adds are those of the stack; FLOPs are twice these, and one for each other operation."""
    layer, name, by_hand = CASES[case]
    counts = operations(trace(layer, M, convention(name)), layer.sizes(M))
    assert counts == by_hand
    assert counts.flops == 2 * by_hand.multiply_adds + sum(by_hand[1:])
    if not isinstance(layer, Output):
        (placed,) = Network(input=M, layers=[layer], convention=name).stack
        assert counts.multiply_adds == placed.multiply_adds_per_step
