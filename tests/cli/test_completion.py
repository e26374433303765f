"""Completion: the scripts are click's, and bash offers commands, flags, kinds, values and file names."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call, file_at

from rnncalc.cli.commands import COMMANDS
from rnncalc.cli.suggestions import layers

BASH = """
compopt() { FILES=$2; }
complete() { :; }
eval "$(rnncalc completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_rnncalc_completion rnncalc
printf '%s\\n' $FILES "${COMPREPLY[@]}"
"""


@pytest.mark.broad
@pytest.mark.skipif(sys.platform != "linux", reason="takes a bash of 4.4 or later")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("c", f"default {' '.join(name for name in COMMANDS if name.startswith('c'))}"),
        ("count spec", "default"),
        ("run --weights spec", "default"),
        ("--dt", "--dtype"),
        ("-c py", "pytorch"),
        ("compare --topology many", "many-to-one many-to-many"),
        ("check -f g", "github gitlab"),
        ("draw --view ''", "unrolled cell growth"),
        ("-i 4 -l min", "mingru: minlstm:"),
    ],
)
def test_bash_completes(words: str, offered: str, tmp_path: Path) -> None:
    """`default` asks bash for names of files."""
    file_at(tmp_path / "rnncalc", f'#!/bin/sh\nexec "{sys.executable}" -m rnncalc "$@"\n').chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(Path.cwd())}
    command = ["bash", "-c", BASH, "bash", "rnncalc", *shlex.split(words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True, timeout=30)
    assert ({*done.stdout.split()}, done.stderr) == ({*offered.split()}, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, call: Call) -> None:
    code, out, err = call("completion", shell)
    assert (code, err, f"_RNNCALC_COMPLETE={shell}_complete" in out) == (0, "", True)


@pytest.mark.parametrize(
    ("word", "offered"),
    [
        ("mi", ["mingru:", "minlstm:"]),
        ("lstm:5", []),
        ("lstm:5,bid", ["bidirectional", "bidirectional=false"]),
        ("lstm:5,bias,merge=s", ["merge=sum"]),
        ("gru:5,reset_g", ["reset_gate", "reset_gate=false"]),
        ("rnn:5,peep", []),
        ("lstm:5,proj", ["projection="]),
    ],
)
def test_a_layer_is_completed(word: str, offered: list[str]) -> None:
    """Its kind, the options of its kind, and their values."""
    before = word[: word.rfind(",") + 1]
    assert [item.value for item in layers(word)] == [f"{before}{each}" for each in offered]
