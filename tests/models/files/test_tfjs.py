"""TensorFlow.js's layers models: where each weight is follows from the lengths of those before it."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rnncalc.errors import SpecError
from rnncalc.models.files import read

LSTM = {"class_name": "LSTM", "config": {"name": "lstm", "units": 1, "batch_input_shape": [None, 5, 2]}}
TOPOLOGY = {"class_name": "Sequential", "config": {"name": "model", "layers": [LSTM]}}
KERNEL, RECURRENT, BIAS = [*range(8)], [*range(8, 12)], [*range(12, 16)]
WEIGHTS: list[dict[str, Any]] = [
    {"name": "lstm/kernel", "shape": [2, 4], "dtype": "float32"},
    {"name": "lstm/recurrent_kernel", "shape": [1, 4], "dtype": "float32"},
    {"name": "lstm/bias", "shape": [4], "dtype": "float32"},
]


def written(folder: Path, weights: Any, topology: Any = TOPOLOGY, **files: bytes) -> str:
    """Write a model and its files, in this order."""
    paths = [f"{name}.bin" for name in files]
    for name, data in files.items():
        (folder / f"{name}.bin").write_bytes(data)
    manifest = [{"paths": paths, "weights": weights}]
    (folder / "model.json").write_text(json.dumps({"modelTopology": topology, "weightsManifest": manifest}))
    return str(folder / "model.json")


@pytest.mark.parametrize("cut", [0, 4, 30, 64])
@pytest.mark.parametrize("topology", [TOPOLOGY, {"keras_version": "2.15.0", "model_config": TOPOLOGY}])
def test_weights_may_lie_in_two_files(tmp_path: Path, cut: int, topology: Any) -> None:
    """As the converter cuts them, in the midst of a number too; TF.js's own topology and the converter's."""
    data = struct.pack("<16f", *range(16))
    file = read(written(tmp_path, WEIGHTS, topology, a=data[:cut], b=data[cut:]))
    kernel, recurrent, bias = file.tensors
    assert (kernel.read(), recurrent.read(), bias.read()) == ([KERNEL[:4], KERNEL[4:]], [RECURRENT], BIAS)
    assert (file.params, file.modules[0].steps, file.modules[0].inputs) == (16, 5, 2)


@pytest.mark.parametrize(
    ("quantised", "data", "numbers"),
    [
        ({"dtype": "uint8", "scale": 0.5, "min": -1}, bytes([0, 1, 2, 255]), [-1, -0.5, 0, 126.5]),
        ({"dtype": "uint16", "scale": 0.25, "min": 0}, struct.pack("<4H", 0, 1, 2, 40000), [0, 0.25, 0.5, 10000]),
        ({"dtype": "float16"}, struct.pack("<4e", 0, 1, 2, 0.5), [0, 1, 2, 0.5]),
    ],
)
def test_quantised(tmp_path: Path, quantised: dict[str, Any], data: bytes, numbers: list[float]) -> None:
    """Numbers are stored · scale + min, as the converter's documentation has it."""
    weights = [*WEIGHTS[:2], WEIGHTS[2] | {"quantization": quantised}]
    file = read(written(tmp_path, weights, a=struct.pack("<12f", *range(12)) + data))
    assert (file.tensors[2].dtype, file.tensors[2].read()) == ("float32", numbers)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([*WEIGHTS, WEIGHTS[0]], "truncated: lstm/kernel ends at byte 96, its files have 64"),
        (WEIGHTS[:2], "files of 64 bytes for weights of 48"),
        ([WEIGHTS[0] | {"shape": [2, -4]}], "lstm/kernel, whose shape is none"),
        ([WEIGHTS[0] | {"dtype": "string"}], "lstm/kernel, of the type string, which is not read"),
        ([WEIGHTS[2]] * 4, "lists a weight twice"),
        ([3], "a weight without a name, a shape or a type"),
        (3, "a group of weights that is none"),
    ],
)
def test_what_is_refused(tmp_path: Path, weights: Any, said: str) -> None:
    """Lengths that contradict the files', and what is no weight."""
    with pytest.raises(SpecError, match=said):
        read(written(tmp_path, weights, a=bytes(64)))
