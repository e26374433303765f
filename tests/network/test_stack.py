"""The stack: the shapes and uses of layers in their places, by topology and repeats."""

import pytest

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, External, Layer, Network, Output
from rnncalc.network.parts import Part, TopologyName
from rnncalc.network.stack import joins


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
    assert [placed.output_shape for placed in network.placed] == shapes
    assert [placed.uses for placed in network.placed] == uses


def test_repeated_recurrence_ends_at_its_last_copy() -> None:
    """Of two stacked copies the first hands on a sequence, the second its final state."""
    network = Network(input=2, layers=(RNN(3, repeat=2),), steps=5)
    assert [placed.output_shape for placed in network.placed] == [(5, 3), (3,)]


@pytest.mark.parametrize("layer", [Dropout(0.5, extra_inputs=2), External(7, extra_inputs=2), RNN(3, extra_inputs=2)])
def test_each_copy_joins_its_extra_inputs(layer: Layer) -> None:
    """Three copies read and hand on what three layers one after another do, wider each time where they only pass on."""
    three = Network(input=4, layers=(layer, layer, layer, Dense(5)))
    repeated = Network(input=4, layers=(layer.replace(repeat=3), Dense(5)))
    found = [[(placed.inputs, placed.outputs) for placed in network.placed] for network in (three, repeated)]
    assert found[0] == found[1]
    assert three.params == repeated.params


def test_each_copy_has_its_place_in_the_list() -> None:
    """Layers that stand in it several times are in places of their own, copies of one that is repeated in its."""
    part = Part(2, (*[RNN(3)] * 3, Dense(2, repeat=3), *[LSTM(4, repeat=2)] * 2))
    found = [
        (join.layer.kind, join.copy, [join.place_of(copy) for copy in range(join.copy, join.copy + join.copies)])
        for join in joins(part)
    ]
    assert found == [
        ("rnn", 0, [0]),
        ("rnn", 1, [1, 2]),
        ("dense", 0, [3]),
        ("dense", 1, [3, 3]),
        ("lstm", 0, [4]),
        ("lstm", 1, [4]),
        ("lstm", 0, [5, 5]),
    ]


def test_one_of_several_copies_is_itself() -> None:
    """Its name has a number of its own; a framework numbers the copies of a repeated layer, not those of a list."""
    for layers, copy in (([RNN(3)] * 4, 0), ([RNN(3, repeat=4)], 3)):
        placed, _ = Network(input=3, layers=[*layers, GRU(2)], steps=5, convention="pytorch").stack
        one = placed.one(3)
        assert (placed.name, placed.copies, placed.name_of(2)) == ("rnn_1", 4, "rnn_3")
        assert (one.name, one.copy, one.copies, one.params) == ("rnn_4", copy, 1, 3 * (3 + 3 + 2))
        assert one.tensors[0].name == f"weight_ih_l{copy}"
        assert one.multiply_adds == 5 * (9 + 9)
    named = Network(input=3, layers=[RNN(3, name="a")]).stack[0]
    assert (named.name, named.one(0).name, named.number, named.multiply_adds) == ("a", "a", None, None)
    repeated, _ = Network(input=3, layers=[RNN(3, name="a", repeat=2, frozen=True), GRU(2)]).stack
    assert (repeated.name, repeated.one(1).name, repeated.trainable) == ("a_1", "a_2", 0)
    assert Network(input=3, layers=[Dropout(0.5)]).stack[0].multiply_adds == 0
    assert Network(input=3, layers=[External(7)], steps=2).stack[0].multiply_adds is None
