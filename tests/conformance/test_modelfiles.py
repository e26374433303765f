"""Networks saved by their framework: `read`'s spec counts the same, `check` holds it, `run` gives the same numbers."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import onnx
import pytest
import torch
from conformance import with_keras, with_torch
from conformance.drawing import networks
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from onnx import numpy_helper
from torch import nn

from rnncalc import Network
from rnncalc.cli import call
from rnncalc.layers.cell import Cell
from rnncalc.modelfiles import read
from rnncalc.modelfiles.model import Role

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

EXAMPLES = 40
"""Networks of PyTorch a run, of others half as many; another seed draws others."""


def called(*words: object) -> tuple[int, str]:
    """Return the exit code of a call, and all that it prints."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(out):
        code = call([str(word) for word in words])
    out.flush()
    return code, raw.getvalue().decode()


Module: Any = nn.Module


class Stack(Module):  # type: ignore[misc]
    """A network's layers one behind the other."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.layers = nn.ModuleList(with_torch.module(place.layer, place.inputs) for place in network.placed)
        self.places = network.placed
        self.last = [n for n, place in enumerate(self.places) if isinstance(place.layer, Cell)][-1]
        self.many = network.topology == "many-to-many"

    def forward(self, flow: Any) -> Any:
        """Return what leaves the last layer, fed with one sequence."""
        for number, (place, layer) in enumerate(zip(self.places, self.layers, strict=True)):
            flow = with_torch.leaving(place.layer, layer, flow, final=number == self.last and not self.many)
        return flow


def safetensors_of(state: dict[str, Any]) -> bytes:
    """Return the bytes of a file as the package of that name writes it: names sorted, one header, the numbers."""
    header, body = {}, b""
    for name in sorted(state):
        data = state[name].contiguous().numpy().tobytes()
        shape = [*state[name].shape]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def hold(path: Path, params: int) -> str:
    """Assert that a file's own spec counts what it holds and is matched by it; return that spec."""
    code, text = called("read", path)
    assert code == 0, text
    spec = path.with_suffix(".yaml")
    spec.write_text(text)
    code, counted = called("count", spec, "-f", "json")
    assert (code, json.loads(counted)["reports"][0]["params"]) == (0, params), text
    code, checked = called("check", spec, "--model", path)
    assert code == 0, f"{text}\n{checked}"
    return text


def written(network: Network) -> str:
    """Return a network as a spec, each layer with the path that `Stack` gives it."""
    lines = [f"convention: {network.convention}", f"input: {network.input}", f"topology: {network.topology}", "layers:"]
    for number, place in enumerate(network.placed):
        layer = place.layer
        fields = {layer.kind: getattr(layer, layer.number)} | {
            key: value
            for key, value in layer.values().items()
            if key != layer.number and value != layer.defaults.get(key) and key not in ("tied", "name")
        }
        words = ", ".join(f"{key}: {str(value).lower()}" for key, value in fields.items())
        lines.append(f"  - {{{words}{f', path: layers.{number}' if place.params else ''}}}")
    return "\n".join(lines) + "\n"


@seed(20)
@given(network=networks("pytorch", running=True), number=st.integers(0, 10**6))
@settings(max_examples=EXAMPLES, suppress_health_check=[*HealthCheck], deadline=None)
def test_any_network_of_pytorch(tmp_path_factory: pytest.TempPathFactory, network: Network, number: int) -> None:
    """As a state dict, a checkpoint, a whole module, TorchScript and safetensors; and with one tensor changed."""
    folder = tmp_path_factory.mktemp("torch")
    torch.manual_seed(number)
    model = Stack(network).eval()
    state = model.state_dict()
    saved = {"state.pt": state, "checkpoint.pth": {"epoch": 1, "model": state}, "whole.bin": list(model.layers)}
    for name, value in saved.items():
        torch.save(value, folder / name)
        hold(folder / name, network.params)
    (folder / "a.safetensors").write_bytes(safetensors_of(state))
    hold(folder / "a.safetensors", network.params)
    own = folder / "own.yaml"
    own.write_text(written(network))
    assert called("check", own, "--model", folder / "state.pt")[0] == 0
    name = [*state][number % len(state)]
    changed = {**state, name: torch.zeros((state[name].shape[0] + 1, *state[name].shape[1:]))}
    torch.save(changed, folder / "changed.pt")
    code, said = called("check", own, "--model", folder / "changed.pt")
    assert code == 1
    shapes = [f"({', '.join(map(str, each[name].shape))})" for each in (state, changed)]
    assert f"expected {shapes[0]}, the file has {shapes[1]} in {name}" in said
    compare(own, folder / "state.pt", network, model, folder)
    compare(own, folder / "a.safetensors", network, model, folder)


def compare(spec: Path, path: Path, network: Network, model: Stack, folder: Path) -> None:
    """Assert that a run with the weights of a file gives what the framework gives."""
    first, steps = network.placed[0], network.steps or 1
    random = np.random.default_rng(1)
    table = first.layer.kind == "embedding"
    flow = random.integers(first.inputs, size=steps) if table else random.uniform(-1, 1, (steps, first.inputs))
    inputs = folder / "inputs.yaml"
    inputs.write_text(json.dumps(flow.astype(np.int64 if table else np.float32).tolist()))
    code, out = called("run", spec, "--weights", path, "--inputs", inputs, "-f", "json")
    assert code == 0, out
    with torch.no_grad():
        theirs = model(torch.tensor(flow, dtype=torch.int64 if table else torch.float32)).numpy()
    np.testing.assert_allclose(json.loads(out)["reports"][0]["outputs"], theirs, rtol=1e-4, atol=1e-5)


@seed(21)
@given(network=networks("keras", running=True))
@settings(max_examples=EXAMPLES // 2, suppress_health_check=[*HealthCheck], deadline=None)
def test_any_network_of_keras(tmp_path_factory: pytest.TempPathFactory, network: Network) -> None:
    """As .keras, .weights.h5 and the HDF5 of Keras 2; from .keras with activations, merges and steps."""
    import jax

    folder = tmp_path_factory.mktemp("keras")
    with jax.enable_x64(False):
        model = _keras(network)
        paths = [folder / name for name in ("a.keras", "b.weights.h5", "c.h5")]
        model.save(paths[0])
        model.save_weights(paths[1])
        model.save(paths[2])
        random = np.random.default_rng(1)
        first, steps = network.placed[0], network.steps or 1
        table = first.layer.kind == "embedding"
        flow = random.integers(first.inputs, size=steps) if table else random.uniform(-1, 1, (steps, first.inputs))
        theirs = np.asarray(model(flow[None].astype(np.int32 if table else np.float32)))[0]
    specs = [hold(path, network.params) for path in paths]
    if network.steps and "external: 0" not in specs[0]:
        inputs = folder / "inputs.yaml"
        inputs.write_text(json.dumps(flow.astype(np.int64 if table else np.float32).tolist()))
        spec = paths[0].with_suffix(".yaml")
        code, out = called("run", spec, "--weights", paths[0], "--inputs", inputs, "-f", "json")
        assert code == 0, f"{out}\n{specs[0]}"
        np.testing.assert_allclose(json.loads(out)["reports"][0]["outputs"], theirs, rtol=1e-3, atol=1e-4)


def _keras(network: Network) -> Any:
    """Return the network as a model of Keras."""
    first = network.placed[0]
    table = first.layer.kind == "embedding"
    shape = (network.steps,) if table else (network.steps, first.inputs)
    layers: list[Any] = [keras.Input(shape, dtype="int32" if table else "float32")]
    last = [n for n, place in enumerate(network.placed) if isinstance(place.layer, Cell)][-1]
    for number, place in enumerate(network.placed):
        if place.layer.kind == "embedding":
            layers.append(keras.layers.Embedding(place.inputs, place.outputs))
        else:
            final = number == last and network.topology == "many-to-one"
            layers.append(with_keras.module(place.layer, final=final))
    model = keras.Sequential(layers)
    random = np.random.default_rng(0)
    model.set_weights([random.uniform(-0.5, 0.5, weight.shape).astype(np.float32) for weight in model.get_weights()])
    return model


@seed(22)
@given(network=networks("pytorch", running=True), fold=st.booleans())
@settings(max_examples=EXAMPLES // 2, suppress_health_check=[*HealthCheck], deadline=None)
def test_any_network_exported_to_onnx(tmp_path_factory: pytest.TempPathFactory, network: Network, fold: bool) -> None:
    """By PyTorch's exporter: each tensor that the package sees is listed with its numbers, and the spec passes."""
    if any(getattr(place.layer, "projection", None) for place in network.placed):
        return  # the exporter has none
    path = tmp_path_factory.mktemp("onnx") / "a.onnx"
    first = network.placed[0]
    table = first.layer.kind == "embedding"
    flow = (
        torch.zeros(network.steps or 1, dtype=torch.int64) if table else torch.zeros(network.steps or 1, first.inputs)
    )
    torch.onnx.export(Stack(network).eval(), (flow,), str(path), dynamo=False, do_constant_folding=fold)
    file = read(str(path))
    theirs = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    ours = {tensor.name: tensor for tensor in file.tensors}
    for name, array in theirs.items():
        assert ours[name].shape == array.shape
        np.testing.assert_array_equal(ours[name].read(), array)
    assert file.params == network.params
    hold(path, network.params)


@pytest.mark.parametrize("ways", [False, True])
@pytest.mark.parametrize("of", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_run_with_the_weights_of_an_exported_file(tmp_path: Path, of: Any, ways: bool) -> None:
    """The operators' layout of gates, directions and biases, and a product and a sum for a dense layer."""

    class Last(Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.fc = of(3, 4, bidirectional=ways), nn.Linear(8 if ways else 4, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.fc(self.rnn(x)[0]))

    model, flow = Last().eval(), torch.rand(5, 1, 3)
    torch.onnx.export(model, (flow,), str(tmp_path / "a.onnx"), dynamo=False)
    hold(tmp_path / "a.onnx", sum(each.numel() for each in model.parameters()))
    inputs = tmp_path / "inputs.yaml"
    inputs.write_text(json.dumps(flow[:, 0].tolist()))
    words = ["--topology", "many-to-many", "--weights", tmp_path / "a.onnx", "--inputs", inputs, "-f", "json"]
    code, out = called("run", tmp_path / "a.yaml", *words)
    assert code == 0, out
    ours = json.loads(out)["reports"][0]["outputs"]
    np.testing.assert_allclose(ours, model(flow)[:, 0].detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "float32"])
def test_every_type_of_pytorch(tmp_path: Path, dtype: str) -> None:
    """Widened to the same numbers."""
    tensor = torch.randn(3, 2).to(getattr(torch, dtype))
    torch.save({"w": tensor}, tmp_path / "a.pt")
    (one,) = read(str(tmp_path / "a.pt")).tensors
    assert one.dtype == dtype
    np.testing.assert_array_equal(one.read(), tensor.double().numpy())


def test_an_old_layout_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    torch.save({"w": torch.ones(2)}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    code, said = called("read", tmp_path / "a.pt")
    assert (code, "save it again with safetensors" in said) == (2, True)


def test_torchscript(tmp_path: Path) -> None:
    """Scripted and traced; buffers by their names."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    torch.jit.script(model).save(tmp_path / "a.pt")
    torch.jit.trace(model, torch.zeros(2, 3)).save(tmp_path / "b.pt")
    for name in ("a.pt", "b.pt"):
        hold(tmp_path / name, 4 * (3 + 1) + 8)
        roles = {tensor.name: tensor.role for tensor in read(str(tmp_path / name)).tensors}
        assert roles["1.running_mean"] is Role.BUFFER


def test_weights_in_branches_that_pytorch_exports(tmp_path: Path) -> None:
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


def test_frozen_layers_and_optimizers_of_keras(tmp_path: Path) -> None:
    """`trainable: false` is frozen, moving averages are buffers, and an optimizer's states are as many again."""
    layers = [keras.Input((5, 3)), keras.layers.LSTM(2), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    model.fit(np.zeros((2, 5, 3)), np.zeros((2, 1)), verbose=0)
    model.save(tmp_path / "a.keras")
    text = hold(tmp_path / "a.keras", 4 * 2 * (3 + 2 + 1) + 4 + 3)
    assert "frozen: true" in text
    roles = [tensor.role for tensor in read(str(tmp_path / "a.keras")).tensors]
    assert roles.count(Role.BUFFER) == 2
    assert roles.count(Role.OPTIMIZER) >= 4


def test_wrapped_and_nested_layers_of_keras(tmp_path: Path) -> None:
    """In the order of the configuration, wherever they are in it."""
    dense = keras.layers.TimeDistributed(keras.layers.Dense(4, activation="relu"))
    inner = keras.Sequential([keras.layers.GRU(3, recurrent_activation="hard_sigmoid"), keras.layers.Dense(2)])
    model = keras.Sequential([keras.Input((5, 3)), dense, inner])
    model.save(tmp_path / "a.keras")
    text = hold(tmp_path / "a.keras", 4 * (3 + 1) + 3 * 3 * (4 + 3 + 2) + 2 * (3 + 1))
    assert [line.split(":")[0].strip(" -") for line in text.splitlines() if line.startswith(("  -", "output"))] == [
        "dense",
        "gru",
        "output",
    ]
    assert "a run differs" in text


Change = Callable[[Path], None]


def _circle(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_group("a")["b"] = file["/"]
        file["a"]["c"] = file["a"]


def _deep(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(100):
            group = group.create_group("g")


def _outside(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = h5py.ExternalLink("/etc/passwd", "/")
        file["y"] = h5py.SoftLink("/nowhere")


@pytest.mark.parametrize(("change", "code"), [(_circle, 0), (_deep, 2), (_outside, 0)])
def test_links_of_hdf5(tmp_path: Path, change: Change, code: int) -> None:
    """Circles are gone round once, depths refused, links elsewhere named and not followed."""
    path = tmp_path / "a.h5"
    change(path)
    ended, said = called("read", path)
    assert ended == code, said
    assert change is not _outside or "x and y" in said


def test_numbers_of_hdf5_that_are_elsewhere(tmp_path: Path) -> None:
    """An array whose numbers are in another file is listed, and not read."""
    (tmp_path / "raw").write_bytes(bytes(100))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("w", (2,), "f4", external=[(str(tmp_path / "raw"), 0, 8)])
    (one,) = read(str(tmp_path / "a.h5")).tensors
    with pytest.raises(ValueError, match="in another file"):
        one.read()


@pytest.mark.parametrize("name", ["a.weights.h5", "a.keras"])
def test_a_file_cut_anywhere(tmp_path: Path, name: str) -> None:
    """At many bytes of a small file of Keras, and with bytes changed: one line, and never a traceback."""
    model = keras.Sequential([keras.Input((2, 1)), keras.layers.SimpleRNN(1)])
    model.save_weights(tmp_path / name) if name.endswith(".h5") else model.save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    path = tmp_path / f"cut{name}"
    for end in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(whole[:end])
        code, said = called("read", path)
        assert (code, said.count("\n")) == (2, 1), said


def test_a_zip_within_is_no_way_round(tmp_path: Path) -> None:
    """A packed .keras is unpacked as far as it may grow, and no further."""
    path = tmp_path / "a.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", "{}")
        file.writestr("model.weights.h5", bytes(70_000_000))
    code, said = called("read", path)
    assert (code, "at most 64,000,000" in said) == (2, True)
