"""Which format a file is: by its suffix where its bytes allow, else by its bytes; what is missing is named."""

import json
import os
import re
import struct
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import Call, file_at
from models.files import messages
from models.files.made import lstm, safetensors, state_dict
from models.files.test_npz import head
from models.files.test_openvino import lstm as openvino
from models.files.test_pt2 import entry

from rnncalc.errors import SpecError
from rnncalc.models.files import FORMATS, SUFFIXES, FileFormat, is_model, read, recognised
from rnncalc.models.files.model import FileModule, FileTensor, ModelFile, TensorRole

HDF = b"\x89HDF\r\n\x1a\n"


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".txt", ""])
def test_bytes_say_more_than_a_suffix(tmp_path: Path, suffix: str, call: Call) -> None:
    """A file under another's name is read as what it is, which the first line says; 4·2·(3 + 2 + 2) parameters."""
    assert read(str(safetensors(tmp_path / f"a{suffix}", lstm(3, 2)))).format == "safetensors"
    assert read(str(state_dict(tmp_path / f"b{suffix}", lstm(3, 2)))).format == "pytorch"
    said = "PyTorch state dict, 4 tensors, 56 parameters, 1 LSTM layer"
    for form, place in (("yaml", 0), ("table", 1), ("markdown", 2)):
        assert said in call("read", tmp_path / f"b{suffix}", "-f", form).out.splitlines()[place]


@pytest.mark.parametrize("name", ["a.keras", "a.weights.h5", "a.h5", "a"])
def test_without_h5py_the_extra_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And everything else is read without it."""
    monkeypatch.setitem(sys.modules, "h5py", None)
    path = tmp_path / name
    path.write_bytes(HDF)
    if name == "a.keras":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("config.json", "{}")
            file.writestr("model.weights.h5", HDF)
    with pytest.raises(SpecError, match=r"h5py, which is not installed: pip install h5py"):
        read(str(path))
    assert read(str(safetensors(tmp_path / "b", lstm(3, 2)))).params


@pytest.mark.parametrize("data", [b"hello", b"input: 4\n", b"{}", b"\0" * 100])
def test_what_is_no_model(tmp_path: Path, data: bytes) -> None:
    """By name and by bytes: told in one line."""
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert not is_model(str(path))
    with pytest.raises(SpecError, match="is not a model file that rnncalc reads"):
        read(str(path))


@pytest.mark.parametrize("suffix", [suffix for of in FORMATS.values() for suffix in of.suffixes])
def test_an_empty_file_of_every_format(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, whatever it is called."""
    monkeypatch.setitem(sys.modules, "h5py", None)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"")
    assert is_model(str(path))
    with pytest.raises(SpecError):
        read(str(path))


def onnx(path: Path) -> Path:
    """Write an ONNX file of one LSTM."""
    tensors = [messages.tensor("w", (1, 8, 3)), messages.tensor("r", (1, 8, 2))]
    return messages.onnx(path, messages.node("LSTM", "x w r", "y"), tensors=tensors)


@pytest.mark.parametrize(
    ("write", "suffix", "step"),
    [
        (onnx, ".onnx", 1),
        (lambda path: safetensors(path, {"w": (2,)}), ".safetensors", 1),
        (lambda path: state_dict(path, lstm(1, 1)), ".pt", 3),
    ],
)
def test_a_file_cut_anywhere(write: Callable[[Path], Path], suffix: str, step: int, tmp_path: Path) -> None:
    """There is no byte at which it is still a file: an ONNX file ends with its version, an archive with its list."""
    whole, path = write(tmp_path / "whole").read_bytes(), tmp_path / f"cut{suffix}"
    for end in range(0, len(whole), step):
        path.write_bytes(whole[:end])
        with pytest.raises(SpecError):
            read(str(path))


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names of a module that is that of a format."""
    module = ModuleType("theirs")
    monkeypatch.setitem(sys.modules, "theirs", module)
    monkeypatch.setitem(FORMATS, "theirs", FileFormat("theirs", (".theirs",), lambda head: head[:6] == b"THEIRS"))
    return vars(module)


def test_a_new_format_is_a_module_and_a_line(tmp_path: Path, theirs: dict[str, Any], call: Call) -> None:
    """Read, listed, drafted and held like any other, with no other change."""
    matrix = FileTensor("fc.weight", (2, 3), "float32", TensorRole.PARAMETER, lambda: [[0.0] * 3] * 2)

    modules = (FileModule("fc", {"weight": matrix}),)
    theirs["read"] = lambda path: ModelFile(path, "theirs", "pytorch", (matrix,), modules)
    path = tmp_path / "a.theirs"
    path.write_bytes(b"THEIRS")
    spec = file_at(tmp_path / "a.yaml", call("read", path).out)
    assert "dense: 2" in spec.read_text()
    assert call("check", spec, "--model", path).code == 0


@pytest.mark.parametrize("error", [RecursionError, KeyError, TypeError, MemoryError, UnicodeError, ValueError])
def test_whatever_fails_in_reading_is_one_line(
    error: type[Exception], tmp_path: Path, theirs: dict[str, Any], call: Call
) -> None:
    """In the list of tensors, or in the numbers of one: a file of a stranger ends in no traceback."""

    def fail(*_: object) -> ModelFile:
        raise error("x\ny")

    matrix = FileTensor("fc.weight", (2, 3), "float32", TensorRole.PARAMETER, fail)
    biases = FileTensor("fc.bias", (2,), "float32", TensorRole.PARAMETER, fail)
    module = FileModule("fc", {"weight": matrix, "bias": biases})
    path, spec = tmp_path / "a.theirs", tmp_path / "a.yaml"
    path.write_bytes(b"THEIRS")
    spec.write_text("convention: pytorch\ninput: 3\nsteps: 1\nlayers: [dense: 2]\n")
    for reader in (fail, lambda path: ModelFile(path, "theirs", "pytorch", (matrix, biases), (module,))):
        theirs["read"] = reader
        for words in (("read", path), ("run", spec, "--weights", path))[reader is not fail :]:
            done = call(*words)
            assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
            assert f"cannot be read, it may be damaged: {error.__name__}" in done.err


def test_a_folder_and_a_name_that_is_none(tmp_path: Path) -> None:
    """Told as other files are."""
    with pytest.raises(SpecError, match=r"is a folder; name a file in it\Z"):
        read(str(tmp_path))
    for name in ("a.txt", "model-00001-of-00002.safetensors", "model.safetensors.index.json"):
        (tmp_path / name).touch()
    with pytest.raises(SpecError, match=r"is a folder; name a file in it, such as \S*[/\\]model[.]safetensors[.]index"):
        read(str(tmp_path))
    with pytest.raises(SpecError, match="no such file"):
        read("a\0b.pt")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"\x08\x07\x1a\x04", "a model file of ONNX"),  # a version, then another field than the program's name
        (b"\x08\x07\x12\x04", "a model file of ONNX"),
        (b"PK\x03\x04", "a model file of PyTorch or Keras"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "a model file of PyTorch"),
        (HDF, "a model file of Keras"),
        (b"\x40\0\0\0\0\0\0\0{ ", "a model file"),
    ],
)
def test_a_spec_that_is_a_model_file(head: bytes, said: str, tmp_path: Path, call: Call) -> None:
    """Wherever it is met it is the same: one list says what bytes are the start of."""
    path = tmp_path / "a.yaml"
    path.write_bytes(head)
    assert recognised(head) == said
    assert is_model(str(path))
    assert f"this is {said}, and not a spec" in call(path).err


FOREIGN = [  # the first bytes of files that these programs wrote, and what their folders hold, in November 2026
    ("a.eqx", b"\x93NUMPY\x01\0v\0{'descr': '<f4'", "a file of Equinox"),
    ("a.gguf", b"GGUF\x03\0\0\0", "a GGUF file"),
    ("model.tar.gz", b"\x1f\x8b\x08\0\0\0\0\0", "an archive of files.*; unpack it, and name"),
    ("a.mar", {"model.pt": b"", "MAR-INF/MANIFEST.json": b"{}"}, "an archive of files"),
    ("a.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f4'", "an array of NumPy"),
    ("a.pt2", {"serialized_exported_program.json": b"", "version": b"7.3"}, "a program of torch.export before 2.8"),
    ("ppo.zip", {"data": b"{}", "policy.pth": b"", "system_info.txt": b""}, "it has no list of its files"),
    ("a/", {".metadata": b"", "__0_0.distcp": b""}, "a checkpoint of torch.distributed.*one file: python -m torch.d"),
    ("__0_0.distcp", {"archive/data.pkl": b""}, "a checkpoint of torch.distributed"),
    ("a.pdopt", b"\x80\x04\x95\xc16\0\0\0\0\0\0}\x94(\x8c\x0cweight_ih_l0", "a model of PaddlePaddle"),
    ("a.pkl", b"\x80\x04\x95\xc16\0\0\0\0\0\0}\x94(\x8c\x0cweight_ih_l0", "a plain pickle that torch.save did not"),
    ("a.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "as PyTorch wrote before 1.6"),
    ("a.mlmodel", b"\x08\x04\x12\xb3\x02\n\x14\n\x05input", "is truncated or damaged"),
    ("a.mlpackage/", {"Manifest.json": b"{}"}, "is a folder; name a file in it"),
    ("a/", {"saved_model.pb": b"", "fingerprint.pb": b""}, "a model of TensorFlow,"),
    ("a/", {"checkpoint": b"", "ck.index": b"", "ck.data-00000-of-00001": b""}, "a checkpoint of TensorFlow"),
    ("ck.index", b"\0\0\x06\x08\x01\x1a\x02\x08\x01\0\x1c\x10", "a checkpoint of TensorFlow"),
    ("a.bin", b"\0\0\0\0\x01\0\0\0", "weights without names, as OpenVINO and TensorFlow.js"),
    ("model.json", b'{"modelTopology":{"class_name":"Sequential"', "a configuration that is no JSON"),
    ("a.json", b'{"format": "graph-model", "modelTopology": {"node": []}}', "a graph model of TensorFlow.js"),
    ("m.weights.json", b'{"metadata": {"total_size": 4}}', "is no index of a model: it has no weight_map"),
    ("m.weights.json", b'{"weight_map": {"/a": ["../b.weights.h5"]}}', "names the file ../b.weights.h5, which"),
    (
        "m.weights.json",
        b'{"weight_map": {"/a": [{}], "/b": "b\\ud800"}}',
        "names the file b.*, which is not in its folder|no such",
    ),
    ("a/", {"_METADATA": b"{}", "manifest.ocdbt": b"", "d": b""}, "has no list of arrays"),
    ("a/", {"_CHECKPOINT_METADATA": b"{}"}, "a checkpoint of Orbax.*name the folder with its _METADATA"),
    ("manifest.ocdbt", b"\x0c\xdb\x3a\x2a", "a checkpoint of Orbax"),
    ("eng.traineddata", b"\x18\0\0\0\xff\xff\xff\xff", "is truncated"),
    ("a/", {"weights.bin": b""}, "is a folder; name a file in it"),
]


@pytest.mark.parametrize(("name", "holds", "said"), FOREIGN)
def test_files_of_other_programs(
    tmp_path: Path, call: Call, name: str, holds: bytes | dict[str, bytes], said: str
) -> None:
    """Each is refused by every command in one line, with the program and what to do."""
    path = tmp_path / name
    if isinstance(holds, bytes):
        path.write_bytes(holds)
    elif name.endswith("/"):
        path.mkdir()
        for member, data in holds.items():
            (path / member).write_bytes(data)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in holds.items():
                archive.writestr(member, data)
    done = call("read", path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert re.search(said, done.err)
    assert re.search(said, call("check", "specs/pytorch/lstm.yaml", "--model", path).err)


HUGE = 5 * 10**9


def huge_archive(path: Path, member: str, head: bytes, **others: str) -> Path:
    """Write an archive of a file of 5 GB behind its first bytes, which a disk need not hold, and of other files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in others.items():
            archive.writestr(f"m/data/weights/{name}.json", text)
        with archive.open(member, "w", force_zip64=True) as file:
            file.write(head)
            vars(file)["_file_size"] += HUGE
            assert archive.fp
            archive.fp.seek(HUGE, 1)
    return path


def huge(folder: Path, form: str) -> Path:
    """Write a file of a matrix of 5 GB."""
    path, sizes = folder / f"a.{form}", (1_250_000, 1_000)
    match form:
        case "safetensors":
            text = f'{{"w": {{"dtype": "F32", "shape": {[*sizes]}, "data_offsets": [0, {HUGE}]}}}}'.encode()
            path.write_bytes(struct.pack("<Q", len(text)) + text)
            os.truncate(path, 8 + len(text) + HUGE)
        case "npz":
            text = head("<f4", str(sizes)).encode()
            huge_archive(path, "w.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text)
        case "pt2":
            config = json.dumps({"config": {"w": entry(*sizes)}})
            huge_archive(path, "m/data/weights/weight_0", b"", model_weights_config=config)
        case "xml":
            openvino(folder, shape="1,4,312500000", size=HUGE)
            os.truncate(folder / "a.bin", HUGE)
    return path


@pytest.mark.skipif(sys.platform == "emscripten", reason="its files are in memory")
@pytest.mark.parametrize("form", ["safetensors", "npz", "pt2", "xml"])
def test_a_file_of_5_gb_is_listed_without_its_numbers(tmp_path: Path, call: Call, form: str) -> None:
    """Reading them would take as many bytes of memory, and more than a second."""
    path, start = huge(tmp_path, form), time.process_time()
    done = call("read", path, "-f", "table")
    assert "1,250,000,00" in done.out, done
    assert time.process_time() - start < 1


def test_text_in_utf_16_is_no_model_file(tmp_path: Path, call: Call) -> None:
    """Though it has zeros, and a brace where some model files have one."""
    data = "abc{x: 1}".encode("utf-16")
    assert recognised(data) is None
    path = tmp_path / "a.yaml"
    path.write_bytes(data)
    assert "the file is UTF-16" in call(path).err


def test_a_format_that_is_none_is_recognised_by_no_one() -> None:
    """Nor is what a spec starts with."""
    for data in (b"", b"input: 4\n", "σ: 4\n".encode(), b"\xef\xbb\xbfinput"):
        assert recognised(data) is None


def test_every_suffix_is_in_the_help_and_on_the_page(call: Call) -> None:
    """What the error names as readable is what the help and the page of model files name."""
    text = " ".join(call("read", "--help").out.split())
    page = Path("docs/models.md").read_text(encoding="utf-8")
    for suffix in SUFFIXES:
        assert re.search(rf"{re.escape(suffix)}[,; ]", text), suffix
        assert f"`{suffix}`" in page, suffix
