"""ONNX files whose steps are written out in a row, as PyTorch's newer exporter writes an nn.RNN: what is a weight."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from conftest import Call
from modelfiles.messages import node, onnx, tensor

from rnncalc.modelfiles import read
from rnncalc.modelfiles.model import Role

SHAPES: Mapping[str, tuple[int, ...]] = {"w": (3, 2), "r": (2, 2), "b": (2,), "m": (2, 5)}
COPY, ZEROS, OTHERS = struct.pack("<2f", 1 / 64, 2 / 64), bytes(8), struct.pack("<2f", 1, 2)


def written_out(path: Path, start: bytes, activation: str = "Tanh") -> Path:
    """Write three steps of a cell and a product behind them; `start` is what the first makes of the state of zeros."""
    parts = [node("MatMul", "x w", "a", name="fed"), node("Add", "s a", "p0"), node(activation, "p0", "h0")]
    for step in (1, 2):
        parts += [
            node("MatMul", f"h{step - 1} r", f"q{step}", name=f"back_{step}"),
            node("Add", f"q{step} b", f"u{step}"),
            node("Add", f"u{step} a", f"p{step}"),
            node(activation, f"p{step}", f"h{step}"),
        ]
    tensors = [tensor(name, shape) for name, shape in SHAPES.items()]
    parts.append(node("MatMul", "h2 m", "y", name="fc"))
    return onnx(path, *parts, tensors=[*tensors, tensor("s", (1, 1, 2), start)])


@pytest.mark.parametrize("start", [COPY, ZEROS], ids=["copy", "zeros"])
@pytest.mark.parametrize("activation", ["Tanh", "Relu"])
def test_steps_in_a_row_are_a_cell(tmp_path: Path, call: Call, start: bytes, activation: str) -> None:
    """The matrix that is multiplied with its own product's outcome is external; what was made of zeros is no weight."""
    path = written_out(tmp_path / "a.onnx", start, activation)
    spec = tmp_path / "a.yaml"
    spec.write_text(call("read", path).out)
    told = yaml.safe_load(spec.read_text())
    assert [(layer.get("dense"), layer.get("external")) for layer in told["layers"]] == [(2, None), (None, 2 * 2 + 2)]
    assert told["output"] == {"units": 5, "bias": False, "path": "fc"}
    assert read(str(path)).params == 3 * 2 + 2 * 2 + 2 + 2 * 5
    assert call("check", spec, "--model", path).code == 0
    assert "no layer that is known here: back_1" in spec.read_text()


@pytest.mark.parametrize(
    ("start", "activation"),
    [(OTHERS, "Tanh"), (COPY, "Identity"), (ZEROS, "Softmax")],
    ids=["others", "copy", "zeros"],
)
def test_another_row_is_a_weight(tmp_path: Path, start: bytes, activation: str) -> None:
    """One with numbers of its own, or before what is no activation of a cell."""
    roles = {each.name: each.role for each in read(str(written_out(tmp_path / "a.onnx", start, activation))).tensors}
    assert roles["s"] is Role.PARAMETER


def test_a_matrix_for_two_inputs_is_a_layer(tmp_path: Path, call: Call) -> None:
    """Read twice side by side, it is no cell: one dense layer, which is used twice."""
    parts = [node("MatMul", f"{x} m", f"{x}m", name=f"of_{x}") for x in "xz"]
    path = onnx(tmp_path / "a.onnx", *parts, node("Add", "xm zm", "y"), tensors=[tensor("m", (3, 2))])
    assert "external" not in call("read", path).out
    assert read(str(path)).params == 6
