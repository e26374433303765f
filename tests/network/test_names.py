"""Two layers of one name: where that is told."""

from typing import Any

import pytest

from rnncalc import RNN, Network, SpecError


@pytest.mark.parametrize(
    ("layers", "place", "name"),
    [
        ([RNN(3, name="a"), RNN(3, name="a")], 1, "a"),
        ([RNN(3), RNN(3, name="rnn_1")], 1, "rnn_1"),
        ([RNN(3, name="rnn_2"), RNN(3)], 0, "rnn_2"),
        ([RNN(3, name="a_2"), RNN(3, name="a", repeat=2)], 1, "a_2"),
        ([RNN(3, name="a_3"), RNN(3, name="a", repeat=3)], 1, "a_3"),
        ([RNN(3, name="a", repeat=2), RNN(3, name="a_2")], 1, "a_2"),
        ([RNN(3), RNN(3), RNN(3), RNN(3, name="rnn_3")], 3, "rnn_3"),
    ],
)
def test_a_name_that_is_taken_is_told_where_it_is_given(layers: list[Any], place: int, name: str) -> None:
    """At the later of two that are given, a repeated layer's copies being one item; else at the one that is."""
    with pytest.raises(SpecError) as raised:
        Network(input=3, layers=layers)
    (problem,) = raised.value.problems
    assert problem.path == ("layers", place, "name")
    assert f"another layer is called '{name}'" in problem.message


def test_the_layers_by_default_names_do_not_clash() -> None:
    """Each kind has numbers of its own, and a name that is no layer's default is free."""
    net = Network(input=3, layers=[RNN(3), RNN(3, name="rnn_0"), RNN(3, repeat=2), RNN(3, name="a", repeat=2)])
    assert [placed.name for placed in net.stack] == ["rnn_1", "rnn_0", "rnn_3", "rnn_4", "a_1", "a_2"]
