"""What programs read is UTF-8, whatever the terminal's encoding; what people read is of signs that it has."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import file_at

from rnncalc.cli import call

SPEC = "name: Überblick → 日本\ninput: 4\nsteps: 3\nlayers: [{rnn: 3, name: Größe}]\nexpect: 25\n"


def drawn(*args: object) -> str:
    """Return what a call in this process prints where there is ASCII alone."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with contextlib.redirect_stdout(out):
        call([str(arg) for arg in args])
    out.seek(0)
    return out.read()


CALLS = """
import json, sys
from rnncalc.cli import call
for args in json.loads(sys.argv[1]):
    call(args)
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes(1))
    sys.stdout.buffer.flush()
"""


def called(encoding: str, *calls: Sequence[object]) -> list[bytes]:
    """Return what each of several calls prints in a process whose terminal has an encoding."""
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", CALLS, json.dumps(calls, default=str)]
    return subprocess.run(command, capture_output=True, env=env, check=True).stdout.split(bytes(1))[:-1]


SELDOM = [pytest.param(encoding, marks=pytest.mark.slow) for encoding in ("latin-1", "gbk")]


@pytest.mark.broad
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", *SELDOM])
def test_what_programs_read_is_utf8(encoding: str, tmp_path: Path) -> None:
    """JSON and JUnit in ASCII, CSV, Markdown and LaTeX in UTF-8: names come out as they went in."""
    spec = file_at(tmp_path / "Größen.yaml", SPEC)
    counts = [[spec, "-f", form] for form in ("json", "csv", "markdown")]
    checks = [["check", spec, "-f", form] for form in ("junit", "github")]
    text, table, markdown, junit, github = called(encoding, *counts, *checks)
    assert text.isascii()
    (report,) = json.loads(text)["reports"]
    assert (report["name"], report["layers"][0]["name"]) == ("Überblick → 日本", "Größe")
    assert junit.isascii()
    assert ET.fromstring(junit)[0].attrib["name"].endswith("Größen.yaml")
    rows = [*csv.reader(io.StringIO(table.decode("utf-8")))]
    assert rows[1][:2] == ["Überblick → 日本", "Größe"]
    assert "### Überblick → 日本" in markdown.decode("utf-8")
    assert "Größen.yaml" in github.decode("utf-8")


@pytest.mark.broad
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_check_reads_what_count_wrote(encoding: str, tmp_path: Path) -> None:
    """A baseline that was written under one encoding is read under another."""
    spec = file_at(tmp_path / "a.yaml", SPEC.replace("expect: 25\n", ""))
    baseline = tmp_path / "old.json"
    (text,) = called(encoding, [spec, "-f", "json"])
    baseline.write_bytes(text)
    (out,) = called("utf-8", ["check", spec, "--baseline", baseline, "--max-growth", "0"])
    assert b"1 passed" in out


def test_bars_and_tables_are_drawn_in_ascii() -> None:
    """No question mark, no other box, and numbers below their titles."""
    out = drawn("compare", "specs/dense-equivalent.yaml")
    assert "?" not in out
    assert "|" not in out
    assert "this network          28   1.00             66    112  ####" in out
    out = drawn("compare", "specs/dense-equivalent.yaml", "--steps", "1..100")
    assert "19      0.68  ###" in out
    *_, row, _, total, _, _ = drawn("specs/lstm.yaml").splitlines()
    assert len(row) == len(total)
    out = drawn("explain", "-i", 4, "-l", "fastgrnn:4")
    assert "?" not in out
    assert "h_t = (sigmoid(zeta) * (1 - z_t) + sigmoid(nu)) * n_t" in out
    assert "ok  " in drawn("check", "specs/lstm.yaml")


def test_greek_letters_are_words_in_ascii_and_shapes_stay_below_their_terms() -> None:
    """What is σ(ζ) and ν elsewhere is no s, z or v, which are other things; the shapes of z and n are below them."""
    lines = drawn("explain", "-i", 4, "-l", "fastgrnn:3").splitlines()
    place = lines.index("h_t = (sigmoid(zeta) * (1 - z_t) + sigmoid(nu)) * n_t + z_t * h_(t-1)")
    assert lines[place + 1] == " 3                           3                     3     3       3"
    lines = drawn("run", "-i", 1, "-l", "fastgrnn:2", "-T", 1, "--work").splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("z_1 = sigmoid(["))
    brackets = [[place for place, char in enumerate(line) if char in "()"] for line in lines[place : place + 2]]
    assert brackets[0] == brackets[1]


def test_greek_letters_are_words_in_pictures_in_ascii() -> None:
    """In boxes that are as wide as the words, in the legend, and where a flow is written line by line."""
    out = drawn("draw", "-i", 4, "-l", "fastgrnn:5", "--view", "cell")
    assert all(word in out for word in ("[sigmoid(zeta)]", "[sigmoid(nu)]", "| sigmoid |", "zeta  number"))
    assert "?" not in out
    assert out.count("+---------+") == 1  # nothing runs through the box of the one gate
