"""`count --training`: gradients, saved activations, backward multiply-adds, states carried, updates and bytes."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Spec, cell, fitting, network, network_of
from verified import backward

from rnncalc import GRU, LSTM, RNN, Dense, LastStep, Layer, Network, Pool1D, training
from rnncalc.layers.cell import Cell


def many(layers: list[Layer], inputs: int, steps: int, **others: Any) -> Network:
    """Return a network with a label at every step."""
    return Network(input=inputs, layers=layers, steps=steps, topology="many-to-many", **others)


@pytest.mark.parametrize("kind", [RNN, GRU, LSTM])
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.integers(1, 13))
def test_each_chunk_leaves_one_product_through_time_out(
    kind: Any, inputs: int, units: int, steps: int, chunk: int
) -> None:
    """T·G·h·m for W_x, the same where something is trained below, T·G·h² for W_h, (T − C)·G·h² through time."""
    gates = {RNN: 1, GRU: 3, LSTM: 4}[kind]
    chunks = -(-steps // chunk)
    network = many([kind(units), kind(units + 1)], inputs, steps, convention="keras")
    first, second = training(network, chunk=chunk).layers

    def back(m: int, h: int, below: int) -> int:
        return gates * (steps * h * m * (1 + below) + (2 * steps - chunks) * h * h)

    assert first.backward_multiply_adds == back(inputs, units, 0)
    assert second.backward_multiply_adds == back(units, units + 1, 1)


@given(cell(), st.integers(1, 9), st.integers(1, 9))
def test_directions_add_up(spec: Spec, inputs: int, steps: int) -> None:
    """Both directions hold and multiply what two of one do; the inputs, which both read, are saved once.

    An SRU is another in both, where its skip is the input itself in one direction alone, or in both alone.
    """
    assume(spec.get("sru") not in (inputs, inputs / 2))
    spec = {key: value for key, value in spec.items() if key not in ("merge", "repeat", "frozen", "extra_inputs")}
    alone, both = (
        training(network_of({"input": inputs, "steps": steps, "topology": "many-to-many", "layers": [spec | way]}))
        for way in ({"bidirectional": False}, {"bidirectional": True})
    )
    assert alone.saved is not None
    assert alone.backward_multiply_adds is not None
    assert both.backward_multiply_adds == 2 * alone.backward_multiply_adds
    assert both.saved == 2 * alone.saved - steps * inputs


@given(network(steps=True), st.none() | st.integers(1, 5))
def test_a_stack_is_the_sum_of_its_layers(spec: Spec, chunk: int | None) -> None:
    """A row a layer, each of equal ones too; what none can know is not known of the sum."""
    net = network_of(spec)
    totals = training(net, chunk=fitting(chunk, net))
    assert [layer.name for layer in totals.layers] == [placed.name for placed in totals.network.stack]
    for total, numbers in (
        (totals.saved, [layer.saved for layer in totals.layers]),
        (totals.backward_multiply_adds, [layer.backward_multiply_adds for layer in totals.layers]),
        (totals.gradients, [layer.gradients for layer in totals.layers]),
    ):
        known = [number for number in numbers if number is not None]
        assert total == (sum(known) if len(known) == len(numbers) else None)
    assert totals.gradients == totals.network.trainable


@pytest.mark.broad
@given(cell(), st.none() | st.integers(1, 5), st.sampled_from(["many-to-one", "many-to-many"]), st.booleans())
def test_each_of_equal_layers_is_counted_as_by_itself(
    spec: Spec, chunk: int | None, topology: str, frozen_below: bool
) -> None:
    """Names keep layers apart that are counted together without them; the first may read what is not trained."""
    below = [{"dense": 3, "frozen": frozen_below}]
    layers = [
        below + [{**spec, **({"name": f"n_{number}"} if apart else {})} for number in range(6)] for apart in (0, 1)
    ]
    nets = [network_of({"input": 4, "layers": each, "steps": 7, "topology": topology}) for each in layers]
    rows = [[each[1:] for each in training(net, chunk=fitting(chunk, net)).layers] for net in nets]
    assert rows[0] == rows[1]


@given(st.lists(cell(), min_size=1, max_size=3), st.integers(1, 9), st.integers(1, 9))
def test_a_chunk_of_all_steps_is_no_chunk(layers: list[Spec], inputs: int, steps: int) -> None:
    """And one of more steps than there are."""
    network = network_of({"input": inputs, "layers": layers, "steps": steps})
    assert training(network, chunk=steps)[5:] == training(network, chunk=steps + 3)[5:] == training(network)[5:]


@given(st.lists(cell(), min_size=1, max_size=3), st.integers(1, 9), st.integers(1, 5), st.integers(1, 4))
def test_chunks_hold_what_so_many_steps_do(layers: list[Spec], inputs: int, chunk: int, times: int) -> None:
    """With a label at every step and no state but zeros, a chunk is a sequence of its own.

    Without an output gate h may be c itself: such states that are carried over are one value, where zeros are two.
    """
    other = ("learned_state", "output_gate")
    layers = [{key: value for key, value in layer.items() if key not in other} for layer in layers]
    network = network_of({"input": inputs, "layers": layers, "steps": chunk * times, "topology": "many-to-many"})
    whole, one = training(network, chunk=chunk), training(network.replace(steps=chunk))
    assert (whole.saved, whole.states_carried, whole.updates) == (one.saved, one.states_carried, times)
    assert one.backward_multiply_adds is not None
    assert whole.backward_multiply_adds == times * one.backward_multiply_adds


@given(st.lists(cell(), min_size=1, max_size=2), st.sampled_from(["many-to-one", "many-to-many", "one-to-many"]))
def test_every_further_step_adds_the_same(layers: list[Spec], topology: str) -> None:
    """From the seventh on, whatever the options: so a million steps cost no more than seven."""
    network = network_of({"input": 3, "layers": layers, "topology": topology, "output": 2})
    few, more, most = (training(network.replace(steps=steps)) for steps in (7, 8, 1_000_007))
    for number in ("saved", "backward_multiply_adds", "states_carried"):
        at_few, at_more, at_most = (getattr(of, number) for of in (few, more, most))
        assert at_most == at_few + 1_000_000 * (at_more - at_few)


@given(cell())
def test_a_layer_is_a_cell_or_says_nothing_of_states(spec: Spec) -> None:
    """States carried are T·s: h for each step, and c beside it in an LSTM, of both directions."""
    network = network_of({"input": 3, "layers": [spec], "steps": 6})
    cells = [placed.layer for placed in network.stack if isinstance(placed.layer, Cell)]
    assert training(network).states_carried == 6 * sum(sum(layer.state_widths()) for layer in cells)
    assert training(network, chunk=4).states_carried == 4 * sum(sum(layer.state_widths()) for layer in cells)


@pytest.mark.parametrize(
    ("above", "steps", "of"),
    [(LastStep(), 7, 7), (Pool1D(1, stride=3), 7, 7), (Pool1D(1, stride=3), 6, 4), (Pool1D(2, stride=3), 6, 5)],
)
@pytest.mark.parametrize("layer", [RNN(2), LSTM(2), GRU(2, reset_after=False)])
def test_steps_behind_the_last_that_is_read_cost_nothing(layer: Layer, above: Layer, steps: int, of: int) -> None:
    """What a window leaves out in between costs the same: the loss reaches it through the states."""
    whole = training(Network(input=1, layers=[layer, above], steps=steps)).layers[0]
    cut = training(Network(input=1, layers=[layer], steps=of)).layers[0]
    assert (whole.saved, whole.backward_multiply_adds) == (cut.saved, cut.backward_multiply_adds)


def test_a_backward_direction_is_reached_to_the_end_of_the_sequence() -> None:
    """Of 6 steps the first and the fourth are read; a pass saves and multiplies as much as is declared."""
    layers = [RNN(2, bidirectional=True), Pool1D(1, stride=3), Dense(1)]
    assert backward(Network(input=1, layers=layers, steps=6, topology="many-to-many")).agrees
