"""A real terminal: progress, interruption, colour."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

SLOW = ["run", "-i", "300", "-l", "lstm:300", "-T", "4000", "--max-multiply-adds", "10G"]


def on_terminal(*args: str, seconds: float, end: int | None = None, **environment: str) -> tuple[bytes, int]:
    """Run rnncalc on a pseudo-terminal, for so long at the most; send the signal `end` then. Return screen and code."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "rnncalc", *args], stdout=theirs, stderr=theirs, stdin=theirs, env=env
    )
    os.close(theirs)
    screen = b""
    until = time.monotonic() + seconds
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if end is not None and time.monotonic() > until:
            process.send_signal(end)
            end = None
        if select.select([ours], [], [], 0.05)[0]:
            try:
                screen += os.read(ours, 65536)
            except OSError:  # the other side has closed
                break
    os.close(ours)
    return screen, process.wait()


def test_a_long_pass_shows_its_progress_and_ctrl_c_ends_it() -> None:
    """After a second a bar is drawn on standard error; an interruption ends in one line and no traceback."""
    screen, code = on_terminal(*SLOW, seconds=3.0, end=signal.SIGINT)
    assert b"running" in screen
    assert b"%" in screen
    assert b"rnncalc: interrupted" in screen
    assert b"Traceback" not in screen
    assert code == 130


def test_a_short_pass_shows_no_bar() -> None:
    """What is done within a second is done without a word about it."""
    screen, code = on_terminal("run", "-i", "3", "-l", "lstm:3", seconds=10)
    assert b"running" not in screen
    assert code == 0


def test_colour_is_for_terminals_that_want_it() -> None:
    """A terminal gets colours; NO_COLOR takes them away."""
    assert b"\x1b[36m" in on_terminal("specs/lstm.yaml", seconds=10, NO_COLOR="")[0]
    assert b"\x1b[36m" not in on_terminal("specs/lstm.yaml", seconds=10, NO_COLOR="1")[0]
