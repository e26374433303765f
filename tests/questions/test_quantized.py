"""Bytes in integers, with the widths of CMSIS-NN's LSTM."""

import pytest

from rnncalc import GRU, LSTM, External, Network
from rnncalc.questions.quantized import quantized

H, M, N = 20, 10, 5


def test_what_is_not_known() -> None:
    """A part that is counted elsewhere; a cell without a kernel is named; other types are refused."""
    totals = quantized(Network(input=M, layers=[External(9), GRU(H)]), "int8")
    assert (totals.total.bytes, totals.lacking) == (None, ("gru_1",))


@pytest.mark.parametrize("other", [LSTM(4, peepholes=True), LSTM(4, coupled=True), LSTM(4, layer_norm=True)])
def test_an_lstm_with_other_gates_has_no_kernel(other: LSTM) -> None:
    """CMSIS-NN computes the plain LSTM alone; its bytes are those of the same widths."""
    assert quantized(Network(input=3, layers=[other, LSTM(4)]), "int8").lacking == ("lstm_1",)
