"""Right is never called wrong, nor wrong right; a number a layer; what is said where no mistake is known."""

import json

import pytest
from conftest import Call

from rnncalc import GRU, LSTM, RNN, Dropout, Network, Output
from rnncalc.questions.answer.given import Given, read_number
from rnncalc.questions.answer.grading import judge
from rnncalc.reports.answer import AnswerReport


def test_the_dense_equivalent_is_recognized(call: Call) -> None:
    """117 + 10 is the other network's count."""
    assert "dense equivalent" in call("answer", "specs/dense-equivalent.yaml", 127).out


def test_honesty_where_nothing_fits(call: Call) -> None:
    """A prime far away has no explanation, and gets none."""
    result = call("answer", "specs/lstm.yaml", 1_000_003)
    assert result.code == 1
    assert "No mistake that is known gives this number, 998,403 more than the right one." in result.out
    assert "rnncalc explain derives the right one step by step." in result.out


@pytest.mark.parametrize(
    ("text", "right"),
    [("1600", True), ("1,600", True), ("1_600", True), ("1.6k", True), ("2k", True), ("1.5k", False), ("1.60k", True)],
)
def test_roundings_are_right_with_a_remark(call: Call, text: str, right: bool) -> None:
    """1.6k is right for 1,600; what is rounded away is told."""
    assert (call("answer", "specs/lstm.yaml", text).code == 0) == right
    if text == "2k":
        assert "2k is right as a rounding: exactly it is 1,600." in call("answer", "specs/lstm.yaml", text).out


def test_a_number_a_layer(call: Call) -> None:
    """Right in order, and a wrong count of numbers is refused."""
    assert call("answer", "specs/two-rnn-layers.yaml", 15, 32, 5).code == 0
    assert "expected 1 number, the total, or 3" in call("answer", "specs/two-rnn-layers.yaml", 1, 2).err


def lstm(m: int, h: int) -> int:
    return 4 * h * (m + h + 1)


def test_later_layers_are_judged_by_the_learners_widths(call: Call) -> None:
    """One direction in the first LSTM: 64 in place of 128 go on, and what follows from that is no second mistake."""
    numbers = [2_560_000, lstm(128, 64), 2 * lstm(64, 64), 129]
    (report,) = json.loads(call("answer", "specs/sentiment-classifier.yaml", *numbers, "-f", "json").out)["reports"]
    assert report["right"] is False
    assert {mistake["layer"] for mistake in report["mistakes"]} == {"lstm_1"}
    assert report["mistakes"][0]["id"] == "one-direction"
    assert "lstm_2: 66,048 follows from the mistake in lstm_1." in report["remarks"]
    assert "The first wrong layer is lstm_1." in report["remarks"]


@pytest.mark.parametrize(
    ("spec", "number", "mistake"),
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
def test_the_worked_examples_with_wrong_answers(call: Call, spec: str, number: int, mistake: str) -> None:
    """What a student would get wrong in the examples."""
    (report,) = json.loads(call("answer", f"specs/{spec}.yaml", number, "-f", "json").out)["reports"]
    assert mistake in [mistake["id"] for mistake in report["mistakes"]]


def test_the_width_a_mistake_hands_on() -> None:
    """A projection forgotten in one layer widens the next; extra inputs stay; a halved pair does so once."""
    net = Network(input=5, layers=(LSTM(6, projection=2), RNN(3, extra_inputs=4)), output=Output(2))
    wrong = [lstm(5, 6), 3 * (6 + 4 + 3 + 1), 2 * 4]
    answer = judge(net, [Given(number) for number in wrong])
    first, second, third = answer.judged
    assert first.diagnoses[0].id == "no-projection"
    assert second.follows == "lstm_1"
    assert third.right
    net = Network(input=5, layers=(LSTM(6, projection=2, bidirectional=True), RNN(3)))
    answer = judge(net, [Given(2 * lstm(5, 6)), Given(3 * (12 + 3 + 1))])
    assert answer.judged[1].follows
    net = Network(input=5, layers=(LSTM(6, bidirectional=True, merge="sum"), RNN(3)))
    answer = judge(net, [Given(lstm(5, 6)), Given(3 * (6 + 3 + 1))])
    assert answer.judged[0].diagnoses
    assert answer.judged[1].right


def test_a_second_mistake_is_a_second_mistake() -> None:
    """What does not follow from the first is diagnosed by itself; what nothing gives is said."""
    net = Network(input=5, layers=(LSTM(6), GRU(3)), output=Output(2))
    right = [lstm(5, 6), 3 * 3 * (6 + 3 + 1), 2 * 4]
    answer = judge(net, [Given(4 * 6 * 11), Given(3 * 3 * (6 + 1)), Given(right[2])])
    assert [each.right for each in answer.judged] == [False, False, True]
    assert answer.judged[0].diagnoses[0].id == "no-biases"
    assert answer.judged[1].diagnoses[0].id == "no-recurrent"
    assert answer.first_wrong == "lstm_1"
    answer = judge(net, [Given(right[0]), Given(1_000_003), Given(2 * 3 + 2)])
    assert AnswerReport(answer).data()["remarks"] == [
        "gru_1: no mistake that is known gives 1,000,003, 999,913 more than the right one.",
        "The first wrong layer is gru_1.",
    ]
    answer = judge(net, [Given(right[0]), Given(right[1]), Given(7 * 4)])
    assert answer.judged[2].diagnoses[0].id == "output-width"
    assert answer.judged[2].diagnoses[0].values == {"width": "7", "units": "2"}


def test_layers_without_parameters_may_be_left_out() -> None:
    """A dropout has no number, or a zero."""
    net = Network(input=5, layers=(LSTM(6), Dropout(0.5)), output=Output(2))
    assert judge(net, [Given(lstm(5, 6)), Given(14)]).right
    assert judge(net, [Given(lstm(5, 6)), Given(0), Given(14)]).right


def test_the_groups_of_one_number_are_one_number() -> None:
    """A total written 1 600 is two words of a command line; the sum of its parts is asked for by neither."""
    net = Network(input=19, layers=(RNN(20, repeat=2),))  # 20·(19 + 20 + 1) + 20·(20 + 20 + 1) = 1,620
    assert judge(net, [read_number("1"), read_number("620")]).judged[0].right is False
    one = Network(input=19, layers=(RNN(20), RNN(20), RNN(20)))  # 820 more
    assert judge(one, [read_number("2"), read_number("440")]).judged[0].right
