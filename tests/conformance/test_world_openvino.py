"""PyTorch's networks as OpenVINO writes them: the draft counts what is stored, and a run gives OpenVINO's output."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.saved import external_params, hold, runs_to, spec_of

openvino = pytest.importorskip("openvino", reason="is in the extra paddle")
torch = pytest.importorskip("torch")
nn = torch.nn

pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]

CELLS: list[tuple[Any, bool, int]] = [  # with a table before it, and how many numbers OpenVINO stores
    (nn.LSTM(8, 16, batch_first=True), False, 4 * 16 * (8 + 16 + 1)),
    (nn.LSTM(8, 16, 2, batch_first=True), False, 4 * 16 * (8 + 16 + 1) + 4 * 16 * (16 + 16 + 1)),
    (nn.LSTM(8, 16, batch_first=True, bidirectional=True), False, 2 * 4 * 16 * (8 + 16 + 1)),
    (nn.LSTM(8, 16, batch_first=True, bias=False), True, 4 * 16 * (8 + 16 + 1)),  # zeros
    (nn.GRU(8, 128, batch_first=True), True, 3 * 128 * (8 + 128 + 1) + 128),
    (nn.GRU(8, 16, batch_first=True, bidirectional=True), False, 2 * (3 * 16 * (8 + 16 + 1) + 16)),
    (nn.RNN(8, 16, batch_first=True, nonlinearity="relu"), False, 16 * (8 + 16 + 1)),
]


class Network(nn.Module):  # type: ignore[misc, name-defined]
    """A table or none, recurrent layers, and a dense one with a relu, or with a softmax if it reads numbers."""

    def __init__(self, cell: Any, *, table: bool) -> None:
        super().__init__()
        self.active = torch.relu if table else partial(torch.softmax, dim=2)
        self.emb, self.cell = nn.Embedding(20, 8) if table else nn.Identity(), cell
        self.fc = nn.Linear(cell.hidden_size * (1 + cell.bidirectional), 5)

    def forward(self, x: Any) -> Any:
        return self.active(self.fc(self.cell(self.emb(x))[0]))


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(("cell", "table", "stored"), CELLS)
def test_a_network(tmp_path: Path, cell: Any, table: bool, stored: int, half: bool) -> None:
    """In float32, and with its weights in float16."""
    model, random = Network(cell, table=table).eval(), np.random.default_rng(0)
    flow = random.integers(20, size=10) if table else random.standard_normal((10, 8)).astype(np.float32)
    converted = openvino.convert_model(model, example_input=torch.tensor(flow)[None])
    path = tmp_path / "a.xml"
    openvino.save_model(converted, path, compress_to_fp16=half)
    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    theirs = np.asarray(compiled(flow[None])[0])[0]
    text = hold(path, 160 * table + stored + sum(each.numel() for each in model.fc.parameters()))
    assert external_params(path) == 0, text
    spec = spec_of(path)
    spec.write_text(f"{text}topology: many-to-many\n")
    runs_to(spec, path, flow, theirs)
