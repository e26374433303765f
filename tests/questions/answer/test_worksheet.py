"""A line of the worksheet: what it comes to, and how it is written, whatever its gates read."""

import pytest
from finding import evaluated

from rnncalc import LSTM, Network
from rnncalc.questions.answer.arithmetic import write
from rnncalc.questions.answer.worksheet import GateLine, Line, Other, Read

INPUT, PAST = Read("input", 8), Read("past", 16)


@pytest.mark.parametrize(
    ("gates", "others", "text", "params"),
    [
        ([GateLine((INPUT, PAST), 1)] * 3, [], "3 × 16 × (8 + 16 + 1)", 1_200),
        ([GateLine((INPUT,), 1)] * 2, [], "2 × 16 × (8 + 1)", 288),  # a minGRU: no gate looks at the past
        (  # an SRU: two gates look at the cell state, unit by unit, and have a bias; the others do neither
            [GateLine((INPUT,)), *[GateLine((INPUT, Read("past", 1)), 1)] * 2, GateLine((INPUT,))],
            [],
            "2 × 16 × 8 + 2 × 16 × (8 + 1 + 1)",
            576,
        ),
        (  # a FastGRNN: two gates share one pair of matrices, each with a bias of its own, and there are two numbers
            [GateLine((Read("input", 8, "W"), Read("past", 16, "U")), 1)] * 2,
            [Other("scalars", 2)],
            "16 × (8 + 16) + 2 × 16 + 2",
            418,
        ),
        ([GateLine((INPUT, PAST), 1), GateLine((INPUT, PAST), 2)], [], "2 × 16 × (8 + 16) + 3 × 16", 816),
        (
            [GateLine((INPUT, PAST, Read("peephole", 1)), 1), GateLine((INPUT, PAST), 1)],
            [Other("state", 16)],
            "2 × 16 × (8 + 16 + 1) + 16 + 16",
            832,
        ),
        ([], [], "0", 0),
    ],
)
def test_gates_that_read_unlike_things(gates: list[GateLine], others: list[Other], text: str, params: int) -> None:
    """Gates that read alike stand in one product, others in one of their own; a shared matrix is counted once."""
    (placed,) = Network(input=8, layers=(LSTM(16),)).stack
    line = Line(placed, 16, tuple(gates), tuple(others), bias_size=16)
    assert write(line.of_one) == text
    assert line.params == params == evaluated(line.of_one)
    doubled = line._replace(directions=2)
    assert doubled.params == 2 * params == evaluated(doubled.of_one)
