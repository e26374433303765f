"""What the tests of pages rest on: the browser sees an error, a request and a page that is too wide."""

from pathlib import Path

import pytest
from browser.conftest import SCHEMES, WIDTHS, Browser

pytestmark = pytest.mark.browser


def page(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><title>x</title><link rel=icon href=data:,>{body}", "utf-8")
    return path


def test_an_error_is_seen(browser: Browser, tmp_path: Path) -> None:
    """One that a script throws."""
    browser.open(page(tmp_path, "<script>throw Error('this')</script>"))
    assert "this" in "".join(browser.log())


def test_a_request_is_seen(browser: Browser, tmp_path: Path) -> None:
    """To an address that is no file, and that nothing answers."""
    browser.open(page(tmp_path, "<img src='http://127.0.0.1:9/x.png'>"))
    assert "http://127.0.0.1:9/x.png" in browser.requests()
    browser.log()


def test_a_page_that_is_too_wide_is_seen(browser: Browser, tmp_path: Path) -> None:
    """In a narrow window, not in a wide one."""
    of = page(tmp_path, "<body style='margin: 0'><div style='width: 500px'>x</div>")
    seen = {}
    for width in WIDTHS:
        browser.open(of, width)
        seen[width] = browser.overflow()
    assert seen == {400: 100, 1600: 0}


def test_the_scheme_is_the_one_asked_for(still: Browser, tmp_path: Path) -> None:
    """Light and dark, and a page of one's own asks for itself alone."""
    of = page(tmp_path, "<style>@media (prefers-color-scheme: dark) { body { color: rgb(1, 2, 3) } }</style>")
    for scheme in SCHEMES:
        still.open(of, 400, scheme)
        dark = still.run("return getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
        assert dark == (scheme == "dark")


def test_a_page_is_drawn_and_printed(still: Browser, tmp_path: Path) -> None:
    """As a PNG and as a PDF."""
    still.open(page(tmp_path, "<p>x</p>"))
    still.picture(tmp_path / "page.png")
    still.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
