"""`rnncalc draw`: views, files by their suffix, and what is refused."""

import io
import os
import re
import stat
import sys
from pathlib import Path

import pytest
from conftest import Call, Screen

from rnncalc.formats import FORMATS, Format, offered
from rnncalc.reports.draw import Drawing
from rnncalc.reports.report import PictureReport, SheetReport

NETWORK = ("-i", 4, "-l", "gru:3", "--output", 1, "-T", 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that a call is made in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_draws_on_standard_output(call: Call) -> None:
    """In characters, or in the format asked for."""
    out = call("draw", *NETWORK).out
    assert out.count("│  gru_1  │") == 3
    assert call("draw", *NETWORK, "-f", "svg").out.startswith("<svg ")
    assert "\n\\begin{tikzpicture}" in call("draw", *NETWORK, "-f", "tikz").out


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("view", ["unrolled", "growth"])
@pytest.mark.parametrize("spec", ["translation", "sentiment-classifier", "time-series-gru", "speech-model"])
def test_a_screen_is_never_too_narrow(columns: int, view: str, spec: str, screen: Screen) -> None:
    """No line is longer than the terminal is wide, and on a wider one there is more of the network."""
    lines = screen(columns, "draw", f"specs/{spec}.yaml", "--view", view).splitlines()
    assert max(map(len, lines)) <= columns
    assert lines


def test_a_picture_may_be_bare(call: Call) -> None:
    """In every format that draws: its boxes stay, its title and its legend do not."""
    for name in offered(Drawing):
        drawn = (call("draw", *NETWORK, "-f", name, *bare).out for bare in ([], ["--bare"]))
        whole, bare = (re.sub("(?s)<desc>.*?</desc>", "", text) for text in drawn)
        assert re.sub(r"\W", "", bare).count("gru_1") == re.sub(r"\W", "", whole).count("gru_1") == 3
        for words in ("many-to-one, 3 steps", "Boxes: name"):
            assert (words in whole, words in bare) == (True, False)


def test_tikz_stands_in_a_document_or_is_one(folder: Path, call: Call) -> None:
    """By default what a document can have as input, which says what that needs; the document is an option."""
    part, whole = call("draw", *NETWORK, "-f", "tikz").out, call("draw", *NETWORK, "-f", "tikz", "--standalone").out
    assert "\\documentclass" not in part
    needed = re.findall(r"^% (\\use.*)$", part, re.MULTILINE)
    assert needed == re.findall(r"^(\\use.*)$", whole, re.MULTILINE) != []
    picture = part[part.index("\\begin{tikzpicture}") :]
    assert f"\\begin{{document}}\n{picture}\\end{{document}}\n" in whole
    assert call("draw", *NETWORK, "--standalone", "--out", "a.tex").code == 0
    assert (folder / "a.tex").read_text("utf-8") == whole


def test_a_suffix_comes_with_its_format(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture format is added by a module and its line: the line says the suffix, and the door hears of it."""
    (folder / "dots.py").write_text("def write(reports, file):\n    file.write('a drawing of dots')\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(FORMATS, "dots", Format("dots", (PictureReport,), suffix=".dot"))
    assert call("draw", *NETWORK, "--out", "a.dot") == (0, "", "")
    assert (folder / "a.dot").read_text("utf-8") == "a drawing of dots"
    refused = call("draw", *NETWORK, "--out", "a.png").err
    assert " or .dot, got '.png'" in refused
    monkeypatch.setitem(FORMATS, "dots", Format("dots", (SheetReport,), suffix=".dot"))
    assert call("draw", *NETWORK, "--out", "a.dot").code == 2


def test_a_file_is_replaced_as_a_whole(folder: Path, call: Call) -> None:
    """Its mode stays; a link stays one, and what it leads to is replaced."""
    real = folder / "real.svg"
    real.write_text("x" * 100_000)
    real.chmod(0o640)
    (folder / "link.svg").symlink_to("real.svg")
    assert call("draw", *NETWORK, "--out", "link.svg").code == 0
    assert (folder / "link.svg").is_symlink()
    assert real.read_text("utf-8").endswith("</svg>\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a\x1b.svg\x00", "rnncalc: --out 'a\\x1b.svg\\x00': expected the suffix"),
        ("a\x00.svg", "rnncalc: --out 'a\\x00.svg': cannot be written: no such file\n"),
    ],
)
def test_no_file_has_such_a_name(name: str, message: str, folder: Path, call: Call) -> None:
    """The name is told in characters that can be printed."""
    code, out, err = call("draw", *NETWORK, "--out", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(message)
    assert [*folder.iterdir()] == []


def test_a_file_that_cannot_be_written_leaves_the_earlier_one(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there is as it was when the disk is full, and nothing is left beside it."""
    (folder / "a.svg").write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = call("draw", *NETWORK, "--out", "a.svg")
    assert (code, err) == (2, "rnncalc: --out 'a.svg': cannot be written: no space left on device\n")
    assert [path.name for path in folder.iterdir()] == ["a.svg"]
    assert (folder / "a.svg").read_text() == "before"


def test_files_are_utf_8_whatever_the_terminal(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal without box characters gets plain ones; a file has what it is made of."""
    assert call("draw", *NETWORK, "--out", "a.txt").code == 0
    assert "┌" in (folder / "a.txt").read_text("utf-8")
    plain = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", plain)
    call("draw", *NETWORK)
    assert "+-----" in plain.buffer.getvalue().decode("latin-1")
