"""`explain` for single layers: which are chosen, what each reads from, and how their equations are spelled."""

from typing import Any

import pytest
from conftest import Call

from rnncalc import GRU, RNN, CallError, Network, Part
from rnncalc.conventions.formula import Plus
from rnncalc.questions.explain import StepKind, explain


def test_layers_by_their_names_in_a_notation() -> None:
    """One name or several; each keeps the layer below it, also one of several copies, and nothing is totalled."""
    net = Network(input=4, layers=[RNN(3), RNN(3), RNN(3)], output=2, steps=5)
    whole = explain(net, notation="uvw")
    assert [(each.placed.name, each.below and each.below.name) for each in whole.layers] == [
        ("rnn_1", None),
        ("rnn_2", "rnn_1"),
        ("rnn_3", "rnn_2"),
        ("output", "rnn_3"),
    ]
    assert whole.total is not None
    assert (whole.total.what, whole.total.params, whole.total.expression) == (StepKind.TOTAL, 74, Plus((24, 21, 21, 8)))
    assert whole.dense is not None
    some = explain(net, ["output", "rnn_3"], "uvw")
    assert (some.total, some.dense, some.network.notation) == (None, None, "uvw")
    found = [(each.placed.name, each.below and each.below.name, each.notation.name) for each in some.layers]
    assert found == [("rnn_3", "rnn_2", "uvw"), ("output", "rnn_3", "uvw")]
    assert some.layers == whole.layers[2:]
    assert explain(net, "rnn_3", "uvw").layers == whole.layers[2:3]
    assert {each.notation.name for each in (*explain(net).layers, *explain(net, "rnn_1").layers)} == {"w"}


def test_one_of_several_copies_reads_from_the_one_before() -> None:
    """Not from the first; and what reads from several reads from the last."""
    net = Network(input=3, layers=[RNN(3, repeat=4), GRU(2)])
    found = explain(net, ["rnn_1", "rnn_3", "rnn_4", "gru_1"]).layers
    assert [(each.placed.name, each.below and each.below.name) for each in found] == [
        ("rnn_1", None),
        ("rnn_3", "rnn_2"),
        ("rnn_4", "rnn_3"),
        ("gru_1", "rnn_4"),
    ]
    assert explain(net).layers[2].below == found[1].below


@pytest.mark.parametrize("only", [5, b"rnn_1", ["rnn_1", 5]])
def test_names_are_words(only: Any) -> None:
    """Whatever else is given is refused, and so is a name that no layer has."""
    net = Network(input=4, layers=[RNN(3)])
    with pytest.raises(CallError, match=r"^only: expected the names of layers, such as \('output',\), got "):
        explain(net, only)
    with pytest.raises(CallError, match=r"^only: .*'rnn_2'.*did you mean 'rnn_1'"):
        explain(net, ["rnn_1", "rnn_2"])
    with pytest.raises(CallError, match=r"^notation: expected w, uvw, .* or pytorch, got 'v'"):
        explain(net, notation="v")


def test_the_halves_of_a_network_begin_anew() -> None:
    """The first layer of a decoder reads its inputs, and not what the encoder outputs."""
    halves = [Part(2, (RNN(3), RNN(3)), steps=3), Part(4, (RNN(3), RNN(3)), steps=2)]
    found = explain(Network(encoder=halves[0], decoder=halves[1])).layers
    assert [each.below and each.below.name for each in found] == [None, "rnn_1", None, "rnn_3"]


def test_the_first_layer_of_a_half_reads_the_input_of_that_half(call: Call) -> None:
    """The network as a whole has no one input there."""
    text = call("explain", "specs/encoder-decoder.yaml").out
    assert "m = 93: the decoder's input" in text
    assert "the encoder's input" in text
    assert "the network's input" not in text
    assert "m = 8: the network's input" in call("explain", "specs/lstm.yaml").out
