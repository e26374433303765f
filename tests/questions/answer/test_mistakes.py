"""The table of mistakes: each one, its number worked out by hand, is found by its id."""

import pytest
from finding import PLACES, must_find
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_counts import WRONG

from rnncalc import GRU, LSTM, Cell, MinGRU, MinLSTM, Network, answer
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


@pytest.mark.parametrize("id_", PLACES)
def test_no_template_reaches_a_caller(id_: str) -> None:
    """Each mistake has its numbers and names in it, as `answer` returns it."""
    for diagnosis in answer(*WRONG[id_](7, 12, 5, 3)).judged[0].diagnoses:
        for mistake in diagnosis.mistakes:
            assert not {*"{}"} & {*mistake.id, *mistake.text}


def test_a_mistake_of_another_convention_is_named() -> None:
    """1,248 of a GRU has two biases in each gate: 3·16·(8 + 16 + 2)."""
    first = answer(Network(input=8, layers=[GRU(16)]), 3 * 16 * (8 + 16 + 2)).judged[0].diagnoses[0].mistakes[0]
    assert first == ("convention-pytorch", "counts as pytorch, keras and onnx do, not as textbook")


def test_forgotten_peepholes_are_told_first() -> None:
    """208 is 4·4·(8 + 4 + 1) without the 3·4 of the peepholes; one bias vector for all gates is 12 less by chance."""
    texts = said(Network(input=8, layers=[LSTM(4, peepholes=True)]), 4 * 4 * (8 + 4 + 1))
    assert texts[:2] == ["ignores the peepholes", "counts one bias vector for all gates"]


def said(network: Network, number: int) -> list[str]:
    """Return the explanations of a number, in order."""
    found = answer(network, number).judged[0].diagnoses
    return [mistake.text for each in found for mistake in each.mistakes]


@pytest.mark.parametrize(("layer", "number"), [(MinGRU(5), 100), (MinLSTM(5), 150)])
def test_the_mistake_that_a_cell_invites_is_told_first(layer: Cell, number: int) -> None:
    """Matrices of a past that the gates do not see come before all that happens to give the same number."""
    first, *others = said(Network(input=4, layers=[layer]), number)
    assert first == "counts recurrent matrices, and no gate of this cell looks at the past"
    assert others


def test_conventions_that_count_alike_are_one_mistake() -> None:
    """One row for all of them, and none beside it for the bias in which they differ."""
    network = Network(input=3, layers=[LSTM(5)], convention="pytorch")
    assert said(network, 4 * 5 * (3 + 5 + 1)) == [
        "counts as textbook, keras, flax-linen and flax-nnx do, not as pytorch"
    ]
    assert said(Network(input=4, layers=[GRU(5)]), 155)[0] == "counts as flax-linen does, not as textbook"


def test_one_of_two_learned_states_may_be_forgotten() -> None:
    """With a projection the two widths tell which."""
    assert said(Network(input=4, layers=[LSTM(5, learned_state=True)]), 205) == [
        "counts h_0 alone of the learned initial states"
    ]
    projected = Network(input=4, layers=[LSTM(5, projection=3, learned_state=True)])
    assert "counts c_0 alone of the learned initial states" in said(projected, projected.params - 3)
