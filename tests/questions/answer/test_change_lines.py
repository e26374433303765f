"""What mistakes about biases and about whole lines make of each line of a worksheet, worked out by hand."""

from typing import NamedTuple

import pytest
from finding import counts_made

from rnncalc import (
    GRU,
    LSTM,
    MGU,
    RNN,
    SRU,
    Dense,
    Dropout,
    Embedding,
    External,
    FastGRNN,
    Network,
    Output,
)
from rnncalc.questions.answer.changes.lines import tied_twice
from rnncalc.questions.answer.right import worksheet_of

PLAIN = Network(input=3, layers=(LSTM(5), GRU(7), Dense(4)), output=Output(2))
# 4·5·(3 + 5 + 1) = 180, 3·7·(5 + 7 + 1) = 273, 4·(7 + 1) = 32, 2·(4 + 1) = 10
TORCH = Network(input=3, layers=(LSTM(5), RNN(6)), output=Output(2), convention="pytorch")
# 4·5·(3 + 5 + 2) = 200, 6·(5 + 6 + 2) = 78, 2·(6 + 1) = 14
BARE = Network(input=3, layers=(LSTM(5, bias=False), Dense(4, bias=False), GRU(7)), output=Output(2, bias=False))
# 4·5·(3 + 5) = 160, 4·5 = 20, 3·7·(4 + 7 + 1) = 252, 2·7 = 14
ODD = Network(input=3, layers=(SRU(5), SRU(6, bias=False), MGU(4)), output=Output(2))
# 4·5·3 + 2·5 + 2·5 = 80, 4·6·5 + 2·6 = 132, 2·4·(6 + 4 + 1) = 88, 2·(4 + 1) = 10
PROJECTED = Network(input=3, layers=(LSTM(6, projection=4, bidirectional=True), LSTM(5)), output=Output(2))
# 2·(4·6·(3 + 4 + 1) + 4·6) = 432, 4·5·(2·4 + 5 + 1) = 280, 2·(5 + 1) = 12
TIED = Network(input=9, layers=(Embedding(4), LSTM(4, frozen=True)), output=Output(9, tied=True))
# 9·4 = 36, 4·4·(4 + 4 + 1) = 144, 9
BARE_TIED = Network(input=9, layers=(Embedding(4), LSTM(4)), output=Output(9, tied=True, bias=False))
# 36, 144, 0
LOOKING = Network(
    input=3,
    layers=(
        *(External(50, frozen=True), LSTM(5, peepholes=True, learned_state=True, extra_inputs=2), Dropout(0.5)),
        Dense(2, extra_inputs=3),
    ),
)
# 50, 4·5·(3 + 2 + 5 + 1) + 3·5 + 2·5 = 220 + 15 + 10, 0, 2·(5 + 3 + 1) = 18
SCALARS = Network(input=3, layers=(FastGRNN(5, bidirectional=True), GRU(4, bidirectional=True)))
# 2·(5·(3 + 5) + 2·5 + 2) = 104, 2·3·4·(10 + 4 + 1) = 360


class Made(NamedTuple):
    """A mistake by its id, a network, and what it makes of each line."""

    id: str
    network: Network
    lines: tuple[int, ...]


BIASES = (
    Made("no-biases", PLAIN, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 4 * 7, 2 * 4)),
    Made("no-biases", TORCH, (4 * 5 * (3 + 5), 6 * (5 + 6), 2 * 6)),
    Made("no-hidden-biases", PLAIN, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 32, 10)),
    Made("no-output-bias", PLAIN, (180, 273, 32, 2 * 4)),
    Made("biases-counted", BARE, (4 * 5 * (3 + 5 + 1), 4 * (5 + 1), 252, 2 * (7 + 1))),
    Made("biases-counted", ODD, (80, 132 + 4 * 6, 88, 10)),
    Made("biases-counted", BARE_TIED, (36, 144, 0)),
    Made("biases-counted", TORCH, (200, 78, 14)),
    Made("two-biases", PLAIN, (4 * 5 * (3 + 5 + 2), 3 * 7 * (5 + 7 + 2), 32, 10)),
    Made("two-biases", TORCH, (200, 78, 14)),
    Made("two-biases", ODD, (4 * 5 * 3 + 2 * 5 + 2 * 2 * 5, 132, 2 * 4 * (6 + 4 + 2), 10)),
    Made("one-bias", TORCH, (4 * 5 * (3 + 5 + 1), 6 * (5 + 6 + 1), 14)),
    Made("one-bias", ODD, (80, 132, 88, 10)),
    Made("bias-in-each-gate", ODD, (4 * 5 * 3 + 2 * 5 + 4 * 5, 132, 88, 10)),
    Made("bias-in-each-gate", TORCH, (200, 78, 14)),
    Made("one-bias-in-all", PLAIN, (4 * 5 * (3 + 5) + 5, 3 * 7 * (5 + 7) + 7, 32, 10)),
    Made("one-bias-in-all", TORCH, (4 * 5 * (3 + 5) + 5, 6 * (5 + 6) + 6, 14)),
    Made("one-bias-in-all", BARE, (160, 20, 3 * 7 * (4 + 7) + 7, 14)),
    Made("one-bias-in-all", ODD, (4 * 5 * 3 + 2 * 5 + 5, 132, 2 * 4 * (6 + 4) + 4, 10)),
    Made("scalar-biases", PLAIN, (4 * (5 * (3 + 5) + 1), 3 * (7 * (5 + 7) + 1), 32, 10)),
    Made("scalar-biases", TORCH, (4 * (5 * (3 + 5) + 2), 6 * (5 + 6) + 2, 14)),
    Made("bias-of-inputs", PLAIN, (4 * (5 * (3 + 5) + 3 + 5), 3 * (7 * (5 + 7) + 5 + 7), 32, 10)),
    Made("bias-of-input", PLAIN, (4 * (5 * (3 + 5) + 3), 3 * (7 * (5 + 7) + 5), 32, 10)),
    Made("bias-of-input", ODD, (4 * 5 * 3 + 2 * 5 + 2 * 3, 132, 2 * (4 * (6 + 4) + 6), 10)),
    Made("dense-bias-twice", PLAIN, (180, 273, 4 * (7 + 2), 2 * (4 + 2))),
    Made("dense-bias-twice", BARE, (160, 20, 252, 14)),
    Made("scalar-output-bias", PLAIN, (180, 273, 32, 2 * 4 + 1)),
    Made("output-bias-of-inputs", PLAIN, (180, 273, 32, 2 * 4 + 4)),
    Made("embedding-bias", TIED, (9 * 4 + 4, 144, 9)),
    Made("projection-bias", PROJECTED, (2 * (4 * 6 * (3 + 4 + 1) + 4 * 6 + 4), 280, 12)),
    Made("projection-bias", LOOKING, (50, 245, 0, 18)),
)

WHOLE = (
    Made("no-output", PLAIN, (180, 273, 32, 0)),
    Made("no-embedding", TIED, (0, 144, 9)),
    Made("tied-twice", TIED, (36, 144, 9 * (4 + 1))),
    Made("tied-twice", BARE_TIED, (36, 144, 9 * 4)),
    Made("tied-twice", PLAIN, (180, 273, 32, 10)),
    Made("frozen-out", TIED, (36, 0, 9)),
    Made("frozen-out", LOOKING, (0, 245, 0, 18)),
    Made("no-external", LOOKING, (0, 245, 0, 18)),
    Made("no-extra-inputs", LOOKING, (50, 4 * 5 * (3 + 5 + 1) + 3 * 5 + 2 * 5, 0, 2 * (5 + 1))),
    Made("no-peepholes", LOOKING, (50, 220 + 10, 0, 18)),
    Made("no-learned-state", LOOKING, (50, 220 + 15, 0, 18)),
    Made("no-scalars", SCALARS, (2 * (5 * (3 + 5) + 2 * 5), 360)),
    Made("no-projection-matrix", PROJECTED, (2 * 4 * 6 * (3 + 4 + 1), 280, 12)),
    Made("packed-width", PLAIN, (4 * 5, 3 * 7, 32, 10)),
    Made("packed-width", SCALARS, (2 * 5, 3 * 4)),
    Made("units", PLAIN, (5, 7, 4, 2)),
    Made("units", LOOKING, (50, 5, 0, 2)),
    Made("units", TIED, (36, 4, 9)),
    Made("output-in-cell", PLAIN, (180 + 5 * 5, 273 + 7 * 7, 32, 10)),
    Made("output-in-cell", SCALARS, (104 + 2 * 5 * 5, 360 + 2 * 4 * 4)),
    Made("output-and-bias-in-cell", PLAIN, (180 + 5 * 5 + 5, 273 + 7 * 7 + 7, 32, 10)),
)


@pytest.mark.parametrize("made", [*BIASES, *WHOLE], ids=lambda made: f"{made.id}-{sum(made.lines)}")
def test_what_a_mistake_makes_of_each_line(made: Made) -> None:
    """It changes the lines that it is about, by as much as it says, and no other."""
    assert counts_made(made.id, made.network) == made.lines


def test_a_tied_matrix_counted_twice_is_read_as_an_input() -> None:
    """So that what else is mistaken about inputs is mistaken there."""
    assert tied_twice(worksheet_of(TIED)[-1]).width("input") == 4
