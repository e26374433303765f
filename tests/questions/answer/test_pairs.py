"""Two mistakes made together: every pair of those that are known alone is explained, at a cost that is bounded."""

from collections.abc import Iterator

import pytest
from finding import PLACES, ids, judged

from rnncalc import GRU, LSTM, RNN, Embedding, Network, Output
from rnncalc.questions.answer.given import Given, read_number
from rnncalc.questions.answer.grading import judge
from rnncalc.questions.answer.mistake import Family, Mistake, Question
from rnncalc.questions.answer.mistakes import TABLE
from rnncalc.questions.answer.right import one_by_one, worksheet_of
from rnncalc.questions.answer.search import Tries, diagnoses

CLASSIC = Network(input=10, layers=(LSTM(20),), output=Output(5), steps=15)  # 4·20·31 + 5·21 = 2,480 + 105 = 2,585
ODD = Network(input=13, layers=(LSTM(29),), output=Output(7), steps=11)
SPEECH = Network(input=100, layers=(LSTM(64, bidirectional=True),), output=Output(2))  # 2·4·64·165 + 2·129 = 84,738
DEEP = Network(input=100, layers=(LSTM(64, bidirectional=True), LSTM(37)), output=Output(3), steps=9)
WORDS = Network(input=1_000, layers=(Embedding(32), GRU(48)), output=Output(1), convention="pytorch")


@pytest.mark.parametrize(
    ("net", "number", "pair"),
    [
        (SPEECH, 4 * 64 * 164 + 2 * 128, "one-direction+no-biases"),
        (SPEECH, 4 * 64 * 164 + 2 * 64, "no-second-direction+no-biases"),
        (CLASSIC, 20 * 30 + 20 * 5, "no-biases+gates-1"),
        (ODD, 11 * 4 * 29 * (13 + 29) + 7 * 30, "times-steps+no-hidden-biases"),
        (CLASSIC, 5 * 20 * 30 + 5 * 20, "no-biases+other-gates-{count}"),
        (ODD, 4 * 29 * (13 + 13) + 7 * 29, "no-biases+recurrent-of-inputs"),
        (ODD, 3 * 29 * (13 + 13 + 1) + 7 * 30, "gates-3+recurrent-of-inputs"),
        (ODD, 4 * 13 * (29 + 13) + 7 * 13, "no-biases+swapped"),
        (DEEP, 4 * 37 * (128 + 37), "only-layer+no-biases"),
    ],
)
def test_a_pair_worked_out_by_hand(net: Network, number: int, pair: str) -> None:
    """It is among those that are told, in either order."""
    assert {*pair.split("+")} in [{*found.split("+")} for found in ids(net, number)]
    assert all(id_ in PLACES for id_ in pair.split("+"))


def pairs_made(net: Network) -> Iterator[tuple[str, str, int]]:
    """Yield two mistakes of which each changes the count alone, and the count that both make, one after the other."""
    worksheet = worksheet_of(net)
    known = [row for row in TABLE if isinstance(row, Mistake)]
    alone = {row.id: row.change(worksheet, net) for row in known}
    changing = [row for row in known if sum(line.params for line in alone[row.id]) != net.params]
    for first in changing:
        for second in changing:
            if first is not second:
                yield first.id, second.id, sum(line.params for line in second.change(alone[first.id], net))


@pytest.mark.parametrize("net", [CLASSIC, DEEP, WORDS])
def test_every_pair_of_known_mistakes_is_explained(net: Network) -> None:
    """Whatever the pair, its number has an explanation, or is another quantity of the network."""
    tries = Tries(worksheet_of(net), net)
    made = [each for each in pairs_made(net) if each[2] not in (0, net.params)]
    assert len(made) > 1_000
    for first, second, number in made[::37]:
        assert [*diagnoses(tries, Question(net, Given(number)))], (first, second, number)


def test_likelier_pairs_alone_are_told() -> None:
    """4 × 16 × (8 + 16) of a GRU is four gates without biases, and by chance six gates of recurrent matrices alone."""
    net = Network(input=8, layers=(GRU(16),))
    assert ids(net, 4 * 16 * 24) == ["no-biases+gates-4"]
    assert 6 * 16 * 16 == 4 * 16 * 24


def test_a_rounded_number_is_explained_by_no_pair() -> None:
    """Some pair comes near any rounded number: 1.5k is near the 1,536 of four gates without biases."""
    net = Network(input=8, layers=(GRU(16),))
    assert judged(net, 1_536).diagnoses
    assert not [each for each in judge(net, [read_number("1.54k")]).judged[0].diagnoses if len(each.mistakes) > 1]


def layers(count: int) -> Network:
    """Return a network of different layers, the first a GRU of 7 to 16: 3 × 16 × (7 + 16 + 1)."""
    return Network(input=7, layers=(GRU(16), *(RNN(3 + place % 2) for place in range(count - 1))))


@pytest.mark.parametrize("count", [10, 11, 101])
def test_where_pairs_are_looked_for(count: int) -> None:
    """All pairs on up to 10 lines, the likelier on up to 100, none on more; of one layer's number, or of the total."""
    net = layers(count)
    likelier, rare = 4 * 16 * (7 + 16), 3 * 16 * (7 + 7)  # no biases, and four gates, or recurrent matrices h × m
    for number, most in ((likelier, 100), (rare, 10)):
        tries = Tries(one_by_one(net), net)
        found = [diagnosis for diagnosis, _ in diagnoses(tries, Question(net, Given(number), 0))]
        assert any(len(diagnosis.mistakes) == 2 for diagnosis in found) == (count <= most)


@pytest.mark.parametrize(("count", "most"), [(10, 10_000), (11, 1_000), (101, 0)])
def test_how_many_pairs_are_tried(count: int, most: int) -> None:
    """A bound on the work, whatever the network: so many counts of up to 10 lines, or of up to 100."""
    cell = LSTM(9, projection=4, bidirectional=True, peepholes=True, learned_state=True)
    net = Network(input=5, layers=(cell, *(GRU(3 + place % 2) for place in range(count - 2))), output=Output(2))
    assert len(Tries(worksheet_of(net), net).pairs(Question(net, Given(1)))) <= most


def test_ways_do_not_depend_on_the_number() -> None:
    """Those of a family that is not fitted are the same for every number, so that they are made once."""
    worksheet = worksheet_of(DEEP)
    for row in TABLE:
        if isinstance(row, Family) and not row.fitted:
            first, second = ([*row.ways(worksheet, Question(DEEP, Given(number)))] for number in (1, 5_000))
            assert first == second
