"""Networks saved by PyTorch: `read`'s spec counts the same, `check` holds it, `run` gives the same numbers."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import safetensors.torch
import torch
from conformance import with_torch
from conformance.drawing import networks
from conformance.saved import called, flow_of, hold, refused, runs_to, spec_of, written
from conformance.spread import held_by_all, in_parts
from hypothesis import strategies as st
from torch import nn

from rnncalc import Network
from rnncalc.models.files import read
from rnncalc.models.files.model import RemarkKind, TensorRole

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]


class Drawn(NamedTuple):
    """A network, and a number that its weights and the tensor to change are drawn from."""

    network: Network
    number: int


DRAWN = st.builds(Drawn, networks("pytorch", running=True), st.integers(0, 10**6))


@in_parts
def test_any_network(tmp_path_factory: pytest.TempPathFactory, part: int) -> None:
    """As a state dict, a checkpoint, a whole module, TorchScript and arrays; and with one tensor changed."""
    held_by_all(part, DRAWN, lambda drawn: saved_and_read(drawn, tmp_path_factory.mktemp("torch")))


def saved_and_read(drawn: Drawn, folder: Path) -> None:
    """Hold a network in every format that PyTorch writes."""
    network, number = drawn
    torch.manual_seed(number)
    model = with_torch.Stack(network).eval()
    state = model.state_dict()
    saved = {"state.pt": state, "checkpoint.pth": {"epoch": 1, "model": state}, "whole.bin": list(model.layers)}
    for name, value in saved.items():
        torch.save(value, folder / name)
        hold(folder / name, network.params)
    safetensors.torch.save_file(state, folder / "a.safetensors")
    hold(folder / "a.safetensors", network.params)
    flow = flow_of(network)
    np.savez_compressed(folder / "a.npz", **{name: np.asfortranarray(tensor) for name, tensor in state.items()})
    hold(folder / "a.npz", network.params)
    torch.jit.trace(model, torch.tensor(flow), check_trace=False).save(folder / "traced.pt")
    hold(folder / "traced.pt", network.params)
    own = folder / "own.yaml"
    own.write_text(written(network, path="layers.{}"))
    assert called("check", own, "--model", folder / "state.pt")[0] == 0
    name = [*state][number % len(state)]
    shapes = tuple(state[name].shape), (state[name].shape[0] + 1, *state[name].shape[1:])
    changed = {**state, name: torch.zeros(shapes[1])}
    torch.save(changed, folder / "changed.pt")
    safetensors.torch.save_file(changed, folder / "changed.safetensors")
    for copy in ("changed.pt", "changed.safetensors"):
        refused(own, folder / copy, name, shapes)
    with torch.no_grad():
        theirs = model(torch.tensor(flow)).numpy()
    for weights in ("state.pt", "a.safetensors", "a.npz"):
        runs_to(own, folder / weights, flow, theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "float32"])
def test_every_type(tmp_path: Path, dtype: str) -> None:
    """Widened to the same numbers, from both of its formats."""
    tensor = torch.randn(3, 2).to(getattr(torch, dtype))
    torch.save({"w": tensor}, tmp_path / "a.pt")
    safetensors.torch.save_file({"w": tensor}, tmp_path / "a.safetensors")
    for name in ("a.pt", "a.safetensors"):
        (one,) = read(str(tmp_path / name)).tensors
        assert one.dtype == dtype
        np.testing.assert_array_equal(one.read(), tensor.double().numpy())


def test_a_checkpoint_of_two_heads_in_half_precision(tmp_path: Path) -> None:
    """A loss beside the tables of tensors is no parameter, each head is a network, and a number has two bytes."""
    layers = {
        "embed": nn.Embedding(30, 8),
        "body": nn.LSTM(8, 12),
        "intent": nn.Linear(12, 4),
        "slots": nn.Linear(12, 7),
    }
    model = nn.ModuleDict(layers).half()
    params, state = sum(each.numel() for each in model.parameters()), model.state_dict()
    optimizer = torch.optim.AdamW(model.parameters())
    sum(each.sum() for each in model.parameters()).backward()
    optimizer.step()
    torch.save({"model": state, "optimizer": optimizer.state_dict(), "loss": torch.tensor(0.3)}, tmp_path / "a.pt")
    torch.save(model, tmp_path / "b.pt")
    safetensors.torch.save_file(state, tmp_path / "c.safetensors")
    for name in ("a.pt", "b.pt", "c.safetensors"):
        text = hold(tmp_path / name, params)
        assert "dtype: float16\nnetworks:\n" in text
        assert all(f"{head}:\n    input: 12\n" in text for head in ("intent", "slots"))
        _, counted = called("count", tmp_path / name, "-f", "json")
        assert f'\n  "bytes": {2 * params},' in counted
        assert '\n  "dtype": "float16",' in counted


def test_an_old_layout_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    torch.save({"w": torch.ones(2)}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    code, said = called("read", tmp_path / "a.pt")
    assert (code, "save it again with torch.save(model.state_dict(), 'model.pt')" in said) == (2, True)


def test_torchscript(tmp_path: Path) -> None:
    """Scripted and traced; buffers by their names."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    torch.jit.script(model).save(tmp_path / "a.pt")
    torch.jit.trace(model, torch.zeros(2, 3)).save(tmp_path / "b.pt")
    for name in ("a.pt", "b.pt"):
        hold(tmp_path / name, 4 * (3 + 1) + 8)
        roles = {tensor.name: tensor.role for tensor in read(str(tmp_path / name)).tensors}
        assert roles["1.running_mean"] is TensorRole.BUFFER


def test_metadata_of_safetensors(tmp_path: Path) -> None:
    """What the package writes beside the tensors is none of them."""
    state: dict[str, Any] = nn.LSTM(3, 2).state_dict()
    safetensors.torch.save_file(state, tmp_path / "a.safetensors", metadata={"format": "pt"})
    hold(tmp_path / "a.safetensors", 4 * 2 * (3 + 2 + 2))


def tied(table: str, output: str, *, bias: bool) -> Any:
    """Return a language model whose output has the matrix of its table."""
    model = nn.ModuleDict({table: nn.Embedding(20, 5), "rnn": nn.LSTM(5, 5), output: nn.Linear(5, 20, bias=bias)})
    model[output].weight = model[table].weight
    return model


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("names", [("emb", "fc"), ("encoder", "decoder"), ("embedding", "decoder"), ("wte", "lm_head")])
def test_a_tied_model_saved_by_save_model(tmp_path: Path, names: tuple[str, str], bias: bool) -> None:
    """Which name safetensors keeps is that which comes first; the spec is of the table and of the tied output."""
    path = tmp_path / "a.safetensors"
    safetensors.torch.save_model(tied(*names, bias=bias), str(path))
    text = hold(path, 20 * 5 + 4 * 5 * (5 + 5 + 2) + 20 * bias)
    assert "input: 20\n" in text
    assert "embedding: 5\n" in text
    assert "tied: true\n" in text


def test_quantised_weights_are_named(tmp_path: Path) -> None:
    """Of each kind of layer that PyTorch quantises dynamically, as a state dict and as a module."""
    layers = [nn.Embedding(20, 4), nn.LSTM(4, 5), nn.GRU(5, 5), nn.GRUCell(5, 5), nn.Linear(5, 2)]
    kinds = {type(layer) for layer in layers[1:]}
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(*layers), kinds, dtype=torch.qint8)
    torch.save(model.state_dict(), tmp_path / "a.pt")
    torch.save(model, tmp_path / "b.pt")
    script = nn.Module()
    script.kept, script.forward = model, lambda x: x
    for number in range(1, 5):
        model[number] = torch.jit.script(model[number])
    torch.jit.trace(script, torch.zeros(1)).save(tmp_path / "c.pt")
    for name in ("a.pt", "b.pt", "c.pt"):
        (names,) = (
            remark.names for remark in read(str(tmp_path / name)).remarks if remark.kind is RemarkKind.QUANTISED
        )
        assert {path.removeprefix("kept.").partition(".")[0] for path in names} == {"1", "2", "3", "4"}, name
        code, said = called("read", tmp_path / name)
        assert (code, "1._all_weight_values.0.param" in said) == (0, True)


def test_bytes_of_what_pytorch_quantises(tmp_path: Path) -> None:
    """A file has the bytes that are counted, and a few for names and scales; what stays in float is named."""
    layers = [nn.Embedding(900, 96), nn.RNN(96, 96), nn.TransformerEncoderLayer(96, 4, 128), nn.LSTM(96, 128, 2)]
    layers += [nn.GRU(128, 64, bidirectional=True), nn.LayerNorm(128), nn.Linear(128, 900)]
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(*layers), dtype=torch.qint8)
    torch.save(model.state_dict(), tmp_path / "a.pt")
    flags = "-l embedding:96 -l rnn:96 -l transformer:4,feed_forward=128 -l lstm:128,repeat=2 -l gru:64,bidirectional"
    words = ["-i", "900", *flags.split(), "-l", "layer_norm", "-o", "900", "-c", "pytorch"]
    code, said = called("count", *words, "--quantize", "int8", "-f", "json")
    counted = json.loads(said)["reports"][0]["quantized"]
    assert code == 0
    assert 0 < (tmp_path / "a.pt").stat().st_size - counted["bytes"] < 20_000
    assert counted["floating"] == ["embedding_1", "rnn_1", "layer_norm_1"]
    projected = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.LSTM(4, 8, proj_size=2)), dtype=torch.qint8)
    with pytest.raises(RuntimeError, match="packB"):
        projected(torch.zeros(3, 1, 4))


BLOCK = {
    "self_attn.in_proj_": "",
    "self_attn.out_proj.": "",
    "norm1.": "",
    "linear1.": "",
    "linear2.": "",
    "norm2.": "",
}
PARTS = ["query", "key", "value"]
LIBRARIES: dict[str, tuple[str, list[str], list[str]]] = {
    "pytorch": ("enc.layers.{}.", ["self_attn.in_proj_"], [*BLOCK][1:]),
    "bert": (
        "bert.encoder.layer.{}.",
        [f"attention.self.{part}." for part in PARTS],
        [
            *("attention.output.dense.", "attention.output.LayerNorm.", "intermediate.dense.", "output.dense."),
            "output.LayerNorm.",
        ],
    ),
    "gpt-2": ("h.{}.", ["attn.c_attn."], ["attn.c_proj.", "ln_1.", "mlp.c_fc.", "mlp.c_proj.", "ln_2."]),
    "timm": ("blocks.{}.", ["attn.qkv."], ["attn.proj.", "norm1.", "mlp.fc1.", "mlp.fc2.", "norm2."]),
    "vit": (  # in memory; save_pretrained writes its former names (transformers 5.24)
        "layers.{}.",
        [f"attention.{part}_proj." for part in "qkv"],
        ["attention.o_proj.", "layernorm_before.", "mlp.fc1.", "mlp.fc2.", "layernorm_after."],
    ),
    "bart": (
        "model.encoder.layers.{}.",
        [f"self_attn.{part}_proj." for part in "qkv"],
        ["self_attn.out_proj.", "self_attn_layer_norm.", "fc1.", "fc2.", "final_layer_norm."],
    ),
}
"""What libraries call the parts of a block, by their order in nn.TransformerEncoderLayer."""


def renamed(layers: Any, library: str) -> dict[str, torch.Tensor]:
    """Return the state dict of blocks as a library has it; GPT-2's matrices are input by output."""
    path, projections, others = LIBRARIES[library]
    state = {}
    for number, layer in enumerate(layers):
        for name, tensor in layer.state_dict().items():
            end = "weight" if name.endswith("weight") else "bias"
            place = [*BLOCK].index(name.removesuffix(end))
            names = [others[place - 1]] if place else projections
            for each, part in zip(names, tensor.chunk(len(names)), strict=True):
                turned = part.T if library == "gpt-2" and part.dim() == 2 else part
                state[f"{path.format(number)}{each}{end}"] = turned.contiguous()
    return state


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("library", LIBRARIES)
def test_transformers(tmp_path: Path, library: str, first: bool, bias: bool) -> None:
    """Blocks under the names of libraries, from each format; with the heads that no file has a run agrees."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0, batch_first=True, norm_first=first, bias=bias)
    layers: Any = nn.ModuleList([deepcopy(layer) for _ in range(3)]).eval()
    for tensor in layers.parameters():
        nn.init.uniform_(tensor, -1, 1)
    flow = torch.randn(5, 8)
    theirs = flow[None]
    with torch.no_grad():
        for layer in layers:
            theirs = layer(theirs)
    state = renamed(layers, library)
    torch.save(state, tmp_path / "a.pt")
    safetensors.torch.save_file(state, tmp_path / "b.safetensors")
    for name in ("a.pt", "b.safetensors"):
        path = tmp_path / name
        text = hold(path, sum(tensor.numel() for tensor in layers.parameters()))
        assert "its heads, norm and activation, and whether it is causal, are not in the file" in text
        assert f"repeat: 3\n    path: {LIBRARIES[library][0].removesuffix('.{}.')}\n" in text
        text = text.replace("transformer: 1", f"transformer: 2\n    norm: {'first' if first else 'last'}")
        spec_of(path).write_text(f"{text}topology: many-to-many\n")
        runs_to(spec_of(path), path, flow.numpy(), theirs[0].numpy(), within=1e-3)


@pytest.mark.parametrize(
    ("activation", "said"), [("relu", ""), ("gelu", "    activation: gelu\n"), (nn.GELU(), "    activation: gelu\n")]
)
def test_a_pickled_transformer(tmp_path: Path, activation: Any, said: str) -> None:
    """Its heads, norm and activation are in its fields; a run agrees."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 4, 16, 0, activation, batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    flow = torch.randn(5, 8)
    with torch.no_grad():
        theirs = model(flow[None])[0]
    path = tmp_path / "a.pt"
    torch.save(model, path)
    text = hold(path, sum(tensor.numel() for tensor in model.parameters()))
    assert f"transformer: 4\n    repeat: 2\n    path: layers\n    feed_forward: 16\n    norm: first\n{said}" in text
    assert "# whether it is causal is not in the file" in text
    spec_of(path).write_text(f"{text}topology: many-to-many\n")
    runs_to(spec_of(path), path, flow.numpy(), theirs.numpy(), within=1e-3)
    spec_of(path).write_text(text.replace("transformer: 4", "transformer: 2").replace("    norm: first\n", ""))
    code, said = called("check", spec_of(path), "--model", path, "--tensors")
    assert (code, "feed_forward: 16, norm: first" in said) == (1, True), said
    assert "transformer_2.norm" in said


def test_what_reads_two_sequences_is_external(tmp_path: Path) -> None:
    """A decoder's layer has two attentions, of which one reads the encoder, two matrices and three norms."""
    attention = nn.MultiheadAttention(8, 2, kdim=6, vdim=4)
    for number, model in enumerate((nn.TransformerDecoderLayer(8, 2, 16), nn.Transformer(8, 2, 2, 2, 16), attention)):
        params = sum(tensor.numel() for tensor in model.parameters())
        for contents in (model, model.state_dict()):
            torch.save(contents, tmp_path / f"{number}.pt")
            text = hold(tmp_path / f"{number}.pt", params)
            assert (text.count("external:"), "reads a second sequence too" in text) == (1, True)


def test_tables_that_are_added(tmp_path: Path) -> None:
    """Those of a BERT come first, also where a format sorts them by name."""
    state = renamed(nn.ModuleList([nn.TransformerEncoderLayer(8, 2, 16)]), "bert")
    tables = {"word": 20, "position": 10, "token_type": 2}
    names = {f"bert.embeddings.{name}_embeddings.weight": torch.randn(rows, 8) for name, rows in tables.items()}
    norm = {f"bert.embeddings.LayerNorm.{end}": torch.randn(8) for end in ("weight", "bias")}
    pooler = {"bert.pooler.dense.weight": torch.randn(8, 8), "bert.pooler.dense.bias": torch.randn(8)}
    whole = names | norm | state | pooler
    torch.save(whole, tmp_path / "a.pt")
    safetensors.torch.save_file(whole, tmp_path / "b.safetensors")
    drafts = [
        hold(tmp_path / name, sum(tensor.numel() for tensor in whole.values())).split("\nlayers:\n")[1]
        for name in ("a.pt", "b.safetensors")
    ]
    assert drafts[0] == drafts[1]
    assert "positions: 10\n  # a table that is not the first layer, which no spec has: bert.emb" in drafts[0]


@pytest.mark.parametrize("bias", [True, False])
def test_attention_behind_a_cell(tmp_path: Path, bias: bool) -> None:
    """A spec with its heads is right; one of another width is told, and the heads stay."""
    model = nn.ModuleDict({"rnn": nn.LSTM(4, 8), "attn": nn.MultiheadAttention(8, 2, bias=bias), "fc": nn.Linear(8, 3)})
    path, spec = tmp_path / "a.pt", tmp_path / "own.yaml"
    torch.save(model.state_dict(), path)
    hold(path, sum(tensor.numel() for tensor in model.parameters()))
    for width, code in ((8, 0), (6, 1)):
        layers = f"[lstm: {width}, {{multi_head_attention: 2, bias: {str(bias).lower()}}}]"
        spec.write_text(f"convention: pytorch\ninput: 4\nlayers: {layers}\noutput: 3\n")
        text = called("check", spec, "--model", path, "-f", "json")
        assert text[0] == code, text
        assert ("write lstm: 8" in text[1], "multi_head_attention: 1" in text[1]) == (code == 1, False)


def test_tables_of_words_and_positions(tmp_path: Path) -> None:
    """As a GPT-2 has them, tied to its output, beside its masks."""
    state = renamed(nn.ModuleList([nn.TransformerEncoderLayer(8, 2, 16) for _ in range(2)]), "gpt-2")
    state = {f"transformer.{name}": tensor for name, tensor in state.items()}
    table = torch.randn(20, 8)
    first = {"transformer.wte.weight": table, "transformer.wpe.weight": torch.randn(10, 8)}
    masks = {f"transformer.h.{number}.attn.bias": torch.ones(1, 1, 10, 10) for number in range(2)}
    torch.save({**first, **state, **masks, "lm_head.weight": table}, tmp_path / "a.pt")
    text = hold(tmp_path / "a.pt", 20 * 8 + 10 * 8 + 2 * (4 * 8 * 9 + 16 * 9 + 8 * 17 + 4 * 8))
    assert "embedding: 8\n    path: transformer.wte\n    positions: 10\n" in text
    assert "tied: true" in text
    steps, waves = torch.arange(10.0)[:, None, None], torch.exp(-torch.arange(0, 8, 2.0))
    buffers = {"pos.pe": torch.stack([torch.sin(steps * waves), torch.cos(steps * waves)], -1).flatten(2)}
    buffers |= {"0.mask": torch.tril(torch.ones(1, 1, 9, 9)), "mask": torch.triu(torch.full((9, 9), -torch.inf), 1)}
    torch.save({"pos_emb": torch.randn(1, 10, 8), **buffers, "tok_emb.weight": table}, tmp_path / "b.pt")
    assert "input: 20\nlayers:\n  - embedding: 8\n    path: tok_emb\n    positions: 10\n" in hold(
        tmp_path / "b.pt", 240
    )


def test_layers_around_the_cells(tmp_path: Path) -> None:
    """Convolutions, also a depthwise one, and norms with what they store; a run agrees."""
    torch.manual_seed(0)
    ear: Any = nn.Sequential(nn.Conv1d(6, 8, 5), nn.BatchNorm1d(8), nn.Conv1d(8, 8, 3, groups=8))
    ear.append(nn.BatchNorm1d(8, affine=False))
    model = nn.ModuleDict({"ear": ear, "ln": nn.LayerNorm(8), "rnn": nn.GRU(8, 4), "fc": nn.Linear(4, 3)})
    flow = torch.randn(20, 6)
    ear(torch.randn(5, 6, 20))  # makes other statistics than zeros and ones
    model.eval()
    with torch.no_grad():
        states, _ = model["rnn"](model["ln"](ear(flow.T[None])[0].T))
        theirs = model["fc"](states[-1]).numpy()
    state = model.state_dict()
    torch.save(state, tmp_path / "a.pt")
    torch.save(model, tmp_path / "b.pt")
    safetensors.torch.save_file(state, tmp_path / "c.safetensors")
    params = sum(parameter.numel() for parameter in model.parameters())
    for name in ("a.pt", "b.pt", "c.safetensors"):
        text = hold(tmp_path / name, params)
        assert [text.count(f"{kind}:") for kind in ("conv1d", "batch_norm", "layer_norm")] == [2, 2, 1]
        assert "groups: 8" in text
        runs_to(tmp_path / "a.pt.yaml", tmp_path / name, flow.numpy(), theirs)


def test_the_fields_of_pickled_modules(tmp_path: Path) -> None:
    """Options of convolutions, epsilons, activations: a run agrees, and a spec without one of them fails."""
    torch.manual_seed(0)
    ear: Any = nn.Sequential(nn.Conv1d(4, 6, 3, 2, groups=2), nn.Dropout(), nn.Tanh())
    ear.extend([nn.Conv1d(6, 6, 3, padding=2, dilation=2), nn.BatchNorm1d(6), nn.ReLU()])
    model: Any = nn.ModuleDict({"ear": ear, "ln": nn.LayerNorm(6), "rnn": nn.RNN(6, 5, nonlinearity="relu")}).eval()
    flow, path = torch.randn(20, 4), tmp_path / "a.pt"
    with torch.no_grad():
        theirs = model["rnn"](model["ln"](ear(flow.T[None])[0].T))[0]
    torch.save(model, path)
    text = hold(path, 6 * (2 * 3 + 1) + 6 * (6 * 3 + 1) + 24 + 5 * (6 + 5 + 2))
    assert [line for line in text.splitlines() if "# " in line[2:]] == ["  # the activation is not in the file"] * 2
    spec_of(path).write_text(f"{text}topology: many-to-many\n")
    runs_to(spec_of(path), path, flow.numpy(), theirs.numpy(), within=1e-3)
    relu = "    activation: relu\n"  # of the batch norm, and of the RNN
    assert text.count(relu) == 2
    for option in ("stride: 2", "activation: tanh", "activation: relu", "dilation: 2", "padding: same"):
        spec_of(path).write_text(text.replace(f"    {option}\n", "", 1))
        assert (option in text, called("check", spec_of(path), "--model", path)[0]) == (True, 1), option
