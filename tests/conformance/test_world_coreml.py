"""Core ML's models, which coremltools converts in an environment of its own: a run gives what PyTorch's model outputs.

Core ML itself computes on macOS alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conformance.saved import external_params, hold, runs_to, spec_of
from torch import nn

coremltools = pytest.importorskip("coremltools")
pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]


class Model(nn.Module):  # type: ignore[misc]
    """A table, recurrent layers, a dense layer and an activation, where there are such."""

    def __init__(self, cell: nn.Module, table: Any = None, dense: Any = None, active: Any = None) -> None:
        super().__init__()
        self.cell, self.others = cell, nn.ModuleList([each or nn.Identity() for each in (table, dense, active)])

    def forward(self, sequence: torch.Tensor) -> Any:
        table, dense, active = self.others
        return active(dense(self.cell(table(sequence))[0]))


MODELS = {  # with the parameters that Core ML has: one bias for each gate, and zeros for the bias that a table's lacks
    "two": (
        lambda: Model(nn.LSTM(8, 128, 2, batch_first=True), None, nn.Linear(128, 5), nn.ReLU()),
        70_144 + 131_584 + 645,
    ),
    "both ways": (lambda: Model(nn.LSTM(8, 16, batch_first=True, bidirectional=True), None, nn.Linear(32, 5)), 3_365),
    "no bias": (lambda: Model(nn.LSTM(8, 16, bias=False, batch_first=True)), 1_536),
    "table": (lambda: Model(nn.LSTM(8, 16, batch_first=True), nn.Embedding(9, 8), nn.Linear(16, 5, bias=False)), 1_757),
    "rnn": (lambda: Model(nn.RNN(8, 16, batch_first=True), None, nn.Linear(16, 5)), 485),
    "gru": (lambda: Model(nn.GRU(8, 16, batch_first=True)), 1_248),
}


@pytest.mark.parametrize("form", ["neuralnetwork", "mlprogram"])
@pytest.mark.parametrize("name", MODELS)
def test_a_converted_model(tmp_path: Path, name: str, form: str) -> None:
    """In both formats; a GRU is a loop, whose weights are counted."""
    torch.manual_seed(0)
    make: Any
    make, params = MODELS[name]
    model = make().eval()
    flow = torch.randint(9, (1, 10), dtype=torch.int32) if name == "table" else torch.randn(1, 10, 8)
    kind = coremltools.TensorType(shape=flow.shape, dtype=np.int32 if name == "table" else np.float32)
    options: dict[str, Any] = {"convert_to": form, "skip_model_load": True, "inputs": [kind]}
    if form == "mlprogram":
        options |= {"compute_precision": coremltools.precision.FLOAT32}
        options |= {"minimum_deployment_target": coremltools.target.macOS13}
    path = tmp_path / ("a.mlmodel" if form == "neuralnetwork" else "a.mlpackage")
    coremltools.convert(torch.jit.trace(model, flow), **options).save(str(path))
    text = hold(path, params)
    assert external_params(path) == (params if name == "gru" else 0)
    if name != "gru":
        spec_of(path).write_text(f"{text}topology: many-to-many\n")
        runs_to(spec_of(path), path, flow[0].numpy(), model(flow)[0].detach().numpy())
