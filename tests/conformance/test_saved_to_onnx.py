"""Networks that PyTorch exports to ONNX: what is listed, the spec that is read, and a run with the file's weights."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
import torch
from conformance import with_torch
from conformance.drawing import networks
from conformance.saved import called, flow_of, hold, refused, runs_to, spec_of
from conformance.spread import held_by_all, in_parts
from hypothesis import strategies as st
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static
from torch import nn

from rnncalc import Network
from rnncalc.models.files import read
from rnncalc.models.files.model import RemarkKind

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

Module: Any = nn.Module

PIECE = re.compile(r"\.(weight|bias)_(ih|hh)_l0")
"""What PyTorch calls the weights of a recurrent layer, which they are still called where nothing was folded."""


class Drawn(NamedTuple):
    """A network, whether the exporter calculates beforehand what it can, and which tensor to change."""

    network: Network
    fold: bool
    number: int


def _projects(network: Network) -> bool:
    return any(getattr(place.layer, "projection", None) for place in network.stack)


DRAWN = st.builds(
    Drawn,
    networks("pytorch", running=True).filter(lambda network: not _projects(network)),  # which the exporter has not
    st.booleans(),
    st.integers(0, 10**6),
)


@in_parts
def test_any_network(tmp_path_factory: pytest.TempPathFactory, part: int) -> None:
    """Each tensor that the package sees is listed with its numbers, the spec passes, and with one changed it fails."""
    held_by_all(part, DRAWN, lambda drawn: exported_and_read(drawn, tmp_path_factory.mktemp("onnx")))


def exported_and_read(drawn: Drawn, folder: Path) -> None:
    """Hold a network as the exporter writes it."""
    network, path = drawn.network, folder / "a.onnx"
    model = with_torch.Stack(network).eval()
    flow = (torch.tensor(flow_of(network)),)
    torch.onnx.export(model, flow, str(path), dynamo=False, do_constant_folding=drawn.fold)
    file = read(str(path))
    held = onnx.load(path)
    theirs = {each.name: numpy_helper.to_array(each) for each in held.graph.initializer}
    ours = {tensor.name: tensor for tensor in file.tensors}
    for name, array in theirs.items():
        assert ours[name].shape == array.shape
        np.testing.assert_array_equal(ours[name].read(), array)
    assert file.params == network.params
    hold(path, network.params)
    changeable = [tensor.name for tensor in file.tensors if tensor.is_parameter and tensor.name in theirs]
    changed(held, changeable[drawn.number % len(changeable)], path, network)


def changed(held: Any, name: str, path: Path, network: Network) -> None:
    """Hold a copy with one tensor longer against the spec of the file as it was."""
    (of,) = (each for each in held.graph.initializer if each.name == name)
    shape = tuple(of.dims)
    longer = shape[0] + 1, *shape[1:]
    of.CopyFrom(numpy_helper.from_array(np.zeros(longer, np.float32), name))
    copy = path.with_name("changed.onnx")
    onnx.save(held, copy)
    if PIECE.search(name):  # the operator reads the part that it cuts out
        assert called("check", spec_of(path), "--model", copy)[0] == 1
        return
    kinds = {f"layers.{number}.weight": place.layer.kind for number, place in enumerate(network.stack)}
    turned = kinds.get(name) == "dense" or kinds.get(name) == "output"  # PyTorch has it the other way round
    shapes = (shape[::-1], longer[::-1]) if turned else (shape, longer)
    refused(spec_of(path), copy, name, shapes)


class Last(Module):  # type: ignore[misc]
    """A recurrent layer and a dense one."""

    def __init__(self, of: Any, *, ways: bool) -> None:
        super().__init__()
        self.rnn, self.fc = of(3, 4, bidirectional=ways), nn.Linear(8 if ways else 4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.fc(self.rnn(x)[0]))


@pytest.mark.parametrize("ways", [False, True])
@pytest.mark.parametrize("of", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_run_with_the_weights_of_an_exported_file(tmp_path: Path, of: Any, ways: bool) -> None:
    """The operators' layout of gates, directions and biases, and a product and a sum for a dense layer."""
    model, flow, path = Last(of, ways=ways).eval(), torch.rand(5, 1, 3), tmp_path / "a.onnx"
    torch.onnx.export(model, (flow,), str(path), dynamo=False)
    hold(path, sum(each.numel() for each in model.parameters()))
    theirs = model(flow)[:, 0].detach().numpy()
    runs_to(spec_of(path), path, flow[:, 0], theirs, "--topology", "many-to-many")


class Tied(Module):  # type: ignore[misc]
    """A tagger whose output has the matrix of its table, and a softmax along an axis."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.table, self.cell, self.head = nn.Embedding(9, 6), nn.LSTM(6, 6, batch_first=True), nn.Linear(6, 9)
        self.head.weight, self.axis = self.table.weight, axis

    def forward(self, x: Any) -> Any:
        return torch.softmax(self.head(self.cell(self.table(x))[0]), self.axis)


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("axis", [1, 2, -1])
def test_a_softmax_along_an_axis(tmp_path: Path, axis: int, dynamo: bool) -> None:
    """That of the features is an activation, under either number; along the steps no spec has one."""
    path, tokens, model = tmp_path / "a.onnx", torch.tensor([[3, 1, 8, 2]]), Tied(axis).eval()
    torch.onnx.export(model, (tokens,), path, dynamo=dynamo, verbose=False)
    text = hold(path, sum(each.numel() for each in model.parameters()))
    assert "tied: true" in text
    assert ("a run differs" in text) == (axis == 1)
    if axis != 1:
        spec = spec_of(path)
        spec.write_text(f"{text}topology: many-to-many\n")
        with torch.no_grad():
            runs_to(spec, path, tokens[0].numpy(), model(tokens)[0].numpy())


def test_weights_in_branches(tmp_path: Path) -> None:
    """A scripted `if` around a layer."""

    class Branching(Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(3, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if bool(x.sum() > 0):  # noqa: SIM108  the branch is meant
                y = self.a(x)
            else:
                y = self.a(x * 2)
            return y

    path = tmp_path / "a.onnx"
    torch.onnx.export(torch.jit.script(Branching()), (torch.zeros(2, 3),), str(path), dynamo=False)
    hold(path, 4 * (3 + 1))


class Heard(Module):  # type: ignore[misc]
    """A convolution with a ReLU, recurrent layers and a dense layer."""

    def __init__(self, of: Any) -> None:
        super().__init__()
        self.ear, self.rnn = nn.Conv1d(32, 48, 3), of(48, 64, batch_first=True, bidirectional=True)
        self.end = nn.Linear(128, 32)

    def forward(self, x: Any) -> Any:
        """Return a vector for each step."""
        return self.end(self.rnn(torch.relu(self.ear(x.transpose(1, 2))).transpose(1, 2))[0])


class Read(CalibrationDataReader):  # type: ignore[misc]
    """Two sequences to measure the range of each value with."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.flows = [{"x": random.normal(size=(1, 6, 32)).astype(np.float32)} for _ in range(2)]

    def get_next(self) -> Any:
        """Return the next sequence."""
        return self.flows.pop() if self.flows else None


class Mixed(nn.Module):  # type: ignore[misc]
    """A layer of each kind that onnxruntime quantises, or leaves in float."""

    def __init__(self) -> None:
        super().__init__()
        self.emb, self.conv, self.lstm = nn.Embedding(50, 8), nn.Conv1d(8, 8, 3), nn.LSTM(8, 16, batch_first=True)
        self.gru, self.rnn = nn.GRU(16, 16, batch_first=True), nn.RNN(16, 16, batch_first=True)
        self.norm, self.fc = nn.LayerNorm(16), nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(self.emb(x).transpose(1, 2)).transpose(1, 2)
        for layer in (self.lstm, self.gru, self.rnn):
            y = layer(y)[0]
        out: torch.Tensor = self.fc(self.norm(y[:, -1]))
        return out


def test_bytes_of_what_onnx_runtime_quantises(tmp_path: Path) -> None:
    """All arrays of the file that are no scales or zero points, and which of them stay in float."""
    path, small = tmp_path / "a.onnx", tmp_path / "b.onnx"
    torch.onnx.export(Mixed().eval(), torch.zeros(1, 6, dtype=torch.int64), path, dynamo=False)
    quantize_dynamic(path, small)
    arrays = [numpy_helper.to_array(each) for each in onnx.load(small).graph.initializer]
    flags = "-i 50 -l embedding:8 -l conv1d:8,kernel=3 -l lstm:16 -l gru:16 -l rnn:16 -l layer_norm -o 5 -c onnx"
    code, said = called("count", *flags.split(), "--quantize", "int8", "-f", "json")
    counted = json.loads(said)["reports"][0]["quantized"]
    assert code == 0
    assert counted["bytes"] == sum(each.nbytes for each in arrays if each.size > 3)
    assert counted["floating"] == ["gru_1", "rnn_1", "layer_norm_1"]


@pytest.mark.parametrize("of", [nn.LSTM, nn.GRU])
def test_quantised_by_onnx_runtime(tmp_path: Path, of: Any) -> None:
    """What remains and the unpacked quantised weights are the model's parameters; no scale is one."""
    model, path = Heard(of).eval(), tmp_path / "a.onnx"
    torch.onnx.export(model, torch.zeros(1, 6, 32), path, dynamo=False, input_names=["x"])
    for channels in (False, True):
        for kind in (None, QuantFormat.QDQ, QuantFormat.QOperator):
            small = tmp_path / "b.onnx"
            if kind is None:
                quantize_dynamic(path, small, per_channel=channels)
            else:
                quantize_static(path, small, Read(), quant_format=kind, per_channel=channels)
            file = read(str(small))
            (packed,) = (remark.numbers[0] for remark in file.remarks if remark.kind is RemarkKind.QUANTISED)
            assert file.params + packed == sum(each.numel() for each in model.parameters())
            text = hold(small, file.params)
            code, said = called("run", spec_of(small), "--weights", small)
            assert (code, "quantised weights: " in said, "because they are quantised" in text) == (2, True, True)
