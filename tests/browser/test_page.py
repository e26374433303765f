"""The page in a real browser: light and dark, narrow and wide, on paper; nothing is cut, nothing is asked for."""

import io
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import SCHEMES, WIDTHS, WINDOWS, Browser
from reported import REPORTS

from rnncalc import GRU, LSTM, Network, Output, explain, load
from rnncalc.formats import FORMATS, write
from rnncalc.questions.work import work
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.work import WorkReport

pytestmark = pytest.mark.browser

LARGE = Network(
    name="W" * 120,
    input=10**12,
    layers=(LSTM(10**9, peepholes=True, projection=10**8), GRU(10**6, bidirectional=True, name="x" * 150)),
    output=Output(10**9),
    steps=10**6,
)
NETWORKS = {
    "lstm": load("specs/lstm.yaml"),
    "encoder-decoder": load("specs/encoder-decoder.yaml"),
    "bidirectional": Network(
        input=10, layers=(GRU(20, bidirectional=True),), output=Output(5), steps=7, convention="keras"
    ),
    "large": LARGE,
}
CASES = [(name, notation) for name in NETWORKS for notation in ("w", "stacked")]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """Return the page about each network in two notations."""
    folder = tmp_path_factory.mktemp("pages")
    return {case: saved(folder / f"{'-'.join(case)}.html", [explained(*case)]) for case in CASES}


def explained(name: str, notation: str) -> ExplanationReport:
    return ExplanationReport(explain(NETWORKS[name], notation=notation))


def saved(path: Path, reports: list[Any]) -> Path:
    text = io.StringIO()
    write(reports, "html", text)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


CUT = """
const found = [];
for (const element of document.querySelectorAll("main *")) {
    if (element.closest(".scroll, svg") && !arguments[0]) continue;
    const box = element.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 0.5 || box.left < -0.5))
        found.push(element.tagName + " " + element.textContent.slice(0, 60) + " " + box.right);
}
return found;
"""
"""What reaches beyond the window, but for what scrolls; with an argument, that too."""


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_it_opens(still: Browser, pages: dict[tuple[str, str], Path], case: tuple[str, str]) -> None:
    """Without an error or a request, no wider than the window, and every equation is drawn; nothing is cut on paper.

    A sheet of A4 without its margins is 178 mm wide; tables and pictures have to fit as well.
    """
    for width, scheme in WINDOWS:
        still.open(pages[case], width, scheme)
        assert still.overflow() == 0
        assert still.run(CUT, False) == []
        boxes = still.run(
            "return [...document.querySelectorAll('math, math *:not(mspace)')]"
            ".map(each => { const box = each.getBoundingClientRect(); return [each.tagName, box.width, box.height] })"
        )
        assert len(boxes) > 50
        assert [box for box in boxes if not (box[1] > 0 and box[2] > 0)] == []
        assert still.requests() == [pages[case].resolve().as_uri()]
    still.open(pages[case], round(178 / 25.4 * 96), media="print")
    assert still.run(CUT, True) == []


def test_the_test_of_what_is_cut_can_fail(still: Browser, tmp_path: Path) -> None:
    """A line that is wider than the window is found."""
    path = tmp_path / "wide.html"
    path.write_text("<!doctype html><link rel=icon href=data:,><main><p style='width: 900px'>x</p></main>", "utf-8")
    still.open(path, 400)
    assert len(still.run(CUT, False)) == 1


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_it_is_printed(
    still: Browser, pages: dict[tuple[str, str], Path], case: tuple[str, str], tmp_path: Path
) -> None:
    """On a few sheets, all headings and all numbers of its tables with them."""
    still.open(pages[case], scheme="dark")
    still.pdf(tmp_path / "page.pdf")
    info = subprocess.run(["pdfinfo", tmp_path / "page.pdf"], capture_output=True, text=True, check=True).stdout
    sheets = re.search(r"^Pages: +(\d+)$", info, re.MULTILINE)
    assert sheets
    assert 1 <= int(sheets[1]) <= 12
    printed = subprocess.run(
        ["pdftotext", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    shown = "".join(printed.split())
    texts = still.run("return [...document.querySelectorAll('h1, h2, .right')].map(each => each.textContent)")
    assert len(texts) > 10
    assert [text for text in texts if "".join(text.split()) not in shown] == []


LUMINANCE = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function colour(text) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return a < 255 ? null : [r, g, b].map(each => {
        each /= 255;
        return each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4;
    }).reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
}
function ground(element) {
    for (; element; element = element.parentElement) {
        const found = colour(getComputedStyle(element).backgroundColor);
        if (found !== null) return found;
    }
}
const found = {};
for (const element of document.querySelectorAll("main *")) {
    const text = [...element.childNodes].some(each => each.nodeType === 3 && each.data.trim());
    if (!text || element.closest("svg")) continue;
    const [one, other] = [colour(getComputedStyle(element).color), ground(element)].sort((a, b) => a - b);
    found[getComputedStyle(element).color] = (other + 0.05) / (one + 0.05);
}
return found;
"""
"""The contrast of each colour of text with what is behind it, by the formula of WCAG 2."""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_is_read_against_its_ground(
    still: Browser, pages: dict[tuple[str, str], Path], tmp_path: Path, scheme: str
) -> None:
    """At least 4.5 to 1, for every colour of text, signs too."""
    reports = [report for report in REPORTS if hasattr(report, "sheets")]
    for path in (pages["encoder-decoder", "w"], saved(tmp_path / "all.html", reports)):
        still.open(path, 1600, scheme)
        found = still.run(LUMINANCE)
        assert len(found) >= 3
        assert [colour for colour, contrast in found.items() if contrast < 4.5] == []


SCROLLS = """
return [...document.querySelectorAll(".scroll")].filter(each => each.scrollHeight > each.clientHeight)
    .map(each => each.textContent.slice(0, 60) + " " + (each.scrollHeight - each.clientHeight));
"""
"""What scrolls up and down by itself."""

FOLDED = """
return [...document.querySelectorAll("td")].filter(each => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return /^[\\d,]+ → [\\d,]+$/.test(each.textContent) && range.getClientRects().length > 1;
}).map(each => each.textContent);
"""
"""Widths that are on two lines."""


@pytest.mark.parametrize("width", [400, 900, 1100, 1600])
def test_blocks_scroll_sideways_alone(still: Browser, tmp_path: Path, width: int) -> None:
    """Equations with letters and with numbers in have no bar at their side; the widths of a layer are on one line."""
    reports: list[Any] = [WorkReport(work(load(f"specs/{name}.yaml"))) for name in ("gru-by-hand", "dense-equivalent")]
    for name in ("gru-by-hand", "sentiment-classifier", "lstm", "translation", "speech-model"):
        reports += [ExplanationReport(explain(load(f"specs/{name}.yaml"), notation=each)) for each in ("w", "stacked")]
    still.open(saved(tmp_path / "page.html", reports), width)
    assert still.run("return document.querySelectorAll('.equations').length") > 30
    assert still.run(SCROLLS) == []
    assert still.run(FOLDED) == []


def test_the_tests_of_blocks_can_fail(still: Browser, tmp_path: Path) -> None:
    """A block that is a pixel too high is found, and so is a cell that is too narrow."""
    path = tmp_path / "high.html"
    block = "<div class=scroll style='overflow-x: auto; height: 9px'><p style='height: 10px; margin: 0'>x</p></div>"
    table = "<table><tr><td style='max-width: 50px'>8,000 → 256</td></tr></table>"
    path.write_text(f"<!doctype html><meta charset=utf-8><link rel=icon href=data:,>{block}{table}", "utf-8")
    still.open(path, 900)
    assert len(still.run(SCROLLS)) == len(still.run(FOLDED)) == 1


def test_the_schemes_differ(still: Browser, pages: dict[tuple[str, str], Path]) -> None:
    """Dark is dark, and paper is light whatever the screen is."""
    grounds = []
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        still.open(pages["lstm", "w"], 1600, scheme, media)
        grounds.append(still.run("return getComputedStyle(document.documentElement).backgroundColor"))
    assert grounds[0] == grounds[2] == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", grounds[1]))) < 50


OTHERS = [
    pytest.param(report, id=type(report).__name__)
    for report in REPORTS
    if FORMATS["html"].can_write(type(report)) and not isinstance(report, ExplanationReport)
]


@pytest.mark.parametrize("report", OTHERS)
def test_every_report_opens(still: Browser, report: Any, tmp_path: Path) -> None:
    """Whatever can be written as a page, narrow and wide, its tables scrolling by themselves."""
    path = saved(tmp_path / "page.html", [report, report])
    for width in WIDTHS:
        still.open(path, width)
        assert still.overflow() == 0
        assert still.run("return document.querySelectorAll('article').length") == 2
