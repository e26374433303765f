"""Families of mistakes: the variants of each, worked out by hand."""

import pytest
from finding import judged, variants_made

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    SRU,
    BatchNorm,
    Conv1D,
    Dense,
    Dropout,
    Embedding,
    External,
    Flatten,
    Network,
    Output,
    Part,
    Pool1D,
    RepeatVector,
)
from rnncalc.answers.search import Search
from rnncalc.answers.table import TABLE

PLAIN = Network(input=3, layers=(LSTM(5), GRU(7)), output=Output(2))
# 4·5·(3 + 5 + 1) = 180, 3·7·(5 + 7 + 1) = 273, 2·(7 + 1) = 16
LOOKING = Network(input=3, layers=(LSTM(5, peepholes=True), LSTM(4, output_gate=False)))
# 180 + 3·5 = 195, 3·4·(5 + 4 + 1) = 120
CHAIN = Network(
    input=3, layers=(LSTM(5, bidirectional=True), GRU(7, extra_inputs=2), Dropout(0.5), Dense(4)), output=Output(2)
)
# 360, 3·7·(10 + 2 + 7 + 1) = 420, 0, 4·(7 + 1) = 32, 2·(4 + 1) = 10
REPEATED = Network(input=5, layers=(GRU(5, repeat=3),))  # 3·5·(5 + 5 + 1) = 165, and 2·165
HALVES = Network(encoder=Part(9, (Embedding(4), GRU(5))), decoder=Part(4, (External(50), GRU(5)), Output(2)))
# 36, 3·5·(4 + 5 + 1) = 150; 50, 150, 12
ODD = Network(input=3, layers=(SRU(5), GRU(7)))  # 4·5·3 + 2·5 + 2·5 = 80, 273


def test_any_number_of_gates() -> None:
    """From 1 to 6, in each cell whose gates read alike."""
    assert variants_made("other-gates-{count}", PLAIN, 0) == [
        ((k * 45, k * 91, 16), {"count": str(k), "blocks": f"{k} block{'s' * (k > 1)}"}, None) for k in range(1, 7)
    ]
    assert [lines for lines, _, _ in variants_made("other-gates-{count}", ODD, 0)] == [
        (80, k * 91) for k in range(1, 7)
    ]


def test_each_gate_may_be_left_out() -> None:
    """By its name, with what it alone reads, in the cells whose gates read unlike things."""
    three = 3 * 5 * (3 + 5 + 1)
    assert variants_made("no-gate", LOOKING, 0) == [
        ((three + 2 * 5, 120), {"gate": "input gate"}, None),
        ((three + 2 * 5, 120), {"gate": "forget gate"}, None),
        ((three + 3 * 5, 120), {"gate": "candidate"}, None),
        ((three + 2 * 5, 120), {"gate": "output gate"}, None),
    ]
    assert variants_made("no-gate", PLAIN, 0) == []
    assert [lines for lines, _, _ in variants_made("no-gate", ODD, 0)] == [
        (80 - 5 * 3, 273),
        (80 - 5 * (3 + 1 + 1), 273),
        (80 - 5 * (3 + 1 + 1), 273),
        (80 - 5 * 3, 273),
    ]


@pytest.mark.parametrize(
    ("net", "gate", "counts"),
    [
        (Network(input=3, layers=(LSTM(5, coupled=True), LSTM(4))), "input gate", (4 * 5 * (3 + 5 + 1), 160)),
        (Network(input=3, layers=(LSTM(5), LSTM(4, output_gate=False))), "output gate", (180, 4 * 4 * (5 + 4 + 1))),
        (Network(input=3, layers=(GRU(5, reset_gate=False),)), "reset gate", (3 * 5 * (3 + 5 + 1),)),
        (Network(input=3, layers=(SRU(3),)), "skip", (4 * 3 * 3 + 4 * 3,)),
        (Network(input=6, layers=(SRU(3, bidirectional=True),)), "skip", (2 * (4 * 3 * 6 + 4 * 3),)),
    ],
)
def test_a_gate_that_a_cell_of_the_kind_may_have(net: Network, gate: str, counts: tuple[int, ...]) -> None:
    """With its own name, and in no other kind's."""
    assert variants_made("absent-gate", net, 0) == [(counts, {"gate": gate}, None)]
    first, *others = judged(net, sum(counts)).diagnoses
    assert first.mistakes[0].text == f"counts weights for the {gate}, which has none here"
    assert not any("counts the cell as" in each.mistakes[0].text for each in others)


def test_one_state_of_several() -> None:
    """Each has its own width; a cell with one state keeps it, and so does one that learns none."""
    cells = (LSTM(6, projection=4, learned_state=True), GRU(7, learned_state=True), LSTM(5))
    gru, lstm = 3 * 7 * (4 + 7 + 1) + 7, 4 * 5 * (7 + 5 + 1)
    assert variants_made("only-state", Network(input=3, layers=cells), 0) == [
        ((4 * 6 * (3 + 4 + 1) + 4 * 6 + 4, gru, lstm), {"state": "h_0"}, None),
        ((4 * 6 * (3 + 4 + 1) + 4 * 6 + 6, gru, lstm), {"state": "c_0"}, None),
    ]
    assert variants_made("only-state", PLAIN, 0) == []


@pytest.mark.parametrize(
    ("number", "units"),
    [(453 + 7 * 8, 7), (453 + 7 * 8 + 3, None), (453 + 8 * 8, 8), (453 + 8, 1), (453 + 2 * 8, None), (453, None)],
)
def test_the_width_of_the_output_that_gives_a_number(number: int, units: int | None) -> None:
    """If it is not the right one, and there is any."""
    values = {"width": "1 unit" if units == 1 else f"{units} units"}
    expected = [((180, 273, (units or 0) * (7 + 1)), values, "output")] if units else []
    assert variants_made("output-width", PLAIN, number) == expected


def test_a_wide_output_and_none() -> None:
    """A width of thousands is written with a comma; an output without a bias or a matrix of its own counts neither."""
    bare = Network(input=3, layers=(RNN(5),), output=Output(2_000, bias=False))  # 45, 10,000
    assert variants_made("output-width", bare, 45 + 5 * 3_000) == [((45, 15_000), {"width": "3,000 units"}, "output")]
    tied = Network(input=9, layers=(Embedding(4), RNN(4)), output=Output(9, tied=True))
    assert variants_made("output-width", tied, 500) == []


def fed(layer: str) -> str:
    return f", and feeds {layer} with its input"


def test_each_hidden_layer_may_be_left_out() -> None:
    """The next is fed as it is, or by the layer below; tables, parts counted elsewhere and the output stay."""
    assert variants_made("no-layer", CHAIN, 0) == [
        ((0, 420, 0, 32, 10), {"layer": "lstm_1", "fed": ""}, "lstm_1"),
        ((0, 3 * 7 * (3 + 2 + 7 + 1), 0, 32, 10), {"layer": "lstm_1", "fed": fed("gru_1")}, "lstm_1"),
        ((360, 0, 0, 32, 10), {"layer": "gru_1", "fed": ""}, "gru_1"),
        ((360, 0, 0, 4 * (10 + 1), 10), {"layer": "gru_1", "fed": fed("dense_1")}, "gru_1"),
        ((360, 420, 0, 0, 10), {"layer": "dense_1", "fed": ""}, "dense_1"),
        ((360, 420, 0, 0, 2 * (7 + 1)), {"layer": "dense_1", "fed": fed("output")}, "dense_1"),
    ]
    assert [lines for lines, _, _ in variants_made("no-layer", PLAIN, 0)] == [
        (0, 273, 16),
        (0, 3 * 7 * (3 + 7 + 1), 16),
        (180, 0, 16),
        (180, 0, 2 * (5 + 1)),
    ]
    assert {lines for lines, _, _ in variants_made("no-layer", REPEATED, 0)} == {
        (0, 165, 165),
        (165, 0, 165),
        (165, 165, 0),
    }
    assert [lines for lines, _, _ in variants_made("no-layer", HALVES, 0)] == [
        (36, 0, 50, 150, 12),
        (36, 150, 50, 0, 12),
        (36, 150, 50, 0, 2 * (4 + 1)),
    ]


def test_only_hidden_layers_are_left_out() -> None:
    """What is joined to a layer's input goes with it."""
    joined = Network(input=3, layers=(GRU(7, extra_inputs=2), Dense(4)))  # 3·7·(3 + 2 + 7 + 1) = 273, 32
    assert [lines for lines, _, _ in variants_made("no-layer", joined, 0)] == [(0, 32), (0, 4 * (3 + 1)), (273, 0)]
    hundred = Network(input=3, layers=(RNN(2), RNN(3)) * 50)
    assert len(variants_made("no-layer", hundred, 0)) == 100 + 99


@pytest.mark.broad
def test_up_to_a_hundred_layers_one_alone_may_be_wrong() -> None:
    """Each row about which layers are counted has variants then, and none is tried of one layer more."""
    hundred = Network(input=3, layers=(RNN(2, bidirectional=True), RNN(3, bidirectional=True)) * 50)
    by_layer = {row.id for row in TABLE if row.by_layer}
    for net, tried in ((hundred, by_layer), (hundred.replace(output=Output(2)), set())):
        search = Search(net)
        assert {row.id for row in search.rows} & by_layer == tried
        assert {row.id for row in search.rows if search.variants(row)} & by_layer == tried


def test_the_other_conventions() -> None:
    """Those that count alike are one way: two biases in each gate of a GRU, or two in its candidate alone."""
    ways = variants_made("convention-{name}", Network(input=3, layers=(GRU(5),)), 0)  # 3·5·(3 + 5 + 1) = 135
    assert {lines for lines, _, _ in ways} >= {(3 * 5 * (3 + 5 + 2),), (3 * 5 * (3 + 5) + 4 * 5,)}
    assert {values["names"] for lines, values, _ in ways if lines == (3 * 5 * (3 + 5) + 4 * 5,)} == {"flax-linen"}
    assert {values["here"] for _, values, _ in ways} == {"textbook"}
    assert not any("textbook" in values["names"] for _, values, _ in ways)
    alike = {"name": "textbook", "names": "textbook, keras, flax-linen and flax-nnx", "here": "pytorch"}
    torch = Network(input=3, layers=(LSTM(5),), convention="pytorch")
    assert variants_made("convention-{name}", torch, 0)[0] == ((4 * 5 * (3 + 5 + 1),), alike, None)
    assert variants_made("convention-{name}", Network(input=5, layers=(GRU(5, repeat=101),)), 0) == []
    assert variants_made("convention-{name}", Network(input=5, layers=(GRU(5, repeat=100),)), 0)


def test_some_matrices_alone() -> None:
    """Those of the input or of the state, of one gate in one direction or of all; other layers stay."""
    assert variants_made("only-{matrices}", CHAIN, 0) == [
        ((5 * 3, 7 * 12, 0, 32, 10), {"which": "one input matrix alone", "matrices": "one-input"}, None),
        ((2 * 4 * 15, 3 * 84, 0, 32, 10), {"which": "the input matrices alone", "matrices": "input"}, None),
        ((5 * 5, 7 * 7, 0, 32, 10), {"which": "one recurrent matrix alone", "matrices": "one-recurrent"}, None),
        ((2 * 4 * 25, 3 * 49, 0, 32, 10), {"which": "the recurrent matrices alone", "matrices": "recurrent"}, None),
    ]
    learned = Network(input=3, layers=(LSTM(5, peepholes=True, learned_state=True),))
    assert [lines for lines, _, _ in variants_made("only-{matrices}", learned, 0)] == [(15,), (60,), (25,), (100,)]


def test_one_direction_of_a_layer() -> None:
    """Of each that the next layer of its part reads concatenated."""
    two = Network(
        input=3,
        layers=(
            *(LSTM(5, bidirectional=True), GRU(7, bidirectional=True, merge="concat"), Dense(4)),
            *(RNN(6, bidirectional=True, merge="sum"), RNN(2), GRU(2, bidirectional=True)),
        ),
    )
    # 360, 2·3·7·(10 + 7 + 1) = 756, 4·(14 + 1) = 60, 2·6·(4 + 6 + 1) = 132, 2·(6 + 2 + 1) = 18, 2·3·2·(2 + 2 + 1) = 60
    assert variants_made("one-direction-in-{layer}", two, 0) == [
        ((180, 2 * 3 * 7 * (5 + 7 + 1), 60, 132, 18, 60), {"layer": "lstm_1"}, "lstm_1"),
        ((360, 378, 4 * (7 + 1), 132, 18, 60), {"layer": "gru_1"}, "gru_1"),
    ]
    joined = Network(encoder=Part(3, (GRU(5, bidirectional=True),)), decoder=Part(4, (GRU(10),)))
    assert variants_made("one-direction-in-{layer}", joined, 0) == []


def test_the_steps_before_what_shortens_a_sequence() -> None:
    """Each number that reaches a convolution or a pooling below a flatten; a sequence begun again has its own."""
    layers = (Conv1D(8, kernel=5), BatchNorm(), Pool1D(2), Flatten(), Dense(3), RepeatVector(9), Pool1D(4), Flatten())
    long = Network(input=6, layers=layers, output=2, steps=2_003)  # 1,999 steps behind the convolution, then 999
    before, dense, after, output = (8 * 31, 2 * 8, 0, 0), 3 * (999 * 8 + 1), (0, 0, 0), 2 * (2 * 3 + 1)
    assert variants_made("steps-before-{layer}", long, 0) == [
        ((*before, 3 * (2_003 * 8 + 1), *after, output), {"layer": "conv1d_1", "steps": "2,003 steps"}, None),
        ((*before, 3 * (1_999 * 8 + 1), *after, output), {"layer": "pool1d_1", "steps": "1,999 steps"}, None),
        ((*before, dense, *after, 2 * (9 * 3 + 1)), {"layer": "pool1d_2", "steps": "9 steps"}, None),
    ]
    assert variants_made("steps-before-{layer}", Network(input=6, layers=layers[:3]), 7) == []
    hundred = long.replace(layers=(*layers, *(Dense(number) for number in range(5, 96))))
    assert len(variants_made("steps-before-{layer}", hundred, 0)) == 3
    assert variants_made("steps-before-{layer}", hundred.replace(layers=(*hundred.layers, Dense(7))), 0) == []


def test_each_layer_alone() -> None:
    """If at least three have parameters."""
    alone = [(360, 0, 0, 0, 0), (0, 420, 0, 0, 0), (0, 0, 0, 32, 0), (0, 0, 0, 0, 10)]
    names = ["lstm_1", "gru_1", "dense_1", "output"]
    assert variants_made("only-layer", CHAIN, 0) == [
        (lines, {"layer": name}, name) for lines, name in zip(alone, names, strict=True)
    ]
    assert len(variants_made("only-layer", PLAIN, 0)) == 3
    assert variants_made("only-layer", PLAIN.replace(output=None), 0) == []
