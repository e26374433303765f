"""`answer`: a number of another kind, multiply-adds say, and mistakes about training, are said to be what they are."""

import pytest
import yaml
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, network

from rnncalc import GRU, LSTM, RNN, Embedding, External, Network, Output, answer, count, training
from rnncalc.questions.answer.meant import ROWS, Quantity
from rnncalc.reports.answer import MEANT, AnswerReport
from rnncalc.spec import parse

SMALL = ("-i", 4, "-l", "rnn:3", "-o", 1, "-T", 3)
MGU = ("-i", 3, "-l", "mgu:5", "-T", 4)
GATED = ("-i", 13, "-l", "lstm:29", "-T", 7)
FROZEN = ("-i", 9, "-l", "embedding:4,frozen", "-l", "lstm:29", "-T", 7)


@pytest.mark.parametrize(
    ("flags", "number", "said"),
    [
        (SMALL, 66, "multiply-adds in one pass"),
        (SMALL, 87, "multiply-adds of going back"),
        (SMALL, 27, "values held for going back"),
        (SMALL, 9, "values in the states of all steps"),
        (SMALL, 4 * (28 + 28 + 27), "bytes that training takes"),
        (SMALL, 2 * 66, "twice the multiply-adds of the forward pass; going back takes 87."),
        (SMALL, 3 * 24 + 4, "a gradient for each parameter and step; those of all steps are summed: 28."),
        (GATED, 7 * (13 + 7 * 29), "values held for going back"),
        (GATED, 7 * (13 + 2 * 29), "without the gates; their equations read them too: 1,512."),
        (MGU, 4 * (3 + 5), "without the gates; their equations read them too"),
        (FROZEN, 4 * 29 * (4 + 29 + 1), "the number of gradients"),
    ],
)
def test_a_number_of_training_is_said_to_be_one(call: Call, flags: tuple[object, ...], number: int, said: str) -> None:
    """With the right one beside it where it is counted wrong."""
    done = call("answer", *flags, number)
    assert done.code == 1
    assert said in " ".join(done.out.split())


@pytest.mark.parametrize("number", [3 * (4 + 3), 3 * 3, 2 * 66])
def test_without_what_is_asked_for_nothing_is_said(call: Call, number: int) -> None:
    """Without the steps nothing of training is known; a simple recurrent network has no gates to leave out."""
    assert "gates; their" not in call("answer", *SMALL, number).out
    assert "This " not in call("answer", *SMALL[:-2], number).out


TIED = Network(input=50, layers=(Embedding(8), GRU(8, bidirectional=True, merge="sum")), output=Output(50, tied=True))
BARE = Network(input=7, layers=(RNN(5, bias=False),), output=Output(2, bias=False), steps=9)
DEEP = Network(input=6, layers=(GRU(4), GRU(3)), steps=5, convention="keras")


@pytest.mark.parametrize(
    ("net", "number", "what"),
    [
        (DEEP, 3 * 4 * (6 + 4) + 3 * 3 * (4 + 3), Quantity.MULTIPLY_ADDS_PER_STEP),  # as many as without biases
        (DEEP, 5 * (120 + 63), Quantity.MULTIPLY_ADDS),  # 3·4·12 + 3·3·9 = 225 parameters in Keras
        (DEEP, 4 * 225, Quantity.BYTES),
        (DEEP, 5 * 4 * 6 + 5 * 4 * 4, None),
        (DEEP.replace(steps=1), 120 + 63, Quantity.MULTIPLY_ADDS),
        (BARE, 9 * 5 * (7 + 5) + 2 * 5, Quantity.MULTIPLY_ADDS),  # and the count times the steps
        (BARE, 4 * (5 * (7 + 5) + 2 * 5), Quantity.BYTES),  # and the whole count four times
        (BARE.replace(steps=4, topology="many-to-many"), 4 * 70, Quantity.MULTIPLY_ADDS),
        (BARE.replace(steps=4, topology="many-to-many"), 4 * 70, Quantity.BYTES),
        (TIED, 2 * 3 * 8 * (8 + 8) + 50 * 8, Quantity.MULTIPLY_ADDS_PER_STEP),
    ],
)
def test_a_number_of_another_kind_is_always_said_to_be_one(net: Network, number: int, what: Quantity | None) -> None:
    """Also where a mistake gives it, after that; and never for one that is none."""
    judged = answer(net, number).judged[0]
    assert not judged.right
    assert [meant.what for meant in judged.meant if meant.what is what] == ([what] if what else [])
    remarks = AnswerReport(answer(net, number)).data()["remarks"]
    assert any(MEANT[what] in remark for remark in remarks) if what else judged.meant == ()


@given(network(), st.sampled_from(["multiply_adds", "bytes", "held"]))
def test_whatever_the_network_its_other_numbers_are_said_to_be_so(spec: Spec, key: str) -> None:
    """Unless the right count is the same number."""
    net = parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network
    counted, trained = count(net), training(net)
    once = sum(layer.multiply_adds_per_step or 0 for layer in counted.layers)
    number = {"multiply_adds": counted.multiply_adds or once, "bytes": 4 * net.params, "held": trained.held}[key]
    if number and number != net.params:
        said = {"multiply_adds": "multiply-adds in one", "bytes": "bytes in float32", "held": "held for going back"}
        remarks = AnswerReport(answer(net, number)).data()["remarks"]
        external = any(isinstance(placed.layer, External) for placed in net.stack)
        assert any(said[key] in remark for remark in remarks) or (external and key == "multiply_adds")


def test_the_number_of_a_layer_is_said_to_be_one_too() -> None:
    """Its multiply-adds, where no mistake gives them: peepholes and biases multiply nothing in matrices."""
    net = Network(input=9, layers=(LSTM(5, peepholes=True), LSTM(4)), steps=3)  # 4·5·15 + 15, 4·4·10
    judged = answer(net, 3 * 4 * 5 * 14, 160).judged[0]
    assert [meant.what for meant in judged.meant] == [Quantity.MULTIPLY_ADDS]
    assert AnswerReport(answer(net, 840, 160)).data()["remarks"][0] == (
        "lstm_1: 840 is the number of multiply-adds in one pass, not of parameters."
    )
    assert answer(net, 315, 4 * 4 * 9).judged[1].diagnoses[0].id == "no-biases"
    assert answer(net, 315, 4 * 4 * 9).judged[1].meant == ()


def test_the_count_times_the_steps_is_told_before_a_gradient_for_each_step(call: Call) -> None:
    """12,400 is 5 · 2,480, where all steps share one set of weights."""
    out = call("answer", "-i", 10, "-l", "lstm:20", "-T", 5, 12_400).out
    assert out.index("multiplies the recurrent layers by the number of steps") < out.index(
        "12,400 is also a gradient for each parameter and step"
    )


def test_each_number_is_made_and_said() -> None:
    """None is looked for without a sentence, and no sentence stands for a number that nothing makes."""
    assert {*MEANT} == {*Quantity}
    assert [row.what for row in ROWS] == [*Quantity]
