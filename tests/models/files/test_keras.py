"""HDF5 from strangers: no other file is opened, and what an attribute says is no type."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, file_at

from rnncalc.models.files import read
from rnncalc.models.files.keras_config import Configuration
from rnncalc.models.files.model import BadFileError, Remark, RemarkKind

h5py = pytest.importorskip("h5py")


def virtual(path: Path, source: str) -> None:
    """Write an array that is put together from another file's, as long as that one is."""
    layout = h5py.VirtualLayout((2, 2), "f4", maxshape=(None, 2))
    other = h5py.VirtualSource(source, "d", (2, 2), maxshape=(None, 2))
    end = h5py.h5s.UNLIMITED
    layout[:end, :] = other[:end, :]
    with h5py.File(path, "w", libver="latest") as file:
        file.create_virtual_dataset("layers/lstm/cell/vars/0", layout)
        file["layers/lstm/cell/vars/1"] = [[1.0]]


def test_a_virtual_array_is_not_asked_for_its_shape(tmp_path: Path) -> None:
    """That of the file beside it, 7 by 2, is printed nowhere; the array is named as one that is not read."""
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_dataset("d", (7, 2), "f4", maxshape=(None, 2))
    virtual(tmp_path / "a.weights.h5", "other.h5")
    file = read(str(tmp_path / "a.weights.h5"))
    assert [tensor.name for tensor in file.tensors] == ["layers/lstm/cell/vars/1"]
    assert Remark(RemarkKind.NOT_READ, ("layers/lstm/cell/vars/0",)) in file.remarks


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_virtual_array_of_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nor is its file opened at all."""
    os.mkfifo(tmp_path / "pipe")
    virtual(tmp_path / "a.weights.h5", "pipe")
    command = [sys.executable, "-m", "rnncalc", "read", str(tmp_path / "a.weights.h5")]
    done = subprocess.run(command, capture_output=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr


def array(path: Path, *args: Any, said: str = "", **more: Any) -> Any:
    """Write a file of one array; return it as it is read."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("layers/dense/vars/0", *args, **more)
        if said:
            made.attrs["dtype"] = said
    (one,) = read(str(path)).tensors
    return one


@pytest.mark.parametrize("dtype", ["S100000000", "f4", "V3", "O"])
def test_a_type_that_an_attribute_gives_is_not_believed(tmp_path: Path, dtype: str) -> None:
    """bfloat16 takes two bytes; 24 strings of a hundred million would take 2.4 GB."""
    kind = h5py.string_dtype() if dtype == "O" else dtype
    one = array(tmp_path / "a.weights.h5", (4, 6), kind, said="bfloat16")
    assert one.dtype != "bfloat16"
    if dtype != "f4":
        with pytest.raises(BadFileError, match="which are not read here; save them as float32"):
            one.read()


@pytest.mark.parametrize(("options", "code"), [("{scale: false", 0), ("{center: false", 0), ("{name: norm", 1)])
def test_one_trained_vector_of_a_norm_is_the_spec_s(tmp_path: Path, call: Call, options: str, code: int) -> None:
    """Weights alone have numbers for gamma and beta, 4 numbers each."""
    model = tmp_path / "a.weights.h5"
    with h5py.File(model, "w") as file:
        file.update({f"layers/batch_normalization/vars/{number}": [1.0] * 4 for number in range(3)})
    assert "# its trained vector is gamma or beta, the file does not say which\n" in call("read", model).out
    spec = f"convention: keras\ninput: 4\nlayers: [{options}, batch_norm: }}]\n"
    checked = call("check", file_at(tmp_path / "b.yaml", spec), "--model", model)
    cure = "scale: false} instead of the whole layer; its trained vector is gamma or beta"
    assert (checked.code, checked.out.count(cure)) == (code, code)


def test_bfloat16_is_two_bytes_without_a_name(tmp_path: Path) -> None:
    """As Keras writes it: 0x3fc0 and 0xc000 are the upper halves of 1.5 and -2."""
    data = b"\xc0\x3f\x00\xc0"
    import numpy as np

    for said in ("bfloat16", ""):
        one = array(tmp_path / "a.weights.h5", data=np.frombuffer(data, "V2"), said=said)
        assert (one.dtype, one.read()) == ("bfloat16", [1.5, -2.0])


def test_complex_numbers_are_refused(tmp_path: Path, call: Call) -> None:
    """They are counted; a pass would lose the half of each."""
    one = array(tmp_path / "a.weights.h5", data=[[1 + 2j]])
    assert one.dtype == "complex128"
    with pytest.raises(BadFileError, match="numbers of the type complex128, which are not read here"):
        one.read()
    spec = "convention: keras\ninput: 1\nsteps: 1\nlayers: [{dense: 1, bias: false, path: layers/dense}]\n"
    ran = call("run", file_at(tmp_path / "a.yaml", spec), "--weights", tmp_path / "a.weights.h5")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_packed_piece_larger_than_is_unpacked(tmp_path: Path) -> None:
    """One number in a piece of 100 million, which is zeros and packed to nothing."""
    path = tmp_path / "a.weights.h5"
    one = array(path, (1,), "f4", maxshape=(None,), chunks=(100_000_000,), compression="gzip")
    with pytest.raises(BadFileError, match="by 400,000,000 bytes; at most 64,000,000 are unpacked"):
        one.read()


def test_attributes_of_other_types_say_nothing(tmp_path: Path) -> None:
    """A name that is a number or an array, and names of layers that may each be as long as the file."""
    path = tmp_path / "a.weights.h5"
    with h5py.File(path, "w") as file:
        file["layers/dense/vars/0"] = [[1.0]]
        file["layers/dense/vars"].attrs["name"] = 3
        file.attrs["layer_names"] = ["a", "b"]
        file.attrs["model_config"] = h5py.Empty("S10")
    file = read(str(path))
    assert [(module.path, file.ordered) for module in file.modules] == [("layers/dense", False)]


def test_an_activation_is_that_of_what_it_reads() -> None:
    """Of two branches, whose layers are one after the other in the file."""
    layers: list[dict[str, Any]] = [{"class_name": "InputLayer", "name": "x", "config": {"name": "x"}}]
    for kind, name, source in (
        ("Dense", "a", "x"),
        ("Dense", "b", "x"),
        ("Activation", "tanh", "a"),
        ("ReLU", "r", "b"),
    ):
        active = {"max_value": None, "negative_slope": 0, "threshold": 0, "activation": "tanh"}
        config = {"name": name, "activation": "linear"} if kind == "Dense" else {"name": name, **active}
        layers.append({"class_name": kind, "name": name, "config": config, "inbound_nodes": [[[source, 0, 0, {}]]]})
    whole = {"layers": layers, "output_layers": [["tanh", 0, 0], ["r", 0, 0]]}
    found = Configuration({"class_name": "Functional", "config": whole}, "3.15.1").layers
    assert {each.names[-1]: each.settings["activation"] for each in found} == {"a": "tanh", "b": "relu"}


@pytest.mark.parametrize(
    ("kind", "keeps"),
    [
        *[(kind, True) for kind in ("LeakyReLU", "ELU", "GaussianNoise", "Masking", "SpatialDropout2D", "Softmax")],
        *[(kind, False) for kind in ("Flatten", "UpSampling2D", "Reshape", "MaxPooling2D")],
    ],
)
def test_what_keeps_the_places_of_a_step(kind: str, keeps: bool) -> None:
    """Keras 2 writes the shape of the input alone; a ConvLSTM behind a layer that changes it has unknown places."""
    layers = [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 5, 8, 6, 1]}},
        {"class_name": kind, "config": {"name": "between"}},
        {"class_name": "ConvLSTM2D", "config": {"name": "cell", "padding": "same"}},
    ]
    for config in ({"layers": layers}, layers):  # as it was before Keras 2.2.3
        *_, cell = Configuration({"class_name": "Sequential", "config": config}, "3.15.1").layers
        assert cell.settings.get("space") == ((8, 6) if keeps else None)
