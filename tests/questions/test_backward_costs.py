"""What the backward pass takes: how gradients meet the layers of a stack, in which chunks, at which steps."""

from typing import Any

import pytest
from case_files import cases
from strategies import network_of
from verified import backward

from rnncalc import GRU, LSTM, RNN, SRU, Conv1D, Network, training


@pytest.mark.broad
@pytest.mark.parametrize("spec", cases("questions/backward_costs.yaml"), ids=str)
def test_what_is_counted_is_what_a_backward_pass_reads_and_multiplies(spec: dict[str, Any]) -> None:
    """Of each layer: the loss reaches some steps of it, the gradient goes on below it or not.

    In longer sequences, and in chunks of more steps, the numbers are those of polynomials through shorter ones.
    """
    assert all(layer.agrees for layer in backward(network_of(spec), verify=len(str(spec)) < 160).layers)


def test_a_sequence_of_any_length_takes_no_longer() -> None:
    """By hand: T(m + 7h) of an LSTM; strides of 4, of 10^9 steps; K(m + h) of the last of 10^6 chunks, h before it."""
    network = Network(input=2, layers=[LSTM(3)], steps=10**9, topology="many-to-many")
    assert training(network).saved == 10**9 * (2 + 7 * 3)
    strided = network.replace(layers=[Conv1D(3, kernel=4, stride=4)])
    assert training(strided).backward_multiply_adds == 10**9 * 2 * 3
    assert training(network.replace(layers=[RNN(3)]), chunk=1000).saved == 1000 * (2 + 3) + 3


@pytest.mark.parametrize("chunk", [None, 3])
def test_layers_that_differ_in_their_units_cost_what_each_does_by_itself(chunk: int | None) -> None:
    """A layer with a name is followed by itself. An SRU multiplies its input by a matrix unless that has its width."""
    for layers in ([GRU(units) for units in (4, 6, 5, 5, 7)], [SRU(units) for units in (4, 5, 6, 7, 7, 8, 5)]):
        network = Network(input=4, layers=layers, steps=8, output=5)
        named = network.replace(layers=[layer.replace(name=f"l{place}") for place, layer in enumerate(layers)])
        costs = [
            [(each.saved, each.backward_multiply_adds) for each in training(each, chunk=chunk).layers]
            for each in (network, named)
        ]
        assert costs[0] == costs[1]
