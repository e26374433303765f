"""The two streams: what strangers put into messages, who closes them, and what ends a call from outside."""

import builtins
import io
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
from conftest import Call, file_at
from examples import ROOT, examples, formats

from rnncalc.cli import call as call_line
from rnncalc.cli.commands import COMMANDS

HOSTILE = "x\n::error::pwned\x1b[31m\r\x9b\u202e##[error]y\udc80"
PYTHON = [sys.executable, "-m", "rnncalc"]


@pytest.mark.parametrize("line", Path(__file__).with_name("hostile.txt").read_text(encoding="utf-8").splitlines())
def test_no_message_acts_on_a_terminal_or_a_runner(call: Call, line: str) -> None:
    """Click's own messages neither: each problem is a line of its own, and nothing in it is more than text."""
    result = call(*(word.replace("HOSTILE", HOSTILE) for word in line.split()))
    assert result.code == 2
    assert result.err
    assert all(char.isprintable() for char in result.err.replace("\n", ""))
    assert "##[" not in result.err
    assert not any(line.startswith(("::", "pwned")) for line in result.err.splitlines())


@pytest.mark.broad
@pytest.mark.parametrize("args", [["schema"], ["--help"], ["--version"], ["count", "--help"], ["specs/lstm.yaml"]])
def test_a_pipe_that_nobody_reads_is_a_clean_end(args: list[str]) -> None:
    """Closed before the first byte: exit 0 and not a word."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen([*PYTHON, *args], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.broad
@pytest.mark.parametrize(
    ("args", "way"),
    [
        *(("nowhere.yaml", way) for way in ("2>&-", "2>/dev/full", "2> >(exec true)", "2>/dev/null", ">&- 2>&-")),
        *((args, "2>&-") for args in ("--nope", "-i 4 -l lstm:xx", "tests/bad_specs/tab.yaml")),
    ],
)
def test_wrong_input_is_told_by_the_exit_code_whoever_listens(args: str, way: str) -> None:
    """Closed, full or torn off, standard error changes nothing about the 2."""
    line = f"{' '.join(PYTHON)} {args} {way}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.broad
def test_an_interrupted_start_is_one_line() -> None:
    """Ctrl-C at the import of any module, from the first that `main` asks for to the last: 130, and no traceback."""
    code = """
import builtins, os, signal, sys
from rnncalc.cli import main
at, seen, real = int(sys.argv.pop(1)), 0, builtins.__import__
def counting(name, *rest):
    global seen
    if name.startswith(("rnncalc", "click", "rich", "yaml")) and name not in sys.modules:
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = counting
main()
"""
    for at in (1, 2, 3, 5, 8, 13, 20):
        command = [sys.executable, "-c", code, str(at), "specs/lstm.yaml"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "rnncalc: interrupted\n"), at


def test_too_little_memory_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it runs out."""
    real = builtins.open

    def no_memory(path: object, *args: object, **named: object) -> object:
        if str(path).endswith("lstm.yaml"):
            raise MemoryError
        return real(path, *args, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(builtins, "open", no_memory)
    line = "rnncalc: the memory of this machine is not enough for this call\n"
    assert call("specs/lstm.yaml") == (2, "", line)


@pytest.mark.broad
def test_memory_that_a_machine_has_not_is_one_line() -> None:
    """A limit that the system sets, reached in the middle of a pass."""
    args = ["run", "-i", "3000", "-l", "lstm:3000", "-T", "1", "--max-multiply-adds", "10G"]
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (120_000_000,) * 2);"
    code += "from rnncalc.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert done.stderr.count("\n") == 1


def test_a_name_of_a_file_may_be_long(call: Call, tmp_path: Path) -> None:
    """Its stem names the network, cut where no name may be longer; nothing in the file is blamed for it."""
    path = file_at(tmp_path / f"{'n' * 250}.yaml", "input: 4\nlayers: [rnn: 3]\n")
    result = call(path, "-f", "csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1].startswith(f"{'n' * 100}")


def test_a_signal_is_left_as_it_was(call: Call) -> None:
    """A call within another program changes nothing about its signals."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    call("specs/lstm.yaml")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


class Notebook(io.StringIO):
    """What a notebook puts in the place of the streams: it has an encoding, and no file's number."""

    encoding = "UTF-8"


@pytest.mark.broad
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", [io.StringIO, Notebook])
def test_streams_that_are_no_files(
    kind: type[io.StringIO], name: str, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every command writes the same in every format, help and mistakes included, to a stream without an encoding."""
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    monkeypatch.chdir(tmp_path)  # some examples write a file
    monkeypatch.delenv("COLUMNS", raising=False)
    first = examples(name)[0]
    in_formats = [[*first[:1], "-f", word, *first[1:]] for word in formats(name)]
    if kind is Notebook:  # what it adds is the same for each format
        in_formats = []
    shown = [first, [name, "--help"]]
    for args in [*shown, *in_formats, [name, "--nope"]]:
        out, err = kind(), kind()
        with monkeypatch.context() as within:
            within.setattr(sys, "stdout", out)
            within.setattr(sys, "stderr", err)
            code = call_line(args)
        assert (code, out.getvalue(), err.getvalue()) == call(*args), args
        assert code in (0, 1) or args not in shown, args


class Torn(Notebook):
    """A stream that takes nothing more."""

    def write(self, text: str) -> int:
        if text:
            raise BrokenPipeError
        return 0


@pytest.mark.parametrize("args", [["schema"], ["specs/lstm.yaml"], ["nowhere.yaml"]])
def test_a_torn_stream_without_a_number(args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no file to send the rest to."""
    with monkeypatch.context() as within:
        within.setattr(sys, "stdout", Torn())
        within.setattr(sys, "stderr", Torn())
        assert call_line(args) == (2 if "nowhere.yaml" in args else 0)


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command with `rnncalc` being this one."""
    line = command.replace("rnncalc", f"{sys.executable} -m rnncalc")
    env = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, encoding="utf-8", env=env, check=False)


@pytest.mark.broad
def test_standard_input_is_a_spec_too() -> None:
    """`-` reads it, and its problems are located in it."""
    assert "1,600" in shell("rnncalc - < specs/lstm.yaml").stdout
    assert "stdin:1:8: input: expected" in shell("echo 'input: xx' | rnncalc -").stderr


@pytest.mark.broad
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


@pytest.mark.broad
def test_a_model_file_is_no_pipe() -> None:
    """It is read in pieces, so that it is written into a file first."""
    for call in ("read", "run -i 1 -l rnn:1 -T 1 --weights", "check specs/rnn.yaml --model"):
        done = shell(f"rnncalc {call} <(cat specs/models/tagger.pt); echo $?")
        assert done.stdout == "2\n"
        assert done.stderr.count("\n") == 1
        assert "is a pipe; only regular files are read" in done.stderr or "model file" in done.stderr


@pytest.mark.broad
def test_closed_streams_are_no_traceback() -> None:
    """An answer that cannot be written is no success."""
    assert "1,600" in shell("rnncalc specs/lstm.yaml 2>&-").stdout
    for call in ("specs/lstm.yaml", "check specs/lstm.yaml -f json", "count --help", "read specs/models/tagger.pt"):
        done = shell(f"rnncalc {call} >&-; echo $? >&2")
        assert done.stderr == "rnncalc: cannot write the answer: standard output is closed\n2\n"
    done = shell("rnncalc -i 4 -l lstm:8,repeat=1000 --tensors -f json | head -c 1; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("{0\n", "")


def test_a_terminal_without_our_symbols_gets_plain_ones() -> None:
    """In an ASCII locale arrows and signs become their plain likes."""
    done = shell("rnncalc specs/lstm.yaml", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "8 -> 16" in done.stdout
    assert "4 x 16 x (8 + 16 + 1)" in done.stdout


@pytest.mark.broad
def test_check_reads_standard_input_and_ends_cleanly_in_a_closed_pipe(tmp_path: Path) -> None:
    """`-` is a spec among others, told as stdin; `| head` ends without a word."""
    done = shell("sed 's/28/29/' specs/dense-equivalent.yaml | rnncalc check specs/lstm.yaml -; echo ${PIPESTATUS[1]}")
    assert re.search(r"^stdin:\d+:\d+: expect.total: expected 29, got 28: 1 fewer$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("\n1\n")
    for number in range(500):  # more than a pipe takes at once
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
