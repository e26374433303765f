"""Pictures in a real browser, light and dark, narrow and wide, no line through a letter; and in a real TeX."""

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from browser.conftest import SCHEMES, WINDOWS, Browser
from conftest import Call

from rnncalc import LSTM, Network, Output
from rnncalc.formats.svg import element
from rnncalc.reports.draw import VIEWS, Drawing

pytestmark = pytest.mark.browser

SPECS = [
    "one-to-one",
    "one-to-many",
    "many-to-one",
    "many-to-many",
    "encoder-decoder",
    "translation",
    "sentiment-classifier",
    "speech-model",
    "lstm",
]
DRAWN = [(spec, view) for view in VIEWS for spec in SPECS if (spec, view) != ("one-to-one", "growth")]
CELLS = [
    "rnn:3",
    "lstm:3",
    "lstm:300,peepholes,projection=128,bidirectional,learned_state",
    "gru:3",
    "gru:3,reset_after",
    "gru:3,reset_gate=false,update_gate=replaces",
    "mgu:3",
    "mingru:3",
    "minlstm:3,activation=softmax",
    "sru:3",
    "sru:4",
    "fastgrnn:3,learned_state",
]
HOSTILE = [
    "<script>alert(1)</script>",
    "]]>&--><!--",
    r"\input{x}$^_%#~&",
    "W" * 60,
    "m" * 60,
    "\u5b57" * 20,
    "a\u202eb",
]

MEASURE = """
const rects = [], texts = [];
for (const svg of document.querySelectorAll('svg')) {
  const room = svg.getBoundingClientRect();
  texts.push({text: 'all', box: [room.left, room.top, room.right, room.bottom], all: true});
  for (const node of svg.querySelectorAll('text')) {
    const of = node.getBoundingClientRect();
    texts.push({text: node.textContent, box: [of.left, of.top, of.right, of.bottom]});
  }
  for (const node of svg.querySelectorAll('rect.box')) {
    const of = node.getBoundingClientRect();
    rects.push([of.left, of.top, of.right, of.bottom]);
  }
}
return [texts, rects, getComputedStyle(document.querySelector('svg .paper')).fill];
"""
LESS = 0.25
"""Of its height, by so much a line of letters is less high than the room that the browser counts for it."""

Box = tuple[float, float, float, float]


def measured(browser: Browser) -> tuple[list[tuple[str, Box]], list[Box], list[Box], str]:
    """Return the texts with their places, the boxes', the whole pictures', and the colour of their paper."""
    texts, rects, paper = browser.run(MEASURE)
    wholes = [tuple(each["box"]) for each in texts if each.get("all")]
    lines = []
    for each in (each for each in texts if not each.get("all")):
        left, top, right, bottom = each["box"]
        less = LESS * (bottom - top)
        lines.append((each["text"], (left, top + less, right, bottom - less)))
    return lines, [tuple(rect) for rect in rects], wholes, paper


def meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def within(one: Box, other: Box) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]


def hold(browser: Browser, scheme: str) -> None:
    """Hold that no two labels overlap, that none leaves its box or the picture, and that the scheme is the one."""
    lines, rects, wholes, paper = measured(browser)
    assert lines
    for number, (text, place) in enumerate(lines):
        assert any(within(place, whole) for whole in wholes), text
        for other, elsewhere in lines[number + 1 :]:
            assert not meet(place, elsewhere), (text, other)
        for rect in rects:
            assert within(place, rect) or not meet(place, rect), text
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize(("spec", "view"), DRAWN)
def test_a_page_with_a_picture(spec: str, view: str, still: Browser, tmp_path: Path, call: Call) -> None:
    """No label overlaps another, leaves its box or the picture; nothing is wider than the window, nothing is logged."""
    path = tmp_path / f"{spec}.html"
    assert call("draw", f"specs/{spec}.yaml", "--view", view, "--out", path) == (0, "", "")
    for width, scheme in WINDOWS:
        still.open(path, width, scheme)
        hold(still, scheme)
        assert still.overflow() == 0


LINES = """
const lines = [], texts = [];
for (const node of document.querySelectorAll('svg polyline')) {
  const at = node.getScreenCTM();
  lines.push([...node.points].map(point => { const on = point.matrixTransform(at); return [on.x, on.y]; }));
}
for (const node of document.querySelectorAll('svg text')) {
  const of = node.getBoundingClientRect();
  texts.push([node.textContent, of.left, of.top, of.right, of.bottom]);
}
return [lines, texts];
"""


@pytest.mark.parametrize("cell", CELLS)
def test_a_page_with_a_cell(cell: str, still: Browser, tmp_path: Path, call: Call) -> None:
    """No label overlaps another or leaves its box, no line runs through one; the page is no wider than the window."""
    path = tmp_path / "cell.html"
    assert call("draw", "-i", 4, "-l", cell, "--view", "cell", "--out", path) == (0, "", "")
    for width, scheme in WINDOWS:
        still.open(path, width, scheme)
        hold(still, scheme)
        assert still.overflow() == 0
        lines, texts = still.run(LINES)
        assert len(lines) > 3
        for text, left, top, right, bottom in texts:
            less = LESS * (bottom - top)
            for line in lines:
                for (x, y), (to_x, to_y) in pairwise(line):
                    beside = max(x, to_x) < left or min(x, to_x) > right
                    assert beside or max(y, to_y) < top + less or min(y, to_y) > bottom - less, text


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("spec", ["many-to-many", "translation"])
def test_a_picture_by_itself(spec: str, scheme: str, still: Browser, tmp_path: Path, call: Call) -> None:
    """The SVG opened as a file: it is one, with its title, and its labels fit as they do in a page."""
    path = tmp_path / f"{spec}.svg"
    assert call("draw", f"specs/{spec}.yaml", "--out", path) == (0, "", "")
    still.open(path, 1600, scheme)
    assert still.run("return document.documentElement.tagName") == "svg"
    assert still.run("return document.title").endswith("unrolled in time")
    hold(still, scheme)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str, still: Browser, tmp_path: Path) -> None:
    """They are read as text, in their box, and do nothing."""
    net = Network(input=3, layers=(LSTM(2, name=name),), output=Output(1), steps=3, name=name)
    (picture,) = Drawing(net).pictures()
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><link rel=icon href=data:,>{element(picture)}", "utf-8")
    still.open(path)
    hold(still, "light")
    assert still.run("return document.querySelectorAll('script').length") == 0
    assert still.run("return document.querySelectorAll('svg > text').length") > 10


@pytest.mark.parametrize("view", VIEWS)
def test_tex_sets_a_picture(view: str, tmp_path: Path, call: Call) -> None:
    """pdflatex makes one page of it, without an error."""
    assert shutil.which("pdflatex"), "pdflatex is not installed"
    path = tmp_path / "a.tex"
    assert call("draw", "specs/translation.yaml", "--view", view, "--standalone", "--out", path) == (0, "", "")
    compiled(tmp_path)


PICTURES = [
    *[(f"specs/{spec}.yaml", "--view", view) for spec, view in DRAWN],
    *[("-i", 4, "-l", cell, "--view", "cell") for cell in CELLS],
]


def test_tex_sets_pictures_in_a_document_of_ones_own(tmp_path: Path, call: Call) -> None:
    """All, in a larger class, beside a colour of the same name; the preamble is what each file says it needs.

    Signs and Greek letters are in TeX's fonts.
    """
    names, needed = [], dict.fromkeys([r"\documentclass[12pt]{article}"])
    for number, words in enumerate(PICTURES):
        path = tmp_path / f"picture_{number}.tex"
        assert call("draw", *words, "--out", path) == (0, "", "")
        names.append(rf"\noindent\resizebox{{\linewidth}}{{!}}{{\input{{{path.stem}}}}}")
        text = path.read_text("ascii")
        assert "?" not in text
        needed |= dict.fromkeys(line[2:] for line in text.splitlines() if line.startswith(r"% \use"))
    preamble = [*needed, r"\definecolor{gateline}{HTML}{123456}"]
    lines = [*preamble, r"\begin{document}", "\n\n".join(names), r"\textcolor{gateline}{a}", r"\end{document}"]
    (tmp_path / "a.tex").write_text("\n".join(lines), "utf-8")
    assert r"Overfull \hbox" not in compiled(tmp_path)


@pytest.mark.parametrize("name", HOSTILE)
def test_tex_sets_hostile_names(name: str, tmp_path: Path) -> None:
    """Each as text, whatever it would be to TeX."""
    import io

    from rnncalc.formats import write

    net = Network(input=3, layers=(LSTM(2, name=name),), output=Output(1), steps=3, name=name)
    file = io.StringIO()
    write([Drawing(net, standalone=True)], "tikz", file)
    (tmp_path / "a.tex").write_text(file.getvalue(), "utf-8")
    compiled(tmp_path)


def compiled(folder: Path) -> str:
    """Hold that TeX sets a.tex, and return what it says of it."""
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "a.pdf").exists()
    assert "Missing character" not in done.stdout
    return done.stdout
