"""The pieces a network is described with."""

import pytest

from rnncalc import GRU, RNN, Budget, Dense, Embedding, Expect, Network, Output, Part, letter
from rnncalc.errors import RefusedError
from rnncalc.network.network import in_numbers


def test_with_other_parts_nothing_is_expected_of_it() -> None:
    """What was said of the numbers of one network is not said of another's."""
    net = Network(input=2, layers=(RNN(3),), budget=Budget(max_params=10**6), expect=Expect(total=18))
    other = net.with_parts({None: net.parts[None]._replace(input=5)})
    assert (other.params, other.budget, other.expect) == (3 * (5 + 3 + 1), None, None)


def test_each_half_has_a_topology() -> None:
    """An encoder outputs its final state, a decoder a sequence; a whole network is many-to-one if it says nothing."""
    halves = Network(encoder=Part(2, (RNN(3),)), decoder=Part(2, (RNN(3),)))
    assert [halves.topology_of(name) for name in halves.parts] == ["many-to-one", "many-to-many"]
    assert halves.topology_name == "encoder-decoder"
    whole = Network(input=2, layers=(RNN(3),))
    assert (whole.topology_of(None), whole.topology_name) == ("many-to-one", "many-to-one")
    assert whole.replace(topology="one-to-one").topology_name == "one-to-one"


def test_letters_by_name() -> None:
    """Of inputs, steps, layers and the output, in the order of the alphabet; most questions need numbers."""
    net = Network(input=letter("m"), layers=(GRU(letter("h"), extra_inputs=letter("e")), Dense(4)), steps=letter("T"))
    assert {name: str(size) for name, size in net.letters.items()} == {name: name for name in "Tehm"}
    assert [*net.letters] == ["T", "e", "h", "m"]
    assert [*Network(input=2, layers=(RNN(3),), output=Output(letter("p"))).letters] == ["p"]
    taken = "which count, explain, answer and draw take; give numbers here"
    for network, said in (
        (net, f"the sizes T, e, h and m are letters, {taken}"),
        (Network(input=9, layers=(Embedding(letter("d")), RNN(3))), f"the size d is a letter, {taken}"),
    ):
        with pytest.raises(RefusedError) as refused:
            in_numbers(network)
        assert str(refused.value) == said
    plain = Network(input=2, layers=(RNN(3),))
    assert in_numbers(plain) is plain
