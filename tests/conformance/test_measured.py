"""Well-known layers of 8 inputs and 16 units: the number in the framework, in rnncalc and in print are one."""

from math import prod
from pathlib import Path

import pytest
from conformance.frameworks import FRAMEWORKS
from torch import nn

from rnncalc import GRU, LSTM, MGU, RNN, Layer, Network, load

pytestmark = pytest.mark.conformance

MEASURED: list[tuple[str, Layer, int]] = [
    *(
        (convention, layer, count)
        for convention in ("pytorch", "keras", "onnx")
        for layer, count in [(RNN(16, bias=False), 384), (GRU(16, bias=False), 1152), (LSTM(16, bias=False), 1536)]
    ),
    ("pytorch", RNN(16), 416),
    ("pytorch", GRU(16), 1248),
    ("pytorch", LSTM(16), 1664),
    ("pytorch", LSTM(16, projection=4), 960),
    ("keras", RNN(16), 400),
    ("keras", GRU(16), 1248),
    ("keras", GRU(16, reset_after=False), 1200),
    ("keras", LSTM(16), 1600),
    ("keras", LSTM(16, bidirectional=True), 3200),
    ("flax-linen", RNN(16), 400),
    ("flax-linen", GRU(16), 1216),
    ("flax-linen", LSTM(16), 1600),
    ("flax-linen", MGU(16), 816),
    ("flax-nnx", RNN(16), 400),
    ("flax-nnx", GRU(16), 1200),
    ("flax-nnx", LSTM(16), 1600),
    ("onnx", RNN(16), 416),
    ("onnx", GRU(16), 1248),
    ("onnx", LSTM(16), 1664),
]


@pytest.mark.parametrize(("convention", "layer", "count"), MEASURED, ids=str)
def test_the_count_is_the_frameworks(convention: str, layer: Layer, count: int) -> None:
    """One layer built in the framework has the known number of parameters, and rnncalc counts it."""
    network = Network(input=8, layers=(layer,), convention=convention)
    assert sum(map(prod, FRAMEWORKS[convention].tensors(network.stack[0]).values())) == count
    assert network.params == count


@pytest.mark.parametrize(("layer", "count"), [(RNN(16), 400), (GRU(16), 1200), (LSTM(16), 1600)], ids=str)
def test_the_count_is_the_textbooks(layer: Layer, count: int) -> None:
    """One, three and four times 16 × (8 + 16 + 1)."""
    assert Network(input=8, layers=(layer,)).params == count


@pytest.mark.parametrize(
    ("layer", "count"),
    [(LSTM(16, bidirectional=True, repeat=2), 9728), (LSTM(16, bidirectional=True, projection=4, repeat=2), 3840)],
    ids=str,
)
def test_two_layers_in_both_directions(layer: LSTM, count: int) -> None:
    """`nn.LSTM(8, 16, num_layers=2, bidirectional=True)` and the same under a projection."""
    model = nn.LSTM(8, 16, num_layers=2, bidirectional=True, proj_size=layer.projection or 0)
    assert sum(parameter.numel() for parameter in model.parameters()) == count
    assert Network(input=8, layers=(layer,), convention="pytorch").params == count


def test_a_spec_guards_the_size_of_a_model(tmp_path: Path) -> None:
    """A project's own test can hold its PyTorch model to a spec."""
    spec = tmp_path / "tagger.yaml"
    spec.write_text(
        "convention: pytorch\ntopology: many-to-many\ninput: 1000\n"
        "layers:\n  - embedding: 32\n  - lstm: 64\n    bidirectional: true\n    repeat: 2\noutput: 17\n"
    )
    model = nn.ModuleDict(
        {
            "embedding": nn.Embedding(1000, 32),
            "lstm": nn.LSTM(32, 64, num_layers=2, bidirectional=True, batch_first=True),
            "output": nn.Linear(128, 17),
        }
    )
    assert load(spec).params == sum(p.numel() for p in model.parameters())
