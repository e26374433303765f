"""The stack: the shapes and uses of layers in their places, by topology and repeats."""

import pytest

from rnncalc import LSTM, RNN, Dense, Dropout, External, Layer, Network, Output
from rnncalc.network.parts import TopologyName


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
