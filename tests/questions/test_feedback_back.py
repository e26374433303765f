"""Feedback in a backward pass: what is counted is what it does, and gradients are those of differences."""

from typing import Any

import pytest
from verified import backward

from rnncalc import GRU, LSTM, RNN, SRU, Dense, Dropout, Network

STACKS: dict[str, tuple[tuple[Any, ...], int | None]] = {
    "one layer and an output": ((RNN(3),), 2),
    "two layers": ((RNN(3), GRU(2)), 2),
    "a frozen layer first": ((RNN(3, frozen=True), LSTM(2)), 2),
    "nothing trained": ((RNN(3, frozen=True),), None),
    "a learned start": ((LSTM(2, learned_state=True),), None),
    "its own output": ((LSTM(2),), None),
    "its own output, no state": ((SRU(2),), None),
    "its own output, passed on": ((GRU(2), Dropout(0.5)), None),
    "copies": ((RNN(2, repeat=2),), None),
    "no recurrence": ((Dense(2),), None),
}


@pytest.mark.broad
@pytest.mark.parametrize("chunk", [None, 1, 2, 3])
@pytest.mark.parametrize("name", STACKS)
def test_what_is_counted_is_what_a_backward_pass_does(name: str, chunk: int | None) -> None:
    """Gradients flow from an input to the output that it was, but over no chunk's border; a vector is saved once."""
    layers, output = STACKS[name]
    network = Network(input=output or layers[0].units, layers=layers, output=output, topology="one-to-many", steps=4)
    assert backward(network.replace(feedback=True), chunk=chunk).agrees
