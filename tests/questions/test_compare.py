"""`compare`: the same widths as other kinds, the same budget at other widths, and growth with the steps."""

import json
import re

import by_hand
import pytest
from conftest import Call, report_of

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    BatchNorm,
    Cell,
    Dense,
    Dropout,
    Embedding,
    External,
    Layer,
    Network,
    Output,
    Part,
    Problem,
    compare,
)
from rnncalc.conventions.formula import letters
from rnncalc.layers import KINDS
from rnncalc.layers import kind as class_of
from rnncalc.layers.options import Choice, Switch
from rnncalc.questions.compare import Lack, chosen, compare_conventions, compare_same_params, dense_growth
from rnncalc.reports.compare import ComparisonReport


def rows(call: Call, *args: object) -> list[dict[str, object]]:
    report = report_of(call, "compare", *args)
    found: list[dict[str, object]] = report["rows"]
    return found


def test_the_same_budget_at_other_widths(call: Call) -> None:
    """Each kind gets the largest width within 1,600 parameters on 8 features."""
    for row in rows(call, "specs/lstm.yaml", "--same-params")[1:]:
        kind = {"rnn": RNN, "gru": GRU, "lstm": LSTM}[str(row["name"])]
        units = row["units"]
        assert isinstance(units, int)
        assert by_hand.params(kind(units), 8) == row["params"]
        assert by_hand.params(kind(units), 8) <= 1_600 < by_hand.params(kind(units + 1), 8)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(1, 1, [1]), (3, 7, [3, 5, 7]), (1, 1_000, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000])],
)
def test_the_chosen_steps(first: int, last: int, expected: list[int]) -> None:
    """The ends, and round numbers between them."""
    assert chosen(first, last) == expected


def test_bars_are_drawn_to_scale(call: Call) -> None:
    """The largest is whole, a quarter of it a quarter as long."""
    out = call("compare", "specs/rnn.yaml", "specs/lstm.yaml").out
    short, long = (line.count("█") for line in out.splitlines() if "█" in line)
    assert (short, long) == (4, 16)


def test_growth_of_an_encoder_decoder() -> None:
    """Both halves get the steps: T·2 → T·4, then T·4 + T·5 → T·4 → T·7, biases and all."""
    halves = {"encoder": Part(2, (RNN(4),)), "decoder": Part(5, (RNN(4),), Output(7))}
    growth = dense_growth(Network(encoder=halves["encoder"], decoder=halves["decoder"]), 2, 5)
    assert growth.network.params == 4 * 7 + 4 * 10 + 7 * 5
    for t, dense in growth.dense.items():
        assert dense == 4 * t * (2 * t + 1) + 4 * t * (4 * t + 5 * t + 1) + 7 * t * (4 * t + 1)
    assert [*growth.dense] == [2, 5]


def test_a_comparison_is_a_value() -> None:
    """Sides by kind, and what is missing with its reason, in no words yet."""
    network = Network(input=8, layers=(LSTM(4),), output=Output(1))
    comparison = compare(network, dtype="int8")
    assert [(side.kind, side.params) for side in comparison.sides] == [
        *((None, 213), ("rnn", 57), ("gru", 161), ("lstm", 213))
    ]
    assert [side.bytes for side in comparison.sides] == [side.params for side in comparison.sides]
    assert comparison.missing == {"dense": Lack.STEPS}
    assert comparison.ratio(comparison.sides[1]) == 57 / 213
    beside = compare(network, Network(input=8, layers=(RNN(4),), name="other"))
    assert [(side.name, side.kind) for side in beside.sides] == [("network", None), ("other", None)]
    same = compare_same_params(Network(input=1, layers=(External(2), RNN(1))))
    assert same.missing == {"gru": Lack.WIDTH, "lstm": Lack.WIDTH}


def test_a_kind_that_cannot_be_is_missing_with_its_problem() -> None:
    """PyTorch's RNN has relu; its GRU and LSTM have not, and are left out with what is wrong with them."""
    comparison = compare(Network(input=8, layers=(RNN(4, activation="relu"),), convention="pytorch", steps=2))
    assert [side.kind for side in comparison.sides] == [None, "rnn", "dense"]
    assert [*comparison.missing] == ["gru", "lstm"]
    for reason in comparison.missing.values():
        assert isinstance(reason, Problem)
        assert reason.path == ("layers", 0, "activation")
    (sheet,) = ComparisonReport(comparison).sheets()
    assert str(sheet.notes[0]).startswith("gru: pytorch cannot express activation: relu; textbook, ")


@pytest.mark.slow
def test_as_many_layers_as_there_may_be_are_compared() -> None:
    """The width is the widest that keeps within the network's parameters, of all 1,000 layers together."""
    many = [*(LSTM(units) for units in range(1, 501)), *[GRU(7)] * 500]
    comparison = compare_same_params(Network(input=3, layers=many))
    assert [side.kind for side in comparison.sides] == [None, "rnn", "gru", "lstm"]
    for side in comparison.sides[1:]:
        assert side.units is not None
        kind = {"rnn": RNN, "gru": GRU, "lstm": LSTM}[str(side.kind)]

        def params(units: int, kind: type = kind) -> int:
            return by_hand.params(kind(units), 3) + 999 * by_hand.params(kind(units), units)

        assert side.params == params(side.units) <= comparison.sides[0].params < params(side.units + 1)


def _decoder(cells: list[Cell], *, output: Output, encoder: list[Cell], embedding: int | None = None) -> Network:
    """Return an encoder-decoder whose halves read 4 and 7 features."""
    below = (Embedding(embedding),) if embedding else ()
    return Network(
        encoder=Part(input=4, layers=tuple(encoder)), decoder=Part(input=7, layers=(*below, *cells), output=output)
    )


def test_each_layer_of_a_decoder_takes_the_states_of_its_own_encoder_layer() -> None:
    """With u units per direction in the encoder, each count by hand; no row has 0 units, and each is the most."""
    both = _decoder(
        [RNN(6), RNN(3)], encoder=[RNN(3, bidirectional=True), RNN(3)], output=Output(2)
    )  # two directions start one, of 2u; one starts one, of u
    for side in compare_same_params(both).sides[1:]:
        blocks, u = {"rnn": 1, "gru": 3, "lstm": 4}[side.kind or ""], side.units or 0

        def params(u: int, blocks: int = blocks) -> int:
            encoder = 2 * u * (4 + u + 1) + u * (2 * u + u + 1)
            return blocks * (encoder + 2 * u * (7 + 2 * u + 1) + u * (2 * u + u + 1)) + 2 * (u + 1)

        assert side.params == params(u) <= both.params < params(u + 1)
    alike = _decoder([RNN(3, bidirectional=True)], encoder=[RNN(3, bidirectional=True)], output=Output(2))
    assert [side.units for side in compare_same_params(alike).sides] == [3, 3, 1, 1]
    halved = _decoder([RNN(2, bidirectional=True)], encoder=[RNN(4)], output=Output(7))
    comparison = compare_same_params(halved)  # a GRU of 2 has 3·2(4 + 2 + 1) + 2·3(7 + 1 + 1) + 7·3 = 117, over 111
    assert [(side.units, side.params) for side in comparison.sides] == [(None, 111), (4, 111)]
    tied = _decoder([RNN(2)], encoder=[RNN(2)], output=Output(7, tied=True), embedding=2)
    bridged = Network(encoder=Part(4, (GRU(3),)), decoder=Part(4, (GRU(5, initial_state=3),), Output(2)))
    gru = 3 * 14 * (4 + 14 + 1) * 2 + 14 * (14 + 1) + 2 * (14 + 1)  # of 15 units it has 2,072
    assert [(side.units, side.params) for side in compare_same_params(bridged, params=2_000).sides][1] == (14, gru)
    assert [(side.units, side.params) for side in compare_same_params(tied).sides] == [(2, 45), (2, 45)]


def test_a_width_that_cannot_be_is_missing_in_words_that_were_written() -> None:
    """Half of an odd width starts no direction: nobody wrote a `?` there."""
    cells: list[Cell] = [RNN(2, bidirectional=True), RNN(9)]
    odd = _decoder(cells, encoder=[RNN(4), RNN(9)], output=Output(7, tied=True), embedding=9)
    comparison = compare_same_params(odd)
    assert len(comparison.sides) == 1
    for reason in comparison.missing.values():
        assert isinstance(reason, Problem)
        message = reason.message
        assert message.startswith("no width of all recurrent layers makes a network: at 2, decoder.output.tied: ")
        assert "?" not in message


def test_layers_beside_each_other() -> None:
    """Place by place, of the same half; output layers are beside each other alone."""
    whole = Network(input=3, layers=[RNN(2), GRU(3)], output=2)
    alone = Network(input=3, layers=[LSTM(4)])
    halves = Network(encoder=Part(3, (GRU(4),)), decoder=Part(2, (Dense(5), GRU(4)), Output(2)))

    def rows(*networks: Network) -> list[tuple[str | None, ...]]:
        return [tuple(placed and placed.name for placed in row) for row in compare(*networks).layers()]

    assert rows(whole, alone) == [("rnn_1", "lstm_1"), ("gru_1", None), ("output", None)]
    assert rows(alone, alone) == [("lstm_1", "lstm_1")]
    assert rows(alone, whole, halves) == [
        *(("lstm_1", "rnn_1", None), (None, "gru_1", None), (None, "output", None)),
        (None, None, "gru_1"),
        *((None, None, "dense_1"), (None, None, "gru_2"), (None, None, "output")),
    ]


def test_ratios_are_to_the_first() -> None:
    """There is none to a network without parameters."""
    small, large = Network(input=3, layers=[RNN(2)]), Network(input=3, layers=[GRU(2)])  # 12, 36
    comparison = compare(small, large)
    assert [comparison.ratio(side) for side in comparison.sides] == [1.0, 3.0]
    nothing = compare(Network(input=3, layers=[Dropout(0.5)]), small)
    assert [nothing.ratio(side) for side in nothing.sides] == [None, None]


@pytest.mark.parametrize(
    ("layers", "convention", "differences"),
    [
        ([RNN(16)], "pytorch", [(16, "2h", "h", ("bias_ih_l0", "bias_hh_l0"), False, ("rnn_1",))]),
        ([RNN(16)], "keras", []),
        (
            [GRU(16), LSTM(4), GRU(3)],
            "pytorch",
            [
                (3 * 16 + 3 * 3, "6h", "3h", ("bias_ih_l0", "bias_hh_l0"), False, ("gru_1", "gru_2")),
                (4 * 4, "8h", "4h", ("bias_ih_l0", "bias_hh_l0"), False, ("lstm_1",)),
            ],
        ),
        ([RNN(16, bidirectional=True)], "onnx", [(2 * 16, "4h", "2h", ("B",), False, ("rnn_1",))]),
        ([BatchNorm()], "keras", [(2 * 8, "2m", "0", ("moving_mean", "moving_variance"), True, ("batch_norm_1",))]),
    ],
)
def test_how_a_convention_differs_from_the_textbook(
    layers: list[Layer], convention: str, differences: list[tuple[object, ...]]
) -> None:
    """By how much, the sizes of its biases or stored numbers and of the textbook's, its tensors, and the layers."""
    comparison = compare_conventions(Network(input=8, layers=layers)).differences
    assert [
        (each.params, letters(each.biases), letters(each.biases_of_textbook), each.tensors, each.stored, each.layers)
        for each in comparison
        if each.convention == convention
    ] == differences


OPTIONS = [
    (name, option, value)
    for name in KINDS
    for option, allowed in ((each, class_of(name).option(each).allowed) for each in class_of(name).options())
    for value in (
        ["true", "false"] if isinstance(allowed, Switch) else allowed.words if isinstance(allowed, Choice) else []
    )
]


@pytest.mark.broad
@pytest.mark.parametrize(("name", "option", "value"), OPTIONS)
def test_networks_that_differ_in_an_option_are_told_apart(name: str, option: str, value: str, call: Call) -> None:
    """Their rows, and their layers side by side."""
    layer = ",".join(
        [f"{name}:{0.5 if name == 'dropout' else 2}" if class_of(name).number else name, *NEEDED.get(name, ())]
    )
    beside = {"merge": ",bidirectional", "reset_after": ",reset_gate"}.get(option, "")
    networks = [f"-i 4 -l {layer}{beside} -T 3", f"-i 4 -l {layer}{beside},{option}={value} -T 3"]
    result = call("compare", "--network", networks[0], "--network", networks[1], "-f", "json")
    if result.code:  # an option that goes with another, or this layer alone cannot have
        assert result.err
        return
    (report,) = json.loads(result.out)["reports"]
    first, second = (row["name"] for row in report["rows"])
    table = call("compare", "--network", networks[0], "--network", networks[1]).out
    if report["layers"][0]["same"]:
        assert first == second
        assert "No layer differs." in table
    else:
        assert first != second
        (row,) = [line for line in table.splitlines() if line.startswith("≠")]
        one, two = re.split(r"\s{2,}", row)[1:]
        assert one != two


NEEDED = {"conv1d": ("kernel=2",), "conv_lstm": ("kernel=2", "space=3"), "pool1d": ()}
