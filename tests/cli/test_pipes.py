"""Calls between other programs: pipes that close, streams that are not there, interruptions."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command with `rnncalc` being this one."""
    line = command.replace("rnncalc", f"{sys.executable} -m rnncalc")
    env = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, encoding="utf-8", env=env, check=False)


def test_standard_input_is_a_spec_too() -> None:
    """`-` reads it, and its problems are located in it."""
    assert "1,600" in shell("rnncalc - < specs/lstm.yaml").stdout
    assert "stdin:1:8: input: expected" in shell("echo 'input: x' | rnncalc -").stderr


def test_a_closed_pipe_is_a_clean_end() -> None:
    """`| head` cuts the output, not the manners."""
    done = shell("rnncalc -i 4 -l lstm:8,repeat=1000 --tensors -f csv | head -1; echo ${PIPESTATUS[0]}")
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def test_closed_streams_are_no_traceback() -> None:
    """Who closes a stream does not want what is on it; the exit code is told all the same."""
    assert "1,600" in shell("rnncalc specs/lstm.yaml 2>&-").stdout
    assert shell("rnncalc nowhere.yaml 2>&-; echo $?").stdout == "2\n"
    assert shell("rnncalc specs/lstm.yaml >&-; echo $? >&2").stderr == "0\n"
    done = shell("rnncalc schema | head -c 1; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("{0\n", "")


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_output_into_a_pipe_is_plain(form: str) -> None:
    """No escape sequence leaves through a pipe."""
    assert "\x1b" not in shell(f"rnncalc specs/lstm.yaml -f {form}").stdout


def test_a_terminal_without_our_symbols_gets_plain_ones() -> None:
    """In an ASCII locale arrows and signs become their plain likes."""
    done = shell("rnncalc specs/lstm.yaml", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "8 -> 16" in done.stdout
    assert "4 x 16 x (8 + 16 + 1)" in done.stdout


def test_check_reads_standard_input_and_ends_cleanly_in_a_closed_pipe(tmp_path: Path) -> None:
    """`-` is a spec among others, told as stdin; `| head` ends without a word."""
    done = shell("sed 's/28/29/' specs/dense-equivalent.yaml | rnncalc check specs/lstm.yaml -; echo ${PIPESTATUS[1]}")
    assert re.search(r"^stdin:\d+:\d+: expect.total: expected 29, got 28: 1 fewer$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("\n1\n")
    for number in range(3_000):
        (tmp_path / f"{number}.yaml").write_text("input: 4\nlayers: [rnn: 3]\nexpect: 24\n")
    done = shell(f"rnncalc check {tmp_path} -f json | head -1; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")


def test_an_interrupted_check_ends_in_one_line(tmp_path: Path) -> None:
    """Ctrl-C while it waits for a spec that does not come: one line, and no traceback."""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "rnncalc", "check", str(tmp_path / "pipe")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        waiting = os.open(tmp_path / "pipe", os.O_WRONLY)  # opens when it is read
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        os.close(waiting)
    assert (process.returncode, out, err.strip()) == (130, "", "rnncalc: interrupted")
