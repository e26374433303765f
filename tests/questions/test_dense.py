"""The dense equivalent, against cases worked out by hand."""

import pytest

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, External, Layer, Network, Output, Part
from rnncalc.questions.dense import dense_equivalent


def widths(network: Network) -> list[tuple[int, int, int]]:
    equivalent = dense_equivalent(network)
    assert equivalent is not None
    assert equivalent.params == sum(layer.params for layer in equivalent.layers)
    return [(layer.inputs, layer.units, layer.params) for layer in equivalent.layers]


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        ("many-to-one", [(12, 9, 117), (9, 1, 10)]),
        ("many-to-many", [(12, 9, 117), (9, 3, 30)]),
        ("one-to-many", [(4, 9, 45), (9, 3, 30)]),
    ],
)
def test_the_classroom_example(topology: str, expected: list[tuple[int, int, int]]) -> None:
    """m=4, h=3, p=1, T=3: 12 → 9 → 1 with 117 + 10; three outputs where it speaks at every step."""
    network = Network(input=4, layers=(RNN(3),), output=Output(1), steps=3, topology=topology)
    assert widths(network) == expected


def test_one_step_is_one_step() -> None:
    """One-to-one has T = 1: the recurrent layer becomes a dense layer of its own width."""
    network = Network(input=4, layers=(GRU(3),), output=Output(1), topology="one-to-one")
    assert widths(network) == [(4, 3, 15), (3, 1, 4)]


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((RNN(3, bias=False),), [(8, 6, 48)]),
        ((LSTM(3, bidirectional=True),), [(8, 12, 108)]),
        ((LSTM(3, bidirectional=True, merge="sum"),), [(8, 6, 54)]),
        ((LSTM(5, projection=3),), [(8, 6, 54)]),
        ((RNN(3, extra_inputs=2),), [(12, 6, 78)]),
        ((RNN(3, repeat=2),), [(8, 6, 54), (6, 6, 42)]),
        ((Dense(3), RNN(2)), [(8, 6, 54), (6, 4, 28)]),
        ((Dropout(0.5), RNN(3)), [(8, 6, 54)]),
        ((Embedding(5), RNN(3)), [(4, 5, 20), (10, 6, 66)]),
        ((External(7, outputs=6), RNN(3)), [(4, 6, 7), (12, 6, 78)]),
    ],
)
def test_each_kind_of_layer(layers: tuple[Layer, ...], expected: list[tuple[int, int, int]]) -> None:
    """Two steps of four features through each kind of layer, by hand."""
    assert widths(Network(input=4, layers=layers, steps=2)) == expected


def test_an_encoder_decoder() -> None:
    """T_in 3 and T_out 2: 6 → 12 in the encoder; the decoder reads those 12 and 2·5 of its own."""
    network = Network(
        encoder=Part(2, (RNN(4),), steps=3),
        decoder=Part(5, (RNN(4),), Output(7), steps=2),
    )
    assert widths(network) == [(6, 12, 84), (22, 8, 184), (8, 14, 126)]


def test_an_encoder_decoder_with_embeddings() -> None:
    """The embeddings stay tables; two look-ups of width 3 join the encoder's 12 numbers."""
    network = Network(
        encoder=Part(9, (Embedding(2), RNN(4)), steps=3),
        decoder=Part(8, (Embedding(3), RNN(4)), steps=2),
    )
    assert widths(network) == [(9, 2, 18), (6, 12, 84), (8, 3, 24), (18, 8, 152)]


def test_without_steps_there_is_none() -> None:
    """The number of steps decides every width, so without it nothing is known."""
    assert dense_equivalent(Network(input=4, layers=(RNN(3),))) is None
