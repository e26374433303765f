"""What the layers of a network ask of a file, and how far what is there is from it."""

import pytest
from questions.models.made import Shapes, cell, linear, module, site

from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dropout, Embedding, External, Layer, Output
from rnncalc.layers.lstm import LSTM
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.questions.models.wanted import Wanted, distance, kind_of, wanted_of


def wanted(*layers: Layer, input: int = 4, output: Output | None = None) -> list[Wanted]:
    return wanted_of(Network(input=input, layers=layers, output=output, convention="pytorch"))


def test_each_copy_asks_for_its_own() -> None:
    """Under the names of a layer by itself, and beside them those that it has in the network; in their places."""
    two, other = wanted(LSTM(3, repeat=2), GRU(2, name="last"))[:2], wanted(LSTM(3), GRU(2, name="last"))[1]
    assert [each.name for each in two] == ["lstm_1", "lstm_2"]
    assert [dict(each.shapes) for each in two] == [cell(4, 4, 3), cell(4, 3, 3)]
    assert two[1].names["weight_ih_l0"] == "weight_ih_l1"
    assert two[0].names["weight_ih_l0"] == "weight_ih_l0"
    assert [each.at for each in (*two, other)] == [("layers", 0), ("layers", 0), ("layers", 1)]
    assert (other.name, other.layer, dict(other.shared)) == ("last", GRU(2, name="last"), {})


def test_what_has_no_tensors_asks_for_none() -> None:
    """It is left out, but for what is counted elsewhere."""
    found = wanted(Dropout(0.5), External(7), LSTM(3), Dropout(0.5))
    assert [each.name for each in found] == ["external_1", "lstm_1"]
    outside = found[0]
    assert (dict(outside.shapes), dict(outside.names), dict(outside.shared)) == ({}, {}, {})
    assert outside.at == ("layers", 1)


def test_a_tied_output_asks_for_its_biases() -> None:
    """Its matrix is another's; it may be there, and is not asked for."""
    output = wanted(Embedding(3), LSTM(3), input=9, output=Output(9, tied=True))[-1]
    assert (dict(output.shapes), dict(output.shared)) == ({"bias": (9,)}, {"weight": (9, 3)})
    assert output.at == ("output",)


def test_the_layers_of_two_parts_stand_in_theirs() -> None:
    """The output in the decoder's."""
    part = Part(3, (LSTM(2),))
    found = wanted_of(Network(encoder=part, decoder=part._replace(output=Output(4)), convention="pytorch"))
    assert [each.at for each in found] == [("encoder", "layers", 0), ("decoder", "layers", 0), ("decoder", "output")]


def test_what_a_layer_can_be_taken_for() -> None:
    """A table, a cell, or anything else; each is none of the others."""
    table, lstm, gru, output = wanted(Embedding(3), LSTM(3), GRU(3), input=9, output=Output(2))
    assert lstm.kind == gru.kind == kind_of(LSTM(9))
    assert output.kind == kind_of(None) == kind_of(External(3))
    assert table.kind == kind_of(Embedding(9))
    assert len({lstm.kind, output.kind, table.kind}) == 3


@pytest.mark.parametrize(
    ("shapes", "far"),
    [
        (cell(4, 4, 3), 0),
        (cell(4, 9, 3), 1 / 8),  # four names, three of them in its shape: 1 - (3 + 4) / 8
        (cell(4, 9, 9), 1 / 2),
        (cell(4, 4, 3, bias=False), 1 / 2),  # two of four names
        ({**cell(4, 4, 3), **cell(4, 4, 3, mark="_reverse")}, 1 / 2),  # four of eight
        ({"weight_ih_l0": (12, 4)}, 3 / 4),
        ({"weight_ih_l0": (9, 9)}, 7 / 8),
        (linear(4, 12), None),
        ({**cell(4, 4, 3), "bias_ih_l0": (2, 12)}, 1 / 8),
        ({"weight_ih_l0": (12,), "bias_ih_l0": (12,)}, None),
        ({"weight_ih_l0": (12, 4, 1), "bias_ih_l0": (12,)}, None),
    ],
)
def test_how_far_tensors_are_from_a_layer(shapes: Shapes, far: float | None) -> None:
    """Half by their names and half by their shapes; without a name or a matrix in common, none."""
    assert distance(wanted(LSTM(3))[0], site("pytorch", module("rnn", shapes))) == far


def test_what_is_shared_is_no_distance() -> None:
    """Whether or not it is there, in whatever shape."""
    output = wanted(Embedding(3), LSTM(3), input=9, output=Output(9, tied=True))[-1]
    for shapes in ({"bias": (9,)}, {"bias": (9,), "weight": (9, 3)}, {"bias": (9,), "weight": (27,)}):
        assert distance(output, site("pytorch", module("fc", shapes))) == 0
