"""The numbers beside a count, as programs read them."""

from rnncalc import LSTM, Network, count
from rnncalc.questions.stream import stream
from rnncalc.reports.beside import BesideReport, StreamReport
from rnncalc.reports.count import CountReport


class StreamNumbers(StreamReport):
    """A report whose numbers stand in the layers' own objects, and the network's in its own."""

    whole = BesideReport.whole


def test_without_a_key_the_network_has_its_numbers_itself() -> None:
    """As each layer has."""
    network = Network(input=2, layers=[LSTM(3)])
    data = StreamNumbers(CountReport(count(network)), stream(network)).data()
    assert "" not in data
    assert (data["state"], data["state_bytes"]) == (6, 24)
