"""Whether the final states of an encoder start the layers of a decoder, copies of both being met in order."""

from typing import Any

import pytest

from rnncalc import GRU, LSTM, RNN, Dense, Layer, Network, Part, SpecError


def told(giving: list[Layer], taking: list[Layer]) -> list[tuple[object, ...]]:
    """Return what is wrong below the decoder's layers: place and key, message, whether it follows, and the gaps."""
    with pytest.raises(SpecError) as caught:
        Network(encoder=Part(2, tuple(giving)), decoder=Part(2, tuple(taking)))
    for problem in caught.value.problems:
        assert problem.path[:2] == ("decoder", "layers")
    return [(each.path[2:], each.message, each.follows, each.gaps) for each in caught.value.problems]


def state(want: str, got: str, cure: str = "", joined: str = "") -> str:
    return f"expected a state of {want}, as the encoder's final one{joined}, got {got}{cure}"


BOTH = " (both directions side by side)"
SUM, AVERAGE = (f" (both directions side by side; merge: {of} joins outputs, not states)" for of in ("sum", "ave"))
STARTS = "its final state starts this layer"

CASES: list[tuple[list[Layer], list[Layer], list[Any]]] = [
    ([RNN(3)] * 2, [RNN(3)], [((), "expected 2 recurrent layers, as in the encoder, got 1", True, (-1,))]),
    ([RNN(3)], [RNN(3, repeat=3)], [((), "expected 1 recurrent layers, as in the encoder, got 3", True, (2,))]),
    ([GRU(3)], [RNN(3)], [((0, "rnn"), f"expected the encoder's kind, gru, got rnn: {STARTS}", True, (1,))]),
    (
        [Dense(5), GRU(3, repeat=3)],
        [GRU(3), Dense(5), RNN(3), RNN(3)],
        [((place, "rnn"), f"expected the encoder's kind, gru, got rnn: {STARTS}", True, (1,)) for place in (2, 3)],
    ),
    ([RNN(3, bidirectional=True)], [RNN(5)], [((0, "rnn"), state("6", "5", "; give it 6 units", BOTH), True, (-1, 1))]),
    (
        [RNN(3, bidirectional=True, merge="sum")],
        [RNN(3)],
        [((0, "rnn"), state("6", "3", "; give it 6 units", SUM), True, (-3, 1))],
    ),
    (
        [LSTM(4, bidirectional=True, merge="ave", projection=2)],
        [LSTM(4, projection=2)],
        [((0, "lstm"), state("4 and 8", "2 and 4", "", AVERAGE), True, (-2, -4, 1))],
    ),
    (
        [RNN(3, bidirectional=True, merge="concat")],
        [RNN(5)],
        [((0, "rnn"), state("6", "5", "; give it 6 units", BOTH), True, (-1, 1))],
    ),
    (
        [LSTM(4, repeat=3, projection=2)],
        [LSTM(4, projection=2), LSTM(7, repeat=2, projection=3)],
        [((1, "lstm"), state("2 and 4", "3 and 7"), True, (1, 3, 2))],
    ),
    (
        [LSTM(4, projection=2)],
        [LSTM(5, projection=2)],
        [((0, "lstm"), state("2 and 4", "2 and 5", "; give it 4 units"), True, (1, 1))],
    ),
    (
        [RNN(3)],
        [RNN(3, learned_state=True)],
        [
            (
                (0, "learned_state"),
                "does not apply in a decoder: it starts from the encoder's final state; remove it",
                False,
                (),
            )
        ],
    ),
    (
        [RNN(3, repeat=2), RNN(4, repeat=2)],
        [RNN(4, repeat=3), RNN(4)],
        [((0, "rnn"), state("3", "4", "; give it 3 units"), True, (1, 2))],
    ),
]


@pytest.mark.parametrize(("giving", "taking", "problems"), CASES, ids=str)
def test_states_that_do_not_fit(giving: list[Layer], taking: list[Layer], problems: list[Any]) -> None:
    """Each is told once, with by how much each width is off and how many copies it is of."""
    assert told(giving, taking) == problems


def test_an_odd_number_is_no_two_directions() -> None:
    """3 units are no state of two directions, 4 of one are two of 2."""
    (odd,), (even,) = (told([RNN(units)], [RNN(9, bidirectional=True)]) for units in (3, 4))
    assert odd[1] == state("3", "18")
    assert even[1] == state("4", "18", "; give it 2 units")


def test_states_that_fit() -> None:
    """Repeats on one side, layers in a list on the other; both directions joined in one of twice the units."""
    for giving, taking in (
        ([RNN(3), RNN(3), RNN(4)], [RNN(3, repeat=2), RNN(4)]),
        ([RNN(3, bidirectional=True)], [RNN(6)]),
        ([LSTM(4, projection=2)], [Dense(3), LSTM(4, projection=2)]),
    ):
        Network(encoder=Part(2, tuple(giving)), decoder=Part(2, tuple(taking)))
