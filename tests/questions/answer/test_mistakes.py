"""The table of mistakes: each one, its number worked out by hand, is found by its id."""

import pytest
from finding import PLACES, must_find
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_counts import WRONG

from rnncalc.questions.answer.mistakes import TABLE

SIZE = st.integers(2, 40)


@pytest.mark.parametrize("id_", PLACES)
@given(m=SIZE, h=SIZE, k=SIZE, n=SIZE)
@settings(max_examples=5)
def test_each_mistake_is_found(id_: str, m: int, h: int, k: int, n: int) -> None:
    """A number that the mistake gives, at any sizes, is traced to it."""
    net, number = WRONG[id_](m, h, k, n)
    must_find(net, id_, number)


def test_the_table_and_the_counts_by_hand_have_the_same_ids() -> None:
    """A new mistake needs a computation by hand, and one that is gone leaves none behind."""
    assert {*WRONG} == {*PLACES}
    assert len(PLACES) == len(TABLE)
