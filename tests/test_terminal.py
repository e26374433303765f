"""A real terminal: progress, interruption, colour."""

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Screen

SECONDS = 20
"""So long a bar is waited for."""

SLOW = ["run", "-i", "300", "-l", "lstm:300", "-T", "4000", "--max-multiply-adds", "10G"]
VARIANTS = ["exercise", "-i", "8", "-l", "lstm:16", "--vary", "lstm_1=2..9999", "--variants", "1000"]


def on_terminal(*args: str, end: int | None = None, **environment: str) -> tuple[bytes, int]:
    """Run rnncalc on a pseudo-terminal; send the signal `end` once a bar is there. Return the screen and the code."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "rnncalc", *args], stdout=theirs, stderr=theirs, stdin=theirs, env=env
    )
    os.close(theirs)
    screen = b""
    until = time.monotonic() + SECONDS
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if end is not None and ("─".encode() in screen or time.monotonic() > until):
            process.send_signal(end)
            end = None
        if select.select([ours], [], [], 0.05)[0]:
            try:
                screen += os.read(ours, 65536)
            except OSError:  # the other side has closed
                break
    os.close(ours)
    return screen, process.wait()


@pytest.mark.broad
@pytest.mark.parametrize(("call", "word"), [(SLOW, b"running"), (VARIANTS, b"writing")])
def test_long_work_shows_its_progress_and_ctrl_c_ends_it(call: list[str], word: bytes) -> None:
    """After a second a bar is drawn on standard error; an interruption ends in one line and no traceback."""
    screen, code = on_terminal(*call, end=signal.SIGINT)
    assert word in screen
    assert b"%" in screen
    assert b"rnncalc: interrupted" in screen
    assert b"Traceback" not in screen
    assert code == 130


@pytest.mark.broad
def test_large_model_files_show_that_they_are_read(tmp_path: Path) -> None:
    """How much remains is not known, so that a part of the bar moves."""
    tensors = {f"l.{n}.bias": {"dtype": "F32", "shape": [1], "data_offsets": [4 * n, 4 * n + 4]} for n in range(80_000)}
    header, path = json.dumps(tensors).encode(), tmp_path / "large.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(320_000))
    screen, code = on_terminal("read", *[str(path)] * 8, end=signal.SIGINT)
    assert re.match("\rreading ─*█+─+  0:0[1-9]", screen.decode())
    assert code == 130


@pytest.mark.broad
def test_a_terminal_is_left_as_it_was_by_who_ends_a_pass() -> None:
    """SIGTERM clears the bar, hides no cursor, and ends the process as it always does."""
    screen, code = on_terminal(*SLOW, end=signal.SIGTERM)
    assert b"running" in screen
    assert re.search(rb"\r +\r$", screen)
    assert screen.count(b"\x1b[?25l") == screen.count(b"\x1b[?25h")
    assert code == -signal.SIGTERM


def test_a_short_pass_shows_no_bar() -> None:
    """What is done within a second is done without a word about it."""
    screen, code = on_terminal("run", "-i", "3", "-l", "lstm:3")
    assert b"running" not in screen
    assert code == 0


def test_colour_is_for_terminals_that_want_it() -> None:
    """A terminal gets colours; NO_COLOR takes them away."""
    assert b"\x1b[36m" in on_terminal("specs/lstm.yaml", NO_COLOR="")[0]
    assert b"\x1b[36m" not in on_terminal("specs/lstm.yaml", NO_COLOR="1")[0]


@pytest.mark.broad
def test_signs_and_errors_have_their_colours() -> None:
    """Green and red signs in tables and before notes, red errors; none of it with NO_COLOR, or on a dumb terminal."""
    wrong = ("answer", "specs/two-rnn-layers.yaml", "15", "28", "5")
    screen, _ = on_terminal(*wrong, NO_COLOR="")
    assert b"\x1b[31m\xe2\x9c\x97" in screen
    assert b"\x1b[32m\xe2\x9c\x93" in screen
    assert b"\x1b[31m\xe2\x9c\x97\x1b[0m Wrong." in screen
    assert b"\x1b[31mrnncalc: " in on_terminal("check", NO_COLOR="")[0]
    for call in (wrong, ("check",)):
        assert b"\x1b[3" not in on_terminal(*call, NO_COLOR="1")[0]
        assert b"\x1b[" not in on_terminal(*call, NO_COLOR="", TERM="dumb")[0]


def test_a_formula_is_tinted_and_plain_arithmetic_is_not() -> None:
    """Letters are a formula; a sum of numbers is none. The line that all others lead to is bold."""
    screen = on_terminal("explain", "specs/lstm.yaml", NO_COLOR="")[0].decode()
    assert "\x1b[36mh × m\x1b[0m = " in screen
    assert not re.search(r"\x1b\[36m[\d +]+\x1b", screen)
    assert "\x1b[1;36m4h(m + h + 1)" in screen
    assert re.search(r"\x1b\[1m[^\x1b]* 1,600", screen)


@pytest.mark.parametrize("columns", [0, 3, 20, 60, 80, 200])
def test_no_number_is_cut(columns: int, screen: Screen) -> None:
    """However narrow a screen is, or says that it is, the digits are all there."""
    for call, number in (
        (["-i", 10, "-l", "lstm:123456789", "--cost"], "60,966,320,432,860,800"),
        (["solve", "-i", 70, "-l", "rnn:?", "--params", "123456789"], "123,456,789"),
        (["check", "specs/lstm.yaml"], "1,600"),
    ):
        assert number.split(",")[0] in screen(columns, *call)
        assert number in screen(columns, *call), screen(columns, *call)


@pytest.mark.parametrize("columns", [60, 80])
def test_what_is_compared_stays_together(columns: int, screen: Screen) -> None:
    """The two sums, the limit and the number, a bar and its number: on one line, or one below the other."""
    lines = screen(columns, "answer", "-i", 3, "-l", "gru:5", 45).splitlines()
    below = lines.index("counts the input matrices alone")
    assert re.fullmatch(r"  Your calculation +3 × 5 × 3 = 45", lines[below + 1])
    assert re.fullmatch(r"  Correct calculation +3 × 5 × \(3 \+ 5 \+ 1\) = 135", lines[below + 2])
    assert lines[below + 1].index("3") == lines[below + 2].index("3")
    out = screen(columns, "check", "specs/dense-equivalent.yaml", "--min-dense-ratio", 5)
    assert re.search(r"--min-dense-ratio\s+(Expected +)?5.00\s+(Actual +)?4.54$", out, re.MULTILINE)
    out = screen(columns, "compare", "specs/time-series-gru.yaml", "--same-params")
    assert re.search(r"^lstm +42 +23,712 +216( |$)", out, re.MULTILINE)
    out = screen(columns, "compare", "specs/time-series-gru.yaml", "--steps", "1..100")
    assert re.search(r"^ *100 +23,928 +[\d,]+ +[\d,.]+ +█+$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= columns


def test_the_rows_of_a_matrix_stay_whole_and_below_one_another(screen: Screen, tmp_path: Path) -> None:
    """The correct matrix of four rows has lines of its own."""
    rows = [[0.1] * 4] * 4
    weights: dict[str, object] = {f"W_{way}{gate}": rows for way in "xh" for gate in "figo"}
    biases = {f"b_{gate}": [-0.2] * 4 for gate in "figo"}
    spec = {"input": 4, "layers": [{"lstm": 4}], "weights": {"lstm_1": weights | biases}}
    (tmp_path / "spec.json").write_text(json.dumps(spec | {"inputs": [[0.1] * 4] * 2, "targets": [0.5] * 4}))
    given = "[[1.1, 2, 3, 4],[1, 2, 3, 4],[1.123, 2, 3, 4],[0.12, 0.34, 0.5123, 0.61]]"
    out = screen(80, "answer", tmp_path / "spec.json", "--of", "values", f"dL/dW_hf = {given}; h_1 = 1.5")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "  Answer   [[1.1, 2, 3, 4],[1, 2, 3, 4],[1.123, 2, 3, 4]," in lines
    assert "            [0.12, 0.34, 0.5123, 0.61]]" in lines
    correct = next(at for at, line in enumerate(lines) if line.startswith("  Correct  (("))
    assert lines[correct + 1].startswith("            (")


@pytest.mark.parametrize("columns", [40, 60])
def test_the_name_of_a_file_is_never_folded(columns: int, screen: Screen) -> None:
    """If there is no room beside it, each of its checks is below it, with its numbers one below the other."""
    names = ["specs/dense-equivalent.yaml", "specs/lstm-without-output-gate.yaml", "specs/keras/gru-reset-before.yaml"]
    out = screen(columns, "check", *names, "--max-params", "10k", "--baseline", "specs")
    checks, changes = re.sub(r"\s+", " ", out).split("Changes")
    for name, number in ("expect.total", "28"), ("expect.layers[0]", "24"), ("expect.layers[1]", "4"):
        assert f"✓ {names[0]} {name} Expected {number} Actual {number}" in checks
    assert f"✓ {names[0]} --max-params Expected 10,000 Actual 28" in checks
    assert all(name in changes for name in names)
    assert "Total Before 2,428 After 2,428 Change 0 Percent +0.00%" in changes
    wide = screen(80, "check", *names).splitlines()
    assert [line.split()[1] for line in wide if line.startswith("✓")] == [names[0]] * 3 + names[1:]


def test_a_message_is_folded_at_blanks() -> None:
    """No line of standard error ends within a word, or is wider than the terminal."""
    screen, _ = on_terminal(
        "run", "specs/models/tagger.pt", "--weights", "specs/models/lstm-12.safetensors", COLUMNS="50"
    )
    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen.decode()).splitlines()
    assert max(map(len, lines)) <= 50
    assert "19 tensors, 563 parameters" in " ".join(lines)
