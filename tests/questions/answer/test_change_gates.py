"""What mistakes about a cell's gates make of each line of a worksheet, worked out by hand."""

from typing import NamedTuple

import pytest
from finding import counts_made

from rnncalc import GRU, LSTM, RNN, SRU, FastGRNN, MinGRU, MinLSTM, Network, Output, Part

PLAIN = Network(input=3, layers=(LSTM(5), GRU(7)), output=Output(2))
# 4·5·(3 + 5 + 1) = 180, 3·7·(5 + 7 + 1) = 273, 2·(7 + 1) = 16
TORCH = Network(input=3, layers=(LSTM(5), RNN(6)), output=Output(2), convention="pytorch")
# 4·5·(3 + 5 + 2) = 200, 6·(5 + 6 + 2) = 78, 2·(6 + 1) = 14
BARE = Network(input=3, layers=(LSTM(5, bias=False),))  # 4·5·(3 + 5) = 160
ODD = Network(input=3, layers=(SRU(5),))  # 4·5·3 + 2·5 + 2·5 = 80
MINIMAL = Network(input=3, layers=(MinGRU(5), MinLSTM(4)))  # 2·5·(3 + 1) = 40, 3·4·(5 + 1) = 72
SHARED = Network(input=3, layers=(FastGRNN(5, bidirectional=True),))  # 2·(5·(3 + 5) + 2·5 + 2) = 104
LOOKING = Network(input=3, layers=(LSTM(5, peepholes=True), LSTM(4, output_gate=False)))
# 180 + 3·5 = 195, 3·4·(5 + 4 + 1) = 120
DIAGONAL = Network(input=3, layers=(RNN(5, recurrence="diagonal"), LSTM(4, recurrence="diagonal")))
# 5·(3 + 1 + 1) = 25, 4·4·(5 + 1 + 1) = 112
PROJECTED = Network(input=3, layers=(LSTM(6, projection=4),))  # 4·6·(3 + 4 + 1) + 4·6 = 216
BOTH = Network(input=3, layers=(LSTM(6, projection=4, peepholes=True),))  # 216 + 3·6 = 234
LEARNED = Network(input=3, layers=(LSTM(5, learned_state=True, bidirectional=True),))  # 2·(180 + 2·5) = 380
HALVES = Network(encoder=Part(3, (LSTM(5),)), decoder=Part(4, (LSTM(5),), Output(2)))
# 180, 4·5·(4 + 5 + 1) = 200, 2·(5 + 1) = 12


class Made(NamedTuple):
    """A mistake by its id, a network, and what it makes of each line."""

    id: str
    network: Network
    lines: tuple[int, ...]


NUMBER = (
    Made("gates-1", PLAIN, (5 * (3 + 5 + 1), 7 * (5 + 7 + 1), 16)),
    Made("gates-2", PLAIN, (2 * 5 * (3 + 5 + 1), 2 * 7 * (5 + 7 + 1), 16)),
    Made("gates-3", PLAIN, (3 * 5 * (3 + 5 + 1), 273, 16)),
    Made("gates-4", PLAIN, (180, 4 * 7 * (5 + 7 + 1), 16)),
    Made("gates-4", TORCH, (200, 4 * 6 * (5 + 6 + 2), 14)),
    Made("gates-3", BARE, (3 * 5 * (3 + 5),)),
    Made("gates-3", ODD, (3 * 5 * (3 + 5 + 1),)),
    Made("gates-4", MINIMAL, (4 * 5 * (3 + 5 + 1), 4 * 4 * (5 + 4 + 1))),
    Made("gates-1", SHARED, (2 * 5 * (3 + 5 + 1),)),
    Made("gates-1", LOOKING, (5 * (3 + 5 + 1) + 5, 4 * (5 + 4 + 1))),
    Made("gates-2", LOOKING, (2 * 5 * (3 + 5 + 1) + 2 * 5, 2 * 4 * (5 + 4 + 1))),
    Made("gates-4", LOOKING, (195, 4 * 4 * (5 + 4 + 1))),
    Made("gates-3", DIAGONAL, (3 * 5 * (3 + 1 + 1), 3 * 4 * (5 + 1 + 1))),
    Made("gates-3", PROJECTED, (3 * 6 * (3 + 4 + 1) + 4 * 6,)),
    Made("gates-3", BOTH, (3 * 6 * (3 + 4 + 1) + 3 * 6 + 4 * 6,)),
    Made("gates-3", LEARNED, (2 * (3 * 5 * (3 + 5 + 1) + 2 * 5),)),
    Made("as-dense", PLAIN, (5 * (3 + 1), 7 * (5 + 1), 16)),
    Made("as-dense", TORCH, (5 * (3 + 1), 6 * (5 + 1), 14)),
    Made("as-dense", BARE, (5 * 3,)),
    Made("as-dense", SHARED, (5 * (3 + 1),)),
    Made("as-dense", LEARNED, (5 * (3 + 1),)),
    Made("matrices-of-one-gate", PLAIN, (5 * (3 + 5) + 4 * 5, 7 * (5 + 7) + 3 * 7, 16)),
    Made("matrices-of-one-gate", TORCH, (5 * (3 + 5) + 4 * 2 * 5, 78, 14)),
    Made("matrices-of-one-gate", LOOKING, (5 * (3 + 5) + 4 * 5 + 3 * 5, 4 * (5 + 4) + 3 * 4)),
    Made("matrices-of-one-gate", ODD, (5 * 3 + 2 * 5,)),
    Made("input-of-one-gate", PLAIN, (5 * 3 + 4 * 5 * (5 + 1), 7 * 5 + 3 * 7 * (7 + 1), 16)),
    Made("recurrent-of-one-gate", PLAIN, (5 * 5 + 4 * 5 * (3 + 1), 7 * 7 + 3 * 7 * (5 + 1), 16)),
)

READ = (
    Made("no-recurrent", PLAIN, (4 * 5 * (3 + 1), 3 * 7 * (5 + 1), 16)),
    Made("no-recurrent", ODD, (4 * 5 * 3 + 2 * 5,)),
    Made("no-input", PLAIN, (4 * 5 * (5 + 1), 3 * 7 * (7 + 1), 16)),
    Made("no-input", ODD, (2 * 5 + 2 * 5,)),
    Made("no-input", SHARED, (2 * (5 * 5 + 2 * 5 + 2),)),
    Made("no-peepholes", LOOKING, (180, 120)),
    Made("diagonal", PLAIN, (4 * 5 * (3 + 1 + 1), 3 * 7 * (5 + 1 + 1), 16)),
    Made("diagonal", ODD, (80,)),
    Made("full-recurrence", DIAGONAL, (5 * (3 + 5 + 1), 4 * 4 * (5 + 4 + 1))),
    Made("full-recurrence", ODD, (4 * 5 * 3 + 2 * 5 * 5 + 2 * 5,)),
    Made("full-recurrence", PROJECTED, (216,)),
    Made("full-recurrence", MINIMAL, (40, 72)),
    Made("recurrence-counted", MINIMAL, (2 * 5 * (3 + 5 + 1), 3 * 4 * (5 + 4 + 1))),
    Made("recurrence-counted", ODD, (80,)),
    Made("cell-state-in-gates", PLAIN, (4 * 5 * (3 + 2 * 5 + 1), 273, 16)),
    Made("cell-state-in-gates", PROJECTED, (4 * 6 * (3 + 2 * 4 + 1) + 4 * 6,)),
    Made("full-peepholes", LOOKING, (180 + 3 * 5 * 5, 120)),
    Made("peephole-in-each-gate", LOOKING, (180 + 4 * 5, 120)),
    Made("peepholes-counted", PLAIN, (180 + 3 * 5, 273, 16)),
    Made("peepholes-counted", LOOKING, (195, 120 + 2 * 4)),
    Made("peepholes-counted", PROJECTED, (216 + 3 * 6,)),
    Made("peepholes-counted", LEARNED, (2 * (190 + 3 * 5),)),
    Made("state-counted", PLAIN, (180 + 2 * 5, 273 + 7, 16)),
    Made("state-counted", PROJECTED, (216 + 4 + 6,)),
    Made("state-counted", LEARNED, (380,)),
    Made("state-counted", ODD, (80 + 5,)),
    Made("shared-twice", SHARED, (2 * (2 * 5 * (3 + 5) + 2 * 5 + 2),)),
    Made("square", PLAIN, (4 * (8 * 8 + 5), 3 * (12 * 12 + 7), 16)),
    Made("square", PROJECTED, (4 * (7 * 7 + 6) + 4 * 6,)),
    Made("recurrent-of-units", PROJECTED, (4 * 6 * (3 + 6 + 1) + 4 * 6,)),
    Made("recurrent-of-units", DIAGONAL, (25, 112)),
    Made("recurrent-of-output", PLAIN, (4 * 5 * (3 + 2 + 1), 3 * 7 * (5 + 2 + 1), 16)),
    Made("recurrent-of-output", LOOKING, (195, 120)),
    Made("recurrent-of-output", HALVES, (180, 4 * 5 * (4 + 2 + 1), 12)),
)

TWICE = (
    Made("gates-4+no-input", PLAIN, (180 - 4 * 5 * 3, 4 * 7 * (7 + 1), 16)),
    Made("gates-2+no-input", PLAIN, (2 * 5 * (5 + 1), 2 * 7 * (7 + 1), 16)),
    Made("gates-2+no-recurrent", PLAIN, (2 * 5 * (3 + 1), 2 * 7 * (5 + 1), 16)),
    Made("gates-2+diagonal", PLAIN, (2 * 5 * (3 + 1 + 1), 2 * 7 * (5 + 1 + 1), 16)),
    Made("gates-2+no-peepholes", LOOKING, (2 * 5 * (3 + 5 + 1), 2 * 4 * (5 + 4 + 1))),
    Made("as-dense+no-input", PLAIN, (5, 7, 16)),
    Made("as-dense+gates-4", PLAIN, (4 * 5 * (3 + 5 + 1), 4 * 7 * (5 + 7 + 1), 16)),
    Made("recurrence-counted+diagonal", MINIMAL, (2 * 5 * (3 + 1 + 1), 3 * 4 * (5 + 1 + 1))),
    Made("peephole-in-each-gate+no-peepholes", LOOKING, (180, 120)),
    Made("no-biases+one-bias-in-all", PLAIN, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 2 * 7)),
)


@pytest.mark.parametrize("made", [*NUMBER, *READ, *TWICE], ids=lambda made: f"{made.id}-{sum(made.lines)}")
def test_what_a_mistake_about_gates_makes_of_each_line(made: Made) -> None:
    """It changes the cells that it is about, by as much as it says, and no other line."""
    assert counts_made(made.id, made.network) == made.lines
