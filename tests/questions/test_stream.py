"""What running step by step carries from step to step, and costs a second."""

from conftest import Call, report_of

from rnncalc import GRU, LSTM, Dense, External, Network
from rnncalc.questions.stream import stream

H, M = 3, 5


def test_states_by_hand() -> None:
    """An LSTM carries h and c; a projection narrows h. A dense layer carries nothing."""
    totals = stream(Network(input=M, layers=[LSTM(H), GRU(H), LSTM(H, projection=2), Dense(4)]), rate=0.5)
    assert totals.layers == (2 * H, H, H + 2, 0)
    assert (totals.state, totals.state_bytes) == (14, 56)
    assert totals.multiply_adds_per_step is not None
    assert totals.multiply_adds_per_second == -(-totals.multiply_adds_per_step // 2)


def test_what_cannot_stream() -> None:
    """A bidirectional layer is named; of a part that is counted elsewhere nothing is known."""
    both = stream(Network(input=M, layers=[GRU(H), GRU(H, bidirectional=True)]), rate=100)
    assert (both.cannot, both.layers) == (("gru_2",), (H, None))
    assert (both.state, both.state_bytes, both.multiply_adds_per_second) == (None, None, None)
    assert stream(Network(input=M, layers=[External(9), GRU(H)])).state is None


def test_what_makes_a_first_state_is_no_step(call: Call) -> None:
    """It is done once, so it costs nothing a step."""
    layers = [GRU(H, initial_state=M)]
    assert stream(Network(input=M, layers=layers)).multiply_adds_per_step == 3 * H * (M + H)
    assert call("-i", M, "-l", f"gru:{H},initial_state={M}", "--stream").out.count(f" {3 * H * (M + H)}\n") == 2


def test_every_format_says_the_same(call: Call) -> None:
    """The object, a row for each layer, a table; a rate without the report is refused."""
    flags = ("-i", M, "-l", f"lstm:{H}", "-o", 2)
    report = report_of(call, *flags, "--stream", "--rate", "62.5")
    macs = 4 * H * (M + H) + 2 * H
    numbers = {"rate": 62.5, "state": 6, "state_bytes": 24, "multiply_adds_per_second": -(-macs * 125 // 2)}
    assert report["stream"] == numbers
    assert [layer["state"] for layer in report["layers"]] == [6, 0]
    assert call(*flags, "--stream", "-f", "csv").out.splitlines()[-1].endswith(",6,24")
    assert "Cannot stream: lstm_1;" in call("-i", M, "-l", "lstm:3,bidirectional", "--stream").out
    assert call(*flags, "--rate", 3) == (2, "", "--rate: goes with --stream; add that, or remove this\n")
