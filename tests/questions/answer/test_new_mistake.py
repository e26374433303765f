"""A mistake of a stranger's own that is half right ends in one line that names the row."""

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Call

from rnncalc.errors import DeclarationError
from rnncalc.questions.answer import search
from rnncalc.questions.answer.changes import count_recurrence, in_cells, number_of_gates
from rnncalc.questions.answer.mistake import Family, Mistake, Question, Variant, check
from rnncalc.questions.answer.table import TABLE
from rnncalc.questions.answer.worksheet import Worksheet

ADDED = in_cells(number_of_gates(3))
RIGHT: Any = Mistake("own", "counts recurrent matrices", ADDED)
NOTHING: Any = ()


def first(worksheet: Worksheet, _: Question) -> Iterator[Variant]:
    yield Variant(worksheet[:1] * 2, {})


def unnamed(worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    yield Variant(ADDED(worksheet, question.network), {})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (RIGHT._replace(id=""), f"mistake {len(TABLE) + 1}: has no id"),
        (RIGHT._replace(id=TABLE[0].id), f"mistake {TABLE[0].id}: another row has this id; give one of them another"),
        (Mistake("counts too much", "own", ADDED), "mistake counts too much: its id: expected a word with hyphens, "),
        (RIGHT._replace(text=""), "mistake own: text: expected a sentence without its subject"),
        (Mistake("own", ADDED, "adds"), "mistake own: text: expected a sentence"),  # type: ignore[arg-type]  # tested
        (RIGHT._replace(text="adds {width}"), "mistake own: only a Family has values for {braces}"),
        (RIGHT._replace(change="adds"), "mistake own: expected a function of a worksheet"),
        (Family("own", "adds", None), "mistake own: expected a function of a worksheet"),  # type: ignore[arg-type]  # tested
    ],
)
def test_a_row_that_is_half_right(row: Mistake | Family, message: str) -> None:
    """Refused with the table, before any answer."""
    check((*TABLE, RIGHT))
    with pytest.raises(DeclarationError) as caught:
        check((*TABLE, row))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            RIGHT._replace(change=count_recurrence),
            "TypeError: count_recurrence() takes 1 positional argument but 2 were given (",
        ),
        (RIGHT._replace(change=lambda *_: None), "TypeError: object of type 'NoneType' has no len() ("),
        (
            RIGHT._replace(change=lambda worksheet, _: (*worksheet, worksheet[0])),
            "expected a worksheet of as many lines as before, 1, got 2\n",
        ),
        (Family("own", "adds", first), "expected a worksheet of as many lines as before, 1, got 2\n"),
        (Family("own", "adds {what}", unnamed), "its variant has no value for {what}\n"),
        (Family("own", "adds", lambda *_: iter([NOTHING])), "AttributeError: "),
    ],
)
def test_a_change_that_is_half_right(row: Any, message: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused when it is made, instead of an answer."""
    monkeypatch.setattr(search, "TABLE", (row,))
    done = call("answer", "-i", 3, "-l", "lstm:4", "--", 96)  # 3 × 4 × (3 + 4 + 1)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rnncalc: mistake own: {message}")
    assert done.err.count("\n") == 1
