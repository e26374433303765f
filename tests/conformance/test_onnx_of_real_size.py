"""Networks of real size that both exporters of PyTorch write to ONNX: what is read, counted and run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import torch
from conformance.saved import called, hold, runs_to, spec_of
from onnxruntime.transformers.float16 import convert_float_to_float16
from torch import nn

from rnncalc.models.files import read

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

Module: Any = nn.Module
Of = Callable[..., Any]


class Modules(Module):  # type: ignore[misc]
    """Modules, and how they are applied to an input, with a dense layer of 5 behind."""

    def __init__(self, applied: Callable[[Any, Any], Any], width: int, **modules: Any) -> None:
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.fc, self.applied = nn.Linear(width, 5), applied

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.fc(self.applied(self, x)))


def cell(of: Of, inputs: int, units: int, **options: Any) -> Any:
    """Return a recurrent layer with weights as training leaves them: none are zeros."""
    return of(inputs, units, batch_first=True, **options)


def plain(model: Any, x: Any) -> Any:
    return model.rnn(x)[0]


def exported(folder: Path, model: Any, flow: torch.Tensor, *, dynamo: bool) -> Path:
    torch.onnx.export(model.eval(), (flow,), str(folder / "a.onnx"), dynamo=dynamo, verbose=False)
    return folder / "a.onnx"


def agrees(path: Path, model: Any, flow: torch.Tensor) -> None:
    """Assert that a run of the draft with the file's weights gives what PyTorch gives."""
    theirs = model(flow)[0].detach().numpy()
    runs_to(spec_of(path), path, flow[0].numpy(), theirs, "--topology", "many-to-many")


TWO: dict[str, Any] = {"num_layers": 2, "bidirectional": True}


@pytest.mark.parametrize(
    ("of", "inputs", "units", "options", "dynamo"),
    [
        (nn.LSTM, 8, 46, {}, True),  # from here on the newer exporter moves weights in the graph
        (nn.GRU, 64, 64, {**TWO, "bias": False}, True),
        (nn.LSTM, 64, 128, {"bias": False}, False),
        (nn.GRU, 64, 128, TWO, False),
    ],
)
def test_a_recurrent_layer(
    tmp_path: Path, of: Of, inputs: int, units: int, options: dict[str, Any], dynamo: bool
) -> None:
    """It is an operator whose weights the graph may slice and join; a run gives what PyTorch gives."""
    torch.manual_seed(0)
    ways = 2 if options.get("bidirectional") else 1
    model = Modules(plain, units * ways, rnn=cell(of, inputs, units, **options))
    flow = torch.rand(1, 6, inputs)
    path = exported(tmp_path, model, flow, dynamo=dynamo)
    params = sum(each.numel() for each in model.parameters())
    text = hold(path, params)
    assert read(str(path)).params == params
    assert "external" not in text
    agrees(path, model, flow)


def test_a_layer_of_512_units_in_two_directions(tmp_path: Path) -> None:
    """All 3.2 million weights are where they belong."""
    model = Modules(plain, 1024, rnn=cell(nn.LSTM, 256, 512, bidirectional=True))
    path = exported(tmp_path, model, torch.rand(1, 3, 256), dynamo=True)
    assert "external" not in hold(path, sum(each.numel() for each in model.parameters()))
    file, ours = read(str(path)), model.rnn.state_dict()
    (r,) = (module.tensors["R"].read() for module in file.modules if "R" in module.tensors)
    for way, suffix in enumerate(("", "_reverse")):
        i, f, g, o = ours[f"weight_hh_l0{suffix}"].split(512)
        assert torch.equal(torch.tensor(r[way]), torch.cat((i, o, f, g)))


def fresh_biases(rnn: Any) -> Any:
    """Return a recurrent layer whose biases are zeros."""
    for name, array in rnn.named_parameters():
        if "bias" in name:
            nn.init.zeros_(array)
    return rnn


def with_norms() -> Any:
    norms = {"first": nn.LayerNorm(64), "second": nn.LayerNorm(64)}
    rnn = fresh_biases(cell(nn.LSTM, 64, 64, num_layers=3))
    return Modules(lambda model, x: model.second(model.rnn(model.first(x))[0]), 64, rnn=rnn, **norms)


def of_sum() -> Any:
    def both(model: Any, x: Any) -> Any:
        forward, backward = model.rnn(x)[0].split(64, 2)
        return forward + backward

    return Modules(both, 64, rnn=cell(nn.LSTM, 64, 64, bidirectional=True))


class Learned(Module):  # type: ignore[misc]
    """An LSTM of two layers with states of their own before the first step."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.fc = cell(nn.LSTM, 64, 64, num_layers=2), nn.Linear(64, 5)
        self.h, self.c = (nn.Parameter(torch.rand(2, 1, 64)) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.fc(self.rnn(x, (self.h, self.c))[0]))


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (with_norms, ["layer_norm", "lstm", "lstm", "lstm", "layer_norm"]),  # new ones: their arrays are equal
        (of_sum, ["lstm"]),
        (Learned, ["lstm", "lstm"]),
    ],
)
def test_layers_whose_arrays_an_exporter_merges_or_moves(
    tmp_path: Path, make: Callable[[], Any], kinds: Sequence[str], dynamo: bool
) -> None:
    """The draft has what the model has, and a run agrees."""
    torch.manual_seed(0)
    model, flow = make(), torch.rand(1, 6, 64)
    path = exported(tmp_path, model, flow, dynamo=dynamo)
    params = sum(each.numel() for each in model.parameters())
    text = hold(path, params)
    assert [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith("  - ")] == kinds
    merged = "numbers for the" in text
    assert merged == (read(str(path)).params < params)
    agrees(path, model, flow)


def pooled(model: Any, x: Any) -> Any:
    return nn.functional.max_pool1d(model.rnn(x)[0].transpose(1, 2), 2).transpose(1, 2)


@pytest.mark.parametrize(
    ("applied", "dynamo", "reason"),
    [
        (lambda model, x: model.rnn(model.rnn(x)[0])[0], True, "it is called more than once"),
        (lambda model, x: model.rnn(model.rnn(x)[0])[0], False, "it is called more than once"),
        (lambda model, x: x + model.rnn(x)[0], True, "part of no layer here: Add"),
        (pooled, False, "part of no layer here: MaxPool"),
    ],
)
def test_what_is_no_stack_of_layers_is_not_run(tmp_path: Path, applied: Any, dynamo: bool, reason: str) -> None:
    """Its parameters are counted once; the reason is in the draft, in a check and in the refusal of a run."""
    model = Modules(applied, 64, rnn=cell(nn.LSTM, 64, 64))
    path = exported(tmp_path, model, torch.rand(1, 6, 64), dynamo=dynamo)
    params = sum(each.numel() for each in model.parameters())
    assert reason in hold(path, params)
    assert read(str(path)).params == params
    code, said = called("run", spec_of(path), "--weights", path, "--steps", 6)
    assert (code, reason in said) == (2, True), said


@pytest.mark.parametrize("dynamo", [True, False])
def test_what_onnxruntime_makes_of_a_file(tmp_path: Path, dynamo: bool) -> None:
    """A dense layer with its activation is one operator of its own, and weights are stored as they are read."""
    head = nn.Linear(64, 128)
    model = Modules(
        lambda model, x: torch.relu(model.head(model.rnn(x)[1][0][-1])), 128, rnn=cell(nn.LSTM, 40, 64), head=head
    )
    flow = torch.rand(1, 6, 40)
    path = exported(tmp_path, model, flow, dynamo=dynamo)
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options)
    for each in (path, tmp_path / "optimised.onnx"):
        text = hold(each, sum(array.numel() for array in model.parameters()))
        assert "activation: relu" in text
        runs_to(spec_of(each), each, flow[0].numpy(), model(flow)[0].detach().numpy(), "--topology", "many-to-one")
    half = convert_float_to_float16(onnx.load(path), keep_io_types=True)  # whose first operator is the last in the file
    onnx.save(half, tmp_path / "half.onnx")
    text = hold(tmp_path / "half.onnx", sum(array.numel() for array in model.parameters()))
    assert ("activation: relu" in text, "written out" in text, "dtype: float16" in text) == (True, False, True)
