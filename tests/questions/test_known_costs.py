"""Costs of published networks that run on live signals, with their sources."""

import pytest

from rnncalc import GRU, LSTM, Dense, Layer, Network, load
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.stream import stream

KEYWORDS = {
    "Basic LSTM, small": (LSTM(118), 49, 5.9),
    "Basic LSTM, medium": (LSTM(214), 49, 18.9),
    "Basic LSTM, large": (LSTM(344), 49, 47.9),
    "LSTM, small": (LSTM(144, projection=98, peepholes=True), 25, 3.9),
    "LSTM, medium": (LSTM(280, projection=130, peepholes=True), 49, 19.2),
    "LSTM, large": (LSTM(500, projection=188, peepholes=True), 49, 48.4),
    "GRU, small": (GRU(154), 25, 3.8),
    "GRU, medium": (GRU(250), 49, 19.2),
    "GRU, large": (GRU(400), 49, 48.4),
}
"""Zhang et al., Hello Edge: keyword spotting on microcontrollers, 2017, table 4: layers, windows, and operations of an
inference in millions. The sizes are in ARM-software/ML-KWS-for-MCU, train_commands.txt: 10 features in windows of 40 ms
over one second, a stride of 20 or 40 ms, so 49 or 25 windows; 12 words."""


@pytest.mark.parametrize("name", KEYWORDS)
def test_published_keyword_spotters(name: str) -> None:
    """All operations of an inference, to the digit that is published."""
    layer, windows, millions = KEYWORDS[name]
    total = pass_operations(Network(input=10, layers=[layer], output=12, steps=windows)).total
    assert total
    assert abs(total.flops / 1e6 - millions) < 0.1


def test_rnnoise() -> None:
    """Valin 2018: 87,503 weights, with the 25 of a second output; two operations a weight, 100 frames per second."""
    network = load("specs/rnnoise.yaml")
    assert network.params + 24 + 1 == 87_503
    running = stream(network)
    assert running.state == 24 + 48 + 96
    assert running.multiply_adds_per_second
    assert abs(2 * running.multiply_adds_per_second / 1e6 - 17.5) < 0.2


BANDS, CHANNELS = 33, 16


@pytest.mark.parametrize(("hop", "rate"), [(256, 62.5), (128, 125)])
def test_gtcrn_at_two_hops(hop: int, rate: float) -> None:
    """Rong et al. 2024, github.com/Xiaobin-Rong/gtcrn: its streaming version's caches, at 16 kHz.

    Each of two blocks has two GRUs of half the channels in every band, `inter_cache` (2, 1, 33, 16); each of six
    convolution blocks a GRU of 8 features, `tra_cache` (2, 3, 1, 1, 16). Its convolutions are not counted here.
    """
    assert 16_000 / hop == rate

    def running(layers: list[Layer], times: int) -> tuple[int, int]:
        totals = stream(Network(input=8, layers=layers, topology="many-to-many", convention="pytorch"), rate)
        assert totals.state is not None
        assert totals.multiply_adds_per_second is not None
        return times * totals.state, times * totals.multiply_adds_per_second

    inter, work = running([GRU(CHANNELS // 2)], 2 * 2 * BANDS)
    assert (inter, work) == (2 * 1 * BANDS * CHANNELS, 2 * 2 * BANDS * 3 * 8 * 16 * 16_000 // hop)
    attention, attending = running([GRU(16), Dense(8)], 6)
    assert (attention, attending) == (2 * 3 * 16, 6 * (3 * 16 * 24 + 16 * 8) * 16_000 // hop)
    assert work + attending < 33.0e6 * rate / 62.5  # of 33.0 million in all at the published hop of 256
