"""Completion, in the shells themselves where they are installed: commands, flags, values and file names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call, file_at

from rnncalc.cli.suggestions import SCRIPTS

BASH = """
compopt() { if [[ $2 == default ]]; then FILES=file; fi; }
eval "$SCRIPT"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_rnncalc rnncalc
printf '%s\\n' $FILES "${COMPREPLY[@]}"
"""
ZSH = """
compadd() { shift; [[ $1 == -S ]] && shift 2; shift; print -r -- $1 }
_files() { print file }
compdef() { }
eval "$SCRIPT"
words=("$@"); CURRENT=$#
_rnncalc
"""
FISH = """
printenv SCRIPT | source
complete -C "$argv"
"""
CASES = [
    (["c"], {"count", "check", "compare", "completion"}),
    (["count", "--dt"], {"--dtype"}),
    (["--dt"], {"--dtype"}),
    (["-c", "p"], {"pytorch"}),
    (["compare", "--topology", "many"], {"many-to-one", "many-to-many"}),
    (["count", "--dtype", "bf"], {"bfloat16"}),
    (["check", "-f", "g"], {"github", "gitlab"}),
    (["draw", "--view", ""], {"unrolled", "cell", "growth"}),
    (["-i", "4", "-l", "min"], {"mingru:", "minlstm:"}),
]


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `rnncalc` is this one."""
    script = file_at(tmp_path / "rnncalc", f'#!/bin/sh\nexec "{sys.executable}" -m rnncalc "$@"\n')
    script.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(Path.cwd()), "HOME": str(tmp_path)}


def completed(name: str, words: list[str], env: dict[str, str]) -> set[str]:
    """Return what a shell offers for the last of the words after `rnncalc`."""
    if not (program := shutil.which(name)):
        pytest.skip(f"{name} is not installed")
    command = {
        "bash": ["-c", BASH, "bash", "rnncalc", *words],
        "zsh": ["-fc", ZSH, "zsh", "rnncalc", *words],
        "fish": ["-c", FISH, " ".join(["rnncalc", *words])],
    }[name]
    env = {**env, "SCRIPT": SCRIPTS[name]}
    done = subprocess.run([program, *command], capture_output=True, text=True, env=env, check=False, timeout=30)
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line}


def test_the_scripts_are_printed(call: Call) -> None:
    """The shells below read what the command prints."""
    for name, script in SCRIPTS.items():
        assert call("completion", name) == (0, script, "")


@pytest.mark.broad
@pytest.mark.parametrize(
    ("name", "words", "offered"),
    [("bash", *case) for case in CASES] + [(name, *case) for name in ("zsh", "fish") for case in CASES[:4:3]],
)
def test_a_shell_completes(name: str, words: list[str], offered: set[str], shell: dict[str, str]) -> None:
    """Commands, flags, and the values of flags that are words."""
    assert completed(name, words, shell) - {"file"} == offered


@pytest.mark.broad
@pytest.mark.parametrize("before", [[], ["count"], ["run", "--weights"], ["run", "--targets"], ["solve", "--match"]])
@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_file_names_are_completed(name: str, before: list[str], shell: dict[str, str]) -> None:
    """Wherever a file may be, by the shell itself."""
    assert completed(name, [*before, "spec"], shell) == ({"specs/"} if name == "fish" else {"file"})


@pytest.mark.broad
@pytest.mark.parametrize(
    ("word", "in_bash", "offered"),
    [
        ("lstm:5,bid", ["lstm", ":", "5,bid"], {"5,bidirectional"}),
        ("lstm:5,bias,merge=s", ["lstm", ":", "5,bias,merge", "=", "s"], {"sum"}),
        ("gru:5,reset_g", ["gru", ":", "5,reset_g"], {"5,reset_gate"}),
        ("rnn:5,peep", ["rnn", ":", "5,peep"], set()),
    ],
)
def test_the_options_of_a_layer_are_completed(
    word: str, in_bash: list[str], offered: set[str], shell: dict[str, str]
) -> None:
    """Those of its kind; in bash, which cuts words at colons, the last piece alone."""
    assert completed("bash", ["-i", "4", "-l", *in_bash], shell) - {"file"} == offered
    whole = {word[: word.rfind("=") + 1] + each if "=" in word else f"{word.split(':')[0]}:{each}" for each in offered}
    assert completed("fish", ["-i", "4", "-l", word], shell) == whole
    assert completed("zsh", ["-i", "4", "-l", word], shell) == whole


def test_a_flag_and_its_value_in_one_word(shell: dict[str, str]) -> None:
    """`--convention=p` goes on as `--convention p` does."""
    assert completed("bash", ["count", "--convention", "=", "p"], shell) == {"pytorch"}
    assert completed("zsh", ["count", "--convention=p"], shell) == {"--convention=pytorch"}
    assert completed("fish", ["count", "--convention=p"], shell) == {"--convention=pytorch"}


@pytest.mark.parametrize("instruction", ["bash_source", "tcsh_complete"])
def test_another_question_is_answered_with_the_command(
    instruction: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is run."""
    monkeypatch.setenv("_RNNCALC_COMPLETE", instruction)
    line = (
        f"rnncalc: _RNNCALC_COMPLETE: expected bash_complete, zsh_complete or fish_complete, got '{instruction}'; "
        "rnncalc completion prints the script\n"
    )
    assert call("specs/lstm.yaml") == (2, "", line)
