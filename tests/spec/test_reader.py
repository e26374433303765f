"""How layers are read: what is quoted, aliases, and options that are called as kinds are."""

import pytest

from rnncalc import LSTM, SpecError
from rnncalc.layers.layer import Layer
from rnncalc.spec import parse

HEAD = "input: 4\nlayers:\n"


def layers(*items: str) -> tuple[Layer, ...]:
    return tuple(parse((HEAD + "".join(f"  - {item}\n" for item in items)).encode(), "spec").network.layers)


def test_quotes_are_told_apart() -> None:
    """`true` is a switch and `'true'` is text, and they are never taken for one another."""
    with pytest.raises(SpecError) as caught:
        layers("{rnn: 3, bias: true}", "{rnn: 3, bias: 'true'}")
    message = "spec:4:20: layers[1].bias: expected true or false, got 'true'; remove the quotes"
    assert str(caught.value) == message


def test_an_alias_is_the_layer_it_stands_for() -> None:
    """As if it were written again."""
    first, second = layers("&a {lstm: 3}", "*a")
    assert first == second == LSTM(3)


@pytest.mark.parametrize("first", ["{lstm: 4, layer_norm: true}", "{layer_norm: true, lstm: 4}"])
def test_an_option_may_be_called_as_a_kind_is(first: str) -> None:
    """layer_norm is a kind of layer, and an option of a cell, wherever in the layer it is."""
    assert [layer.kind for layer in layers(first, "{layer_norm: null}")] == ["lstm", "layer_norm"]
    assert layers(first) == (LSTM(4, layer_norm=True),)
