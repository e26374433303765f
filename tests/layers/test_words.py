"""What cells say of their gates: words for people, and the shape of each gate."""

import pytest
from cells import cell

from rnncalc import GRU, LSTM, RNN
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell, Form

CELLS = [of for of in map(kind, KINDS) if issubclass(of, Cell)]


@pytest.mark.parametrize("of", CELLS, ids=lambda of: of.kind)
def test_words_are_those_of_a_sentence(of: type[Cell]) -> None:
    """In lower case, but for letters that are numbers or states; no gate is called as another is."""
    for inputs in (2, 3):
        gates = cell(of.kind, 3).gates(inputs)
        assert len({gate.letter for gate in gates}) == len({gate.name for gate in gates}) == len(gates)
        for words in [words for gate in gates for words in (gate.name, gate.meaning)]:
            assert words[0].islower()
            assert sum(letter.isupper() for letter in words) <= 3


X = ("x", Form.FULL)


def test_options_change_the_gates() -> None:
    """A diagonal recurrence, another activation, peepholes at three gates, and gates that are left out."""
    (gate,) = RNN(3, recurrence="diagonal", activation="relu").gates(2)
    read = [(each.vector, each.form) for each in gate.products]
    assert (gate.activation, read) == ("relu", [X, ("h", Form.DIAGONAL)])
    vectors = {gate.letter: [each.vector for each in gate.products] for gate in LSTM(3, peepholes=True).gates(2)}
    assert vectors == {"i": ["x", "h", "c"], "f": ["x", "h", "c"], "g": ["x", "h"], "o": ["x", "h", "c"]}
    assert [gate.letter for gate in LSTM(3, output_gate=False).gates(2)] == ["i", "f", "g"]
    assert [gate.letter for gate in GRU(3, reset_gate=False).gates(2)] == ["z", "n"]
