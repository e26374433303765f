"""A number of another kind is said to be what it is; a single size that would give a number."""

from typing import Any

import pytest
from case_files import cases, worked_out
from conftest import Call
from finding import judged
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, network, network_of

from rnncalc import GRU, LSTM, RNN, Conv1D, Dense, Embedding, Network, Output, Part, answer, count, training
from rnncalc.answers.quantities import CONFUSED, Scope, confused
from rnncalc.answers.reading import GivenNumber
from rnncalc.answers.sizes import OtherSize, other_size, size_curves
from rnncalc.questions.solve import SizePlace
from rnncalc.reports.answer import AnswerReport


@pytest.mark.parametrize("case", cases("answers/quantities.yaml"), ids=lambda case: str(case)[:80])
def test_every_known_quantity(case: dict[str, Any]) -> None:
    """Of a network, or of one layer; what is no other number is left out."""
    scope = Scope.of(network_of(case["network"]))
    scope = scope.layer(case["layer"]) if "layer" in case else scope
    known = {row.id: number for number, row in confused("params", scope)}
    assert known == {**known, **worked_out(case.get("some", {}))}
    assert known.keys().isdisjoint(case.get("lacks", ()))
    assert case.get("all", known) == known


TIED = Network(input=50, layers=(Embedding(8), GRU(8, bidirectional=True, merge="sum")), output=Output(50, tied=True))
BARE = Network(input=7, layers=(RNN(5, bias=False),), output=Output(2, bias=False), steps=9)
DEEP = Network(input=6, layers=(GRU(4), GRU(3)), steps=5, convention="keras")


@pytest.mark.broad
@pytest.mark.parametrize(
    ("net", "number", "what"),
    [
        (DEEP, 3 * 4 * (6 + 4) + 3 * 3 * (4 + 3), "multiply-adds-per-step"),  # as many as without biases
        (DEEP, 5 * (120 + 63), "multiply-adds"),  # 3·4·12 + 3·3·9 = 225 parameters in Keras
        (DEEP, 4 * 225, "bytes"),
        (DEEP, 5 * 4 * 6 + 5 * 4 * 4, None),
        (DEEP.replace(steps=1), 120 + 63, "multiply-adds"),
        (BARE, 9 * 5 * (7 + 5) + 2 * 5, "multiply-adds"),  # and the count times the steps
        (BARE, 4 * (5 * (7 + 5) + 2 * 5), "bytes"),  # and the whole count four times
        (BARE.replace(steps=4, topology="many-to-many"), 4 * 70, "multiply-adds"),
        (BARE.replace(steps=4, topology="many-to-many"), 4 * 70, "bytes"),
        (TIED, 2 * 3 * 8 * (8 + 8) + 50 * 8, "multiply-adds-per-step"),
    ],
)
def test_a_number_of_another_kind_is_always_said_to_be_one(net: Network, number: int, what: str | None) -> None:
    """Also where a mistake gives it, after that; and never for one that is none."""
    judged = answer(net, number).judged[0]
    assert not judged.right
    assert [meant.id for meant in judged.meant if meant.id == what] == ([what] if what else [])
    remarks = AnswerReport(answer(net, number)).data()["remarks"]
    texts = {row.id: row.text for row in CONFUSED["params"]}
    assert any(texts[what] in remark for remark in remarks) if what else judged.meant == ()


@pytest.mark.broad
@given(network(), st.sampled_from(["multiply_adds", "bytes", "saved"]))
def test_whatever_the_network_its_other_numbers_are_said_to_be_so(spec: Spec, key: str) -> None:
    """Unless the right count is the same number."""
    net = network_of(spec)
    counted, trained = count(net), training(net)
    once = sum(layer.multiply_adds_per_step or 0 for layer in counted.layers)
    number = {"multiply_adds": counted.multiply_adds or once, "bytes": 4 * net.params, "saved": trained.saved}[key]
    if number and number != net.params:
        said = {"multiply_adds": "multiply-adds in one", "bytes": "bytes in float32", "saved": "saved activations"}
        remarks = AnswerReport(answer(net, number)).data()["remarks"]
        unknown = any(layer.multiply_adds_per_step is None for layer in counted.layers)
        assert any(said[key] in remark for remark in remarks) or (unknown and key == "multiply_adds")


def test_the_number_of_a_layer_is_said_to_be_one_too() -> None:
    """Its multiply-adds, where no mistake gives them: peepholes and biases multiply nothing in matrices."""
    net = Network(input=9, layers=(LSTM(5, peepholes=True), LSTM(4)), steps=3)  # 4·5·15 + 15, 4·4·10
    judged = answer(net, 3 * 4 * 5 * 14, 160).judged[0]
    assert [meant.id for meant in judged.meant] == ["multiply-adds"]
    assert AnswerReport(answer(net, 840, 160)).data()["remarks"][0] == (
        "lstm_1: 840 is the number of multiply-adds in one pass."
    )
    assert answer(net, 315, 4 * 4 * 9).judged[1].diagnoses[0].id == "no-biases"
    assert answer(net, 315, 4 * 4 * 9).judged[1].meant == ()


def test_the_count_times_the_steps_is_told_before_a_gradient_for_each_step(call: Call) -> None:
    """12,400 is 5 · 2,480, where all steps share one set of weights."""
    out = call("answer", "-i", 10, "-l", "lstm:20", "-T", 5, 12_400).out
    assert out.index("multiplies the recurrent layers by the number of steps") < out.index(
        "Also, 12,400 counts a gradient for each parameter and each step"
    )


@pytest.mark.broad
def test_a_single_size_of_a_half_that_would_give_it() -> None:
    """The input of the decoder, or the width of its dense layer, or the encoder's input: which half, and what it is."""
    net = Network(encoder=Part(7, (LSTM(6),)), decoder=Part(5, (Dense(11), LSTM(6)), Output(5)))
    assert judged(net, 1_309).other_size == size_of("decoder", None, "input", 45, 5, 869 + 11 * 40)
    assert judged(net, 1_139).other_size == size_of("decoder", 0, "units", 20, 11, 869 + 9 * (5 + 1 + 24))
    assert judged(net, 1_613).other_size == size_of("encoder", None, "input", 38, 7, 869 + 24 * 31)


def test_a_size_is_told_beside_two_mistakes() -> None:
    """Two more inputs are as likely as two mistakes that come to 32 together."""
    net = Network(input=9, layers=(RNN(16, recurrence="diagonal"),))
    found = judged(net, 16 * (11 + 1 + 1))
    assert found.diagnoses
    assert all(len(diagnosis.mistakes) == 2 for diagnosis in found.diagnoses)
    assert found.other_size == size_of(None, None, "input", 11, 9, 16 * (11 + 1 + 1))


def size_of(part: str | None, place: int | None, key: str, size: int, right: int, params: int) -> OtherSize:
    return OtherSize(SizePlace(part, place, key), size, right, params)


@pytest.mark.parametrize("case", cases("answers/other_sizes.yaml"), ids=lambda case: str(case)[:80])
def test_the_first_size_that_would_give_a_number(case: dict[str, Any]) -> None:
    """Inputs, then layer by layer its units and its projection."""
    number = worked_out(case["number"])
    expected = size_of(*[*case["size"], number]) if "size" in case else None
    assert other_size(size_curves(network_of(case["network"])), GivenNumber(number)) == expected


def test_the_first_size_that_would_give_a_rounded_number() -> None:
    """The nearest: 5·(194 + 6) is 1,000, as 5·(204 + 6) is when rounded; 5·(47 + 6) is 265."""
    tried = size_curves(Network(input=4, layers=(RNN(5),)))
    assert other_size(tried, GivenNumber(1_000, 100)) == size_of(None, None, "input", 194, 4, 1_000)
    assert other_size(tried, GivenNumber(266, 10)) == size_of(None, None, "input", 47, 4, 265)
    assert other_size(tried, GivenNumber(268, 10)) == size_of(None, None, "input", 48, 4, 270)


def test_a_size_that_not_all_numbers_can_be() -> None:
    """Of an input that two groups must divide, only even ones are tried: 26·(3·42/2 + 1), and none gives 12,345."""
    net = Network(input=22, layers=(Conv1D(26, 3, groups=2),))
    number = 26 * (3 * 42 // 2 + 1)
    assert other_size(size_curves(net), GivenNumber(number)) == size_of(None, None, "input", 42, 22, number)
    assert answer(net, 12_345).judged[0].other_size is None
