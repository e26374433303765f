"""`answer`: numbers of training, and mistakes about them, are said to be what they are."""

import pytest
from conftest import Call

from rnncalc.questions.answer.meant import COUNTS, OfCount
from rnncalc.questions.answer.of_training import ROWS, OfTraining
from rnncalc.reports.answer import MEANT

SMALL = ("-i", 4, "-l", "rnn:3", "-o", 1, "-T", 3)
MGU = ("-i", 3, "-l", "mgu:5", "-T", 4)
LSTM = ("-i", 13, "-l", "lstm:29", "-T", 7)
FROZEN = ("-i", 9, "-l", "embedding:4,frozen", "-l", "lstm:29", "-T", 7)


@pytest.mark.parametrize(
    ("network", "number", "said"),
    [
        (SMALL, 66, "multiply-adds in one pass"),
        (SMALL, 87, "multiply-adds of going back"),
        (SMALL, 27, "values held for going back"),
        (SMALL, 9, "values in the states of all steps"),
        (SMALL, 4 * (28 + 28 + 27), "bytes that training takes"),
        (SMALL, 2 * 66, "twice the multiply-adds of the forward pass; going back takes 87."),
        (SMALL, 3 * 24 + 4, "counts a gradient once for each step; those of all steps are summed: 28."),
        (LSTM, 7 * (13 + 7 * 29), "values held for going back"),
        (LSTM, 7 * (13 + 2 * 29), "without the gates; their equations read them too: 1,512."),
        (MGU, 4 * (3 + 5), "without the gates; their equations read them too"),
        (FROZEN, 4 * 29 * (4 + 29 + 1), "the number of gradients"),
    ],
)
def test_a_number_of_training_is_said_to_be_one(
    call: Call, network: tuple[object, ...], number: int, said: str
) -> None:
    """With the right one beside it where it is counted wrong."""
    done = call("answer", *network, number)
    assert done.code == 1
    assert said in " ".join(done.out.split())


@pytest.mark.parametrize("number", [3 * (4 + 3), 3 * 3, 2 * 66])
def test_without_what_is_asked_for_nothing_is_said(call: Call, number: int) -> None:
    """Without the steps nothing of training is known; a simple recurrent network has no gates to leave out."""
    assert "gates; their" not in call("answer", *SMALL, number).out
    assert "This " not in call("answer", *SMALL[:-2], number).out


def test_each_number_is_made_and_said() -> None:
    """None is looked for without a sentence, and no sentence stands for a number that nothing makes."""
    assert {*MEANT} == {*OfCount, *OfTraining}
    assert [row.what for row in ROWS] == [*OfTraining]
    assert {*OfCount} == {*COUNTS, OfCount.MULTIPLY_ADDS_PER_STEP}
