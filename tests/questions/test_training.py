"""`count --training`: gradients, saved activations, backward multiply-adds, states carried, updates and bytes."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Spec, cell, encoder_decoder, network, network_of
from verified import backward

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    Dense,
    Embedding,
    External,
    LastStep,
    Layer,
    Network,
    Output,
    Part,
    Pool1D,
    training,
)
from rnncalc.layers.cell import Cell


def many(layers: list[Layer], inputs: int, steps: int, **others: Any) -> Network:
    """Return a network with a label at every step."""
    return Network(input=inputs, layers=layers, steps=steps, topology="many-to-many", **others)


@pytest.mark.parametrize(
    ("layers", "inputs", "steps", "batch", "numbers"),
    [
        ([RNN(16)], 8, 5, 3, 408),
        ([RNN(64)], 32, 100, 8, 77_312),
        ([LSTM(29)], 13, 7, 2, 3_024),
        ([LSTM(64)], 32, 100, 8, 384_000),
        ([LSTM(29), LSTM(29)], 13, 7, 2, 6_272),
        ([LSTM(29, repeat=2)], 13, 7, 2, 6_272),
        ([LSTM(29, bidirectional=True)], 13, 7, 2, 5_866),
    ],
)
def test_saved_activations_are_what_pytorch_saves(
    layers: list[Layer], inputs: int, steps: int, batch: int, numbers: int
) -> None:
    """The numbers that PyTorch 2.13 saves on the CPU without oneDNN, the parameters left out."""
    saved = training(many(layers, inputs, steps), batch=batch).saved
    assert saved is not None
    assert batch * saved == numbers


@pytest.mark.parametrize(
    ("layer", "saved"),
    [
        (RNN(5), 7 * (3 + 5) + 5),  # x_t and h_(t−1), and what tanh gave, which is h_t: h_0 to h_7
        (RNN(5, activation="linear"), 7 * (3 + 5)),  # nothing is read of h_7
        (RNN(5, recurrence="diagonal"), 7 * (3 + 5) + 5),
        (RNN(5, frozen=True), 0),
        (LSTM(5), 7 * (3 + 7 * 5)),  # x, h, c, i, f, g, o and tanh c
        (LSTM(5, output_gate=False), 7 * (3 + 5 * 5) + 5),  # x, c, i, f, g, and h, which is tanh c: h_0 to h_7
        (LSTM(5, peepholes=True), 7 * (3 + 7 * 5) + 5),  # the output gate reads c_t: c_0 to c_7
        (LSTM(5, projection=2), 7 * (3 + 2 + 6 * 5 + 5)),  # and o ∘ tanh c, which the projection multiplies
        (GRU(5, reset_after=True), 7 * (3 + 5 * 5)),  # x, h, z, r, n and W_hn h + b
        (GRU(5, reset_after=False), 7 * (3 + 5 * 5)),  # x, h, z, r, n and r ∘ h
        (GRU(5, reset_gate=False), 7 * (3 + 3 * 5)),  # x, h, z, n
    ],
)
def test_saved_activations_by_hand(layer: Layer, saved: int) -> None:
    """Each vector that the backward equations of 7 steps read, once, for 3 inputs and 5 units."""
    assert training(many([layer], 3, 7)).saved == saved


def test_the_smallest_network_by_hand() -> None:
    """4 → 3 → 1 at 3 steps: 66 multiply-adds forward, 87 back."""
    totals = training(Network(input=4, layers=[RNN(3)], output=1, steps=3))
    hidden, output = totals.layers
    assert hidden.backward_multiply_adds == 3 * 3 * 4 + 3 * 3 * 3 + 2 * 3 * 3  # W_xh; W_hh; h_2 and h_1, not h_0
    assert output.backward_multiply_adds == 1 * 3 + 1 * 3  # W_hy; h_3
    assert totals.backward_multiply_adds == 87
    assert hidden.saved == 3 * 4 + 4 * 3  # x_1 to x_3; h_0 to h_3
    assert output.saved == 3
    assert totals.saved == 27
    assert totals.gradients == 28
    assert totals.bytes == 4 * (28 + 28 + 27)
    assert totals.states_carried == 9
    assert totals.updates == 1


def test_many_to_one_in_chunks_reaches_the_last_alone() -> None:
    """Ten steps in chunks of 4: the last has 2, and what is before it learns nothing."""
    network = Network(input=4, layers=[RNN(3)], output=1, steps=10)
    of, short = training(network, chunk=4), training(network.replace(steps=2))
    assert of.saved == short.saved == 2 * (4 + 3) + 3 + 3
    assert of.backward_multiply_adds == short.backward_multiply_adds
    assert (of.updates, of.states_carried) == (3, 12)


def test_both_directions_of_many_to_one_stop_in_different_chunks() -> None:
    """Of 10 steps in chunks of 4 the forward direction's last are 2, the backward one's, which reads x_1 last, 4."""
    network = Network(input=4, layers=[RNN(3, bidirectional=True)], steps=10)
    (layer,) = training(network, chunk=4).layers
    assert layer.saved == 4 * (4 + 3) + 3
    assert layer.backward_multiply_adds == sum(n * 3 * 4 + n * 9 + (n - 1) * 9 for n in (2, 4))


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


@pytest.mark.parametrize(
    ("layer", "multiply_adds"),
    [
        (RNN(5), 7 * 5 * 3 + (7 + 6) * 5 * 5),  # into W_xh; into W_hh at each step, and into h_1 to h_6
        (RNN(5, recurrence="diagonal"), 7 * 5 * 3),  # its weights act element by element
        (RNN(5, learned_state=True), 7 * 5 * 3 + (7 + 7) * 5 * 5),  # the gradient goes on into h_0
        (GRU(5, reset_after=True), 3 * (7 * 5 * 3 + (7 + 6) * 5 * 5)),
        (GRU(5, reset_after=False), 3 * (7 * 5 * 3 + (7 + 6) * 5 * 5) + 5 * 5),  # the reset gate's is that of r ∘ h_0
    ],
)
def test_backward_multiply_adds_by_hand(layer: Layer, multiply_adds: int) -> None:
    """Each product of the backward equations of 7 steps, for 3 inputs and 5 units."""
    assert training(many([layer], 3, 7)).backward_multiply_adds == multiply_adds


def test_a_frozen_layer_holds_what_gradients_through_it_need() -> None:
    """Above a trained layer its gradients go on into x and h, and read what tanh gave: h_1 to h_7."""
    below, frozen = training(many([RNN(4), RNN(5, frozen=True)], 3, 7)).layers
    assert frozen.gradients == 0
    assert frozen.saved == 7 * 5
    assert frozen.backward_multiply_adds == 7 * 5 * 4 + 6 * 5 * 5
    assert below.saved == 7 * (3 + 4) + 4


def test_an_embedding_and_its_tied_output() -> None:
    """A token number a look-up; the output's product trains the table, until that is frozen."""
    layers: list[Layer] = [Embedding(4), RNN(4)]
    tied = training(many(layers, 9, 7, output=Output(9, tied=True)))
    table, _, output = tied.layers
    assert (table.saved, table.backward_multiply_adds, table.gradients) == (7, 0, 36)
    assert (output.saved, output.backward_multiply_adds, output.gradients) == (7 * 4, 2 * 7 * 9 * 4, 9)
    layers[0] = Embedding(4, frozen=True)
    table, _, output = training(many(layers, 9, 7, output=Output(9, tied=True))).layers
    assert (table.saved, table.gradients) == (0, 0)
    assert (output.saved, output.backward_multiply_adds) == (0, 7 * 9 * 4)


def test_a_dense_layer_holds_its_input_and_what_its_activation_gave() -> None:
    """A linear one its input alone."""
    linear, softmax = (training(many([Dense(2, activation=word)], 3, 7)).saved for word in ("linear", "softmax"))
    assert linear == 7 * 3
    assert softmax == 7 * (3 + 2)


def test_directions_that_are_multiplied_hold_each_other() -> None:
    """An LSTM's own equations read no h_7; the product of its directions reads every one of both."""
    joined, multiplied = (
        training(many([LSTM(5, bidirectional=True, merge=merge)], 3, 7)).saved for merge in ("sum", "mul")
    )
    assert joined == 7 * (3 + 2 * 7 * 5)
    assert multiplied == 7 * (3 + 2 * 7 * 5) + 2 * 5


def test_directions_that_are_multiplied_where_they_stop_hold_each_other() -> None:
    """Each stops in another chunk of 4: the forward one's last holds both ends beside its own steps."""
    joined, multiplied = (
        training(Network(input=3, layers=[LSTM(5, bidirectional=True, merge=merge)], steps=8), chunk=4).saved
        for merge in ("sum", "mul")
    )
    assert joined == 4 * (3 + 7 * 5)
    assert multiplied == 4 * (3 + 7 * 5) + 2 * 5


@pytest.mark.parametrize(
    ("layer", "saved", "multiply_adds"),
    [
        (Dense(3), 7 * 3, (7 + 6) * 9),  # each input; into the weights, and into all inputs but the first
        (Dense(3, activation="tanh"), 8 * 3, (7 + 6) * 9),  # and the last output, which is no input
        (Dense(3, activation="tanh", frozen=True), 0, 0),
        (Dense(3, frozen=True), 0, 0),
    ],
    ids=str,
)
def test_a_dense_layer_that_reads_its_own_outputs_holds_each_once(layer: Layer, saved: int, multiply_adds: int) -> None:
    """Seven steps of three numbers, fed back."""
    totals = training(Network(input=3, layers=[layer], topology="one-to-many", steps=7, feedback=True))
    assert (totals.saved, totals.backward_multiply_adds) == (saved, multiply_adds)


def test_one_to_many_reads_zeros_at_the_later_steps() -> None:
    """They are constants: what is below gets a gradient of the first input alone."""
    network = Network(input=4, layers=[Dense(3), RNN(5)], output=1, steps=7, topology="one-to-many")
    below, cell, output = training(network).layers
    assert (below.saved, below.backward_multiply_adds) == (4, 3 * 4)
    assert cell.saved == 7 * (3 + 5) + 5
    assert cell.backward_multiply_adds == 7 * 5 * 3 + 5 * 3 + 7 * 25 + 6 * 25
    assert output.saved == 7 * 5


def test_an_encoder_learns_through_the_state_it_hands_over() -> None:
    """In chunks of 3, of its last alone: steps 4 and 5; the decoder's first chunk goes on into that state."""
    network = Network(encoder=Part(2, (RNN(4),), steps=5), decoder=Part(3, (RNN(4),), Output(1), steps=6))
    encoder, decoder, output = training(network, chunk=3).layers
    assert encoder.backward_multiply_adds == 2 * 4 * 2 + 2 * 16 + 16
    assert encoder.saved == 2 * (2 + 4) + 4
    assert decoder.backward_multiply_adds == 6 * 4 * 3 + 6 * 16 + 3 * 16 + 2 * 16
    assert decoder.saved == 3 * (3 + 4) + 4
    assert output.saved == 3 * 4
    frozen = network.replace(encoder=Part(2, (RNN(4, frozen=True),), steps=5))
    encoder, decoder, _ = training(frozen, chunk=3).layers
    assert (encoder.saved, encoder.backward_multiply_adds) == (0, 0)
    assert decoder.backward_multiply_adds == 6 * 4 * 3 + 6 * 16 + 2 * 2 * 16


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
    totals = training(network_of(spec), chunk=chunk)
    assert [layer.name for layer in totals.layers] == [placed.name for placed in totals.network.stack]
    for total, numbers in (
        (totals.saved, [layer.saved for layer in totals.layers]),
        (totals.backward_multiply_adds, [layer.backward_multiply_adds for layer in totals.layers]),
        (totals.gradients, [layer.gradients for layer in totals.layers]),
    ):
        known = [number for number in numbers if number is not None]
        assert total == (sum(known) if len(known) == len(numbers) else None)
    assert totals.gradients == totals.network.trainable


@given(encoder_decoder() | network(steps=True), st.none() | st.integers(1, 5))
def test_repeat_is_the_layer_written_again(spec: Spec, chunk: int | None) -> None:
    """The first of several may have nothing trained below it, and the last may be reached at its end alone."""
    written = {**spec}
    for half in [written] if "layers" in spec else [written.setdefault(name, {}) for name in ("encoder", "decoder")]:
        half["layers"] = [
            {key: value for key, value in layer.items() if key != "repeat"}
            for layer in half["layers"]
            for _ in range(layer.get("repeat", 1))
        ]
    assert [each[1:] for each in training(network_of(spec), chunk=chunk).layers] == [
        each[1:] for each in training(network_of(written), chunk=chunk).layers
    ]


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


def test_what_cannot_be_known_is_none() -> None:
    """Without the steps, and with a part that is counted elsewhere; the gradients are known."""
    for layers, steps in (([RNN(3)], None), ([External(5), RNN(3)], 4)):
        totals = training(Network(input=2, layers=layers, steps=steps))
        assert (totals.saved, totals.backward_multiply_adds, totals.bytes) == (None, None, None)
        assert totals.gradients == totals.network.params
    assert training(Network(input=2, layers=[External(5), RNN(3)], steps=4)).layers[1].saved == 4 * (2 + 3) + 3


def test_bytes_are_those_of_weights_gradients_the_optimizer_and_the_batch() -> None:
    """By hand: an LSTM of 64 units on 32 inputs, whose 100 steps hold 48,000 numbers, and a frozen table."""
    network = many([LSTM(64)], 32, 100)
    params = 4 * 64 * (32 + 64 + 1)
    for optimizer, kept in (("sgd", 0), ("momentum", 1), ("adam", 2)):
        totals = training(network, batch=8, optimizer=optimizer, dtype="float16")
        assert totals.bytes == 2 * (params * (2 + kept) + 8 * 48_000)
    frozen = training(many([Embedding(32, frozen=True), LSTM(64)], 1000, 100), batch=8, optimizer="adam")
    assert frozen.bytes == 4 * (32_000 + 4 * params + 8 * 48_000)


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
