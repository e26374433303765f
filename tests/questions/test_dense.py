"""The dense equivalent, against cases worked out by hand."""

from typing import Any

import pytest

from rnncalc import GRU, LSTM, RNN, DecoderAttention, Dense, Dropout, Embedding, External, Layer, Network, Output, Part
from rnncalc.network.parts import TopologyName
from rnncalc.questions.dense import dense_equivalent, dense_params


def widths(network: Network) -> list[tuple[int, int, int]]:
    equivalent = dense_equivalent(network)
    assert equivalent is not None
    assert equivalent.params == sum(layer.params for layer in equivalent.layers)
    return [(layer.inputs, layer.units, layer.params) for layer in equivalent.layers]


def _attending(inputs: int, layer: Layer, **options: Any) -> Network:
    """Return a decoder of two steps with as many inputs, which attends to four numbers at each of three steps."""
    attention = DecoderAttention("dot", **options)
    decoder = Part(inputs, (layer,), Output(1), steps=2, attention=attention)
    return Network(encoder=Part(2, (RNN(4),), steps=3), decoder=decoder)


def test_a_table_is_no_work_and_the_rest_is_its_products() -> None:
    """Two look-ups of width 3 are 6 numbers: 6·8 products into 2·4 units, and 8·1 into the output."""
    equivalent = dense_equivalent(Network(input=9, layers=(Embedding(3), RNN(4)), output=Output(1), steps=2))
    assert equivalent is not None
    assert [layer.multiply_adds for layer in equivalent.layers] == [0, 48, 8]


@pytest.mark.parametrize(
    ("network", "chains"),
    [
        (Network(input=4, layers=(RNN(3), Dense(2)), output=Output(1), steps=3), ((12, 9, 6, 1),)),
        (Network(input=4, layers=(Dropout(0.5),), output=Output(1), steps=3), ((12, 3),)),
        (Network(input=4, layers=(Embedding(5),), output=Output(1), steps=3), ((15, 3),)),
        (Network(input=4, layers=(RNN(3), RNN(2, extra_inputs=5)), steps=3), ((12, 9), (24, 6))),
        (Network(input=4, layers=(RNN(3), External(0, outputs=5), RNN(2)), steps=3), ((12, 9), (15, 6))),
        (Network(encoder=Part(2, (RNN(4),), steps=3), decoder=Part(5, (RNN(4),), steps=2)), ((6, 12), (22, 8))),
        (_attending(0, RNN(4)), ((6, 12, 8, 8, 2),)),
        (_attending(0, RNN(4, extra_inputs=3)), ((6, 12, 8), (14, 8, 2))),
        (_attending(0, RNN(4), query="after", context="both"), ((6, 12, 8), (20, 8), (16, 2))),
        (_attending(5, RNN(4)), ((6, 12, 8), (18, 8, 2))),
        (_attending(4, RNN(4), context="added"), ((6, 12, 8, 8, 2),)),
    ],
)
def test_the_chain_of_widths(network: Network, chains: tuple[tuple[int, ...], ...]) -> None:
    """Each number that a layer reads or outputs; where others join, a chain of its own begins with all it reads."""
    equivalent = dense_equivalent(network)
    assert equivalent
    assert equivalent.chains == chains


@pytest.mark.parametrize("layer", [RNN(3), LSTM(3, bias=False), Dense(4, extra_inputs=2), Dropout(0.5, extra_inputs=2)])
@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one", "one-to-many"])
def test_repeated_layers_are_as_many_single_ones(layer: Layer, topology: TopologyName) -> None:
    """The dense equivalent of three copies is that of three layers, and so is its sum for another number of steps."""
    repeated = Network(input=5, layers=(layer.replace(repeat=3), GRU(2)), output=2, steps=4, topology=topology)
    single = Network(input=5, layers=(layer, layer, layer, GRU(2)), output=2, steps=4, topology=topology)
    assert widths(repeated) == widths(single)
    assert dense_params(repeated, 4) == dense_params(single, 4) == sum(params for *_, params in widths(single))


def test_one_step_stays_one() -> None:
    """Of a one-to-one network, whatever number of steps is asked about: 4 → 3 → 1."""
    network = Network(input=4, layers=(GRU(3),), output=Output(1), topology="one-to-one")
    assert dense_params(network, 7) == dense_params(network, 1) == 15 + 4
