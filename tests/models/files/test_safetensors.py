"""The safetensors format, and files spread over several: what is in them is read, what lies is refused."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest
from conftest import Call, file_at
from models.files.made import lstm, safetensors, state_dict

from rnncalc import load
from rnncalc.errors import SpecError
from rnncalc.models.files import read
from rnncalc.models.files.model import Remark, RemarkKind, TensorRole


def test_tensors_and_their_numbers(tmp_path: Path) -> None:
    """Names, shapes and types from the header, numbers row by row."""
    file = read(str(safetensors(tmp_path / "a.safetensors", {"fc.weight": (2, 3), "fc.bias": (2,), "scale": ()})))
    assert [(tensor.name, tensor.shape, tensor.dtype, tensor.params) for tensor in file.tensors] == [
        ("fc.bias", (2,), "float32", 2),
        ("fc.weight", (2, 3), "float32", 6),
        ("scale", (), "float32", 1),
    ]
    numbers = {tensor.name: tensor.read() for tensor in file.tensors}
    assert numbers["fc.weight"] == [[1 / 64, 2 / 64, 3 / 64], [4 / 64, 5 / 64, 6 / 64]]
    assert numbers["scale"] == 1 / 64
    assert file.params == 9


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("F64", struct.pack("<2d", 1.5, -2)),
        ("F32", struct.pack("<2f", 1.5, -2)),
        ("F16", struct.pack("<2e", 1.5, -2)),
        ("BF16", b"\xc0\x3f\x00\xc0"),  # the upper halves of 0x3fc00000 and 0xc0000000
    ],
)
def test_every_type_is_widened(tmp_path: Path, dtype: str, data: bytes) -> None:
    """1.5 and -2, which all of them hold exactly."""
    path = safetensors(tmp_path / "a.safetensors", {"w": (2,)}, dtype=dtype, data={"w": data})
    (tensor,) = read(str(path)).tensors
    assert tensor.read() == [1.5, -2.0]


def test_whole_numbers_and_what_is_named_so_are_no_parameters(tmp_path: Path) -> None:
    """Batch norm's buffers, position numbers, an optimizer's states and averages are beside the weights."""
    shapes = dict.fromkeys(("bn.weight", "bn.running_mean", "optimizer.0.exp_avg", "ema_model.bn.weight"), (4,))
    file = read(str(safetensors(tmp_path / "a.safetensors", shapes)))
    assert {tensor.name: tensor.role for tensor in file.tensors} == {
        "bn.weight": TensorRole.PARAMETER,
        "bn.running_mean": TensorRole.BUFFER,
        "optimizer.0.exp_avg": TensorRole.OPTIMIZER,
        "ema_model.bn.weight": TensorRole.UNKNOWN,
    }
    assert RemarkKind.AVERAGES in {remark.kind for remark in file.remarks}
    (whole,) = read(
        str(safetensors(tmp_path / "b.safetensors", {"n": (2,)}, dtype="I64", data={"n": bytes(16)}))
    ).tensors
    assert (whole.role, whole.read()) == (TensorRole.BUFFER, [0, 0])
    quantised = read(
        str(safetensors(tmp_path / "c.safetensors", {"fc.weight": (8, 4)}, dtype="I8", data={"fc.weight": bytes(32)}))
    )
    assert (quantised.params, quantised.remarks[0]) == (0, Remark(RemarkKind.QUANTISED, ("fc.weight",), (32,)))
    parts: dict[str, tuple[int, ...]] = {"fc._weight_qdata": (8, 4), "fc._weight_scale": (8, 1)}
    parts |= {"fc._weight_zero_point": (8, 1), "fc.bias": (8,)}
    for letters in ("I8", "F8_E4M3"):  # as torchao 0.18 names them
        dtype = dict.fromkeys(("fc._weight_qdata", "fc._weight_zero_point"), letters)
        data = {name: bytes(prod(parts[name])) for name in dtype}
        file = read(str(safetensors(tmp_path / "d.safetensors", parts, dtype=dtype, data=data)))
        assert (file.params, file.remarks[0]) == (8, Remark(RemarkKind.QUANTISED, ("fc._weight_qdata",), (32,)))
    parts = {"fc.weight": (16, 1), "fc.weight.absmax": (1,), "fc.weight.quant_map": (16,), "fc.bias": (8,)}
    packed = {"fc.weight": bytes(16)}  # two numbers in a byte, as bitsandbytes does
    file = read(str(safetensors(tmp_path / "e.safetensors", parts, dtype={"fc.weight": "U8"}, data=packed)))
    assert (file.params, file.remarks[0]) == (8, Remark(RemarkKind.QUANTISED, ("fc.weight",)))


def test_names_with_numbers_are_sorted_by_them(tmp_path: Path) -> None:
    """The format sorts names as text, where 10 comes before 9."""
    file = read(str(safetensors(tmp_path / "a.safetensors", {f"layers.{n}.w": (1,) for n in (10, 9, 1)})))
    assert [tensor.name for tensor in file.tensors] == ["layers.1.w", "layers.9.w", "layers.10.w"]


def index(folder: Path, places: dict[str, str]) -> str:
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return str(path)


@pytest.mark.parametrize(("write", "suffix"), [(safetensors, "safetensors"), (state_dict, "bin")])
def test_a_model_in_two_files(tmp_path: Path, call: Call, write: Callable[..., Path], suffix: str) -> None:
    """The index leads to both, which may be PyTorch's own, and what they hold is one model. One alone says so."""
    layers = {f"model-0000{number + 1}-of-00002.{suffix}": lstm(3 - number, 2, number=number) for number in (0, 1)}
    for name, shapes in layers.items():
        write(tmp_path / name, shapes)
        assert read(str(tmp_path / name)).remarks[0] == Remark(RemarkKind.SHARD, (), (2,))
    file = read(index(tmp_path, {key: name for name, shapes in layers.items() for key in shapes}))
    assert file.params == 4 * 2 * (3 + 2 + 2) + 4 * 2 * (2 + 2 + 2)
    assert len(file.modules) == 1
    assert RemarkKind.SHARD not in {remark.kind for remark in file.remarks}
    checked = call("check", "specs/pytorch/lstm.yaml", "--model", tmp_path / name)
    assert (checked.code, "one of 2 files of a model; name the .index.json" in checked.out) == (1, True)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"w": "../a.safetensors"}, "names the file ../a.safetensors, which is not in its folder"),
        ({"w": "/etc/passwd"}, "names the file /etc/passwd, which is not in its folder"),
        ({"w": "\0.safetensors"}, "which is not in its folder"),
        ({"w": "b.safetensors"}, "names b.safetensors: no such file or directory"),
        ({"w": "a.safetensors", "v": "a.safetensors"}, "gives tensors that its files do not hold"),
    ],
)
def test_an_index_that_lies(tmp_path: Path, places: dict[str, str], said: str) -> None:
    """Files elsewhere are not opened, and those beside it must hold what it says."""
    safetensors(tmp_path / "a.safetensors", {"w": (1,)})
    with pytest.raises(SpecError, match=said):
        read(index(tmp_path, places))


@pytest.mark.parametrize("target", ["../a.safetensors", "b/a.safetensors"])
def test_an_index_that_follows_a_link_out_of_its_folder(tmp_path: Path, target: str) -> None:
    """It is refused; one that stays in the folder is followed."""
    for folder in ("in", "in/b"):
        (tmp_path / folder).mkdir()
    for folder in (".", "in", "in/b"):
        safetensors(tmp_path / folder / "a.safetensors", {"w": (1,)})
    (tmp_path / "in" / "link.safetensors").symlink_to(target)
    path = index(tmp_path / "in", {"w": "link.safetensors"})
    with pytest.raises(
        SpecError, match=r"names link\.safetensors, a link out of its folder; put the file itself there"
    ):
        read(path)
    (tmp_path / "in" / "link.safetensors").unlink()
    (tmp_path / "in" / "link.safetensors").symlink_to("a.safetensors")
    assert read(path).params == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("suffix", [".safetensors", ".bin"])
def test_an_index_that_names_a_pipe(tmp_path: Path, suffix: str) -> None:
    """It is not waited for."""
    os.mkfifo(tmp_path / f"a{suffix}")
    path = index(tmp_path, {"w": f"a{suffix}"})
    command = [sys.executable, "-m", "rnncalc", "read", path]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"names a{suffix}: is a pipe; only regular files are read" in done.stderr


def test_a_tensor_that_the_metadata_names(tmp_path: Path) -> None:
    """save_model leaves out what another has the numbers of, and writes which one; other words there say nothing."""
    said = {"fc.weight": "emb.weight", "emb.weight": "b", "format": "pt", "x": 3, "y": "gone", "z" * 2_000: "b"}
    of = {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}
    text = json.dumps({"__metadata__": said, "emb.weight": of, "b": {**of, "data_offsets": [8, 16]}})
    file = read(header(tmp_path, text, struct.pack("<4f", 1, 2, 3, 4)))
    assert [(tensor.name, tensor.params, tensor.shared_with) for tensor in file.tensors] == [
        ("b", 2, None),
        ("emb.weight", 2, None),
        ("fc.weight", 0, "emb.weight"),
    ]
    assert file.tensors[2].read() == [[1], [2]]
    odds: tuple[object, ...] = (3, [], "x", None)
    for odd in odds:
        assert len(read(header(tmp_path, json.dumps({"__metadata__": odd, "w": of}), bytes(8))).tensors) == 1


def header(folder: Path, text: str, body: bytes = b"", length: int | None = None) -> str:
    path = folder / "a.safetensors"
    size = len(text.encode()) if length is None else length
    path.write_bytes(struct.pack("<Q", size) + text.encode() + body)
    return str(path)


def of_w(dtype: object = "F32", shape: object = (1,), ends: object = (0, 4)) -> str:
    return json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": ends}})


@pytest.mark.parametrize(
    ("text", "length", "said"),
    [
        (of_w(), 2**63, "its header should have 9,223,372,036,854,775,808 bytes"),
        (of_w(), 2**64 - 1, "is truncated"),
        (of_w(ends=(0, 8)), None, "is truncated: w should end at byte"),
        (of_w(shape=(2,)), None, "which its shape does not need"),
        (of_w(shape=(2**62, 4)), None, "which its shape does not need"),
        (of_w(shape=(-1, -1)), None, "is not a tensor"),
        (of_w(shape=(True,)), None, "is not a tensor"),
        (of_w(ends=(4, 0)), None, "is truncated"),
        ('{"w": {}}', None, "is not a tensor"),
        ('{"w": 3}', None, "is not a tensor"),
        ('{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "w": 3}', None, "with a name in it twice"),
        ("{" + '"w": [' * 100_000, None, "a header that is no JSON"),
        ('{"w', None, "a header that is no JSON"),
        (json.dumps({n: json.loads(of_w())["w"] for n in "ab"}), None, "gives two tensors the same bytes"),
    ],
)
def test_a_header_that_lies(tmp_path: Path, text: str, length: int | None, said: str) -> None:
    """About lengths, shapes, places, or as JSON: refused in a line, before anything is taken that it promises."""
    with pytest.raises(SpecError, match=said):
        read(header(tmp_path, text, bytes(4), length))


LINEN: dict[str, tuple[int, ...]] = {
    f"{side}{gate}/kernel": (rows, 2) for side, rows in (("i", 3), ("h", 2)) for gate in "ifgo"
}
LINEN |= {f"h{gate}/bias": (2,) for gate in "ifgo"}
NNX: dict[str, tuple[int, ...]] = {"dense_i/kernel": (3, 8), "dense_h/kernel": (2, 8), "dense_h/bias": (8,)}


@pytest.mark.parametrize(
    ("shapes", "framework", "cells"),
    [
        (LINEN, "flax-linen", ("params/cell/",)),
        (LINEN, "flax-linen", ("params/lstm/cell/",)),
        (LINEN, "flax-linen", ("params.OptimizedLSTMCell_0.",)),
        (LINEN, "flax-linen", ("params/bi/forward_rnn/cell/", "params/bi/backward_rnn/cell/")),
        (LINEN, "flax-linen", ("params/LSTMCell_0/", "params/LSTMCell_1/")),
        (NNX, "flax-nnx", ("lstm.cell.",)),
        (NNX, "flax-nnx", ("bi/forward_rnn/cell/", "bi/backward_rnn/cell/")),
    ],
)
def test_names_of_flax(
    tmp_path: Path, call: Call, shapes: dict[str, tuple[int, ...]], framework: str, cells: tuple[str, ...]
) -> None:
    """An LSTM, 4·2·(3 + 2 + 1) in each direction, before the output that its widths ask for; its draft passes."""
    stats = {"batch_stats/bn/mean": (5,), "batch_stats/bn/var": (5,)} if framework == "flax-linen" else {}
    names = {f"{cell}{name}": shape for cell in cells for name, shape in shapes.items()}
    names |= {"a/kernel": (2 * len(cells), 5), "a/bias": (5,), "bn/scale": (5,), **stats}
    separator = "." if cells[0].endswith(".") else "/"
    named = {name.replace("/", separator): shape for name, shape in names.items()}
    path = safetensors(tmp_path / "a.safetensors", named)
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    network = load(str(spec))
    assert (network.convention, network.params) == (framework, 48 * len(cells) + 5 * (2 * len(cells) + 1) + 5)
    assert [placed.layer.kind for placed in network.stack][:2] == ["lstm", "dense"]
    assert call("check", spec, "--model", path).code == 0


def test_layers_that_linen_and_nnx_name_alike(tmp_path: Path, call: Call) -> None:
    """A spec of either passes on a file without cells; on one with cells only its own does."""
    shapes = {"a.embedding": (7, 3), "c.kernel": (3, 5)}
    alone = safetensors(tmp_path / "a.safetensors", shapes)
    cells = safetensors(tmp_path / "b.safetensors", {f"b.{name}": shape for name, shape in NNX.items()} | shapes)
    for convention in ("flax-linen", "flax-nnx"):
        text = f"convention: {convention}\ninput: 7\nlayers: [embedding: 3]\noutput: {{units: 5, bias: false}}\n"
        spec = file_at(tmp_path / "a.yaml", text)
        assert call("check", spec, "--model", alone).code == 0
        said = call("check", spec, "--model", cells)
        assert (said.code > 0, "make the convention flax-nnx" in said.out) == (True, convention == "flax-linen")


@pytest.mark.parametrize(
    ("widths", "reads", "layers", "said"),
    [
        ((3, 3), 4, ["lstm"], "the two directions of one layer"),
        ((2, 2), 4, ["lstm"], "the two directions of one layer"),
        ((2, 2), 2, ["lstm", "lstm"], "or with it the two directions of one layer whose outputs are summed"),
        ((3, 2), 2, ["lstm", "lstm"], ""),
    ],
)
def test_cells_of_a_call(
    tmp_path: Path, call: Call, widths: tuple[int, ...], reads: int, layers: list[str], said: str
) -> None:
    """Two directions, or two layers, of 2 units each, as linen names both; widths tell, or the draft says so."""
    shapes: dict[str, tuple[int, ...]] = {"Dense_0/kernel": (reads, 5)}
    for number, width in enumerate(widths):
        rows = ((name, (width, 2) if name[0] == "i" else shape) for name, shape in LINEN.items())
        shapes |= {f"LSTMCell_{number}/{name}": shape for name, shape in rows}
    path = safetensors(tmp_path / "a.safetensors", shapes)
    text = call("read", path).out
    assert [placed.layer.kind for placed in load(str(file_at(tmp_path / "a.yaml", text))).stack] == [*layers, "dense"]
    assert ("directions" in text, said in text) == (bool(said), True)


def test_gates_that_are_side_by_side(tmp_path: Path) -> None:
    """They are read as nnx's LSTMCell has them: row by row the columns of i, f, g and o."""
    file = read(str(safetensors(tmp_path / "a.safetensors", NNX)))
    gates = {module.path: module.tensors for module in file.modules}
    assert [*gates] == ["hi", "hf", "hg", "ho", "ii", "if_", "ig", "io"]
    assert gates["if_"]["kernel"].read() == [[n / 64 for n in (row + 3, row + 4)] for row in (0, 8, 16)]
    assert gates["ho"]["bias"].read() == [7 / 64, 8 / 64]


def test_a_header_whose_length_is_the_start_of_a_pickle(tmp_path: Path) -> None:
    """640 bytes, 0x0280: a length is no pickle's protocol."""
    path = safetensors(tmp_path / "a.safetensors", {"fc.bias": (2,)}, metadata={"pad": ""})
    path = safetensors(path, {"fc.bias": (2,)}, metadata={"pad": "x" * (640 - path.read_bytes()[0])})
    assert path.read_bytes()[:2] == b"\x80\2"
    assert read(str(path)).params == 2
