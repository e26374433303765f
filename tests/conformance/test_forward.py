"""The same weights and inputs in the framework and in `rnncalc run` give the same numbers."""

import pytest
from conformance.drawing import CELLS, kinds_of, networks, numbers, one_option_at_a_time
from conformance.frameworks import FRAMEWORKS, hold
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import LSTM, Dense, Embedding, Network, Output
from rnncalc.layers.cell import Merge

pytestmark = [
    pytest.mark.conformance,
    # Keras advises against a softmax of one unit; it is drawn, and is one everywhere.
    pytest.mark.filterwarnings(r"ignore:(?s).*You are using a softmax over axis -1:UserWarning"),
]

SINGLE = [network for convention in FRAMEWORKS for network in one_option_at_a_time(convention)]


def compare(network: Network, seed: int = 0) -> None:
    """Hold every layer of a network against the framework of its convention."""
    hold(network, [FRAMEWORKS[network.convention]] * len(network.stack), *numbers(network, seed))


@pytest.mark.parametrize("network", [pytest.param(network, id=name) for name, network in SINGLE])
def test_every_option_of_every_cell(network: Network) -> None:
    """Two stacked layers and an output, one value of one option at a time, one-way and bidirectional."""
    compare(network)


EVERY_CELL = [
    pytest.param(convention, kind, ways, id=f"{convention}-{kind}{'-bidirectional' if ways else ''}")
    for convention in FRAMEWORKS
    for kind in kinds_of(convention)
    for ways in (False, True)
]


@pytest.mark.parametrize(("convention", "kind", "ways"), EVERY_CELL)
def test_the_final_state_of_a_repeated_layer(convention: str, kind: str, ways: bool) -> None:
    """After an embedding and a dense layer, the last state of each direction, and what an output makes of it.

    Each copy runs on weights of its own, under the number that the framework gives it where it gives one.
    """
    layer = CELLS[kind](units=3, bidirectional=ways, repeat=2)
    compare(
        Network(
            input=7,
            layers=(Embedding(4), Dense(3, activation="relu"), layer),
            output=Output(2, activation="softmax"),
            steps=4,
            convention=convention,
        )
    )


@pytest.mark.parametrize("merge", ["concat", "sum", "mul", "ave"])
@pytest.mark.parametrize("convention", ["pytorch", "keras", "flax-linen", "flax-nnx"])
def test_the_final_state_of_both_directions_is_merged(convention: str, merge: Merge) -> None:
    """As sequences are merged, in the framework or behind its module, so are the last states of both directions."""
    compare(Network(input=4, layers=(LSTM(3, bidirectional=True, merge=merge),), steps=4, convention=convention))


@pytest.mark.parametrize("convention", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=8)
def test_any_network(convention: str, data: st.DataObject) -> None:
    """Over all options together, in sequences and to one vector."""
    compare(data.draw(networks(convention, running=True)), seed=data.draw(st.integers(0, 1000)))
