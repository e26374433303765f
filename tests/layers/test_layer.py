"""Layers as values: equality, hash and repr are written once for all of them."""

import pytest

from rnncalc import GRU, LSTM, Dense, Network, Output, SpecError
from rnncalc.layers.cell import Form, Weight


def test_equal_layers_are_equal() -> None:
    """Of one kind and with the same options; usable as keys; a repr leaves defaults out."""
    assert repr(LSTM(4, projection=2, bidirectional=True)) == "LSTM(units=4, bidirectional=True, projection=2)"
    assert LSTM(4) == LSTM(4)
    assert LSTM(4) != LSTM(5)
    assert LSTM(4) != GRU(4)
    assert Dense(4) != Output(4)
    assert {LSTM(4), LSTM(4), LSTM(4, bias=False)} == {LSTM(4), LSTM(4, bias=False)}
    assert hash(LSTM(4)) != hash(LSTM(5))


@pytest.mark.parametrize("units", [0, -1, True, 1.5, "4", 10**12 + 1])
def test_a_wrong_size_is_refused_from_python_too(units: object) -> None:
    """The network names the layer and the option."""
    with pytest.raises(SpecError, match=r"layers\[0\].units: expected"):
        Network(input=3, layers=(LSTM(units),))  # type: ignore[arg-type]


def test_what_a_cell_outputs_and_carries() -> None:
    """Both directions side by side if they are concatenated, its states always; a way back carries nothing."""
    narrow = LSTM(4, projection=2)
    both, summed = (narrow.replace(bidirectional=True, merge=merge) for merge in (None, "sum"))
    assert [layer.output_width(3) for layer in (narrow, both, summed)] == [2, 4, 2]
    assert both.replace(merge="concat").output_width(3) == 4
    assert [layer.state_widths() for layer in (narrow, both)] == [(2, 4), (4, 8)]
    assert [layer.carried(3) for layer in (narrow, both)] == [6, None]
    assert (narrow.directions, both.directions) == (1, 2)


def test_which_matrix_projects() -> None:
    """The one that makes the output of the units, if that is not as wide as they are."""
    for widths, projects in ((("p", "h"), True), (("h", "p"), False), (("p",), False), ((), False)):
        assert LSTM(4, projection=2).projects(Weight("V", widths, "a weight")) is projects
    assert not LSTM(4).projects(Weight("V", ("h", "h"), "a matrix"))


def test_an_update_gate_says_what_it_keeps() -> None:
    """Or what it replaces; a diagonal recurrence is one of each gate."""
    for update_gate, keep in (("keeps", "keep"), ("replaces", "replace")):
        update, *_ = GRU(3, update_gate=update_gate).gates(2)  # type: ignore[arg-type]  # a word
        assert update.meaning == f"how much of the old state to {keep}"
    forms = [product.form for gate in GRU(3, recurrence="diagonal").gates(2) for product in gate.products]
    assert forms == [Form.FULL, Form.DIAGONAL] * 3
