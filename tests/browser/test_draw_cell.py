"""Cells in a real browser and in a real TeX: each readable in light and dark, no line through a letter."""

from itertools import pairwise
from pathlib import Path

import pytest
from browser.conftest import SCHEMES, WIDTHS, Browser
from browser.test_draw import compiled, hold
from conftest import Call

pytestmark = pytest.mark.browser

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
LESS = 0.25
"""Of its height, by so much a line of letters is less high than the room that the browser counts for it."""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cell", CELLS)
def test_a_page_with_a_cell(cell: str, width: int, scheme: str, still: Browser, tmp_path: Path, call: Call) -> None:
    """No label overlaps another or leaves its box, no line runs through one; the page is no wider than the window."""
    path = tmp_path / "cell.html"
    assert call("draw", "-i", 4, "-l", cell, "--view", "cell", "--out", path) == (0, "", "")
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


@pytest.mark.parametrize("cell", CELLS)
def test_tex_sets_a_cell(cell: str, tmp_path: Path, call: Call) -> None:
    """Signs and Greek letters are in its fonts."""
    assert call("draw", "-i", 4, "-l", cell, "--view", "cell", "--standalone", "--out", tmp_path / "a.tex") == (
        0,
        "",
        "",
    )
    compiled(tmp_path)
    assert "?" not in (tmp_path / "a.tex").read_text("ascii")
