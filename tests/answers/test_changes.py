"""What mistakes make of each line of a worksheet, worked out by hand in mistakes.yaml."""

from typing import Any

import pytest
from case_files import cases, worked_out
from finding import PLACES, counts_made
from strategies import network_of

from rnncalc import LSTM, Embedding, Network, Output
from rnncalc.answers.table import TABLE
from rnncalc.answers.worksheet import worksheet_of


@pytest.mark.parametrize("case", cases("answers/mistakes.yaml"), ids=lambda case: str(case["network"]))
def test_what_a_mistake_makes_of_each_line(case: dict[str, Any]) -> None:
    """It changes the lines that it is about, by as much as it says, and no other."""
    network = network_of(case["network"])
    assert [line.params for line in worksheet_of(network)] == worked_out(case["right"])
    assert {id_: [*counts_made(id_, network)] for id_ in case["wrong"]} == worked_out(case["wrong"])


def test_a_tied_matrix_counted_twice_is_read_as_an_input() -> None:
    """So that what else is mistaken about inputs is mistaken there."""
    tied = Network(input=9, layers=(Embedding(4), LSTM(4)), output=Output(9, tied=True))
    (*_, line) = TABLE[PLACES["tied-twice"]].change(worksheet_of(tied))
    assert line.width("input") == 4
