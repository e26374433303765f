"""Orbax's checkpoints: the names and shapes in their JSON."""

import json
from pathlib import Path

import pytest
from conftest import Call

SHAPES = {f"params/cell/i{gate}/kernel": [3, 2] for gate in "ifgo"}
SHAPES |= {
    f"params/cell/h{gate}/{leaf}": shape for gate in "ifgo" for leaf, shape in (("kernel", [2, 2]), ("bias", [2]))
}


def checkpoint(folder: Path, shapes: dict[str, list[int]], devices: int = 1) -> Path:
    """Write a folder as orbax-checkpoint 0.12.8 does."""
    tree = {
        str(tuple(name.split("/"))): {
            "key_metadata": [{"key": key, "key_type": 2} for key in name.split("/")],
            "value_metadata": {"value_type": "jax.Array", "skip_deserialize": False, "write_shape": shape},
        }
        for name, shape in shapes.items()
    }
    scalar = {"key_metadata": [{"key": "step", "key_type": 2}], "value_metadata": {"value_type": "scalar"}}
    (folder / "_METADATA").write_text(json.dumps({"tree_metadata": {**tree, "('step',)": scalar}, "use_ocdbt": True}))
    mesh = {"sharding_type": "NamedSharding", "device_mesh": {"mesh": [{"id": number} for number in range(devices)]}}
    (folder / "_sharding").write_text(json.dumps({"cGFyYW1z": json.dumps(mesh)}))
    return folder


def test_a_cell(tmp_path: Path, call: Call) -> None:
    """4 × 2 × (3 + 2 + 1) = 48; what the JSON lacks is said, and a run refused."""
    path = checkpoint(tmp_path, {**SHAPES, "opt_state/0/mu/cell/hi/bias": [2], "opt_state/0/count": []})
    draft = call("read", path).out
    assert "Orbax checkpoint, 12 tensors, 48 parameters, 1 LSTM layer" in draft
    assert "only tensorstore reads the numbers" in draft
    spec = tmp_path / "a.yaml"
    spec.write_text(draft)
    assert call("check", spec, "--model", path).code == 0
    done = call("run", spec, "--weights", path, "--steps", "2")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "only tensorstore reads the numbers" in done.err


def test_the_state_of_an_nnx_module(tmp_path: Path, call: Call) -> None:
    """3 × 2 × (3 + 2 + 1) = 36; each variable has a value, and the keys of random numbers are no parameters."""
    shapes = {"dense_h/kernel": [2, 6], "dense_i/kernel": [3, 6], "dense_i/bias": [6], "rngs/key": [2]}
    draft = call("read", checkpoint(tmp_path, {f"r/cell/{name}/value": shape for name, shape in shapes.items()})).out
    assert "3 tensors, 36 parameters, 1 GRU layer" in draft
    assert "convention: flax-nnx\n" in draft


@pytest.mark.parametrize(
    ("shapes", "devices", "said"),
    [
        (SHAPES, 2, "was written by several devices"),
        ({"a": [-1]}, 1, "whose shape is none"),
        ({"a": [2**70]}, 1, "is none"),
    ],
)
def test_what_is_refused(tmp_path: Path, call: Call, shapes: dict[str, list[int]], devices: int, said: str) -> None:
    """Two devices write halves, even of what both have whole, and the JSON has the shapes of these."""
    done = call("read", checkpoint(tmp_path, shapes, devices))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err
