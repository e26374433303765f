"""Calls between other programs: pipes that close, streams that are not there, interruptions."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
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
    assert "stdin:1:8: input: expected" in shell("echo 'input: xx' | rnncalc -").stderr


def test_every_file_may_be_a_pipe_of_the_shell() -> None:
    """It is read once and whole, weights too, which may as well be a model file."""
    weights = "{rnn_1: {W_xh: [[2]], W_hh: [[3]], b_h: [4]}}"
    files = f"--weights <(echo '{weights}') --inputs <(echo '[[5]]') --start <(echo '{{rnn_1: {{h: [6]}}}}')"
    spec = "<(echo '{input: 1, layers: [{rnn: 1, activation: linear}]}')"
    done = shell(f"rnncalc run {spec} {files} -f json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["reports"][0]["outputs"] == [2 * 5 + 3 * 6 + 4]
    done = shell(f"rnncalc check {spec} --baseline {spec} --max-growth 0; echo $?")
    assert done.stdout.endswith("\n0\n")


def test_a_model_file_is_no_pipe() -> None:
    """It is read in pieces, so that it is written into a file first."""
    for call in ("read", "run -i 1 -l rnn:1 -T 1 --weights", "check specs/rnn.yaml --model"):
        done = shell(f"rnncalc {call} <(cat specs/models/tagger.pt); echo $?")
        assert done.stdout == "2\n"
        assert done.stderr.count("\n") == 1
        assert "is a pipe; only regular files are read" in done.stderr or "model file" in done.stderr


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
    command = [sys.executable, "-m", "rnncalc", "check", "-"]
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    with subprocess.Popen(command, stdin=pipe, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        os.write(pipe, b"#")
        while select.select([pipe], [], [], 0)[0]:  # until it is read
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(pipe)
    assert (process.returncode, out, err.strip()) == (130, "", "rnncalc: interrupted")
