"""What is wrong with an update that is made in Python, at the key that it would have in a spec."""

from typing import Any

import pytest

from rnncalc import RNN, Network, SpecError, Update


@pytest.mark.parametrize(
    ("update", "problems"),
    [
        (Update(chunk=0), [(("training", "chunk"), "expected a positive whole number, got 0")]),
        (
            Update(chunk=2, batch=-1, optimizer="adagrad"),
            [
                (("training", "batch"), "expected a positive whole number, got -1"),
                (("training", "optimizer"), "expected sgd, momentum or adam, got 'adagrad'"),
            ],
        ),
        (
            Update(batch=None, optimizer=None),  # type: ignore[arg-type]  # that is what is tested
            [
                (("training", "batch"), "expected a positive whole number, got None"),
                (("training", "optimizer"), "expected sgd, momentum or adam, got None"),
            ],
        ),
        (35, [(("training",), "expected an Update, such as Update(chunk=35), got 35")]),
    ],
)
def test_each_key_of_an_update(update: Any, problems: list[Any]) -> None:
    """A chunk alone may be None."""
    with pytest.raises(SpecError) as caught:
        Network(input=2, layers=[RNN(3)], training=update)
    assert [(problem.path, problem.message) for problem in caught.value.problems] == problems
    Network(input=2, layers=[RNN(3)], training=Update())
