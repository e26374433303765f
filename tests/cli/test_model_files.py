"""A model file instead of a spec: every command works on the draft that `read` prints."""

import re
from pathlib import Path

import click
import pytest
from conftest import Call, file_at

from rnncalc.cli.commands import COMMANDS, cli

MODEL = "specs/models/tagger.pt"
SAID = f"{MODEL}: PyTorch checkpoint with optimizer, 19 tensors, 563 parameters, 2 LSTM layers; 4 comments on it"


def reads_specs(name: str) -> bool:
    """Return whether a command takes a SPEC, or the PATH of one."""
    command = cli.get_command(click.Context(cli), name)
    assert command
    words = command.collect_usage_pieces(click.Context(command))
    return any(re.match(r"\[?(SPEC|PATH)", word) for word in words)


@pytest.mark.parametrize("command", [*filter(reads_specs, COMMANDS)])
def test_a_command_works_on_the_draft(command: str, tmp_path: Path, call: Call) -> None:
    """Its answer, or its refusal, is that of the draft's file; what the draft leaves open is one line more."""
    draft = file_at(tmp_path / "tagger.yaml", call("read", MODEL).out)
    seed = ["--seed", "0"] if command == "run" else []
    one, other = call(command, MODEL, *seed), call(command, draft, *seed)
    for of_model, of_draft in ((one.out, other.out), (one.err, other.err)):
        told = f"{SAID}: rnncalc read {MODEL}\n"
        texts = (of_model.replace(told, "").replace(MODEL, "FILE"), of_draft.replace(str(draft), "FILE"))
        assert len({re.sub("[ ─]+", " ", text) for text in texts}) == 1  # a table is as wide as its names
    assert one.code == other.code


def test_a_model_file_runs_with_its_own_weights(call: Call) -> None:
    """Unless a flag says where the weights are from."""
    run = ("run", MODEL, "-T", "3")
    own = call(*run)
    assert own.out == call(*run, "--weights", MODEL).out
    assert own.out != call(*run, "--seed", "0").out


def test_a_folder_is_searched_for_specs_alone(call: Call) -> None:
    """A model file is named; a suffix of specs is never one of models."""
    assert "no .yaml or .yml file below this folder" in call("check", "specs/models").out
    assert call("check", MODEL, "--max-params", "563").code == 0
    assert call("check", MODEL, "--max-params", "562").code == 1


def test_a_file_without_a_spec(tmp_path: Path, call: Call) -> None:
    """Nothing in it is a parameter: every command says what `read` says."""
    from models.files.made import safetensors

    path = safetensors(tmp_path / "a.safetensors", {"steps": (1,)}, dtype="I32")
    said = call("count", path)
    assert (said.code, said.err) == (2, f"'{path}': has no parameters, only 1 tensor of 1 number (buffer)\n")
    assert said == call("read", path)


@pytest.mark.parametrize("args", ["read -", "check specs/lstm.yaml --model -"])
def test_a_model_file_is_named(call: Call, args: str) -> None:
    """Standard input is not read as one."""
    assert "'-': a model file is named, not read from standard input\n" in call(*args.split()).err
