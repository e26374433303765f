"""What is wrong with a budget that is made in Python, at the key that it would have in a spec."""

from rnncalc.network.budget import Budget, problems_of


def told(budget: Budget) -> list[tuple[object, str, bool]]:
    return [(problem.path, problem.message, problem.follows) for problem in problems_of(budget, ["rnn_1", "output"])]


def test_each_limit_of_a_budget() -> None:
    """A number of parameters is whole, a ratio is not below nothing; layers come in pairs."""
    assert told(Budget(max_params=5, layers={"rnn_1": 4})) == []
    paths = [path for path, _, follows in told(Budget(max_params=-5, min_dense_ratio=-1, max_saved=2.5)) if not follows]  # type: ignore[arg-type]  # that is what is tested
    assert paths == [("budget", "max_params"), ("budget", "min_dense_ratio"), ("budget", "max_saved")]
    wrong = ("budget", "layers")
    for layers in (5, ("rnn_1",)):
        budget = Budget(layers=layers)  # type: ignore[arg-type]  # that is what is tested
        assert told(budget) == [(wrong, f"expected pairs of a name and a number, got {layers!r}", False)]
    ((path, _, follows),) = told(Budget(layers=(("output", -1),)))
    assert (path, follows) == ((*wrong, "output"), False)


def test_limits_of_layers_that_are_not_there() -> None:
    """Each is told by its name, with what is near to it."""
    near = "no layer has this name; did you mean 'rnn_1'?"
    assert told(Budget(layers={"rnn_2": 1, "output": 2})) == [(("budget", "layers", "rnn_2"), near, True)]
    many = told(Budget(layers={f"rnn_1{number}": 1 for number in range(12)}))
    assert [message for _, message, _ in many] == [near] * 12
