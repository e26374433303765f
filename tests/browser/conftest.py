"""A real browser, started only where these tests are asked for: `pytest -m browser`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ARGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
WIDTHS = (400, 1600)
SCHEMES = ("light", "dark")
WINDOWS = tuple(zip(WIDTHS, SCHEMES, strict=True))
"""Windows that a page is opened in: no width of it depends on the scheme, and no colour on the width."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these modules alone, browser and all, in a run that is not theirs."""
    asked = config.getoption("markexpr") == "browser"
    return None if asked or collection_path.suffix != ".py" else True


class Browser:
    """A headless Chromium with one page."""

    def __init__(self, profile: Path) -> None:
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        options = ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for arg in (*ARGS, f"--user-data-dir={profile}"):
            options.add_argument(arg)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = Chrome(options, ChromeService("/usr/bin/chromedriver"))

    def open(self, path: Path, width: int = 1600, scheme: str = "light", media: str = "") -> None:
        """Open a file in a window of some width, light or dark, for a screen or in print; forget what was logged."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)
        self.log()
        self.requests()
        self.driver.get(path.resolve().as_uri())

    def run(self, script: str, *args: object) -> Any:
        """Return what a function's body in JavaScript returns; its arguments are `arguments`."""
        return self.driver.execute_script(script, *args)  # type: ignore[no-untyped-call, unused-ignore]

    def command(self, name: str, **parameters: object) -> dict[str, Any]:
        """Return the answer to a command of the DevTools protocol."""
        answer = self.driver.execute_cdp_cmd(name, parameters)
        assert isinstance(answer, dict)
        return answer

    def log(self) -> list[str]:
        """Return what the console has said since the last look, errors of loading included."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last look."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = (each["params"] for each in messages if each["method"] == "Network.requestWillBeSent")
        return [each["request"]["url"] for each in sent]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window; 0 where it is not."""
        return int(self.run("const of = document.documentElement; return Math.max(0, of.scrollWidth - innerWidth)"))

    def picture(self, path: Path) -> None:
        """Save a PNG of the whole page."""
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {**size, "scale": 1}
        taken = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, path: Path) -> None:
        """Save the page as it is printed, on A4, once it is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; document.fonts.ready.then(() => requestAnimationFrame(() => done()))"
        )
        size = {"paperWidth": 8.27, "paperHeight": 11.69}
        taken = self.command("Page.printToPDF", printBackground=True, preferCSSPageSize=True, **size)
        path.write_bytes(base64.b64decode(taken["data"]))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return the browser of all tests; a machine without one fails them."""
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.driver.quit()


@pytest.fixture
def still(browser: Browser) -> Iterator[Browser]:
    """Return the browser, and hold that in the test its console said nothing and it asked for files alone."""
    yield browser
    assert browser.log() == []
    assert [url for url in browser.requests() if not url.startswith(("file:", "data:", "chrome:"))] == []
