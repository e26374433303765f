"""The site, built as a reader's server has it: `pytest tests/site -m site`, with the extra `docs`."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import Call
from nbclient import NotebookClient
from test_documents import ROWS, TEXTS

from rnncalc.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    places = [str(folder / "trees"), "docs", str(folder / "html")]
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def text_of(page: Path) -> str:
    """Return what a page shows, without its marks."""
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    for name, character in {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#x27;": "'", "&amp;": "&"}.items():
        text = text.replace(name, character)
    return text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_its_help(name: str, site: Path, call: Call) -> None:
    """As the program prints it."""
    page = site / Path(ROWS[name]).with_suffix(".html").name
    assert call(name, "--help").out in text_of(page)


def test_the_front_page_is_the_readme(site: Path) -> None:
    """With links to the pages of the site, and none out of it."""
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "Find the mistake behind a wrong answer." in text_of(site / "index.html")
    for target in ("start.html", "answer.html#grade-shapes", "specs.html", "changelog.html"):
        assert f'href="{target}"' in page
    assert not re.search(r'href="[^"]*\.md[#"]', page)


def test_every_page_is_there_and_can_be_searched(site: Path) -> None:
    """The known networks and the changelog too."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for name in TEXTS:
        if name.startswith("docs/"):
            stem = Path(name).stem
            assert (site / f"{stem}.html").is_file()
            assert f'"{stem}"' in index
    assert "LSTM, one layer" in text_of(site / "specs.html")


def test_the_site_needs_nothing_else(site: Path) -> None:
    """No page asks another server for a script, a style or a picture; it is light and dark."""
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?//', text), page
        assert "theme-toggle" in text


def shown(notebook: Any) -> list[list[str]]:
    """Return the text that each cell shows; pages and pictures are tested where they are made."""
    return [
        [output.get("text") or output["data"]["text/plain"] for output in cell.get("outputs", ())]
        for cell in notebook.cells
    ]


def test_the_notebook_shows_what_its_cells_give(site: Path) -> None:
    """Run anew, without colours in its text."""
    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    before = shown(notebook)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert shown(notebook) == before
    assert not any("\x1b" in text for texts in before for text in texts)
    assert "1,685" in text_of(site / "notebook.html")
