"""Weights and inputs of one's own: what fits is read, what does not is located and told with the expected shape."""

from pathlib import Path

import pytest
from conftest import Call

SPEC = "input: 2\nsteps: 2\nlayers:\n  - rnn: 1\n"
GOOD = "rnn_1:\n  W_xh: [[1, -2.5e-1]]\n  W_hh: [[.5]]\n  b_h: [0]\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


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


@pytest.mark.parametrize(
    ("weights", "line"),
    [
        ("", "1:1: the file is empty"),
        (
            "rnn_2: {}",
            "1:1: rnn_2: unknown key; did you mean 'rnn_1'?\n1:1: rnn_1: missing; give the weights of every layer",
        ),
        ("rnn_1: 3", "1:8: rnn_1: expected keys (W_xh, W_hh or b_h), got '3'"),
        (GOOD.replace("  b_h: [0]\n", ""), "2:3: rnn_1.b_h: missing; expected shape (1)"),
        (GOOD + "  b_q: [0]\n", "5:3: rnn_1.b_q: unknown key; did you mean 'b_h'?"),
        (
            GOOD.replace("[[.5]]", "[.5]"),
            "3:10: rnn_1.W_hh[0]: expected shape (1, 1), got the number .5; one number is a list too, [1] say",
        ),
        (GOOD.replace("[[.5]]", ".5"), "3:9: rnn_1.W_hh: expected shape (1, 1), got the number .5"),
        (GOOD.replace("[[.5]]", "[[1], [2]]"), "3:9: rnn_1.W_hh: expected shape (1, 1), got 2 rows"),
        (
            GOOD.replace("[[1, -2.5e-1]]", "[[1, 2, 3]]"),
            "2:10: rnn_1.W_xh[0]: expected shape (1, 2), so 2 numbers in each row, got 3 numbers",
        ),
        (GOOD.replace("[[.5]]", "[[x]]"), "3:11: rnn_1.W_hh[0][0]: expected a number, got 'x'"),
        (GOOD.replace("[[.5]]", "[[.nan]]"), "3:11: rnn_1.W_hh[0][0]: expected a number, got '.nan'"),
        (GOOD.replace("[[.5]]", "[[1e999]]"), "3:11: rnn_1.W_hh[0][0]: expected a number up to 1.8e308, got '1e999'"),
        (GOOD.replace("[[.5]]", "[[[1]]]"), "3:11: rnn_1.W_hh[0][0]: expected a number, got a list"),
    ],
)
def test_weights_that_do_not_fit_are_located(spec: Path, call: Call, weights: str, line: str) -> None:
    """Wrong shapes, missing and unknown tensors, ragged lists and what is no number."""
    assert sorted(told(spec, call, "--weights", weights)) == sorted(line.splitlines())


@pytest.mark.parametrize(
    ("first", "inputs", "line"),
    [
        ("rnn: 1", "[[1, 2]]", "1:1: expected 2 steps, got 1"),
        ("rnn: 1", "[[1, 2], [1]]", "1:10: [1]: expected shape (2), got 1 number"),
        (
            "rnn: 1",
            "[1, 2]",
            "1:2: [0]: expected shape (2), got the number 1\n1:5: [1]: expected shape (2), got the number 2",
        ),
        ("rnn: 1", "many", "1:1: expected a list of 2 steps, got 'many'"),
        ("embedding: 1", "[0, 2]", "1:5: [1]: expected a token number below 2, got 2"),
        ("embedding: 1", "[[0], 1]", "1:2: [0]: expected a whole number, 0 or more, got a list"),
    ],
)
def test_inputs_that_do_not_fit_are_located(spec: Path, call: Call, first: str, inputs: str, line: str) -> None:
    """A vector a step of the input's width, or a token of the vocabulary."""
    spec.write_text(SPEC.replace("rnn: 1", first))
    assert told(spec, call, "--inputs", inputs) == line.splitlines()


def test_inputs_of_a_sequence_of_any_length_that_are_none(spec: Path, call: Call) -> None:
    """Where the spec does not say how many steps, it is the letter."""
    spec.write_text(SPEC.replace("steps: 2\n", ""))
    assert told(spec, call, "--inputs", "many") == ["1:1: expected a list of T steps, got 'many'"]


def test_inputs_give_the_number_of_steps(spec: Path, call: Call) -> None:
    """A spec that does not say T takes it from the inputs."""
    spec.write_text(SPEC.replace("steps: 2\n", "") + "inputs: [[1, 2], [1, 2], [1, 2], [1, 2]]\n")
    assert "4 steps" in call("run", spec).out


HALVES = "encoder: {input: 2, steps: 1, layers: [rnn: 1]}\ndecoder: {input: 1, steps: 1, layers: [rnn: 1]}\n"


@pytest.mark.parametrize(
    ("flag", "text", "line"),
    [
        ("--inputs", "encoder: [[1, 2]]", "1:1: decoder: missing; give the inputs of both halves"),
        ("--inputs", "encoder: [[1, 2]]\ndecoder: [[1, 2]]", "2:11: decoder[0]: expected shape (1), got 2 numbers"),
        ("--start", "rnn_1: {h: [1, 2]}", "1:12: rnn_1.h: expected shape (1), got 2 numbers"),
        ("--start", "rnn_1: {c: [1]}", "1:9: rnn_1.c: unknown key; the keys here are h"),
        (
            "--start",
            "rnn_2: {h: [1]}",
            "1:8: rnn_2: does not apply in a decoder: it starts from the encoder's final state; remove it",
        ),
    ],
)
def test_what_does_not_fit_two_halves_is_located(spec: Path, call: Call, flag: str, text: str, line: str) -> None:
    """Inputs of one alone, or as wide as the other's; states that are given where they are handed over."""
    spec.write_text(HALVES)
    assert told(spec, call, flag, f"{text}\n") == [line]


@pytest.mark.parametrize(
    ("options", "text", "line"),
    [
        (
            "learned_state: true",
            "rnn_1: {h: [1]}",
            "1:8: rnn_1: its states are learned, so they stand among its weights; remove them here",
        ),
        (
            "bidirectional: true",
            "rnn_1: {h: [1]}",
            "1:12: rnn_1.h: expected a list for each direction, shape (2, 1), got one list",
        ),
        ("bidirectional: true", "rnn_1: {h: [[1], [2, 3]]}", "1:18: rnn_1.h[1]: expected shape (2, 1), so 1 number"),
    ],
)
def test_start_states_that_do_not_fit_are_located(spec: Path, call: Call, options: str, text: str, line: str) -> None:
    """Those that are learned, and those of two directions."""
    spec.write_text(f"input: 2\nsteps: 2\nlayers:\n  - {{rnn: 1, {options}}}\n")
    path = spec.with_name("data.yaml")
    path.write_text(f"{text}\n")
    result = call("run", spec, "--start", path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"{path}:{line}")


@pytest.mark.parametrize(
    ("layer", "data", "place"),
    [
        ("dense: 2", "start: {dense_1: {h: [0, 0]}}", "5:9: start.dense_1"),
        ("dense: 2", "start: {}", None),
        ("dropout: 0.5", "weights: {dropout_1: {}}", "5:11: weights.dropout_1"),
    ],
)
def test_where_nothing_can_be_given(spec: Path, call: Call, layer: str, data: str, place: str | None) -> None:
    """No state of a layer that has none, no weights where there are none; to give none is no mistake."""
    spec.write_text(f"input: 2\nsteps: 2\nlayers:\n  - {layer}\n{data}\n")
    result = call("run", spec)
    told = f"{spec}:{place}: unknown key; nothing can stand here, remove it\n"
    assert (result.code, result.err) == ((2, told) if place else (0, ""))
