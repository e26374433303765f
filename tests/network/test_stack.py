"""The stack: the shapes and uses of layers in their places, by topology and repeats."""

import pytest

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, External, Layer, Network, Output
from rnncalc.network.parts import Part, TopologyName, joins


@pytest.mark.parametrize(
    ("topology", "shapes", "uses"),
    [
        ("one-to-one", [(3,), (4,), (5,), (6,), (1,)], [1, 1, 1, 1, 1]),
        ("one-to-many", [(3,), (7, 4), (7, 5), (7, 6), (7, 1)], [1, 7, 7, 7, 7]),
        ("many-to-one", [(7, 3), (7, 4), (5,), (6,), (1,)], [7, 7, 7, 1, 1]),
        ("many-to-many", [(7, 3), (7, 4), (7, 5), (7, 6), (7, 1)], [7, 7, 7, 7, 7]),
    ],
)
def test_shapes_follow_the_topology(topology: TopologyName, shapes: list[tuple[int, ...]], uses: list[int]) -> None:
    """Sequences and vectors change over at the first or the last recurrent layer."""
    layers = (Dense(3), RNN(4), LSTM(5), Dense(6))
    steps = None if topology == "one-to-one" else 7
    network = Network(input=2, layers=layers, output=Output(1), topology=topology, steps=steps)
    assert [placed.output_shape for placed in network.stack] == shapes
    assert [placed.uses for placed in network.stack] == uses


def test_repeated_recurrence_ends_at_its_last_copy() -> None:
    """Of two stacked copies the first outputs a sequence, the second its final state."""
    network = Network(input=2, layers=(RNN(3, repeat=2),), steps=5)
    assert [placed.output_shape for placed in network.stack] == [(5, 3), (3,)]


@pytest.mark.parametrize("layer", [Dropout(0.5, extra_inputs=2), External(7, extra_inputs=2), RNN(3, extra_inputs=2)])
def test_each_copy_joins_its_extra_inputs(layer: Layer) -> None:
    """Three copies read and output what three layers one after another do, wider each time where they only pass on."""
    three = Network(input=4, layers=(layer, layer, layer, Dense(5)))
    repeated = Network(input=4, layers=(layer.replace(repeat=3), Dense(5)))
    found = [[(placed.inputs, placed.outputs) for placed in network.stack] for network in (three, repeated)]
    assert found[0] == found[1]
    assert three.params == repeated.params


def test_each_layer_has_its_place_in_the_list() -> None:
    """Layers that are in it several times are in places of their own, those of one `repeat` in its."""
    part = Part(2, (*[RNN(3)] * 3, Dense(2, repeat=3), *[LSTM(4, repeat=2)] * 2))
    assert [(join.layer.kind, join.place, join.copy) for join in joins(part)] == [
        *(("rnn", 0, 0), ("rnn", 1, 0), ("rnn", 2, 0)),
        *(("dense", 3, 0), ("dense", 3, 1), ("dense", 3, 2)),
        *(("lstm", 4, 0), ("lstm", 4, 1), ("lstm", 5, 0), ("lstm", 5, 1)),
    ]


def test_each_of_several_layers_is_itself() -> None:
    """Its name has a number of its own; a framework numbers the layers of a `repeat`, not those of a list."""
    for layers, copy in (([RNN(3)] * 4, 0), ([RNN(3, repeat=4)], 3)):
        *found, _ = Network(input=3, layers=[*layers, GRU(2)], steps=5, convention="pytorch").stack
        assert [placed.name for placed in found] == ["rnn_1", "rnn_2", "rnn_3", "rnn_4"]
        assert (found[3].copy, found[3].params) == (copy, 3 * (3 + 3 + 2))
        assert found[3].tensors[0].name == f"weight_ih_l{copy}"
        assert found[3].multiply_adds == 5 * (9 + 9)
    named = Network(input=3, layers=[RNN(3, name="a")]).stack[0]
    assert (named.name, named.multiply_adds) == ("a", None)
    first, second, _ = Network(input=3, layers=[RNN(3, name="a", repeat=2, frozen=True), GRU(2)]).stack
    assert (first.name, second.name, first.trainable) == ("a_1", "a_2", 0)
    assert Network(input=3, layers=[Dropout(0.5)]).stack[0].multiply_adds == 0
    assert Network(input=3, layers=[External(7)], steps=2).stack[0].multiply_adds is None
