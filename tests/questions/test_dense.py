"""The dense equivalent, against cases worked out by hand."""

import pytest
from conftest import Call

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    BatchNorm,
    Conv1D,
    Dense,
    Dropout,
    Embedding,
    External,
    Flatten,
    LastStep,
    Layer,
    LayerNorm,
    Network,
    Output,
    Part,
    Pool1D,
    RepeatVector,
)
from rnncalc.network.parts import TopologyName
from rnncalc.questions.dense import dense_equivalent, dense_params


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
def test_the_classroom_example(topology: TopologyName, expected: list[tuple[int, int, int]]) -> None:
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
        ((RNN(3, repeat=2, extra_inputs=2),), [(12, 6, 78), (10, 6, 66)]),
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


def test_a_table_is_no_work_and_the_rest_is_its_products() -> None:
    """Two look-ups of width 3 are 6 numbers: 6·8 products into 2·4 units, and 8·1 into the output."""
    equivalent = dense_equivalent(Network(input=9, layers=(Embedding(3), RNN(4)), output=Output(1), steps=2))
    assert equivalent is not None
    assert [layer.multiply_adds for layer in equivalent.layers] == [0, 48, 8]


def test_without_steps_there_is_none() -> None:
    """The number of steps decides every width, so without it nothing is known."""
    assert dense_equivalent(Network(input=4, layers=(RNN(3),))) is None


@pytest.mark.parametrize(
    ("network", "chains"),
    [
        (Network(input=4, layers=(RNN(3), Dense(2)), output=Output(1), steps=3), ((12, 9, 6, 1),)),
        (Network(input=4, layers=(Dropout(0.5),), output=Output(1), steps=3), ((12, 3),)),
        (Network(input=4, layers=(Embedding(5),), output=Output(1), steps=3), ((15, 3),)),
        (Network(input=4, layers=(RNN(3), RNN(2, extra_inputs=5)), steps=3), ((12, 9), (24, 6))),
        (Network(input=4, layers=(RNN(3), External(0, outputs=5), RNN(2)), steps=3), ((12, 9), (15, 6))),
        (Network(encoder=Part(2, (RNN(4),), steps=3), decoder=Part(5, (RNN(4),), steps=2)), ((6, 12), (22, 8))),
    ],
)
def test_the_chain_of_widths(network: Network, chains: tuple[tuple[int, ...], ...]) -> None:
    """Each number that a layer reads or outputs; where others join, a chain of its own begins with all it reads."""
    equivalent = dense_equivalent(network)
    assert equivalent
    assert equivalent.chains == chains


def test_the_chain_as_it_is_said(call: Call) -> None:
    """The decoder of a translation reads 15,360 numbers of the encoder, 6,400 of words and 12,800 of attention."""
    out = call("specs/translation.yaml").out
    assert "30 and 25 steps: 7,680 → 15,360; 34,560 → 12,800 → 150,000, 2,484,094,960 parameters" in out


def test_what_stands_before_a_sequence_begins_is_applied_once() -> None:
    """One-to-many: 4 features and 2 more make 5, once; from the recurrent layer on there are 3 steps."""
    layers = (Dense(5, extra_inputs=2), Dropout(0.5, extra_inputs=1), RNN(2, extra_inputs=7), Dense(3, extra_inputs=1))
    network = Network(input=4, layers=layers, output=Output(1), steps=3, topology="one-to-many")
    assert widths(network) == [(6, 5, 35), (6 + 3 * 7, 6, 168), (9, 9, 90), (9, 3, 30)]


def test_a_part_counted_elsewhere_is_applied_where_it_stands() -> None:
    """One-to-many: before the first recurrent layer once; without one the sequence begins at it, 5 numbers a step."""
    external = External(7, outputs=5)
    before = Network(input=4, layers=(external, RNN(2)), steps=3, topology="one-to-many")
    assert widths(before) == [(4, 5, 7), (5, 6, 36)]
    within = Network(input=4, layers=(external, Dense(2)), steps=3, topology="one-to-many")
    assert widths(within) == [(4, 5, 7), (15, 6, 96)]


@pytest.mark.parametrize("layer", [RNN(3), LSTM(3, bias=False), Dense(4, extra_inputs=2), Dropout(0.5, extra_inputs=2)])
@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one", "one-to-many"])
def test_repeated_layers_are_as_many_single_ones(layer: Layer, topology: TopologyName) -> None:
    """The dense equivalent of three copies is that of three layers, and so is its sum for another number of steps."""
    repeated = Network(input=5, layers=(layer.replace(repeat=3), GRU(2)), output=2, steps=4, topology=topology)
    single = Network(input=5, layers=(layer, layer, layer, GRU(2)), output=2, steps=4, topology=topology)
    assert widths(repeated) == widths(single)
    assert dense_params(repeated, 4) == dense_params(single, 4) == sum(params for *_, params in widths(single))


def test_extra_inputs_are_weights_of_a_dense_layer() -> None:
    """A dense layer of 3 on 4 features and 5 more: 3 × (9 + 1)."""
    assert Network(input=4, layers=(Dense(3, extra_inputs=5),)).params == 30
    assert Network(input=4, layers=(Dense(3, extra_inputs=5, repeat=2),)).params == 30 + 3 * 9


def test_each_stands_under_the_name_of_its_own() -> None:
    """Of equal neighbours too, of which the first may read another width."""
    equivalent = dense_equivalent(Network(input=4, layers=(RNN(3, repeat=3), Dense(5, repeat=2)), steps=2))
    assert equivalent is not None
    assert [layer.name for layer in equivalent.layers] == ["rnn_1", "rnn_2", "rnn_3", "dense_1", "dense_2"]


def test_one_step_stays_one() -> None:
    """Of a one-to-one network, whatever number of steps is asked about: 4 → 3 → 1."""
    network = Network(input=4, layers=(GRU(3),), output=Output(1), topology="one-to-one")
    assert dense_params(network, 7) == dense_params(network, 1) == 15 + 4


def test_a_dense_layer_makes_the_states_before_the_first_step() -> None:
    """5 numbers make h and c, 4 each, which the layer reads beside 2 steps of 3; a decoder's come from all outputs."""
    alone = Network(input=3, layers=[LSTM(4, initial_state=5)], output=1, steps=2)
    assert widths(alone) == [(5, 4, 24), (5, 4, 24), (6 + 8, 8, 120), (8, 1, 9)]
    encoder, decoder = Part(2, (RNN(4),), steps=3), Part(3, (RNN(5, initial_state=4),), steps=2)
    bridged = Network(encoder=encoder, decoder=decoder)
    assert widths(bridged) == [(6, 12, 84), (12, 5, 65), (6 + 5, 10, 120)]


@pytest.mark.parametrize(
    ("layers", "output", "expected"),
    [
        (
            [Conv1D(4, 2), Pool1D(2), LayerNorm(), Flatten(), Dense(5)],
            2,  # 9 steps of 3 make 8 of 4, then 4 of 4, with a scale and a shift of 4 numbers at each step
            [(27, 32, 32 * 28), (16, 16, 4 * 8), (16, 5, 85), (5, 2, 12)],
        ),
        ([RNN(4), LastStep(), RepeatVector(5), RNN(2, extra_inputs=3)], None, [(27, 36, 36 * 28), (51, 10, 520)]),
        (
            [RNN(4), BatchNorm(), Dropout(0.5), Conv1D(2, 3, stride=2)],
            None,
            [(27, 36, 1_008), (36, 36, 72), (36, 8, 296)],
        ),
    ],
)
def test_layers_around_the_cells(layers: list[Layer], output: int | None, expected: list[tuple[int, int, int]]) -> None:
    """A convolution is a dense layer over all steps; a normalisation is applied at each; others move numbers."""
    topology: TopologyName = "many-to-one" if output else "many-to-many"
    assert widths(Network(input=3, layers=layers, output=output, steps=9, topology=topology)) == expected
