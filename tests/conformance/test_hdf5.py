"""Files of Keras from strangers: links, numbers elsewhere, and files cut anywhere: one line, and never a traceback."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import keras
import pytest
from conformance.saved import called, hold
from torch import nn

from rnncalc.models.files import read

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

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


@pytest.mark.parametrize("mark", ["/", "."])
def test_weights_of_pytorch_in_hdf5(tmp_path: Path, mark: str) -> None:
    """A file that h5py wrote is no file of Keras, and its layers are those of its names."""
    model = nn.ModuleDict({"rnn": nn.LSTM(8, 16, 2), "fc": nn.Linear(16, 5)})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, tensor in model.state_dict().items():
            file[name.replace(".", mark)] = tensor.numpy()
    text = hold(tmp_path / "a.h5", sum(tensor.numel() for tensor in model.parameters()))
    assert ("HDF5 file" in text, "convention: pytorch\n" in text, "external" in text) == (True, True, False)


def test_numbers_of_hdf5_that_are_elsewhere(tmp_path: Path) -> None:
    """An array whose numbers are in another file is listed, and not read."""
    (tmp_path / "raw").write_bytes(bytes(100))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("w", (2,), "f4", external=[(str(tmp_path / "raw"), 0, 8)])
    (one,) = read(str(tmp_path / "a.h5")).tensors
    with pytest.raises(ValueError, match="in another file"):
        one.read()


def _of_keras(path: Path) -> None:
    """Write a model of two weights, in the format of the file's suffix."""
    model = keras.Sequential([keras.Input((2, 1)), keras.layers.SimpleRNN(1, use_bias=False)])
    (model.save_weights if path.suffix == ".h5" else model.save)(path)


def _of_h5py(path: Path) -> None:
    """Write the same in HDF5's newest layout, whose structures are others."""
    with h5py.File(path, "w", libver="latest") as file:
        for number in range(2):
            file[f"layers/simple_rnn/cell/vars/{number}"] = [[1.0]]


@pytest.mark.parametrize(
    ("name", "write"), [("a.weights.h5", _of_keras), ("a.keras", _of_keras), ("b.weights.h5", _of_h5py)]
)
def test_a_file_cut_anywhere(tmp_path: Path, name: str, write: Change) -> None:
    """At every seventh byte of a small file: exit 2 and one line, and whole it is read."""
    write(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    path = tmp_path / f"cut-{name}"
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        code, said = called("read", path)
        assert (code, said.count("\n")) == (2, 1), (end, said)
    assert called("read", tmp_path / name)[0] == 0


def test_a_zip_within_is_no_way_round(tmp_path: Path) -> None:
    """A packed .keras is unpacked as far as it may grow, and no further."""
    path = tmp_path / "a.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", "{}")
        file.writestr("model.weights.h5", bytes(70_000_000))
    code, said = called("read", path)
    assert (code, "at most 64,000,000" in said) == (2, True)
