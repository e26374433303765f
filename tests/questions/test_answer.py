"""`answer`: each slip, worked out by hand in another way, is found; right is never called wrong, nor wrong right."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Call
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Dropout, Embedding, External, Layer, Network, Output, Part
from rnncalc.conventions.convention import CONVENTIONS
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.grading import judge, read_number
from rnncalc.questions.answer.mistakes import SLIPS
from rnncalc.questions.answer.search import Given
from rnncalc.questions.answer.worksheet import sums_of
from rnncalc.spec import parse

ORDER = {slip.id: number for number, slip in enumerate(SLIPS)}
SIZE = st.integers(2, 40)


@given(st.one_of(network(), encoder_decoder()), st.sampled_from([*CONVENTIONS]))
@settings(max_examples=300)
def test_the_right_sums_are_the_counts(spec: Spec, convention: str) -> None:
    """A learner's formula, its arithmetic and the tensors give one number, under every convention."""
    net = compare_conventions(parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network).networks[
        convention
    ]
    assume(net is not None)
    assert net is not None
    for each, placed in zip(sums_of(net), net.placed, strict=True):
        assert each.params == placed.params
        assert eval(each.arithmetic.replace("×", "*")) == placed.params


@given(st.one_of(network(), encoder_decoder()), st.integers(-20, 20))
@settings(max_examples=150)
def test_right_is_right_and_wrong_is_wrong(spec: Spec, off: int) -> None:
    """The exact total is right and nothing else is; each mistake's arithmetic gives the learner's number."""
    net = parse(yaml.safe_dump(spec, sort_keys=False).encode(), "spec").network
    number = max(0, net.params + off)
    answer = judge(net, [Given(number)])
    assert answer.right == (number == net.params)
    for mistake in answer.judged[0].mistakes:
        assert eval(mistake.arithmetic.replace("×", "*")) == mistake.params == number
        assert eval(mistake.right.replace("×", "*")) == net.params
    assert len(answer.judged[0].mistakes) <= 5


def hand(m: int, h: int, n: int, gates: int, **wrong: int) -> int:
    """Return one recurrent layer of h units on m features and an output of n, with some of its numbers wrong."""
    w = {"gates": gates, "input": h * m, "recurrent": h * h, "biases": h, "output": n * h, "output_bias": n, "times": 1}
    w |= wrong
    return w["times"] * w["gates"] * (w["input"] + w["recurrent"] + w["biases"]) + w["output"] + w["output_bias"]


SIMPLE: dict[str, Callable[[int, int, int, int], int]] = {
    "no-biases": lambda m, h, n, g: hand(m, h, n, g, biases=0, output_bias=0),
    "no-hidden-biases": lambda m, h, n, g: hand(m, h, n, g, biases=0),
    "no-output-bias": lambda m, h, n, g: hand(m, h, n, g, output_bias=0),
    "no-output": lambda m, h, n, g: hand(m, h, n, g, output=0, output_bias=0),
    "two-biases": lambda m, h, n, g: hand(m, h, n, g, biases=2 * h),
    "gates-1": lambda m, h, n, g: hand(m, h, n, 1),
    "gates-2": lambda m, h, n, g: hand(m, h, n, 2),
    "gates-3": lambda m, h, n, g: hand(m, h, n, 3),
    "gates-4": lambda m, h, n, g: hand(m, h, n, 4),
    "no-recurrent": lambda m, h, n, g: hand(m, h, n, g, recurrent=0),
    "no-input": lambda m, h, n, g: hand(m, h, n, g, input=0),
    "diagonal": lambda m, h, n, g: hand(m, h, n, g, recurrent=h),
    "as-dense": lambda m, h, n, g: hand(m, h, n, 1, recurrent=0),
    "bias-of-inputs": lambda m, h, n, g: hand(m, h, n, g, biases=m + h),
    "output-in-cell": lambda m, h, n, g: hand(m, h, n, g) + h * h,
    "output-and-bias-in-cell": lambda m, h, n, g: hand(m, h, n, g) + h * h + h,
    "times-steps": lambda m, h, n, g: hand(m, h, n, g, times=7),
    "copy-a-step": lambda m, h, n, g: 7 * hand(m, h, n, g),
    "output-times-steps": lambda m, h, n, g: hand(m, h, n, g) + 6 * (n * h + n),
    "steps-as-features": lambda m, h, n, g: hand(7 * m, h, n, g),
    "directions-twice": lambda m, h, n, g: hand(m, h, n, g, times=2),
    "dense-bias-twice": lambda m, h, n, g: hand(m, h, n, g, output_bias=2 * n),
    "packed-width": lambda m, h, n, g: g * h + n * h + n,
}

KINDS = {RNN: 1, GRU: 3, LSTM: 4, MGU: 2}


def must_find(net: Network, slip: str, number: int) -> None:
    """Assert that a slip's number is traced to it, or to a simpler one that gives the same number."""
    answer = judge(net, [Given(number)])
    if number == net.params:
        assert answer.right
        return
    assert not answer.right
    found = [mistake.id for mistake in answer.judged[0].mistakes]
    assert found, (slip, number)
    assert slip in found or ORDER.get(found[0], -1) < ORDER[slip], (slip, found)


@pytest.mark.parametrize("slip", SIMPLE)
@given(SIZE, SIZE, SIZE, st.sampled_from([*KINDS]))
@settings(max_examples=25)
def test_a_slip_in_one_layer_is_found(slip: str, m: int, h: int, n: int, kind: Any) -> None:
    """A recurrent layer and an output over seven steps."""
    net = Network(input=m, layers=(kind(h),), output=Output(n), steps=7)
    must_find(net, slip, SIMPLE[slip](m, h, n, KINDS[kind]))


def lstm(m: int, h: int) -> int:
    return 4 * h * (m + h + 1)


@given(SIZE, SIZE, SIZE, SIZE)
@settings(max_examples=40)
def test_slips_between_layers_are_found(m: int, h: int, k: int, n: int) -> None:
    """Directions, merges and depth, each by the textbook's formula with the wrong width."""
    both = LSTM(h, bidirectional=True)
    net = Network(input=m, layers=(both, LSTM(k)), output=Output(n))
    right_end = n * (k + 1)
    must_find(net, "one-direction", lstm(m, h) + lstm(2 * h, k) + right_end)
    must_find(net, "one-direction-deeper", 2 * lstm(m, h) + lstm(h, k) + right_end)
    must_find(net, "network-input-deeper", 2 * lstm(m, h) + lstm(m, k) + right_end)
    must_find(net, "directions-twice", 4 * lstm(m, h) + 2 * lstm(2 * h, k) + right_end)
    summed = Network(input=m, layers=(LSTM(h, bidirectional=True, merge="sum"), LSTM(k)), output=Output(n))
    must_find(summed, "concat-for-merge", 2 * lstm(m, h) + lstm(2 * h, k) + right_end)
    twice = Network(input=m, layers=(LSTM(h), LSTM(k)), output=Output(n))
    in_one = judge(twice, [Given(lstm(m, h) + 4 * k * (h + k) + right_end)])
    assert in_one.judged[0].mistakes


@given(SIZE, st.integers(3, 40), SIZE, SIZE)
@settings(max_examples=40)
def test_slips_with_a_projection_are_found(m: int, h: int, k: int, n: int) -> None:
    """The projection ignored, its matrix left out, h in its place."""
    p = h - 1
    net = Network(input=m, layers=(LSTM(h, projection=p), LSTM(k)), output=Output(n))
    end = n * (k + 1)
    must_find(net, "no-projection", lstm(m, h) + lstm(h, k) + end)
    must_find(net, "units-for-projection", 4 * h * (m + p + 1) + p * h + lstm(h, k) + end)
    must_find(net, "no-projection-matrix", 4 * h * (m + p + 1) + lstm(p, k) + end)
    must_find(net, "recurrent-of-units", lstm(m, h) + p * h + lstm(p, k) + end)


@given(SIZE, SIZE, SIZE)
@settings(max_examples=40)
def test_slips_with_other_parts_are_found(m: int, h: int, v: int) -> None:
    """Peepholes, learned states, frozen and external parts, embeddings and tied outputs."""
    net = Network(input=m, layers=(LSTM(h, peepholes=True, learned_state=True),))
    must_find(net, "no-peepholes", lstm(m, h) + 2 * h)
    must_find(net, "no-learned-state", lstm(m, h) + 3 * h)
    net = Network(input=m, layers=(Dense(v, frozen=True), RNN(h)))
    must_find(net, "frozen-out", h * (v + h + 1))
    net = Network(input=m, layers=(External(1_234_567), RNN(h)))
    must_find(net, "no-external", h * (m + h + 1))
    net = Network(input=v, layers=(Embedding(h), RNN(h)), output=Output(v, tied=True))
    must_find(net, "no-embedding", h * (2 * h + 1) + v)
    must_find(net, "tied-twice", v * h + h * (2 * h + 1) + v * h + v)


@given(SIZE, SIZE, SIZE)
@settings(max_examples=40)
def test_slips_with_options_are_found(m: int, h: int, k: int) -> None:
    """Biases where there are none, one for all gates, extra inputs, repeats and diagonals."""
    must_find(Network(input=m, layers=(LSTM(h, bias=False),)), "biases-counted", lstm(m, h))
    must_find(Network(input=m, layers=(LSTM(h),)), "one-bias-in-all", 4 * h * (m + h) + h)
    must_find(Network(input=m, layers=(LSTM(h),)), "scalar-biases", 4 * h * (m + h) + 4)
    must_find(Network(input=m, layers=(LSTM(h, extra_inputs=k),)), "no-extra-inputs", lstm(m, h))
    must_find(Network(input=m, layers=(LSTM(h, repeat=3),)), "repeat-once", lstm(m, h))
    must_find(Network(input=m, layers=(RNN(h, recurrence="diagonal"),)), "full-recurrence", h * (m + h + 1))


@given(SIZE, SIZE, SIZE)
@settings(max_examples=40)
def test_slips_between_the_halves_are_found(m: int, h: int, k: int) -> None:
    """A half left out, or the decoder fed as the encoder is."""
    net = Network(encoder=Part(m, (LSTM(h),)), decoder=Part(k, (LSTM(h),), Output(k)))
    end = k * (h + 1)
    must_find(net, "no-encoder", lstm(k, h) + end)
    must_find(net, "no-decoder", lstm(m, h))
    must_find(net, "encoder-input", 2 * lstm(m, h) + end)


def test_the_dense_equivalent_is_recognized(call: Call) -> None:
    """117 + 10 is the other network's count."""
    assert "dense equivalent" in call("answer", "specs/dense-equivalent.yaml", 127).out


@given(SIZE, SIZE)
def test_one_bias_where_there_are_two(m: int, h: int) -> None:
    """PyTorch's count with the textbook's biases, and the other way round."""
    net = Network(input=m, layers=(LSTM(h),), convention="pytorch")
    must_find(net, "one-bias", lstm(m, h))
    answer = judge(Network(input=m, layers=(GRU(h),)), [Given(3 * h * (m + h) + 4 * h)])
    assert "convention-flax-linen" in [mistake.id for mistake in answer.judged[0].mistakes]


def test_every_slip_of_the_table_is_tested() -> None:
    """A new slip needs a computation by hand here."""
    text = Path(__file__).read_text(encoding="utf-8")
    for slip in SLIPS:
        assert f'"{slip.id}"' in text, slip.id


def test_two_slips_together_are_found(call: Call) -> None:
    """A GRU counted with four gates and no biases: 4 × 16 × (8 + 16) in place of 3 × 16 × (8 + 16 + 1)."""
    (report,) = json.loads(call("answer", "specs/gru.yaml", 4 * 16 * 24, "-f", "json").out)["reports"]
    assert report["right"] is False
    assert report["mistakes"][0]["id"] == "no-biases+gates-4"
    assert report["mistakes"][0]["params"] == report["answer"] == 1_536


def test_the_output_width_that_would_give_it(call: Call) -> None:
    """50 × 121 + 3 × 51: three outputs, not two."""
    out = call("answer", "-i", 70, "-l", "rnn:50", "-o", 2, 50 * 121 + 3 * 51).out
    assert "gives the output layer 3 units, and it has 2" in out


def test_a_single_size_that_would_give_it(call: Call) -> None:
    """No slip makes 52 × (70 + 52 + 1) of h = 50, but h = 52 does."""
    result = call("answer", "-i", 70, "-l", "rnn:50", 52 * 123)
    assert result.code == 1
    assert "h of layer 1 = 52 in place of 50 would" in result.out


def test_a_single_size_of_a_half_that_would_give_it() -> None:
    """The input of the decoder, or the width of its dense layer, and which half is said."""
    net = Network(encoder=Part(7, (LSTM(6),)), decoder=Part(5, (Dense(11), LSTM(6)), Output(5)))
    answer = judge(net, [Given(net.params + 11 * 40)])
    assert "the input of the decoder = 45 in place of 5 would" in answer.judged[0].remark
    answer = judge(net, [Given(net.params + 9 * (5 + 1 + 24))])
    assert "h of layer 1 of the decoder = 20 in place of 11 would" in answer.judged[0].remark
    answer = judge(net, [Given(net.params + 24 * 31)])
    assert "the input of the encoder = 38 in place of 7 would" in answer.judged[0].remark


def test_nothing_at_all_is_a_sum_too(call: Call) -> None:
    """Where the slip leaves nothing, the arithmetic is a zero."""
    (report,) = json.loads(call("answer", "-i", 3, "-l", "external:5", 0, "-f", "json").out)["reports"]
    (mistake,) = report["mistakes"]
    assert (mistake["id"], mistake["arithmetic"], mistake["right"]) == ("no-external", "0", "5")


def test_honesty_where_nothing_fits(call: Call) -> None:
    """A prime far away has no explanation, and gets none."""
    result = call("answer", "specs/lstm.yaml", 1_000_003)
    assert result.code == 1
    assert "No slip that is known gives this number." in result.out


@pytest.mark.parametrize(
    ("text", "right"),
    [("1600", True), ("1,600", True), ("1_600", True), ("1.6k", True), ("2k", True), ("1.5k", False), ("1.60k", True)],
)
def test_roundings_are_right_with_a_remark(call: Call, text: str, right: bool) -> None:
    """1.6k is right for 1,600; what is rounded away is told."""
    assert (call("answer", "specs/lstm.yaml", text).code == 0) == right
    if text == "2k":
        assert "2k is right as a rounding: exactly it is 1,600." in call("answer", "specs/lstm.yaml", text).out


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("7", 7, 1),
        ("0", 0, 1),
        ("1_600", 1_600, 1),
        ("12,345,678", 12_345_678, 1),
        ("2k", 2_000, 1_000),
        ("2K", 2_000, 1_000),
        ("2.5k", 2_500, 100),
        ("3M", 3_000_000, 1_000_000),
        ("3.77M", 3_770_000, 10_000),
        ("1G", 10**9, 10**9),
        ("1.5B", 1_500_000_000, 10**8),
    ],
)
def test_how_numbers_are_read(text: str, number: int, unit: int) -> None:
    """A number, and what its last digit counts."""
    assert read_number(text) == Given(number, unit, text)


def test_a_rounding_in_millions() -> None:
    """3.8M for 3,778,580, and not 3.7M."""
    net = Network(input=10, layers=(External(3_778_580),))
    assert judge(net, [read_number("3.8M")]).right
    assert not judge(net, [read_number("3.7M")]).right


@pytest.mark.parametrize("text", ["x", "-3", "1.5", "1.2345k", "3.8T", "", "0x10", "1,6,0", "01600", "1e3"])
def test_what_is_no_number_is_refused(call: Call, text: str) -> None:
    """One line, exit 2."""
    result = call("answer", "specs/lstm.yaml", "--", text)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("rnncalc: expected a whole number")


def test_a_number_a_layer(call: Call) -> None:
    """Right in order, and a wrong count of numbers is refused."""
    assert call("answer", "specs/two-rnn-layers.yaml", 15, 32, 5).code == 0
    assert "expected 1 number, the total, or 3" in call("answer", "specs/two-rnn-layers.yaml", 1, 2).err


def test_later_layers_are_judged_by_the_learners_widths(call: Call) -> None:
    """One direction in the first LSTM: 64 in place of 128 go on, and what follows from that is no second mistake."""
    numbers = [2_560_000, lstm(128, 64), 2 * lstm(64, 64), 129]
    (report,) = json.loads(call("answer", "specs/sentiment-classifier.yaml", *numbers, "-f", "json").out)["reports"]
    assert report["right"] is False
    assert {mistake["layer"] for mistake in report["mistakes"]} == {"lstm_1"}
    assert report["mistakes"][0]["id"] == "one-direction"
    assert "lstm_2: 66,048 follows from the slip in lstm_1." in report["remarks"]
    assert "The first wrong layer is lstm_1." in report["remarks"]


@pytest.mark.parametrize(
    ("spec", "number", "slip"),
    [
        ("dense-equivalent", 25, "no-hidden-biases"),
        ("dense-equivalent", 24, "no-biases"),
        ("no-biases", 300, "no-recurrent"),
        ("no-biases", 1_300, "gates-2"),
        ("two-rnn-layers", 47, "no-output"),
        ("bidirectional", 1_600, "one-direction"),
        ("mgu", 400, "gates-1"),
        ("many-to-one", 345 + 6 * 9, "output-times-steps"),
        ("time-series-gru", 23_928 - 24, "no-output-bias"),
    ],
)
def test_the_worked_examples_with_wrong_answers(call: Call, spec: str, number: int, slip: str) -> None:
    """What a student would get wrong in the examples."""
    (report,) = json.loads(call("answer", f"specs/{spec}.yaml", number, "-f", "json").out)["reports"]
    assert slip in [mistake["id"] for mistake in report["mistakes"]]


def test_layers_of_any_kind_have_sums() -> None:
    """A layer without parameters adds nothing."""
    layers: tuple[Layer, ...] = (Dense(3), RNN(2))
    assert sum(each.params for each in sums_of(Network(input=4, layers=layers))) == 15 + 12


def test_the_width_a_slip_hands_on() -> None:
    """A projection forgotten in one layer widens the next; extra inputs stay; a halved pair does so once."""
    net = Network(input=5, layers=(LSTM(6, projection=2), RNN(3, extra_inputs=4)), output=Output(2))
    wrong = [lstm(5, 6), 3 * (6 + 4 + 3 + 1), 2 * 4]
    answer = judge(net, [Given(number) for number in wrong])
    first, second, third = answer.judged
    assert first.mistakes[0].id == "no-projection"
    assert second.follows
    assert second.remark == f"rnn_1: {wrong[1]:,} follows from the slip in lstm_1."
    assert third.right
    net = Network(input=5, layers=(LSTM(6, projection=2, bidirectional=True), RNN(3)))
    answer = judge(net, [Given(2 * lstm(5, 6)), Given(3 * (12 + 3 + 1))])
    assert answer.judged[1].follows
    net = Network(input=5, layers=(LSTM(6, bidirectional=True, merge="sum"), RNN(3)))
    answer = judge(net, [Given(lstm(5, 6)), Given(3 * (6 + 3 + 1))])
    assert answer.judged[0].mistakes
    assert answer.judged[1].right


def test_a_second_slip_is_a_second_slip() -> None:
    """What does not follow from the first is diagnosed by itself; what nothing gives is said."""
    net = Network(input=5, layers=(LSTM(6), GRU(3)), output=Output(2))
    right = [lstm(5, 6), 3 * 3 * (6 + 3 + 1), 2 * 4]
    answer = judge(net, [Given(4 * 6 * 11), Given(3 * 3 * (6 + 1)), Given(right[2])])
    assert [each.right for each in answer.judged] == [False, False, True]
    assert answer.judged[0].mistakes[0].id == "no-biases"
    assert answer.judged[1].mistakes[0].id == "no-recurrent"
    assert answer.remark == "The first wrong layer is lstm_1."
    answer = judge(net, [Given(right[0]), Given(1_000_003), Given(2 * 3 + 2)])
    assert answer.judged[1].remark == "gru_1: no slip that is known gives 1,000,003."
    answer = judge(net, [Given(right[0]), Given(right[1]), Given(3 * 4)])
    assert answer.judged[2].mistakes[0].text == "gives the output layer 3 units, and it has 2"


def test_layers_without_parameters_may_be_left_out() -> None:
    """A dropout has no number, or a zero."""
    net = Network(input=5, layers=(LSTM(6), Dropout(0.5)), output=Output(2))
    assert judge(net, [Given(lstm(5, 6)), Given(14)]).right
    assert judge(net, [Given(lstm(5, 6)), Given(0), Given(14)]).right
