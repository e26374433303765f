"""Each mistake is found by its id; wrong answers of lectures and forums are explained by the reason they have."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

import pytest
from case_files import cases
from conftest import Call
from finding import PLACES, ids, ids_of, judged
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import network_of
from wrong_counts import WRONG

from rnncalc import LSTM, Conv1D, Network
from rnncalc.answers.changes import in_cells, number_of_gates
from rnncalc.answers.judgement import Mistake
from rnncalc.answers.returned import MISTAKES
from rnncalc.answers.table import OF_MULTIPLY_ADDS, TABLE
from rnncalc.answers.tensors import TENSOR_MISTAKES
from rnncalc.reports.answer import HINT_QUESTIONS

SIZE = st.integers(2, 40)


@pytest.mark.broad
@pytest.mark.parametrize("id_", PLACES)
@given(m=SIZE, h=SIZE, k=SIZE, n=SIZE)
@settings(max_examples=5)
def test_each_mistake_is_found(id_: str, m: int, h: int, k: int, n: int) -> None:
    """A number that the mistake gives, at any sizes, is traced to it, or to one before it that gives the same sum.

    Each mistake that is named has its numbers and names in it.
    """
    net, number = WRONG[id_](m, h, k, n)
    found = judged(net, number)
    assert found.right == (number == net.params)
    if not found.right:
        first, *others = ids_of(found)
        assert id_ in (first, *others) or ("+" not in first and PLACES[first] < PLACES[id_]), (id_, first)
    for diagnosis in found.diagnoses:
        for mistake in diagnosis.mistakes:
            assert not {*"{}"} & {*mistake.id, *mistake.text}


def test_the_table_and_the_counts_by_hand_have_the_same_ids() -> None:
    """A new mistake needs a computation by hand, and one that is gone leaves none behind."""
    assert {*WRONG} == {*PLACES}
    assert len(PLACES) == len(TABLE)


def check(rows: Sequence[Mistake]) -> None:
    """Fail if a row of a table is half right; that its variants have values, each mistake that is found shows."""
    assert len({row.id for row in rows}) == len(rows), "two rows have one id"
    for row in rows:
        assert len(row.id.split()) == 1, "an id is a word with hyphens"
        assert row.text
        correct = row.text.partition(" instead of ")[2]
        assert not {*"×+0123456789"} & {*correct}, (
            "a sentence may be a hint, so that it has no correct formula or number"
        )
        assert row.subject in (*HINT_QUESTIONS, "quantity"), "a hint asks nothing on it"


RIGHT = Mistake("gates", "own", "counts recurrent matrices", in_cells(number_of_gates(3)))


@pytest.mark.parametrize(
    "row",
    [
        RIGHT._replace(id=""),
        RIGHT._replace(id=TABLE[0].id),
        RIGHT._replace(id=RIGHT.text, text=RIGHT.id),
        RIGHT._replace(text=""),
        RIGHT._replace(subject="sums"),
    ],
)
def test_a_half_right_row_fails(row: Mistake) -> None:
    """Without an id or a text, with those of another, with both swapped, or about what no hint asks about."""
    for table in (OF_MULTIPLY_ADDS, TENSOR_MISTAKES, MISTAKES, (*TABLE, RIGHT)):
        check(table)
    with pytest.raises(AssertionError):
        check((*TABLE, row))


def test_the_biases_of_filters_that_have_none() -> None:
    """Whether the cells above have biases or not."""
    filters = Conv1D(16, kernel=5, bias=False)
    for bias in (True, False):
        net = Network(input=6, layers=[filters, LSTM(4, bias=bias)], convention="pytorch")
        assert "biases-counted" in ids(net, net.params + 16 + (0 if bias else 16))


ANSWERS = cases("answers/wrong_answers.yaml")
"""Those of lectures, which are of a `network`, and published ones, which are of `flags`."""


@pytest.mark.broad
def test_a_wrong_answer_has_its_reason() -> None:
    """Nine of ten are told first; before the others is what gives the same number and is as likely."""
    reasons, later = 0, []
    for case in (each for each in ANSWERS if "network" in each):
        net = network_of(case["network"])
        assert net.params == case["right"]
        for number, expected in case["wrong"].items():
            found = ["+".join(sorted(each.split("+"))) for each in ids(net, number)]
            for reason in expected.split(", or "):
                assert reason in found, (net, number)
                reasons += 1
                later += [(net, number, reason)] if found[0] != reason else []
    assert len(later) <= 0.1 * reasons, later


@pytest.mark.parametrize("number", [2_583, 2_587, 3_003, 10_007])
def test_what_has_no_reason_gets_none(number: int) -> None:
    """Nothing is made up for a number that no mistake gives."""
    assert not judged(Network(input=10, layers=[LSTM(20)], output=5), number).diagnoses


PUBLISHED = [pytest.param(each, id=each["flags"]) for each in ANSWERS if "flags" in each]


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_mistake_of_a_published_answer_is_told_first(case: dict[str, Any], call: Call) -> None:
    """The first of the report is the one that its author made; and the right answer ends as one."""
    network = shlex.split(case["flags"])
    for answers, mistake in case.get("first", {}).items():
        done = call("answer", *network, *str(answers).split(), "-f", "json")
        (report,) = json.loads(done.out)["reports"]
        assert report["mistakes"][0]["id"] == mistake
    if "right" in case:
        assert call("answer", *network, *str(case["right"]).split()).code == 0
