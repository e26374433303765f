"""PaddlePaddle's own count of operations, where it is installed: it needs a NumPy below 2.3."""

import io
from contextlib import redirect_stdout
from typing import Any

import pytest

from rnncalc import GRU, LSTM, RNN, Dense, Network
from rnncalc.questions.counters import counters

paddle: Any = pytest.importorskip("paddle")

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("kind", [RNN, GRU, LSTM])
@pytest.mark.parametrize(("last", "bias"), [(True, True), (False, False)])
def test_flops_are_those_of_dense_layers(kind: Any, last: bool, bias: bool) -> None:
    """Behind a recurrent layer of two levels, which count nothing; of a batch of 3."""

    class Model(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            of = {RNN: paddle.nn.SimpleRNN, GRU: paddle.nn.GRU, LSTM: paddle.nn.LSTM}[kind]
            self.cell, self.output = of(8, 16, num_layers=2), paddle.nn.Linear(16, 3, bias_attr=None if bias else False)

        def forward(self, x: Any) -> Any:
            x = self.cell(x)[0]
            return self.output(x[:, -1] if last else x)

    topology: Any = "many-to-one" if last else "many-to-many"
    network = Network(input=8, layers=[kind(16, repeat=2), Dense(3, bias=bias)], steps=10, topology=topology)
    (said,) = (each.value for each in counters(network, 3).printed if each.name == "paddle.flops")
    with redirect_stdout(io.StringIO()):
        assert paddle.flops(Model(), (3, 10, 8)) == said
