"""Where a network reads and hands on, by its topology."""

import pytest

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
