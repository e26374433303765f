"""Bytes in integers, with the widths of CMSIS-NN's LSTM."""

import pytest
from conftest import Call, report_of

from rnncalc import GRU, LSTM, External, Network, Output
from rnncalc.questions.quantized import StoredBytes, quantized

H, M, N = 20, 10, 5


@pytest.mark.parametrize(("to", "bias", "state"), [("int8", 4, 3), ("int16", 8, 4)])
def test_an_lstm_by_hand(to: str, bias: int, state: int) -> None:
    """Weights of 8 bits, biases of 32 or 64, a cell state of 16, and h as wide as the activations."""
    totals = quantized(Network(input=M, layers=[LSTM(H)], output=Output(N)), to)
    lstm, output = totals.layers
    assert lstm == StoredBytes(4 * H * (M + H), 4 * H * bias, H * state)
    assert output == StoredBytes(N * H, N * bias, 0)
    assert totals.total.bytes == 4 * H * (M + H) + N * H + (4 * H + N) * bias
    assert totals.lacking == ()


def test_what_is_not_known() -> None:
    """A part that is counted elsewhere; a cell without a kernel is named; other types are refused."""
    totals = quantized(Network(input=M, layers=[External(9), GRU(H)]), "int8")
    assert (totals.total.bytes, totals.lacking) == (None, ("gru_1",))


def test_every_format_says_the_same(call: Call) -> None:
    """The object, a row for each layer, a table."""
    flags = ("-i", M, "-l", f"lstm:{H}", "--quantize", "int8")
    report = report_of(call, *flags)
    numbers = {"weight_bytes": 2400, "bias_bytes": 320, "bytes": 2720, "state_bytes": 60}
    assert report["quantized"] == {"to": "int8", **numbers}
    assert report["layers"][0]["quantized"] == numbers
    assert call(*flags, "-f", "csv").out.splitlines()[-1].endswith(",2400,320,2720,60")
    assert "Flash holds more than the parameters" in call(*flags).out
    both = "rnncalc: --stream and --quantize each have a table of their own; keep one\n"
    assert call(*flags, "--stream") == (2, "", both)


@pytest.mark.parametrize("other", [LSTM(4, peepholes=True), LSTM(4, coupled=True), LSTM(4, layer_norm=True)])
def test_an_lstm_with_other_gates_has_no_kernel(other: LSTM) -> None:
    """CMSIS-NN computes the plain LSTM alone; its bytes are those of the same widths."""
    assert quantized(Network(input=3, layers=[other, LSTM(4)]), "int8").lacking == ("lstm_1",)
