"""The pieces a network is described with."""

from rnncalc import RNN, Budget, Expect, Network


def test_with_other_parts_nothing_is_expected_of_it() -> None:
    """What was said of the numbers of one network is not said of another's."""
    net = Network(input=2, layers=(RNN(3),), budget=Budget(max_params=10**6), expect=Expect(total=18))
    other = net.with_parts({None: net.parts[None]._replace(input=5)})
    assert (other.params, other.budget, other.expect) == (3 * (5 + 3 + 1), None, None)
