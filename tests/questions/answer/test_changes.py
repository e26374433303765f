"""What mistakes make of each line of a worksheet, worked out by hand."""

from typing import NamedTuple

import pytest
from finding import counts_made

from rnncalc import (
    GRU,
    LSTM,
    MGU,
    RNN,
    SRU,
    BatchNorm,
    Conv1D,
    ConvLSTM,
    Dense,
    Dropout,
    Embedding,
    External,
    FastGRNN,
    Flatten,
    MinGRU,
    MinLSTM,
    Network,
    Output,
    Part,
)
from rnncalc.questions.answer.changes import count_tied_twice
from rnncalc.questions.answer.worksheet import worksheet_of


class Made(NamedTuple):
    """A mistake by its id, a network, and what it makes of each line."""

    id: str
    network: Network
    lines: tuple[int, ...]


# the gates of a cell

PLAIN = Network(input=3, layers=(LSTM(5), GRU(7)), output=Output(2))
# 4·5·(3 + 5 + 1) = 180, 3·7·(5 + 7 + 1) = 273, 2·(7 + 1) = 16
TORCH = Network(input=3, layers=(LSTM(5), RNN(6)), output=Output(2), convention="pytorch")
# 4·5·(3 + 5 + 2) = 200, 6·(5 + 6 + 2) = 78, 2·(6 + 1) = 14
NORMED = Network(input=3, layers=(LSTM(5, layer_norm=True),))  # 4·5·(3 + 5 + 1 + 1) + 2·5 = 210
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


NUMBER = (
    Made("gates-1", PLAIN, (5 * (3 + 5 + 1), 7 * (5 + 7 + 1), 16)),
    Made("gates-2", PLAIN, (2 * 5 * (3 + 5 + 1), 2 * 7 * (5 + 7 + 1), 16)),
    Made("gates-3", PLAIN, (3 * 5 * (3 + 5 + 1), 273, 16)),
    Made("gates-4", PLAIN, (180, 4 * 7 * (5 + 7 + 1), 16)),
    Made("gates-4", TORCH, (200, 4 * 6 * (5 + 6 + 2), 14)),
    Made("gates-3", BARE, (3 * 5 * (3 + 5),)),
    Made("gates-3", NORMED, (3 * 5 * (3 + 5 + 1 + 1) + 2 * 5,)),
    Made("gates-3", ODD, (3 * 5 * (3 + 5 + 1),)),
    Made("gates-4", MINIMAL, (4 * 5 * (3 + 5 + 1), 4 * 4 * (5 + 4 + 1))),
    Made("gates-1", SHARED, (2 * 5 * (3 + 5 + 1),)),
    Made("gates-1", LOOKING, (5 * (3 + 5 + 1) + 5, 4 * (5 + 4 + 1))),
    Made("gates-2", LOOKING, (2 * 5 * (3 + 5 + 1) + 2 * 5, 2 * 4 * (5 + 4 + 1))),
    Made("gates-3", LOOKING, (3 * 5 * (3 + 5 + 1) + 3 * 5, 120)),
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
    Made("as-dense+gates-4", PLAIN, (5 * (3 + 1), 4 * 7 * (5 + 7 + 1), 16)),
    Made("recurrence-counted+diagonal", MINIMAL, (2 * 5 * (3 + 1 + 1), 3 * 4 * (5 + 1 + 1))),
    Made("peephole-in-each-gate+no-peepholes", LOOKING, (180, 120)),
    Made("no-biases+one-bias-in-all", PLAIN, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 2 * 7)),
)


# biases and whole lines

DEEP = Network(input=3, layers=(LSTM(5), GRU(7), Dense(4)), output=Output(2))
# 4·5·(3 + 5 + 1) = 180, 3·7·(5 + 7 + 1) = 273, 4·(7 + 1) = 32, 2·(4 + 1) = 10
BARE_DEEP = Network(input=3, layers=(LSTM(5, bias=False), Dense(4, bias=False), GRU(7)), output=Output(2, bias=False))
# 4·5·(3 + 5) = 160, 4·5 = 20, 3·7·(4 + 7 + 1) = 252, 2·7 = 14
ODD_DEEP = Network(input=3, layers=(SRU(5), SRU(6, bias=False), MGU(4)), output=Output(2))
# 4·5·3 + 2·5 + 2·5 = 80, 4·6·5 + 2·6 = 132, 2·4·(6 + 4 + 1) = 88, 2·(4 + 1) = 10
PROJECTED_BELOW = Network(input=3, layers=(LSTM(6, projection=4, bidirectional=True), LSTM(5)), output=Output(2))
# 2·(4·6·(3 + 4 + 1) + 4·6) = 432, 4·5·(2·4 + 5 + 1) = 280, 2·(5 + 1) = 12
TIED = Network(input=9, layers=(Embedding(4), LSTM(4, frozen=True)), output=Output(9, tied=True))
# 9·4 = 36, 4·4·(4 + 4 + 1) = 144, 9
BARE_TIED = Network(input=9, layers=(Embedding(4), LSTM(4)), output=Output(9, tied=True, bias=False))
# 36, 144, 0
LOOKING_BELOW = Network(
    input=3,
    layers=(
        *(External(50, frozen=True), LSTM(5, peepholes=True, learned_state=True, extra_inputs=2), Dropout(0.5)),
        Dense(2, extra_inputs=3),
    ),
)
# 50, 4·5·(3 + 2 + 5 + 1) + 3·5 + 2·5 = 220 + 15 + 10, 0, 2·(5 + 3 + 1) = 18
SCALARS = Network(input=3, layers=(FastGRNN(5, bidirectional=True), GRU(4, bidirectional=True)))
# 2·(5·(3 + 5) + 2·5 + 2) = 104, 2·3·4·(10 + 4 + 1) = 360


BIASES = (
    Made("no-biases", DEEP, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 4 * 7, 2 * 4)),
    Made("no-biases", TORCH, (4 * 5 * (3 + 5), 6 * (5 + 6), 2 * 6)),
    Made("no-hidden-biases", DEEP, (4 * 5 * (3 + 5), 3 * 7 * (5 + 7), 32, 10)),
    Made("no-output-bias", DEEP, (180, 273, 32, 2 * 4)),
    Made("biases-counted", BARE_DEEP, (4 * 5 * (3 + 5 + 1), 4 * (5 + 1), 252, 2 * (7 + 1))),
    Made("biases-counted", ODD_DEEP, (80, 132 + 4 * 6, 88, 10)),
    Made("biases-counted", BARE_TIED, (36, 144, 0)),
    Made("biases-counted", TORCH, (200, 78, 14)),
    Made("two-biases", DEEP, (4 * 5 * (3 + 5 + 2), 3 * 7 * (5 + 7 + 2), 32, 10)),
    Made("two-biases", TORCH, (200, 78, 14)),
    Made("two-biases", ODD_DEEP, (4 * 5 * 3 + 2 * 5 + 2 * 2 * 5, 132, 2 * 4 * (6 + 4 + 2), 10)),
    Made("one-bias", TORCH, (4 * 5 * (3 + 5 + 1), 6 * (5 + 6 + 1), 14)),
    Made("one-bias", ODD_DEEP, (80, 132, 88, 10)),
    Made("bias-in-each-gate", ODD_DEEP, (4 * 5 * 3 + 2 * 5 + 4 * 5, 132, 88, 10)),
    Made("bias-in-each-gate", TORCH, (200, 78, 14)),
    Made("one-bias-in-all", DEEP, (4 * 5 * (3 + 5) + 5, 3 * 7 * (5 + 7) + 7, 32, 10)),
    Made("one-bias-in-all", TORCH, (4 * 5 * (3 + 5) + 5, 6 * (5 + 6) + 6, 14)),
    Made("one-bias-in-all", BARE_DEEP, (160, 20, 3 * 7 * (4 + 7) + 7, 14)),
    Made("one-bias-in-all", ODD_DEEP, (4 * 5 * 3 + 2 * 5 + 5, 132, 2 * 4 * (6 + 4) + 4, 10)),
    Made("scalar-biases", DEEP, (4 * (5 * (3 + 5) + 1), 3 * (7 * (5 + 7) + 1), 32, 10)),
    Made("scalar-biases", TORCH, (4 * (5 * (3 + 5) + 2), 6 * (5 + 6) + 2, 14)),
    Made("bias-of-inputs", DEEP, (4 * (5 * (3 + 5) + 3 + 5), 3 * (7 * (5 + 7) + 5 + 7), 32, 10)),
    Made("bias-of-input", DEEP, (4 * (5 * (3 + 5) + 3), 3 * (7 * (5 + 7) + 5), 32, 10)),
    Made("bias-of-input", ODD_DEEP, (4 * 5 * 3 + 2 * 5 + 2 * 3, 132, 2 * (4 * (6 + 4) + 6), 10)),
    Made("dense-bias-twice", DEEP, (180, 273, 4 * (7 + 2), 2 * (4 + 2))),
    Made("dense-bias-twice", BARE_DEEP, (160, 20, 252, 14)),
    Made("scalar-output-bias", DEEP, (180, 273, 32, 2 * 4 + 1)),
    Made("output-bias-of-inputs", DEEP, (180, 273, 32, 2 * 4 + 4)),
    Made("embedding-bias", TIED, (9 * 4 + 4, 144, 9)),
    Made("projection-bias", PROJECTED_BELOW, (2 * (4 * 6 * (3 + 4 + 1) + 4 * 6 + 4), 280, 12)),
    Made("projection-bias", LOOKING_BELOW, (50, 245, 0, 18)),
)

WHOLE = (
    Made("no-output", DEEP, (180, 273, 32, 0)),
    Made("no-embedding", TIED, (0, 144, 9)),
    Made("tied-twice", TIED, (36, 144, 9 * (4 + 1))),
    Made("tied-twice", BARE_TIED, (36, 144, 9 * 4)),
    Made("tied-twice", DEEP, (180, 273, 32, 10)),
    Made("frozen-out", TIED, (36, 0, 9)),
    Made("frozen-out", LOOKING_BELOW, (0, 245, 0, 18)),
    Made("no-external", LOOKING_BELOW, (0, 245, 0, 18)),
    Made("no-extra-inputs", LOOKING_BELOW, (50, 4 * 5 * (3 + 5 + 1) + 3 * 5 + 2 * 5, 0, 2 * (5 + 1))),
    Made("no-peepholes", LOOKING_BELOW, (50, 220 + 10, 0, 18)),
    Made("no-learned-state", LOOKING_BELOW, (50, 220 + 15, 0, 18)),
    Made("no-scalars", SCALARS, (2 * (5 * (3 + 5) + 2 * 5), 360)),
    Made("no-projection-matrix", PROJECTED_BELOW, (2 * 4 * 6 * (3 + 4 + 1), 280, 12)),
    Made("packed-width", DEEP, (4 * 5, 3 * 7, 32, 10)),
    Made("packed-width", SCALARS, (2 * 5, 3 * 4)),
    Made("units", DEEP, (5, 7, 4, 2)),
    Made("units", LOOKING_BELOW, (50, 5, 0, 2)),
    Made("units", TIED, (36, 4, 9)),
    Made("output-in-cell", DEEP, (180 + 5 * 5, 273 + 7 * 7, 32, 10)),
    Made("output-in-cell", SCALARS, (104 + 2 * 5 * 5, 360 + 2 * 4 * 4)),
    Made("output-and-bias-in-cell", DEEP, (180 + 5 * 5 + 5, 273 + 7 * 7 + 7, 32, 10)),
)


# widths, steps, directions and halves

CHAIN = Network(
    input=3, layers=(LSTM(5, bidirectional=True), GRU(7, extra_inputs=2), Dense(4)), output=Output(2), steps=6
)
# 2·4·5·(3 + 5 + 1) = 360, 3·7·(10 + 2 + 7 + 1) = 420, 4·(7 + 1) = 32, 2·(4 + 1) = 10
STEPLESS = Network(input=3, layers=(GRU(5),), output=Output(2))  # 3·5·(3 + 5 + 1) = 135, 2·(5 + 1) = 12
SUMMED = Network(input=3, layers=(LSTM(5, bidirectional=True, merge="sum"), GRU(7)), output=Output(2))
# 360, 3·7·(5 + 7 + 1) = 273, 16
PAIR = Network(input=3, layers=(LSTM(5), LSTM(4)), output=Output(2))  # 180, 4·4·(5 + 4 + 1) = 160, 10
AVERAGED = Network(input=3, layers=(LSTM(6, projection=4, bidirectional=True, merge="ave"), LSTM(5)))
# 432, 4·5·(4 + 5 + 1) = 200
WORDS = Network(input=9, layers=(Embedding(4), GRU(5, extra_inputs=2)), output=Output(2), steps=6)
# 9·4 = 36, 3·5·(4 + 2 + 5 + 1) = 180, 2·(5 + 1) = 12
TABLE_ALONE = Network(input=9, layers=(Embedding(4),), output=Output(2), steps=6)  # 36, 2·(4 + 1) = 10
EMBEDDED_HALVES = Network(
    encoder=Part(9, (Embedding(4), GRU(5), GRU(6)), steps=3),
    decoder=Part(8, (Embedding(7), Dropout(0.5), GRU(5), GRU(6)), Output(2), steps=4),
)
# 36, 3·5·(4 + 5 + 1) = 150, 3·6·(5 + 6 + 1) = 216; 56, 0, 3·5·(7 + 5 + 1) = 195, 216, 2·(6 + 1) = 14
READING = Network(encoder=Part(9, (Embedding(4), GRU(5))), decoder=Part(8, (Dense(7), GRU(5)), Output(2)))
# 36, 150, 7·(8 + 1) = 63, 3·5·(7 + 5 + 1) = 195, 12

ONE_EACH = Network(encoder=Part(3, (GRU(5),), steps=3), decoder=Part(4, (GRU(5),), Output(2), steps=2))
# 3·5·(3 + 5 + 1) = 135, 3·5·(4 + 5 + 1) = 150, 12
JOINED = Network(
    encoder=Part(3, (GRU(5, bidirectional=True, merge="sum"),)), decoder=Part(4, (GRU(10),), Output(2))
)  # 2·135 = 270, 3·10·(4 + 10 + 1) = 450, 2·(10 + 1) = 22
WRITTEN = Network(input=3, layers=(LSTM(5, bidirectional=True, merge="concat"), GRU(7)))
# 360, 3·7·(10 + 7 + 1) = 378


WIDTHS = (
    Made("one-direction-deeper", CHAIN, (360, 3 * 7 * (5 + 2 + 7 + 1), 32, 10)),
    Made("one-direction-deeper", SUMMED, (360, 273, 16)),
    Made("concat-for-merge", SUMMED, (360, 3 * 7 * (10 + 7 + 1), 16)),
    Made("concat-for-merge", AVERAGED, (432, 4 * 5 * (8 + 5 + 1))),
    Made("concat-for-merge", CHAIN, (360, 420, 32, 10)),
    Made("network-input-deeper", CHAIN, (360, 3 * 7 * (3 + 2 + 7 + 1), 4 * (3 + 1), 10)),
    Made("own-width-deeper", CHAIN, (360, 3 * 7 * (7 + 2 + 7 + 1), 4 * (4 + 1), 10)),
    Made("deeper-of-both-states", CHAIN, (360, 3 * 7 * (20 + 2 + 7 + 1), 32, 10)),
    Made("deeper-of-both-states", PAIR, (180, 4 * 4 * (10 + 4 + 1), 2 * (8 + 1))),
    Made("output-of-both-states", PAIR, (180, 160, 2 * (8 + 1))),
    Made("output-of-both-states", CHAIN, (360, 420, 32, 10)),
    Made("output-of-input", PAIR, (180, 160, 2 * (3 + 1))),
    Made("output-of-state-and-input", PAIR, (180, 160, 2 * (4 + 5 + 1))),
    Made("no-projection", PROJECTED_BELOW, (2 * 4 * 6 * (3 + 6 + 1), 4 * 5 * (2 * 6 + 5 + 1), 12)),
    Made("no-projection", AVERAGED, (2 * 4 * 6 * (3 + 6 + 1), 4 * 5 * (6 + 5 + 1))),
    Made("units-for-projection", PROJECTED_BELOW, (432, 4 * 5 * (2 * 6 + 5 + 1), 12)),
    Made("units-for-projection", AVERAGED, (432, 4 * 5 * (6 + 5 + 1))),
    Made("units-for-projection", PAIR, (180, 160, 10)),
    Made("swapped", CHAIN, (2 * 4 * 3 * (5 + 3 + 1), 3 * 7 * (2 * 3 + 2 + 7 + 1), 32, 10)),
    Made("swapped", WORDS, (36, 3 * 6 * (5 + 6 + 1), 2 * (6 + 1))),
    Made("swapped", AVERAGED, (2 * (4 * 3 * (6 + 4 + 1) + 4 * 6), 4 * 5 * (2 * 3 + 5 + 1))),
    Made("swapped", Network(input=3, layers=(RNN(5, recurrence="diagonal"),)), (3 * (5 + 1 + 1),)),
    Made("swapped", Network(input=3, layers=(Dense(4),), output=Output(2)), (3 * (4 + 1), 2 * (3 + 1))),
    Made("swapped", TABLE_ALONE, (36, 10)),
    Made("one-hot", WORDS, (0, 3 * 5 * (9 + 2 + 5 + 1), 12)),
    Made("one-hot", TABLE_ALONE, (0, 2 * (9 + 1))),
    Made("taken-as-tied", WORDS, (36, 180, 2)),
    Made("taken-as-tied", EMBEDDED_HALVES, (36, 150, 216, 56, 0, 195, 216, 2)),
    Made("taken-as-tied", READING, (36, 150, 63, 195, 12)),
    Made("encoder-input", EMBEDDED_HALVES, (36, 150, 216, 56, 0, 3 * 5 * (4 + 5 + 1), 216, 14)),
    Made("encoder-input", READING, (36, 150, 7 * (4 + 1), 195, 12)),
    Made("encoder-input", PAIR, (180, 160, 10)),
    Made("state-beside-input", EMBEDDED_HALVES, (36, 150, 216, 56, 0, 3 * 5 * (7 + 6 + 5 + 1), 216, 14)),
    Made("state-beside-input", READING, (36, 150, 7 * (8 + 5 + 1), 195, 12)),
    Made("state-beside-input", PAIR, (180, 160, 10)),
    Made("no-encoder", EMBEDDED_HALVES, (0, 0, 0, 56, 0, 195, 216, 14)),
    Made("no-decoder", EMBEDDED_HALVES, (36, 150, 216, 0, 0, 0, 0, 0)),
)

STEPS = (
    Made("one-direction", CHAIN, (180, 420, 32, 10)),
    Made("no-second-direction", CHAIN, (180, 3 * 7 * (5 + 2 + 7 + 1), 32, 10)),
    Made("directions-twice", CHAIN, (4 * 180, 420, 32, 10)),
    Made("two-directions", CHAIN, (360, 2 * 420, 32, 10)),
    Made("two-directions-deeper", CHAIN, (360, 2 * 420, 4 * (14 + 1), 10)),
    Made("two-directions-deeper", PAIR, (360, 2 * 4 * 4 * (10 + 4 + 1), 2 * (8 + 1))),
    Made("times-steps", CHAIN, (6 * 360, 6 * 420, 32, 10)),
    Made("times-steps", EMBEDDED_HALVES, (36, 3 * 150, 3 * 216, 56, 0, 4 * 195, 4 * 216, 14)),
    Made("times-steps", STEPLESS, (135, 12)),
    Made("copy-a-step", CHAIN, (6 * 360, 6 * 420, 6 * 32, 6 * 10)),
    Made("output-times-steps", CHAIN, (360, 420, 32, 6 * 10)),
    Made("recurrent-times-steps", CHAIN, (2 * 4 * 5 * (3 + 6 * 5 + 1), 3 * 7 * (12 + 6 * 7 + 1), 32, 10)),
    Made("recurrent-between-steps", CHAIN, (2 * 4 * 5 * (3 + 5 * 5 + 1), 3 * 7 * (12 + 5 * 7 + 1), 32, 10)),
    Made("recurrent-between-steps", STEPLESS, (135, 12)),
    Made("input-times-steps", CHAIN, (2 * 4 * 5 * (6 * 3 + 5 + 1), 3 * 7 * (6 * 12 + 7 + 1), 32, 10)),
    Made("steps-as-features", CHAIN, (2 * 4 * 5 * (6 * 3 + 5 + 1), 420, 32, 10)),
    Made("steps-as-features", WORDS, (36, 3 * 5 * (6 * (4 + 2) + 5 + 1), 12)),
    Made("steps-as-features", TABLE_ALONE, (36, 10)),
    Made("output-of-all-steps", CHAIN, (360, 420, 32, 2 * (6 * 4 + 1))),
)


def deep(m: int, *repeats: int) -> Network:
    """Return GRUs of 5 units, each so many times; one above another has 3·5·(5 + 5 + 1) = 165 parameters."""
    return Network(input=m, layers=[GRU(5, repeat=repeat) for repeat in repeats])


REPEATED = (
    Made("repeat-once", deep(3, 3), (3 * 5 * (3 + 5 + 1), 0, 0)),
    Made("repeat-once", deep(5, 3), (165, 0, 0)),
    Made("repeat-once", deep(5, 2, 3), (165, 0, 165, 0, 0)),
    Made("repeat-once", deep(3, 2, 2), (135, 0, 165, 0)),
    Made("repeat-once", deep(3, 3, 3, 3), (135, 0, 0, 165, 0, 0, 165, 0, 0)),
    Made("repeat-once", deep(3, 1, 1), (135, 165)),
)

BETWEEN = (
    Made("one-direction-deeper", WRITTEN, (360, 3 * 7 * (5 + 7 + 1))),
    Made("own-width-deeper", ONE_EACH, (135, 150, 12)),
    Made("own-width-deeper", EMBEDDED_HALVES, (36, 3 * 5 * (5 + 5 + 1), 3 * 6 * (6 + 6 + 1), 56, 0, 165, 234, 14)),
    Made("network-input-deeper", ONE_EACH, (135, 150, 12)),
    Made("encoder-input", ONE_EACH, (135, 3 * 5 * (3 + 5 + 1), 12)),
    Made("state-beside-input", ONE_EACH, (135, 3 * 5 * (4 + 5 + 5 + 1), 12)),
    Made("state-beside-input", JOINED, (270, 3 * 10 * (4 + 5 + 10 + 1), 22)),
    Made("steps-as-features", ONE_EACH, (3 * 5 * (3 * 3 + 5 + 1), 150, 12)),
    Made("steps-as-features", EMBEDDED_HALVES, (36, 3 * 5 * (3 * 4 + 5 + 1), 216, 56, 0, 195, 216, 14)),
    Made("swapped", EMBEDDED_HALVES, (36, 3 * 4 * (5 + 4 + 1), 3 * 6 * (4 + 6 + 1), 56, 0, 195, 216, 14)),
    Made("output-of-all-steps", ONE_EACH, (135, 150, 2 * (2 * 5 + 1))),
    Made("network-input-deeper+one-direction-deeper", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+units-for-projection", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+concat-for-merge", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+deeper-of-both-states", CHAIN, (360, 3 * 7 * (20 + 2 + 7 + 1), 4 * (3 + 1), 10)),
    Made("no-projection+one-direction", PROJECTED_BELOW, (4 * 6 * (3 + 6 + 1), 4 * 5 * (2 * 6 + 5 + 1), 12)),
)


# kernels, norms and what else few layers have

FILTERS = Network(input=6, layers=(Conv1D(4, 5, groups=2), BatchNorm(), GRU(5)), steps=9)
# 4·3·5 + 4 = 64, 2·4 = 8, 3·5·(4 + 5 + 1) = 150
KERAS = FILTERS.replace(convention="keras")  # 64, 4·4 = 16, 3·5·(4 + 5 + 2) = 165
BARE_FILTERS = Network(input=6, layers=(Conv1D(4, 5, bias=False), GRU(5, bias=False)))  # 4·6·5 = 120, 3·5·(4 + 5) = 135
PLACES = Network(input=2, layers=(ConvLSTM(3, kernel=3, space=(4, 5)),))  # 4·3·(9·(2 + 3) + 1) = 552
LINE = Network(input=2, layers=(ConvLSTM(3, kernel=5, space=(6,)),))  # 4·3·(5·(2 + 3) + 1) = 312
COUPLED = Network(input=3, layers=(LSTM(5, coupled=True), LSTM(4)))  # 3·5·(3 + 5 + 1) = 135, 4·4·(5 + 4 + 1) = 160
FLAT = Network(input=3, layers=(GRU(5), Flatten(), Dense(4, extra_inputs=2)), steps=6)
# 135, 0, 4·(6·5 + 2 + 1) = 132
STARTED = Network(input=3, layers=(LSTM(5, initial_state=7), Dense(4)))  # 2·5·(7 + 1) = 80, 180, 4·(5 + 1) = 24
ONE_STEP = Network(input=3, layers=(LSTM(5, peepholes=True),), steps=1)  # 180 + 3·5 = 195
SIX_STEPS = Network(input=3, layers=(LSTM(5, peepholes=True), LSTM(5, projection=4), GRU(7)), steps=6)
# 195, 4·5·(5 + 4 + 1) + 4·5 = 220, 3·7·(4 + 7 + 1) = 252

KERNELS = (
    Made("no-kernel", PLACES, (4 * 3 * (2 + 3 + 1),)),
    Made("no-kernel", LINE, (4 * 3 * (2 + 3 + 1),)),
    Made("no-kernel", LOOKING, (195, 120)),
    Made("kernel-along-one-axis", PLACES, (4 * 3 * (3 * (2 + 3) + 1),)),
    Made("kernel-along-one-axis", LINE, (312,)),
    Made("flattened", PLACES, (4 * 60 * (40 + 60 + 1),)),
    Made("flattened", PLAIN, (180, 273, 16)),
    Made("kernel-of-one-step", FILTERS, (4 * 3 + 4, 8, 150)),
    Made("no-channels", FILTERS, (4 * 5 + 4, 8, 150)),
    Made("no-groups", FILTERS, (4 * 6 * 5 + 4, 8, 150)),
    Made("no-groups", BARE_FILTERS, (120, 135)),
    Made("bias-of-each-weight", FILTERS, (60 + 60, 8, 150)),
    Made("bias-of-each-weight", BARE_FILTERS, (120, 135)),
    Made("no-bias-around", FILTERS, (60, 4, 150)),
    Made("biases-counted", BARE_FILTERS, (120 + 4, 135 + 3 * 5)),
    Made("biases-counted", FILTERS, (64, 8, 150)),
    Made("no-biases", FILTERS, (60, 4, 3 * 5 * (4 + 5))),
    Made("stored-counted", FILTERS, (64, 8 + 2 * 4, 150)),
    Made("no-stored", KERAS, (64, 8, 165)),
    Made("no-stored", FILTERS, (64, 8, 150)),
    Made("only-recurrent", FILTERS, (0, 0, 150)),
)

RARE = (
    Made("no-gains", NORMED, (180 + 5,)),
    Made("no-norm", NORMED, (180,)),
    Made("no-norm", SHARED, (104,)),
    Made("no-norm-of-states", NORMED, (4 * 5 * (3 + 5 + 1 + 1),)),
    Made("no-norm-of-states", BOTH, (234,)),
    Made("no-norm-of-states", LEARNED, (380,)),
    Made("no-initial-state", STARTED, (0, 0, 180, 24)),
    Made("not-flattened", FLAT, (135, 0, 4 * (5 + 2 + 1))),
    Made("weights-times-steps", SIX_STEPS, (20 * (48 + 1) + 90, 20 * (54 + 1) + 20, 21 * (66 + 1))),
    Made("recurrent-between-steps", ONE_STEP, (195,)),
    Made("embedding-output", WORDS, (6 * 4, 180, 12)),
    Made("embedding-output", EMBEDDED_HALVES, (3 * 4, 150, 216, 4 * 7, 0, 195, 216, 14)),
    Made("embedding-output", READING, (36, 150, 63, 195, 12)),
    Made("embedding-output", TABLE_ALONE.replace(steps=1), (36, 10)),
    Made("only-recurrent", DEEP, (180, 273, 0, 0)),
    Made("padding-row", TIED, (36 + 4, 144, 9)),
    Made("no-candidate", PLAIN, (3 * 5 * (3 + 5 + 1), 2 * 7 * (5 + 7 + 1), 16)),
    Made("one-plain-rnn", PLAIN, (5 * (3 + 5), 0, 2 * 7)),
    Made("one-plain-rnn", CHAIN, (5 * (3 + 5), 0, 4 * 7, 2 * 4)),
    Made("one-plain-rnn", deep(5, 3), (5 * (5 + 5), 0, 0)),
    Made("one-plain-rnn", STEPLESS, (135, 12)),
    Made("recurrent-of-inputs", PLAIN, (4 * 5 * (3 + 3 + 1), 3 * 7 * (5 + 5 + 1), 16)),
    Made("recurrent-of-inputs", MINIMAL, (40, 72)),
    Made("recurrent-among-inputs", PLAIN, (4 * (5 * (3 + 1) + 3 * 3), 3 * (7 * (5 + 1) + 5 * 5), 16)),
    Made("recurrent-among-inputs", MINIMAL, (40, 72)),
    Made("recurrent-among-inputs", ODD, (4 * 5 * 3 + 2 * 5 + 2 * 3 * 3,)),
    Made("input-of-units", PLAIN, (4 * 5 * (5 + 5 + 1), 3 * 7 * (7 + 7 + 1), 16)),
    Made("input-square", PLAIN, (3 * 3, 5 * 5, 16)),
    Made("input-square", CHAIN, (3 * 3, 12 * 12, 32, 10)),
    Made("steps-for-units", CHAIN, (2 * 4 * 6 * (3 + 6 + 1), 3 * 6 * (2 * 6 + 2 + 6 + 1), 4 * (6 + 1), 10)),
    Made("steps-for-units", SIX_STEPS, (4 * 6 * (3 + 6 + 1) + 3 * 6, 4 * 6 * (6 + 4 + 1) + 20, 3 * 6 * (4 + 6 + 1))),
    Made("steps-for-units", STEPLESS, (135, 12)),
    Made(
        "steps-for-units",
        EMBEDDED_HALVES,
        (36, 3 * 3 * (4 + 3 + 1), 3 * 3 * (3 + 3 + 1), 56, 0, 3 * 4 * (7 + 4 + 1), 3 * 4 * (4 + 4 + 1), 2 * (4 + 1)),
    ),
    Made("widths-added", PLAIN, (3 + 5, 5 + 7, 16)),
    Made("output-in-each-gate", PLAIN, (180, 273, 3 * 16)),
    Made("output-in-each-gate", DEEP, (180, 273, 32, 10)),
    Made("output-as-cell", PLAIN, (180, 273, 3 * 2 * (7 + 2 + 1))),
)


@pytest.mark.parametrize(
    "made",
    [*NUMBER, *READ, *TWICE, *BIASES, *WHOLE, *WIDTHS, *STEPS, *REPEATED, *BETWEEN, *KERNELS, *RARE],
    ids=lambda made: f"{made.id}-{sum(made.lines)}",
)
def test_what_a_mistake_makes_of_each_line(made: Made) -> None:
    """It changes the lines that it is about, by as much as it says, and no other."""
    assert counts_made(made.id, made.network) == made.lines


def test_a_tied_matrix_counted_twice_is_read_as_an_input() -> None:
    """So that what else is mistaken about inputs is mistaken there."""
    assert count_tied_twice(worksheet_of(TIED)[-1]).width("input") == 4
