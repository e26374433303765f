"""Where a network reads and hands on, by its topology."""

import pytest

from rnncalc import RNN, Budget, Expect, Network
from rnncalc.network.parts import TOPOLOGIES, hands_on_many, reads_many

BY_NAME = {
    "one-to-one": (False, False),
    "one-to-many": (False, True),
    "many-to-one": (True, False),
    "many-to-many": (True, True),
}


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_topology_is_what_it_is_called(topology: str) -> None:
    """The first word says what is read, the last what is handed on."""
    assert (reads_many(topology), hands_on_many(topology)) == BY_NAME[topology]


def test_with_other_parts_nothing_is_expected_of_it() -> None:
    """What was said of the numbers of one network is not said of another's."""
    net = Network(input=2, layers=(RNN(3),), budget=Budget(max_params=10**6), expect=Expect(total=18))
    other = net.with_parts({None: net.parts[None]._replace(input=5)})
    assert (other.params, other.budget, other.expect) == (3 * (5 + 3 + 1), None, None)
