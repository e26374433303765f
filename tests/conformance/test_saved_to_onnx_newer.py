"""Networks that PyTorch's newer exporter (`dynamo=True`) writes to ONNX, with large tensors in a file beside."""

from pathlib import Path
from typing import Any

import pytest
import torch
from conformance.saved import called, external_params, hold, runs_to, spec_of
from torch import nn

from rnncalc.models.files import read

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

Module: Any = nn.Module


class Last(Module):  # type: ignore[misc]
    """Recurrent layers and a dense one, behind a table if there are words."""

    def __init__(self, of: Any, units: int, *, words: int = 0, **options: Any) -> None:
        super().__init__()
        self.table = nn.Embedding(words, 3) if words else nn.Identity()
        self.rnn = of(3, units, **options)
        self.fc = nn.Linear(units * (2 if self.rnn.bidirectional else 1), 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.fc(self.rnn(self.table(x))[0]))


class Ends(Last):
    """The same, of the last step."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(super().forward(x)[:, -1])


OPTIONS: list[dict[str, Any]] = [
    {"units": 1},
    {"units": 53},  # from 53 of a GRU and 46 of an LSTM on, weights are moved in the graph
    {"units": 64, "num_layers": 2, "bidirectional": True},
    {"units": 4, "words": 7},
]


def exported(folder: Path, of: Any, options: dict[str, Any]) -> tuple[Path, Any, torch.Tensor]:
    """Export a network; return the file, the model and what it was fed with."""
    torch.manual_seed(0)
    model, path = Last(of, **options).eval(), folder / "a.onnx"
    flow = torch.tensor([[1], [6], [0], [2], [1]]) if "words" in options else torch.rand(5, 1, 3)
    torch.onnx.export(model, (flow,), str(path), dynamo=True, verbose=False)
    return path, model, flow


@pytest.mark.parametrize(("of", "options"), [*zip([nn.LSTM, nn.GRU] * 2, OPTIONS, strict=True)])
def test_an_operator_is_a_layer(tmp_path: Path, of: Any, options: dict[str, Any]) -> None:
    """Read as what it is, without a doubt, and run to the same numbers; a file beside is read where there is one."""
    path, model, flow = exported(tmp_path, of, options)
    text = hold(path, sum(each.numel() for each in model.parameters()))
    assert "external" not in text
    assert "a run differs" not in text
    assert options["units"] < 16 or (tmp_path / "a.onnx.data").stat().st_size > 1_000
    theirs = model(flow)[:, 0].detach().numpy()
    runs_to(spec_of(path), path, flow[:, 0].numpy(), theirs, "--topology", "many-to-many")


def test_the_last_step_of_both_directions_runs_to_the_same(tmp_path: Path) -> None:
    """The backward direction's first output beside the forward's last."""
    model, path, flow = (
        Ends(nn.GRU, 4, bidirectional=True, batch_first=True).eval(),
        tmp_path / "a.onnx",
        torch.rand(5, 3),
    )
    torch.onnx.export(model, (flow[None],), str(path), dynamo=True, verbose=False)
    hold(path, sum(each.numel() for each in model.parameters()))
    runs_to(spec_of(path), path, flow.numpy(), model(flow[None])[0].detach().numpy())


def test_half_of_a_matrix_is_not_the_whole(tmp_path: Path) -> None:
    """What PyTorch 2.13 exports of an LSTM with a projection takes part of its weights; the draft counts the rest."""
    model, path = nn.LSTM(3, 16, proj_size=4), tmp_path / "a.onnx"
    torch.onnx.export(model, (torch.rand(5, 1, 3),), str(path), dynamo=True, verbose=False)
    hold(path, read(str(path)).params)


@pytest.mark.parametrize("options", [*OPTIONS, {"units": 4, "nonlinearity": "relu"}], ids=str)
def test_steps_written_out_are_counted(tmp_path: Path, options: dict[str, Any]) -> None:
    """An nn.RNN is left without its operator: its recurrent matrix is no known layer, and the sum is right."""
    path, model, _ = exported(tmp_path, nn.RNN, options)
    params = sum(each.numel() for each in model.parameters())
    text = hold(path, params)
    assert read(str(path)).params == params
    recurrent = sum(each.numel() for name, each in model.named_parameters() if "_hh_" in name)
    assert external_params(path) == recurrent
    assert text.count("no layer that is known here") == options.get("num_layers", 1) * (
        2 if options.get("bidirectional") else 1
    )


class Loop(Module):  # type: ignore[misc]
    """Two cells of a kind, in a loop of four steps from states of zeros."""

    def __init__(self, of: Any, *, bias: bool) -> None:
        super().__init__()
        self.cells, self.fc = nn.ModuleList([of(3, 5, bias=bias), of(5, 5, bias=bias)]), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        zeros, pair = torch.zeros(x.shape[1], 5), isinstance(self.cells[0], nn.LSTMCell)
        states: list[Any] = [(zeros, zeros) if pair else zeros for _ in self.cells]
        for y in x:
            for number, cell in enumerate(self.cells):
                states[number] = cell(y, states[number])
                y = states[number][0] if pair else states[number]
        return torch.as_tensor(self.fc(y))


@pytest.mark.parametrize(
    ("of", "bias", "batch"), [(nn.LSTMCell, True, 1), (nn.GRUCell, False, 2), (nn.RNNCell, True, 2)]
)
def test_cells_in_a_loop_are_counted(tmp_path: Path, of: Any, bias: bool, batch: int) -> None:
    """Of the first step the exporter calculates a bias, or zeros, for each sequence, which is no parameter."""
    model = Loop(of, bias=bias)
    torch.onnx.export(model, (torch.rand(4, batch, 3),), str(tmp_path / "a.onnx"), dynamo=True, verbose=False)
    text = hold(tmp_path / "a.onnx", sum(each.numel() for each in model.parameters()))
    assert "# 4 steps of recurrent layers, written out one by one" in text


def test_the_scale_of_attention_is_no_parameter(tmp_path: Path) -> None:
    """A block of a transformer that is exported for training has its weights alone."""
    model, path = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).train(), tmp_path / "a.onnx"
    for weights in model.parameters():
        nn.init.normal_(weights)  # a bias of zeros is none to the exporter
    torch.onnx.export(model, (torch.zeros(1, 6, 32),), str(path), dynamo=True, verbose=False)
    assert read(str(path)).params == 4 * 32 * 33 + 2 * 32 * 64 + 64 + 32 + 4 * 32
    hold(path, read(str(path)).params)


def test_a_file_beside_that_is_gone(tmp_path: Path) -> None:
    """Is named, and nothing is counted."""
    path, *_ = exported(tmp_path, nn.LSTM, {"units": 16})
    (tmp_path / "a.onnx.data").unlink()
    code, said = called("read", path)
    assert (code, "a.onnx.data: no such file" in said, said.count("\n")) == (2, True, 1), said


class Around(Module):  # type: ignore[misc]
    """Convolutions and norms before a recurrent layer and a dense one."""

    def __init__(self) -> None:
        super().__init__()
        self.ear = nn.Conv1d(6, 8, 5, padding="same")
        self.first, self.second = nn.BatchNorm1d(6), nn.BatchNorm1d(8)
        self.depth = nn.Conv1d(8, 8, 3, stride=2, groups=8, bias=False)
        self.norm, self.rnn, self.fc = nn.LayerNorm(8), nn.GRU(8, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heard = self.second(torch.relu(self.ear(self.first(x.transpose(1, 2)))))
        return torch.as_tensor(self.fc(self.rnn(self.norm(self.depth(heard).transpose(1, 2)))[0]))


@pytest.mark.parametrize("dynamo", [True, False])
def test_layers_around_the_cells(tmp_path: Path, dynamo: bool) -> None:
    """By both exporters: their options and stored statistics are in the file, and a run agrees."""
    torch.manual_seed(0)
    model, flow, path = Around().eval(), torch.rand(1, 20, 6), tmp_path / "a.onnx"
    for array in (*model.parameters(), *model.buffers()):
        if array.dtype.is_floating_point:
            array.data.uniform_(0.5, 1.5)
    torch.onnx.export(model, (flow,), str(path), dynamo=dynamo, verbose=False)
    text = hold(path, sum(each.numel() for each in model.parameters()))
    kinds = [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith("  - ")]
    assert kinds == ["batch_norm", "conv1d", "batch_norm", "conv1d", "layer_norm", "gru"]
    assert "a run differs" not in text
    assert "activation: relu" in text
    runs_to(spec_of(path), path, flow[0], model(flow)[0].detach().numpy(), "--topology", "many-to-many")
