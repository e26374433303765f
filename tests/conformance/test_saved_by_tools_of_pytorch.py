"""What PyTorch's own tools make of a network of real size: its parameters are counted, and nothing else.

Seen in torch 2.13 in November 2026; the keys of checkpoints are those of lightning 2.6, fastai and timm.
"""

from argparse import Namespace
from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from conformance.saved import called, external_params, hold, runs_to, spec_of
from torch import nn
from torch.nn.utils import parametrizations, prune, spectral_norm, weight_norm
from torch.optim.swa_utils import AveragedModel

from rnncalc.models.files import read
from rnncalc.models.files.model import RemarkKind

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]


class Tagger(nn.Module):  # type: ignore[misc]
    """A table, two layers in two directions, a norm and a head."""

    def __init__(self, *, heads: int = 0) -> None:
        super().__init__()
        self.emb, self.rnn = nn.Embedding(1000, 64), nn.LSTM(64, 128, 2, bidirectional=True, batch_first=True)
        self.attn = nn.MultiheadAttention(256, heads, batch_first=True) if heads else None
        self.bn, self.fc = nn.BatchNorm1d(256), nn.Linear(256, 10)
        for tensor in (self.bn.weight, self.bn.bias, self.bn.running_mean, self.bn.running_var):
            nn.init.uniform_(tensor, 0.5, 2)  # as after training, and not all equal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.rnn(self.emb(x))[0]
        if self.attn is not None:
            y = self.attn(y, y, y, need_weights=False)[0]
        out: torch.Tensor = self.fc(self.bn(y.transpose(1, 2)).transpose(1, 2))
        return out


def size(model: nn.Module) -> int:
    """Return how many parameters PyTorch counts: 661,002 of a Tagger."""
    return sum(tensor.numel() for tensor in model.parameters())


def saved(path: Path, value: Any) -> Path:
    torch.save(value, path)
    return path


def test_a_program(tmp_path: Path) -> None:
    """Of torch.export: names and roles are PyTorch's, and so are the outputs."""
    model, flow = Tagger().eval(), torch.arange(2)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (flow[None],)), tmp_path / "tagger.pt2")
        theirs = model(flow[None])[0].numpy()
    text, spec = hold(tmp_path / "tagger.pt2", size(model)), spec_of(tmp_path / "tagger.pt2")
    assert "lstm: 128\n    repeat: 2\n" in text
    spec.write_text(f"{text}topology: many-to-many\n")
    runs_to(spec, tmp_path / "tagger.pt2", flow, theirs)


def test_activations_of_a_program(tmp_path: Path) -> None:
    """Of torch.export: relu of an RNN, and what is behind a linear; the draft computes what the model does."""
    model = nn.Sequential(
        nn.Linear(3, 4), nn.Sigmoid(), Last(nn.RNN(4, 5, 2, "relu", batch_first=True)), nn.Linear(5, 2)
    )
    x = torch.linspace(-1, 1, 12).reshape(1, 4, 3)
    with torch.no_grad():
        torch.export.save(torch.export.export(model.eval(), (x,)), tmp_path / "relu.pt2")
        theirs = model(x)[0].numpy()
    text, spec = hold(tmp_path / "relu.pt2", size(model)), spec_of(tmp_path / "relu.pt2")
    assert "activation: sigmoid" in text
    assert 'repeat: 2\n    path: "2.layer"\n    activation: relu\n' in text
    runs_to(spec, tmp_path / "relu.pt2", x[0], theirs)


class Tied(nn.Module):  # type: ignore[misc]
    """A tagger whose output has the matrix of its table, and a softmax along an axis."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.table, self.cell, self.head = nn.Embedding(9, 6), nn.LSTM(6, 6, batch_first=True), nn.Linear(6, 9)
        self.head.weight, self.axis = self.table.weight, axis

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.head(self.cell(self.table(x))[0]), self.axis)


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_a_softmax_of_a_program(tmp_path: Path, axis: int) -> None:
    """Along the features it is an activation, under either number; a matrix that is shared keeps its layers' order."""
    model, tokens = Tied(axis).eval(), torch.tensor([[3, 1, 8, 2]])
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (tokens,)), tmp_path / "a.pt2")
        theirs = model(tokens)[0].numpy()
    text, spec = hold(tmp_path / "a.pt2", size(model)), spec_of(tmp_path / "a.pt2")
    assert "tied: true" in text
    assert ("a run differs" in text) == (axis == 1)
    if axis != 1:
        spec.write_text(f"{text}topology: many-to-many\n")
        runs_to(spec, tmp_path / "a.pt2", tokens[0], theirs)


class Last(nn.Module):  # type: ignore[misc]
    """The outputs of a recurrent layer at the last step."""

    def __init__(self, layer: nn.RNN) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer(x)[0][:, -1]
        return y


@pytest.mark.parametrize("heads", [0, 4])
def test_torchscript(tmp_path: Path, heads: int) -> None:
    """Scripted and traced; frozen, where weights are constants without names, and a norm's statistics beside them."""
    model = Tagger(heads=heads).eval()
    scripted = torch.jit.script(model)
    traced = torch.jit.trace(model, torch.zeros(2, 7, dtype=torch.int64), check_trace=False)
    for number, each in enumerate((scripted, traced, torch.jit.freeze(scripted), torch.jit.freeze(traced))):
        each.save(tmp_path / f"{number}.pt")
        text = hold(tmp_path / f"{number}.pt", size(model))
        assert "embedding: 64\n" in text
        assert "lstm: 128\n    repeat: 2\n" in text
        assert "bidirectional: true\n" in text
        assert "batch_norm:" in text
    torch.jit.optimize_for_inference(torch.jit.script(model)).save(tmp_path / "o.pt")
    hold(tmp_path / "o.pt", size(model))
    if not heads:
        flow = torch.arange(2)
        with torch.no_grad():
            theirs = model(flow[None])[0].numpy()
        spec = spec_of(tmp_path / "2.pt")
        spec.write_text(f"{spec.read_text()}topology: many-to-many\n")
        runs_to(spec, tmp_path / "2.pt", flow.numpy(), theirs)


class Kinds(nn.Module):  # type: ignore[misc]
    """One layer of each kind that an operator of TorchScript is."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(40, 64, 5), nn.LayerNorm(64)
        self.gru, self.rnn = nn.GRU(64, 128), nn.RNN(128, 64, nonlinearity="relu", bias=False)
        self.lstm, self.cell = nn.LSTM(64, 64, proj_size=16), nn.LSTMCell(16, 20)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.lstm(self.rnn(self.gru(self.norm(self.conv(x.T[None])[0].T))[0])[0])[0]
        first: tuple[torch.Tensor, torch.Tensor] = self.cell(x[:1])
        second: tuple[torch.Tensor, torch.Tensor] = self.cell(x[1:2], first)
        return second[0]


def test_operators_of_frozen_torchscript(tmp_path: Path) -> None:
    """Each is its layer, one that is called twice once."""
    model = Kinds().eval()
    torch.jit.freeze(torch.jit.script(model)).save(tmp_path / "a.pt")
    text = hold(tmp_path / "a.pt", size(model))
    assert "external" not in text
    for part in ("conv1d: 64", "layer_norm:", "gru: 128", "activation: relu", "projection: 16", "lstm: 20"):
        assert part in text, text
    torch.jit.freeze(torch.jit.trace(model, torch.zeros(9, 40))).save(tmp_path / "b.pt")
    assert "conv1d: 64" in hold(tmp_path / "b.pt", size(model))


def test_buffers_of_torchscript(tmp_path: Path) -> None:
    """The archive says which they are, whatever their names; what is not trained is frozen."""
    model: Any = nn.Sequential(nn.Linear(64, 128), nn.Linear(128, 10))
    model[0].register_buffer("mystery", torch.randn(7, 9))
    model[0].weight.requires_grad_(False)
    torch.jit.script(model).save(tmp_path / "a.pt")
    text = hold(tmp_path / "a.pt", 64 * 128 + 128 + 128 * 10 + 10)
    assert "left out: 1 tensor of 63 numbers (buffer): 0.mystery" in text
    assert [tensor.name for tensor in read(str(tmp_path / "a.pt")).tensors if tensor.frozen] == ["0.weight"]


def test_modules_within_calls(tmp_path: Path) -> None:
    """A compiled module is the argument of a call in its pickle, as are the fields of a traced one."""
    model = Small()
    for value in (torch.compile(model), torch.fx.symbolic_trace(model), nn.DataParallel(model)):
        text = hold(saved(tmp_path / "a.pt", value), size(model))
        assert "external" not in text
    parts = {"params": dict(model.named_parameters()), "buffers": {"window": torch.randn(64)}}
    assert "(buffer): buffers.window\n" in hold(saved(tmp_path / "a.pt", parts), size(model))


def checkpoints() -> dict[str, Any]:
    model = Tagger()
    weights, other = model.state_dict(), deepcopy(model).state_dict()
    average = AveragedModel(model)
    return {
        "lightning": {"epoch": 1, "state_dict": other, "current_model_state": weights, "averaging_state": {"n": 1}},
        "whole": {"model": model, "ema": deepcopy(model)},
        "best": {"model": weights, "best_model": other},
        "best_state": {"best_state_dict": other, "state_dict": weights},
        "average": {"model": weights, "other": average.state_dict()},
        "average alone": average.state_dict(),
        "average beside": nn.ModuleDict({"model": model, "average": average}).state_dict(),
        "ema alone": {"ema_state_dict": weights},
    }


@pytest.mark.parametrize("name", checkpoints())
def test_copies_are_counted_once(tmp_path: Path, name: str) -> None:
    """Best, current and averaged weights beside the others, and alone."""
    text = hold(saved(tmp_path / "a.pt", checkpoints()[name]), 661_002)
    assert external_params(tmp_path / "a.pt") == 0
    assert ("averages or copies" in text) == ("alone" not in name)
    assert text.count("batch_norm:") == 1


def test_two_networks_are_no_copies(tmp_path: Path) -> None:
    """Of the same layers, as a GAN's two generators have them."""
    hold(saved(tmp_path / "a.pt", {name: nn.GRU(64, 128).state_dict() for name in ("G_A", "G_B")}), 2 * 74_496)


class Small(nn.Module):  # type: ignore[misc]
    """A convolution, two layers and a head."""

    def __init__(self, channels: int = 40, units: int = 128) -> None:
        super().__init__()
        self.conv, self.rnn = nn.Conv1d(channels, units, 5), nn.LSTM(units, units, 2)
        self.fc = nn.Linear(units, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.fc(self.rnn(self.conv(x.T[None])[0].T)[0])[-1]
        return out


def _new(of: Callable[..., object], *names: str) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        for name in names:
            path, _, leaf = name.partition(".")
            of(getattr(model, path), leaf or "weight")

    return change


ALL = "conv", "fc", "rnn.weight_hh_l1"
STORED: dict[str, tuple[Callable[[Any], None], int, str]] = {
    "weight_norm": (_new(weight_norm, *ALL), 128 + 10 + 512, "is not computed here"),
    "weight_norm now": (_new(parametrizations.weight_norm, *ALL), 128 + 10 + 512, "is not computed here"),
    "spectral_norm": (_new(spectral_norm, *ALL), 0, ""),
    "spectral_norm now": (_new(parametrizations.spectral_norm, *ALL), 0, ""),
    "orthogonal": (_new(parametrizations.orthogonal, "fc", "rnn.weight_hh_l0"), 0, "has a parametrization in"),
    "pruning": (_new(partial(prune.random_unstructured, amount=0.3), *ALL, "fc.bias"), 0, ""),
}


@pytest.mark.parametrize("name", STORED)
def test_weights_stored_in_parts(tmp_path: Path, name: str) -> None:
    """A layer is known, with what the tool adds to its parameters; a run uses PyTorch's weights, or refuses."""
    change, more, refusal = STORED[name]
    for units in (128, 12):
        torch.manual_seed(0)
        model, plain = Small(units=units), size(Small(units=units))
        change(model)
        flow = torch.randn(20, 40)
        model(flow)  # makes the vectors of a spectral norm
        state = {name: tensor.contiguous() for name, tensor in model.eval().state_dict().items()}
        path = saved(tmp_path / f"{units}.pt", state)
        safetensors.torch.save_file(state, tmp_path / f"{units}.safetensors")
        assert size(model) == plain + (more if units == 128 else more and 12 + 10 + 48)
        for file in (path, path.with_suffix(".safetensors")):
            text = hold(file, size(model))
            assert [text.count(f"{kind}:") for kind in ("conv1d", "lstm")] == [1, 1], text
            assert "repeat: 2\n" in text
            assert external_params(file) == size(model) - plain
    with torch.no_grad():
        theirs = model(flow).numpy()
    if refusal:
        code, text = called("run", spec_of(path), "-T", 20, "--weights", path)
        assert (code, refusal in text) == (2, True), text
    else:
        runs_to(spec_of(path), path, flow.numpy(), theirs)


class Classes(nn.Module):  # type: ignore[misc]
    """A loss with weights of classes, and an empty parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.fc = nn.LSTM(64, 128), nn.Linear(128, 10)
        self.crit = nn.CrossEntropyLoss(weight=torch.rand(10))
        self.bce_loss = nn.BCEWithLogitsLoss(pos_weight=torch.rand(10))
        self.none = nn.Parameter(torch.zeros(0))


def test_what_is_no_layer(tmp_path: Path) -> None:
    """The weights of a loss, what is empty, and objects of other programs, which are named."""
    model = Classes()
    optimizer = torch.optim.Adam(model.parameters())
    for value in (model.state_dict(), {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, model):
        text = hold(saved(tmp_path / "a.pt", value), 100_618)
        assert "external" not in text
    safetensors.torch.save_file(model.state_dict(), tmp_path / "a.safetensors")
    assert "(buffer): bce_loss.pos_weight and crit.weight\n" in hold(tmp_path / "a.safetensors", 100_618)
    value = {"model": model.state_dict(), "args": Namespace(lr=0.1)}
    assert "which are not looked into: argparse.Namespace." in hold(saved(tmp_path / "b.pt", value), 100_618)


def test_an_optimizer_tells_what_is_trained(tmp_path: Path) -> None:
    """Weights of classes under any name are in no state of it; a norm's one vector is."""
    model = nn.ModuleDict({"rnn": nn.LSTM(64, 128), "norm": nn.RMSNorm(128), "fc": nn.Linear(128, 10)})
    model["ce"] = nn.CrossEntropyLoss(weight=torch.rand(10))
    for optimizer in (torch.optim.Adam(model.parameters()), torch.optim.SGD(model.parameters(), 0.1, 0.9)):
        for tensor in model.parameters():
            tensor.grad = torch.zeros_like(tensor)
        optimizer.step()
        checkpoint = {"state_dict": model.state_dict(), "optimizer_states": [optimizer.state_dict()]}
        assert "(buffer, optimizer): state_dict.ce.weight\n" in hold(saved(tmp_path / "a.pt", checkpoint), 100_746)


def test_an_optimizer_is_told_by_its_form(tmp_path: Path) -> None:
    """Under any key, whatever its states are called, and as an object that has the model's parameters too."""
    model = nn.Sequential(nn.LSTM(64, 128), nn.Linear(128, 10))
    for kind in (torch.optim.Adagrad, torch.optim.Rprop, torch.optim.Adafactor, torch.optim.NAdam):
        optimizer = kind(model.parameters(), lr=torch.tensor(0.1))
        for tensor in model.parameters():
            tensor.grad = torch.zeros_like(tensor)
        optimizer.step()
        for one in ({"o": optimizer.state_dict()}, {"o": [optimizer.state_dict()]}, {"o": optimizer}):
            text = hold(saved(tmp_path / "a.pt", {"net": model.state_dict(), **one}), size(model))
            assert "external" not in text


def test_each_model_of_a_list(tmp_path: Path) -> None:
    """As of the folds of a cross-validation; a network has no number as its name."""
    models = [nn.Sequential(OrderedDict(rnn=nn.LSTM(64, 128), fc=nn.Linear(128, 10))) for _ in range(2)]
    text = hold(saved(tmp_path / "a.pt", [model.state_dict() for model in models]), 2 * size(models[0]))
    assert "  network_0:\n" in text


def test_a_bilinear_layer(tmp_path: Path) -> None:
    """It has the tensors of a convolution, and the name of its module tells."""
    model = nn.ModuleDict({"bilinear": nn.Bilinear(20, 30, 40), "fc": nn.Linear(40, 10)})
    for value in (model, model.state_dict()):
        assert "conv1d" not in hold(saved(tmp_path / "a.pt", value), 24_450)
    text = hold(
        saved(tmp_path / "a.pt", {name.replace("bilinear", "bi"): tensor for name, tensor in value.items()}), 24_450
    )
    assert "# a convolution, or an nn.Bilinear, which has the same tensors\n" in text


@pytest.mark.parametrize("bias", [True, False])
def test_a_tied_head_without_an_alias(tmp_path: Path, bias: bool) -> None:
    """As transformers' save_pretrained and accelerate's save_model store it: once, and no word of the other name."""
    model: Any = nn.ModuleDict({"emb": nn.Embedding(1000, 128), "rnn": nn.LSTM(128, 128)})
    model["fc"] = nn.Linear(128, 1000, bias=bias)
    model["fc"].weight = model["emb"].weight
    state = {name: tensor for name, tensor in model.state_dict().items() if name != "fc.weight"}
    safetensors.torch.save_file(state, tmp_path / "a.safetensors", metadata={"format": "pt"})
    for path in (tmp_path / "a.safetensors", saved(tmp_path / "pytorch_model.bin", state)):
        text = hold(path, size(model))
        assert ("tied: true" in text, "external" in text) == (bias, False)


def test_books_of_codes_and_masks(tmp_path: Path) -> None:
    """Of a quantised autoencoder, of an STFT, and of SpeechBrain's cells beside trained states of the same name."""
    names = [
        "vq.embed",
        "vq.embed_avg",
        "vq.cluster_size",
        "stft.forward_basis_buffer",
        "rnn.drop_mask_te",
        "rnn.h_init",
    ]
    state = {**{name: torch.randn(4, 8) for name in names}, **nn.GRU(64, 128).state_dict(prefix="gru.")}
    text = hold(saved(tmp_path / "a.pt", {**state, "gru_state.h_init": torch.randn(1, 128)}), 74_496 + 128)
    assert f"left out: 6 tensors of 192 numbers (buffer): {', '.join(names[:-1])} and {names[-1]}\n" in text


def test_remarks_are_of_the_file(tmp_path: Path) -> None:
    """Equal vectors that a frozen module stores once are counted for each operator, and named."""
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)).eval()
    for layer in model:
        nn.init.zeros_(layer.bias)
    torch.jit.freeze(torch.jit.script(model)).save(tmp_path / "a.pt")
    hold(tmp_path / "a.pt", 2 * 64 * 65)
    (names,) = (each.names for each in read(str(tmp_path / "a.pt")).remarks if each.kind is RemarkKind.EQUAL)
    assert names == ("linear.bias", "linear_1.bias")
