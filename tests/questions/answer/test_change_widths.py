"""What mistakes about widths, steps, directions and halves make of each line of a worksheet, worked out by hand."""

from typing import NamedTuple

import pytest
from finding import counts_made

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, Network, Output, Part

CHAIN = Network(
    input=3, layers=(LSTM(5, bidirectional=True), GRU(7, extra_inputs=2), Dense(4)), output=Output(2), steps=6
)
# 2·4·5·(3 + 5 + 1) = 360, 3·7·(10 + 2 + 7 + 1) = 420, 4·(7 + 1) = 32, 2·(4 + 1) = 10
STEPLESS = Network(input=3, layers=(GRU(5),), output=Output(2))  # 3·5·(3 + 5 + 1) = 135, 2·(5 + 1) = 12
SUMMED = Network(input=3, layers=(LSTM(5, bidirectional=True, merge="sum"), GRU(7)), output=Output(2))
# 360, 3·7·(5 + 7 + 1) = 273, 16
PAIR = Network(input=3, layers=(LSTM(5), LSTM(4)), output=Output(2))  # 180, 4·4·(5 + 4 + 1) = 160, 10
PROJECTED = Network(input=3, layers=(LSTM(6, projection=4, bidirectional=True), LSTM(5)), output=Output(2))
# 2·(4·6·(3 + 4 + 1) + 4·6) = 432, 4·5·(2·4 + 5 + 1) = 280, 12
AVERAGED = Network(input=3, layers=(LSTM(6, projection=4, bidirectional=True, merge="ave"), LSTM(5)))
# 432, 4·5·(4 + 5 + 1) = 200
WORDS = Network(input=9, layers=(Embedding(4), GRU(5, extra_inputs=2)), output=Output(2), steps=6)
# 9·4 = 36, 3·5·(4 + 2 + 5 + 1) = 180, 2·(5 + 1) = 12
TABLE_ALONE = Network(input=9, layers=(Embedding(4),), output=Output(2), steps=6)  # 36, 2·(4 + 1) = 10
HALVES = Network(
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


class Made(NamedTuple):
    """A mistake by its id, a network, and what it makes of each line."""

    id: str
    network: Network
    lines: tuple[int, ...]


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
    Made("no-projection", PROJECTED, (2 * 4 * 6 * (3 + 6 + 1), 4 * 5 * (2 * 6 + 5 + 1), 12)),
    Made("no-projection", AVERAGED, (2 * 4 * 6 * (3 + 6 + 1), 4 * 5 * (6 + 5 + 1))),
    Made("units-for-projection", PROJECTED, (432, 4 * 5 * (2 * 6 + 5 + 1), 12)),
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
    Made("taken-as-tied", HALVES, (36, 150, 216, 56, 0, 195, 216, 2)),
    Made("taken-as-tied", READING, (36, 150, 63, 195, 12)),
    Made("encoder-input", HALVES, (36, 150, 216, 56, 0, 3 * 5 * (4 + 5 + 1), 216, 14)),
    Made("encoder-input", READING, (36, 150, 7 * (4 + 1), 195, 12)),
    Made("encoder-input", PAIR, (180, 160, 10)),
    Made("state-beside-input", HALVES, (36, 150, 216, 56, 0, 3 * 5 * (7 + 6 + 5 + 1), 216, 14)),
    Made("state-beside-input", READING, (36, 150, 7 * (8 + 5 + 1), 195, 12)),
    Made("state-beside-input", PAIR, (180, 160, 10)),
    Made("no-encoder", HALVES, (0, 0, 0, 56, 0, 195, 216, 14)),
    Made("no-decoder", HALVES, (36, 150, 216, 0, 0, 0, 0, 0)),
)

SHARED = (
    Made("one-direction", CHAIN, (180, 420, 32, 10)),
    Made("no-second-direction", CHAIN, (180, 3 * 7 * (5 + 2 + 7 + 1), 32, 10)),
    Made("directions-twice", CHAIN, (4 * 180, 420, 32, 10)),
    Made("two-directions", CHAIN, (360, 2 * 420, 32, 10)),
    Made("two-directions-deeper", CHAIN, (360, 2 * 420, 4 * (14 + 1), 10)),
    Made("two-directions-deeper", PAIR, (360, 2 * 4 * 4 * (10 + 4 + 1), 2 * (8 + 1))),
    Made("times-steps", CHAIN, (6 * 360, 6 * 420, 32, 10)),
    Made("times-steps", HALVES, (36, 3 * 150, 3 * 216, 56, 0, 4 * 195, 4 * 216, 14)),
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
    Made("repeat-once", deep(5, 3), (165, 0)),
    Made("repeat-once", deep(5, 2, 3), (165, 0, 165, 0)),
    Made("repeat-once", deep(3, 2, 2), (135, 0, 165)),
    Made("repeat-once", deep(3, 3, 3, 3), (135, 0, 2 * 165)),
    Made("repeat-once", deep(3, 1, 1), (135, 165)),
)

BETWEEN = (
    Made("one-direction-deeper", WRITTEN, (360, 3 * 7 * (5 + 7 + 1))),
    Made("own-width-deeper", ONE_EACH, (135, 150, 12)),
    Made("own-width-deeper", HALVES, (36, 3 * 5 * (5 + 5 + 1), 3 * 6 * (6 + 6 + 1), 56, 0, 165, 234, 14)),
    Made("network-input-deeper", ONE_EACH, (135, 150, 12)),
    Made("encoder-input", ONE_EACH, (135, 3 * 5 * (3 + 5 + 1), 12)),
    Made("state-beside-input", ONE_EACH, (135, 3 * 5 * (4 + 5 + 5 + 1), 12)),
    Made("state-beside-input", JOINED, (270, 3 * 10 * (4 + 5 + 10 + 1), 22)),
    Made("steps-as-features", ONE_EACH, (3 * 5 * (3 * 3 + 5 + 1), 150, 12)),
    Made("steps-as-features", HALVES, (36, 3 * 5 * (3 * 4 + 5 + 1), 216, 56, 0, 195, 216, 14)),
    Made("swapped", HALVES, (36, 3 * 4 * (5 + 4 + 1), 3 * 6 * (4 + 6 + 1), 56, 0, 195, 216, 14)),
    Made("output-of-all-steps", ONE_EACH, (135, 150, 2 * (2 * 5 + 1))),
    Made("network-input-deeper+one-direction-deeper", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+units-for-projection", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+concat-for-merge", PAIR, (180, 4 * 4 * (3 + 4 + 1), 10)),
    Made("network-input-deeper+deeper-of-both-states", CHAIN, (360, 3 * 7 * (20 + 2 + 7 + 1), 4 * (3 + 1), 10)),
    Made("no-projection+one-direction", PROJECTED, (4 * 6 * (3 + 6 + 1), 4 * 5 * (2 * 6 + 5 + 1), 12)),
)


@pytest.mark.parametrize(
    "made", [*WIDTHS, *SHARED, *REPEATED, *BETWEEN], ids=lambda made: f"{made.id}-{sum(made.lines)}"
)
def test_what_a_mistake_about_widths_makes_of_each_line(made: Made) -> None:
    """It changes the lines that it is about, by as much as it says, and no other."""
    assert counts_made(made.id, made.network) == made.lines
