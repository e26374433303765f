"""What is opened for reading: regular files, a pipe of the shell, and nothing that could block."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Call
from examples import reads_specs

from rnncalc import load
from rnncalc.cli.commands import COMMANDS
from rnncalc.files import open_input

SPEC = b"input: 4\nlayers: [rnn: 3]\n"
PIPE, DEVICE, SOCKET = (f"is {kind}; only regular files are read" for kind in ("a pipe", "a device", "a socket"))
TO = ["--to", "keras"]
NEEDS = {"answer": ["24"], "solve": ["--params", "100"], "export": TO, "convert": TO}
"""What a command takes beside a spec."""

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def irregular(folder: Path) -> dict[str, str]:
    """Make a folder of what is no regular file; return why each is not read."""
    os.mkfifo(folder / "pipe.yaml")
    (folder / "device.yaml").symlink_to("/dev/zero")
    (folder / "terminal.yaml").symlink_to("/dev/tty")
    (folder / "linked.yaml").symlink_to("pipe.yaml")
    (folder / "nowhere.yaml").symlink_to("no such file")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(folder / "socket.yaml"))
    return {
        "device.yaml": DEVICE,
        "linked.yaml": PIPE,
        "loop.yaml": os.strerror(40).lower(),
        "nowhere.yaml": "is a link that leads nowhere",
        "pipe.yaml": PIPE,
        "socket.yaml": SOCKET,
        "terminal.yaml": DEVICE,
    }


@pytest.fixture(autouse=True)
def _alarm() -> Iterator[None]:
    """End whatever waits for a file."""

    def hangs(*_: object) -> None:
        raise TimeoutError

    signal.alarm(30)
    before = signal.signal(signal.SIGALRM, hangs)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def fed(*words: object) -> subprocess.CompletedProcess[bytes]:
    """Make a call in a process whose standard input is a pipe with a spec."""
    command = [sys.executable, "-m", "rnncalc", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False, timeout=30, input=SPEC)


@needs_fifos
@pytest.mark.parametrize("command", sorted(filter(reads_specs, COMMANDS)))
def test_no_command_waits_for_a_file_of_a_folder(command: str, call: Call, tmp_path: Path) -> None:
    """Each is one line that says what it is; `check` has them in its report, the others on standard error."""
    why = irregular(tmp_path)
    (tmp_path / "spec.yaml").write_bytes(SPEC)
    folder = call(command, tmp_path, *NEEDS.get(command, [])).err  # one of several may be refused before it is read
    of_one = "expected one" in folder or command in ("answer", "solve")
    files = [tmp_path / name for name in why] if of_one else [tmp_path]
    for file in files:
        code, out, err = call(command, file, *NEEDS.get(command, []))
        assert code == 2
        said = out if command == "check" else err
        for name in [file.name] if of_one else why:
            assert f"{name}: {why[name]}" in said.replace("'", "").replace("\n", "")


@needs_fifos
@pytest.mark.parametrize("flag", ["--weights", "--inputs", "--start", "--targets", "--baseline", "--model"])
def test_no_flag_waits_for_its_file(flag: str, call: Call, tmp_path: Path) -> None:
    """Named by itself, such a file is refused too."""
    command = ["check"] if flag in ("--baseline", "--model") else ["run", "--backward"]
    for name, message in irregular(tmp_path).items():
        code, out, err = call(*command, "specs/rnn.yaml", flag, tmp_path / name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err or name in ("nowhere.yaml", "loop.yaml")


@needs_fifos
def test_no_model_file_is_waited_for(call: Call, tmp_path: Path) -> None:
    """`read` refuses it in one line."""
    for name, message in irregular(tmp_path).items():
        code, out, err = call("read", tmp_path / name)
        assert (code, out) == (2, "")
        assert message in err or name == "nowhere.yaml"


@needs_fifos
def test_from_python_too(tmp_path: Path) -> None:
    """`load` raises OSError, as for a file that is not there."""
    irregular(tmp_path)
    for name in ("pipe.yaml", "device.yaml", "loop.yaml"):
        with pytest.raises(OSError, match=r"only regular files|symbolic links"):
            load(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


@needs_fifos
def test_a_pipe_of_the_shell_is_read() -> None:
    """`<(cat spec.yaml)` is /dev/fd/63, and /dev/stdin is standard input; both are waited for."""
    assert b"total 24" in b" ".join(fed("/dev/stdin").stdout.lower().split())
    read, write = os.pipe()

    def fill() -> None:
        with os.fdopen(write, "wb") as file:
            file.write(SPEC)

    later = threading.Timer(0.2, fill)
    later.start()
    with open_input(f"/dev/fd/{read}", pipes=True) as file:
        assert file.read() == SPEC
    later.join()
    with pytest.raises(OSError, match=PIPE):
        open_input(f"/dev/fd/{read}")
    os.close(read)


@needs_fifos
def test_a_link_to_a_pipe_of_the_shell_is_not(tmp_path: Path) -> None:
    """It may have come with a folder of a stranger."""
    (tmp_path / "spec.yaml").symlink_to("/dev/stdin")
    assert PIPE in fed(tmp_path / "spec.yaml").stderr.decode()
