"""The pieces a network is described with."""

from rnncalc import GRU, RNN, Budget, Dense, Expect, Network, Output, Part, letter
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
    plain = Network(input=2, layers=(RNN(3),))
    assert in_numbers(plain) is plain


def test_the_options_of_an_output() -> None:
    """It has its own name, and is not repeated; its units alone are one."""
    assert Output.options() == ("bias", "activation", "tied", "frozen", "extra_inputs", "path", "dtype")
    assert Network(input=2, layers=[RNN(3)], output=4) == Network(input=2, layers=(RNN(3),), output=Output(4))


def test_the_layers_by_default_names_do_not_clash() -> None:
    """Each kind has numbers of its own, and a name that is no layer's default is free."""
    net = Network(input=3, layers=[RNN(3), RNN(3, name="rnn_0"), RNN(3, repeat=2), RNN(3, name="a", repeat=2)])
    assert [placed.name for placed in net.stack] == ["rnn_1", "rnn_0", "rnn_3", "rnn_4", "a_1", "a_2"]
