"""Right is never called wrong, nor wrong right; a number a layer; what is said where no mistake is known."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from case_files import cases
from conftest import Call, refusal, report_of
from finding import judge, read_number

from rnncalc import GRU, LSTM, RNN, CallError, Conv1D, Dense, Dropout, Embedding, MultiHeadAttention, Network, Output
from rnncalc.answers import search
from rnncalc.answers.families import Question, Variant
from rnncalc.answers.grading import answer
from rnncalc.answers.judgement import Mistake
from rnncalc.answers.reading import GivenNumber
from rnncalc.answers.table import TABLE
from rnncalc.answers.worksheet import Worksheet
from rnncalc.bounds import MOST_ANSWERS, MOST_EXPLAINED
from rnncalc.reports.answer import AnswerReport
from rnncalc.spec import parse


def lstm(m: int, h: int) -> int:
    return 4 * h * (m + h + 1)


def test_later_layers_are_judged_by_the_learners_widths(call: Call) -> None:
    """One direction in the first LSTM: 64 instead of 128 go on, and what follows from that is no second mistake."""
    numbers = [2_560_000, lstm(128, 64), 2 * lstm(64, 64), 129]
    report = report_of(call, "answer", "specs/sentiment-classifier.yaml", *numbers)
    assert report["right"] is False
    assert {mistake["layer"] for mistake in report["mistakes"]} == {"lstm_1"}
    assert report["mistakes"][0]["id"] == "one-direction"
    assert "lstm_2: 66,048 follows from the mistake in lstm_1." in report["remarks"]
    assert "The first wrong layer is lstm_1." in report["remarks"]


def test_the_width_a_mistake_outputs() -> None:
    """A projection forgotten in one layer widens the next; extra inputs stay; a halved pair does so once."""
    net = Network(input=5, layers=(LSTM(6, projection=2), RNN(3, extra_inputs=4)), output=Output(2))
    wrong = [lstm(5, 6), 3 * (6 + 4 + 3 + 1), 2 * 4]
    graded = judge(net, [GivenNumber(number) for number in wrong])
    first, second, third = graded.judged
    assert first.diagnoses[0].id == "no-projection"
    assert second.follows == "lstm_1"
    assert third.right
    net = Network(input=5, layers=(LSTM(6, projection=2, bidirectional=True), RNN(3)))
    graded = judge(net, [GivenNumber(2 * lstm(5, 6)), GivenNumber(3 * (12 + 3 + 1))])
    assert graded.judged[1].follows
    net = Network(input=5, layers=(LSTM(6, bidirectional=True, merge="sum"), RNN(3)))
    graded = judge(net, [GivenNumber(lstm(5, 6)), GivenNumber(3 * (6 + 3 + 1))])
    assert graded.judged[0].diagnoses
    assert graded.judged[1].right


def test_a_second_mistake_is_a_second_mistake() -> None:
    """What does not follow from the first is diagnosed by itself; what nothing gives is said."""
    net = Network(input=5, layers=(LSTM(6), GRU(3)), output=Output(2))
    right = [lstm(5, 6), 3 * 3 * (6 + 3 + 1), 2 * 4]
    graded = judge(net, [GivenNumber(4 * 6 * 11), GivenNumber(3 * 3 * (6 + 1)), GivenNumber(right[2])])
    assert [each.right for each in graded.judged] == [False, False, True]
    assert graded.judged[0].diagnoses[0].id == "no-biases"
    assert graded.judged[1].diagnoses[0].id == "no-recurrent"
    assert graded.wrong is not None
    assert graded.wrong.layer == "lstm_1"
    graded = judge(net, [GivenNumber(right[0]), GivenNumber(1_000_003), GivenNumber(2 * 3 + 2)])
    assert AnswerReport(graded).data()["remarks"] == [
        "gru_1: no known mistake gives 1,000,003, 999,913 more than the correct one.",
        "The first wrong layer is gru_1.",
    ]
    graded = judge(net, [GivenNumber(right[0]), GivenNumber(right[1]), GivenNumber(7 * 4)])
    assert graded.judged[2].diagnoses[0].id == "output-width"
    assert graded.judged[2].diagnoses[0].mistakes[0].text == "gives the output layer 7 units"


def test_a_chain_that_has_the_correct_number_explains_itself() -> None:
    """4 × 64 × (5 + 64 + 2) = 4 × 4544 = 18,176, in a design document 17,920: no bias is missing."""
    net = Network(input=5, layers=(LSTM(64),), convention="pytorch")
    graded = judge(net, [read_number("4 x 4544 = 17920")])
    assert (graded.judged[0].diagnoses, graded.judged[0].other_size) == ((), None)
    remark = "In '4 x 4544 = 17920' the first = is not true; the number before it is correct."
    assert AnswerReport(graded).data()["remarks"] == [remark]
    assert judge(net, [read_number("4 x 4400 = 17920")]).judged[0].diagnoses[0].mistakes


def test_layers_without_parameters_may_be_left_out() -> None:
    """A dropout has no number, or a zero."""
    net = Network(input=5, layers=(LSTM(6), Dropout(0.5)), output=Output(2))
    assert judge(net, [GivenNumber(lstm(5, 6)), GivenNumber(14)]).right
    assert judge(net, [GivenNumber(lstm(5, 6)), GivenNumber(0), GivenNumber(14)]).right


def test_numbers_that_are_apart_are_answers_of_their_own() -> None:
    """Also where they could be the groups of one number; 20·(19 + 20 + 1) = 800 and 20·(20 + 20 + 1) = 820."""
    net = Network(input=19, layers=(RNN(20, repeat=2),))
    assert judge(net, [read_number("800"), read_number("820")]).right
    assert judge(net, [read_number("1"), read_number("620")]).judged[0].right is False
    one = Network(input=19, layers=(RNN(20), RNN(20), RNN(20)))
    with pytest.raises(CallError, match=r"got 2; write '2 440' for one number$"):
        judge(one, [read_number("2"), read_number("440")])
    with pytest.raises(CallError, match=r"got 2$"):
        judge(one, [read_number("24"), read_number("40")])


def test_what_follows_is_said_of_the_layer_that_it_follows_from() -> None:
    """Biases left out in the second and the third layer are repeated, and not of the first, wrong by itself."""
    net = Network(input=5, layers=(LSTM(6), GRU(3), GRU(4)))
    judged = judge(
        net, [GivenNumber(4 * 6 * (5 + 1)), GivenNumber(3 * 3 * (6 + 3)), GivenNumber(3 * 4 * (3 + 4))]
    ).judged
    assert "no-recurrent" in [diagnosis.id for diagnosis in judged[0].diagnoses]
    assert judged[1].diagnoses[0].id == "no-biases"
    assert (judged[2].follows, judged[2].repeats) == ("gru_1", True)


def chain(count: int) -> Network:
    """Return so many recurrent layers of different widths: the one of h units above one of h − 1."""
    return Network(input=9, layers=[LSTM(10 + place) for place in range(count)])


@pytest.mark.broad
def test_five_hundred_wrong_numbers_make_each_mistake_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many numbers are wrong: what a mistake makes of the network does not depend on the number."""
    made: Counter[str] = Counter()

    def counted(row: Mistake) -> Mistake:
        def change(worksheet: Worksheet) -> Worksheet:
            made[row.id] += 1
            changed: Worksheet = row.change(worksheet)
            return changed

        def variants(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
            assert row.family
            made[row.id] += 1
            yield from row.family(worksheet, question)

        return row._replace(family=variants) if row.family else row._replace(change=change)

    monkeypatch.setattr(search, "TABLE", tuple(map(counted, TABLE)))
    judged = judge(chain(500), [GivenNumber(3)] * 500).judged
    assert not any(each.right for each in judged)
    fitted = {row.id for row in TABLE if row.fitted}
    others = {row.id for row in TABLE if row.by_layer} | fitted
    assert {made[row.id] for row in TABLE if not row.rare and row.id not in others} == {1}
    assert max(made[id_] for id_ in fitted) <= MOST_EXPLAINED


@pytest.mark.broad
def test_the_first_hundred_wrong_numbers_are_explained() -> None:
    """Of layers, tensors and shapes; that the others are not is said, and the verdict is on all."""
    assert MOST_EXPLAINED == 100
    last = [each.layer for each in answer(chain(101), *[3] * 101).judged if not each.explained]
    assert last == ["lstm_101"]
    tensors = Network(input=9, layers=[Dense(10 + place) for place in range(51)])
    for given in (3, (3, 7, 2)):
        judged = answer(tensors, *[given] * 102)
        assert [each.explained for each in judged.judged] == [True] * 100 + [False] * 2
        remarks = AnswerReport(judged).data()["remarks"]
        assert "Mistakes are looked for in the first 100 wrong numbers." in remarks
        assert not any(remark.startswith("dense_51") for remark in remarks)
    few = AnswerReport(answer(chain(100), *[3] * 100)).data()["remarks"]
    assert not any("the first 100" in remark for remark in few)


def test_too_many_answers_are_one_line(call: Call) -> None:
    """2,500 of them, before any is read; a network of the most layers in both halves has 2,002 counts."""
    assert MOST_ANSWERS >= 2 * (1_000 + 1)
    for word in ("7", "x", "(2,3)"):
        err = refusal(call, "answer", "-i", 4, "-l", "rnn:3", *[word] * 2_501)
        assert err == "rnncalc: expected at most 2,500 numbers or shapes, got 2,501\n"
    with pytest.raises(CallError, match="at most 2,500 numbers or shapes, got 2,501"):
        answer(chain(3), *[7] * 2_501)
    with pytest.raises(CallError, match="expected 1 number, the total"):
        answer(chain(3), *[7] * 2_500)


STACKED = Network(input=5, layers=(LSTM(6), GRU(3)), output=Output(2))  # 12, 9 and 2 tensors
SIMPLE = Network(input=4, layers=(RNN(3),))


def test_formulas_of_layers() -> None:
    """Each in the letters of its layer, a number among them; a wrong one has the mistake that the layer alone has."""
    judged = answer(STACKED, "4h(m + h + 1)", 90, "n(m + 1)").judged
    assert [(each.layer, each.right) for each in judged] == [("lstm_1", True), ("gru_1", True), ("output", True)]
    first, second, third = answer(STACKED, "4h(m + h)", "3h(m + 1)", "n·m").judged
    assert [each.diagnoses[0].id for each in (first, second, third)] == ["no-biases", "no-recurrent", "no-biases"]
    dropped = Network(input=5, layers=(LSTM(6), Dropout(0.5)), output=Output(2))
    assert answer(dropped, "4h(m + h + 1)", 0, "n(m + 1)").right
    assert answer(dropped, "4h(m + h + 1)", "n(m + 1)").right
    table = Network(input=9, layers=(Embedding(4), LSTM(6, projection=3)))
    (of_table, of_cell) = answer(table, "m·d", "4h(m + h + 1) + p·h").judged
    assert (of_table.right, of_cell.right) == (True, False)
    assert of_cell.diagnoses[0].id == "recurrent-of-units"
    placed = Network(input=9, layers=(Embedding(4, positions=7), MultiHeadAttention(2), Conv1D(5, 3)))
    judged = answer(placed, "m·d + N·d + d", "4m·m", "f(k·m + 1)").judged
    assert [each.right for each in judged] == [False, False, True]
    assert judged[0].diagnoses[0].id == "padding-row"
    (alone,) = answer(SIMPLE, "h(m + h + 1)").judged
    assert (alone.layer, alone.right) == (None, True)


def test_a_shape_of_a_returned_array_belongs_to_its_layer() -> None:
    """It has no parameters; a wrong one has its mistakes."""
    network = SIMPLE.replace(convention="pytorch")
    right, wrong = answer(network, "h_n=(1, 8, 3)", "output=(8, 9, 4)").judged
    assert (right.layer, right.tensor, right.params, right.right) == ("rnn_1", "h_n", 0, True)
    assert (wrong.layer, wrong.tensor, wrong.params, wrong.right) == ("rnn_1", "output", 0, False)
    assert [each.id for each in wrong.diagnoses] == ["input-width"]
    named, other = answer(network, "weight_hh_l0=(3, 3)", "weight_ih_l0=(4, 3)").judged
    assert (named.layer, named.tensor, named.params, named.right) == ("rnn_1", "weight_hh_l0", 9, True)
    assert (other.tensor, other.right, other.diagnoses[0].id) == ("weight_ih_l0", False, "transposed")


@pytest.mark.parametrize("case", cases("answers/claims.yaml"), ids=lambda case: str(case["network"])[:60])
def test_what_is_wrong_with_each_claim(case: dict[str, Any]) -> None:
    """A known mistake, another part's number, or what follows from an earlier claim; one of all is named once."""
    network = parse(json.dumps(case["network"]).encode(), "spec").network
    for text, expected in case["answers"].items():
        claims = AnswerReport(answer(network, text)).data()["claims"]
        wrong = {each["label"] or "total": each["mistake"] or "" for each in claims if not each["right"]}
        short = {label: mistake[: len(expected.get(label, mistake))] for label, mistake in wrong.items()}
        assert short == expected, text
