"""Layers as values: equality, hash and repr are written once for all of them."""

import pytest

from rnncalc import GRU, LSTM, Dense, Network, Output, SpecError


def test_equal_layers_are_equal() -> None:
    """Of one kind and with the same options; usable as keys."""
    assert LSTM(4) == LSTM(4)
    assert LSTM(4) != LSTM(5)
    assert LSTM(4) != GRU(4)
    assert Dense(4) != Output(4)
    assert {LSTM(4), LSTM(4), LSTM(4, bias=False)} == {LSTM(4), LSTM(4, bias=False)}
    assert hash(LSTM(4)) != hash(LSTM(5))


def test_a_repr_says_what_was_given() -> None:
    """Defaults are left out."""
    assert repr(LSTM(4)) == "LSTM(units=4)"
    assert repr(LSTM(4, projection=2, bidirectional=True)) == "LSTM(units=4, bidirectional=True, projection=2)"


def test_layers_are_frozen() -> None:
    """No option changes after the fact."""
    with pytest.raises(AttributeError):
        LSTM(4).units = 5  # type: ignore[misc]


@pytest.mark.parametrize("units", [0, -1, True, 1.5, "4", 10**12 + 1])
def test_a_wrong_size_is_refused_from_python_too(units: object) -> None:
    """The network names the layer and the option."""
    with pytest.raises(SpecError, match=r"layers\[0\].units: expected"):
        Network(input=3, layers=(LSTM(units),))  # type: ignore[arg-type]
