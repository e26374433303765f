"""Weights and inputs of one's own: what fits is read, what does not is located and told with the expected shape."""

from pathlib import Path

import pytest
from conftest import Call, file_at

SPEC = "input: 2\nsteps: 2\nlayers:\n  - rnn: 1\n"
GOOD = "rnn_1:\n  W_xh: [[1, -2.5e-1]]\n  W_hh: [[.5]]\n  b_h: [0]\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return file_at(tmp_path / "spec.yaml", SPEC)


def told(spec: Path, call: Call, flag: str, text: str) -> list[str]:
    """Return what a run tells of a file of numbers that do not fit, each line without the file's name."""
    path = spec.with_name("numbers.yaml")
    path.write_text(text)
    result = call("run", spec, flag, path)
    lines = result.err.splitlines()
    assert (result.code, result.out, result.err) == (2, "", "".join(f"{line}\n" for line in lines))
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


def test_good_files_are_read(spec: Path, call: Call) -> None:
    """tanh(1·1 - 0.25·2) and so on: files of their own, and the same within the spec, give one output."""
    weights, inputs = spec.with_name("weights.yaml"), spec.with_name("inputs.yaml")
    weights.write_text(GOOD)
    inputs.write_text("- [1, 2]\n- [0, 0]\n")
    apart = call("run", spec, "--weights", weights, "--inputs", inputs)
    assert "Output: 0.227033" in apart.out  # tanh(0.5 tanh(0.5))
    nested = "weights:\n" + "".join(f"  {line}\n" for line in GOOD.splitlines()) + "inputs: [[1, 2], [0, 0]]\n"
    spec.write_text(SPEC + nested)
    assert call("run", spec).out == apart.out


def test_inputs_give_the_number_of_steps(spec: Path, call: Call) -> None:
    """A spec that does not say T takes it from the inputs."""
    spec.write_text(SPEC.replace("steps: 2\n", "") + "inputs: [[1, 2], [1, 2], [1, 2], [1, 2]]\n")
    assert "4 steps" in call("run", spec).out
