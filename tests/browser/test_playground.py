"""The playground in a real browser: what a person does on it, and what it must not do."""

from __future__ import annotations

import base64
import io
import json
import re
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zipfile import ZipFile

import pytest
import yaml
from browser.conftest import Browser
from conftest import Call
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent.parent
PLAYGROUND = ROOT / "docs" / "playground"
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
WIDTHS = (360, 800, 1400)
SETTLED = "document.getElementById('shown').ariaBusy === 'false'"
CLEARED = """
    for (const id of ["judged", "read", "status"]) document.getElementById(id).replaceChildren();
    for (const id of ["target", "answer", "file"]) document.getElementById(id).value = "";
    document.getElementById("shown").ariaBusy = "true";
    location.hash = arguments[0];
"""
SPEC = "name: three\nsteps: 3\ninput: 4\nlayers:\n  - rnn: 3\noutput: 1\n"
sys.path.insert(0, str(PLAYGROUND))


class Server(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the page and serve it as any web server does; return its address."""
    from build import build

    folder = tmp_path_factory.mktemp("playground")
    build(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


class Page:
    """The playground in the browser."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, link: str = "", width: int = 1400, scheme: str = "light") -> None:
        """Load the page, or a link to it, and wait until it shows something."""
        self.resize(width, scheme)
        self.browser.driver.get("about:blank")
        self.browser.log()
        self.browser.requests()
        self.browser.driver.get(link or self.address)
        self.wait(f"document.body.dataset.ready && {SETTLED}")

    def follow(self, link: str = "") -> None:
        """Follow a link on the page that is loaded; without one it is as at the start."""
        self.resize(1400, "light")
        for fragment in ("", link) if link else ("",):
            self.run(CLEARED, fragment)
            self.wait(SETTLED)
        self.browser.log()
        self.browser.requests()

    def resize(self, width: int, scheme: str) -> None:
        sizes = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.command("Emulation.setDeviceMetricsOverride", width=width, **sizes)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.command("Emulation.setEmulatedMedia", media="", features=features)

    def run(self, script: str, *args: object) -> Any:
        return self.browser.run(script, *args)

    def wait(self, condition: str, seconds: float = 120) -> None:
        """Wait until a condition in JavaScript holds."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, (condition, self.run("return document.body.innerText"))
            time.sleep(0.02)

    def set(self, element: str, value: str) -> None:
        """Set the value of a field as typing it would, and wait for the answer."""
        self.run(
            "const of = document.getElementById(arguments[0]); of.value = arguments[1];"
            "for (const name of ['input', 'change']) of.dispatchEvent(new Event(name, {bubbles: true}));",
            element,
            value,
        )
        self.wait(SETTLED)

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)
        self.wait(SETTLED)

    def views(self) -> dict[str, str]:
        """Return the pages that are shown, by the name of their view."""
        return dict(
            self.run(
                "return [...document.querySelectorAll('#shown [data-view]')]"
                ".map(of => [of.dataset.view, of.querySelector('iframe')?.srcdoc])"
            )
        )

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def drop_tagger(self) -> None:
        """Drop a model file on the page."""
        data = (ROOT / "specs" / "models" / "tagger.safetensors").read_bytes()
        self.run(DROPPED, base64.b64encode(data).decode())

    def framed(self, selector: str) -> str:
        """Return the text of the package's page in a part of this page."""
        return str(
            self.run("return document.querySelector(arguments[0]).contentDocument.body.innerText", f"{selector} iframe")
        )


@pytest.fixture(scope="module")
def loaded(browser: Browser, address: str) -> Page:
    """Load the page once: that takes seconds, and a test some milliseconds."""
    page = Page(browser, address)
    page.open()
    return page


@pytest.fixture
def page(loaded: Page) -> Page:
    """Return the page as it is at the start."""
    loaded.follow()
    return loaded


@pytest.fixture
def printed(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what a command prints of a spec that is named as the page's is."""
    monkeypatch.chdir(tmp_path)

    def prints(text: str, *words: str) -> str:
        Path("network.yaml").write_text(text, encoding="utf-8")
        done = call(words[0], *words[1:], "network.yaml", "-f", "html")
        assert done.code < 2, done.err
        return done.out

    return prints


WATCHED = """
    window.bars = [];
    addEventListener("DOMContentLoaded", () => {
        const note = () => window.bars.push([document.getElementById("status").innerText,
            document.getElementById("loading").hidden ? null : document.getElementById("loading").value,
            document.querySelector("main").inert]);
        new MutationObserver(note).observe(document.body, {subtree: true, childList: true, attributes: true});
    });
"""
"""Note what is said of loading, how full the bar is, and whether the controls are out of reach, at each change."""


def test_a_bar_names_what_is_loading(browser: Browser, address: str) -> None:
    """It never goes back, and goes when the first answer is there; all Python comes compiled."""
    page = Page(browser, address)
    script = browser.command("Page.addScriptToEvaluateOnNewDocument", source=WATCHED)["identifier"]
    browser.command("Network.setCacheDisabled", cacheDisabled=True)
    page.open()
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    browser.command("Network.setCacheDisabled", cacheDisabled=False)
    seen = page.run("return window.bars")
    texts = [text for text, share, _ in seen if share is not None]
    loading = re.compile(r"Loading [\w', ]*Python[\w', ]*: \d+ of \d+ MB, the first time only…")
    assert any(loading.fullmatch(text) for text in texts), texts
    assert list(dict.fromkeys(text for text in texts if text.startswith("Starting"))) == [
        "Starting Python…",
        "Starting rnncalc…",
    ]
    shares = [share for _, share, _ in seen if share is not None]
    assert shares == sorted(shares)
    assert all(inert for _, share, inert in seen if share is not None)
    assert seen[-1][1:] == [None, False]
    for name in ("rnncalc.zip", "pyodide/python_stdlib.zip"):
        with ZipFile(io.BytesIO(urlopen(address.replace("index.html", name)).read())) as file:
            assert not [each for each in file.namelist() if each.endswith(".py")]


def test_every_example_shows_what_the_commands_print(page: Page, printed: Any) -> None:
    page.click("#side")
    page.click("#views [value=explain]")
    page.wait("document.querySelector('[data-view=explain]')")
    from build import examples

    offered = page.run("return [...document.getElementById('example').options].map(each => each.textContent).slice(1)")
    assert offered == [each["name"] for each in examples()]
    assert len(offered) == len(SPECS)
    for place, example in enumerate(examples()):
        page.set("example", str(place))
        shown = page.views()
        assert shown["count"] == printed(example["text"], "count", "--tensors"), example["name"]
        assert shown["explain"] == printed(example["text"], "explain"), example["name"]
    assert page.browser.log() == []


@pytest.mark.parametrize("view", ["unrolled", "cell", "growth", "cost", "training"])
def test_a_view_shows_what_its_command_prints(page: Page, printed: Any, view: str) -> None:
    from session import VIEWS

    page.click("#form [value=yaml]")
    page.set("network", SPEC)
    page.click(f"#views [value={view}]")
    page.wait(f"document.querySelector('[data-view={view}] iframe')")
    assert page.views() == {view: printed(SPEC, *VIEWS[view][0])}


def test_a_changed_number_changes_what_is_shown(page: Page) -> None:
    assert page.text("#total") == "33 parameters"  # 3 × 2 × (2 + 2 + 1) and 3
    page.set("network", "-i 8 -l gru:32 -o 1 -T 5")
    assert "3,969" in page.views()["count"]  # 3 × 32 × (8 + 32 + 1) and 33
    assert page.text("#total") == "3,969 parameters"
    page.set("convention", "pytorch")
    assert "4,065" in page.views()["count"]  # and 3 × 32 biases more


def test_a_notation_holds_for_every_view_that_has_one(page: Page) -> None:
    for view in ("count", "explain", "cell"):
        page.click(f"#views [value={view}]")
        page.set("notation", "w")
        before = page.views()[view]
        page.set("notation", "rows")
        assert page.views()[view] not in (before, None)
    page.run(
        "document.getElementById('answer').value = '(8,16) (8,16)'; document.querySelector('#judging button').click()"
    )
    page.wait("document.querySelector('#judged :is(li, iframe)')")


def test_a_mistake_is_told_at_its_line_and_what_was_shown_stays(page: Page) -> None:
    page.click("#form [value=yaml]")
    page.wait("document.getElementById('network').value.startsWith('name')")
    page.set("network", "input: 8\nlayers:\n  - gruu: 16\n")
    assert page.text("#problems") == "network.yaml:3:5: layers[0].gruu: unknown kind of layer; did you mean 'gru'?"
    assert page.text("#lines .bad").strip() == "3"
    assert ">33<" in page.views()["count"]
    page.click("#problems button")
    chosen = "const of = document.activeElement; return of.value.slice(of.selectionStart, of.selectionEnd)"
    assert page.run(chosen) == "  - gruu: 16"
    page.click("#form [value=flags]")
    page.set("network", "-i 8 -l gru:xx")
    assert "expected a positive whole number, got 'xx'" in page.text("#problems")
    page.set("network", "-i 8 -l 'gru:16")
    assert page.text("#problems") == "a quotation mark is not closed"


def test_words_are_suggested_as_one_types(page: Page) -> None:
    field = page.browser.driver.find_element("id", "network")
    field.clear()
    field.send_keys("-i 8 -l g")
    page.wait("document.querySelectorAll('#words li').length === 1")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER, "16,bid")
    page.wait("document.getElementById('words').innerText.includes('bidirectional')")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert field.get_property("value") == "-i 8 -l gru:16,bidirectional"
    field.send_keys(Keys.ESCAPE)
    assert field.get_property("ariaExpanded") == "false"


def test_on_an_empty_line_nothing_is_suggested_before_a_letter(page: Page) -> None:
    page.click("#form [value=yaml]")
    field = page.browser.driver.find_element("id", "network")
    field.clear()
    field.send_keys("input: 4\n")
    assert not page.run("return document.getElementById('words').checkVisibility()")
    field.send_keys("la")
    page.wait("document.getElementById('words').innerText.includes('layers')")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER, Keys.BACK_SPACE, "\n  - ls")
    page.wait("document.getElementById('words').innerText.includes('lstm')")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER, "3\n    bid")
    page.wait("document.getElementById('words').innerText.includes('bidirectional')")


def test_an_answer_is_right_or_has_its_mistake(page: Page) -> None:
    page.set("network", "-i 8 -l gru:16 -o 1 -T 5")
    for answer, said in (("1217", "Correct"), ("1265", "onnx"), ("nonsense", "expected")):
        page.run("document.getElementById('judged').replaceChildren()")
        page.browser.driver.find_element("id", "answer").clear()
        page.browser.driver.find_element("id", "answer").send_keys(answer, Keys.ENTER)
        page.wait("document.querySelector('#judged :is(li, iframe)')")
        page.wait(
            "document.querySelector('#judged li') || document.querySelector('#judged iframe').contentDocument.body"
        )
        time.sleep(0.1)
        told = page.text("#judged") + (
            page.framed("#judged") if page.run("return document.querySelector('#judged iframe')") else ""
        )
        assert said in told, (answer, told)


def test_a_link_restores_what_was_shown(page: Page) -> None:
    page.set("network", "-i 3 -l lstm:5,peepholes -o 2")
    page.set("convention", "onnx")
    page.click("#views [value=cell]")
    page.wait("document.querySelector('[data-view=cell]')")
    before, link = page.views(), page.run("return location.href")
    assert len(link) < 300
    page.open(link)  # as by somebody else
    assert page.views() == before
    assert page.run("return document.getElementById('convention').value") == "onnx"


EVERYTHING = """
    const parts = [];
    const collect = (page) => {
        const walker = page.createTreeWalker(page, NodeFilter.SHOW_ALL);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.parentNode?.localName === 'style' || node.parentElement?.closest('#example')) continue;
            parts.push(node.nodeValue ?? '', node.value ?? '');
            for (const {name, value} of node.attributes ?? []) if (name !== 'srcdoc') parts.push(value);
            if (node.contentDocument) collect(node.contentDocument);
        }
    };
    collect(document);
    return parts.join(' | ');
"""
"""Every text of the page and of its frames, hidden ones, attributes, comments and the values of fields among them.

The list of examples, whose names and places have numbers of their own, is the same on every page and left out.
"""

OPERATED = """
    for (const each of document.querySelectorAll('button, input, select')) {
        if (each.closest('#judging') || each.matches(':disabled') || !each.checkVisibility()) continue;
        if (each.localName === 'select') each.value = each.options[each.options.length - 1].value;
        else each.click();
        for (const name of ['input', 'change']) each.dispatchEvent(new Event(name, {bubbles: true}));
    }
"""
"""Operate every control that a person can, but those of the answer."""


def leaked(page: Page, numbers: set[int]) -> set[int]:
    """Return those of some numbers that are anywhere on the page."""
    page.wait("[...document.querySelectorAll('iframe')].every(of => of.contentDocument?.querySelector('main'))")
    shown = re.findall(r"\d{1,3}(?:,\d{3})+|\d+", page.run(EVERYTHING))
    return numbers & {int(each.replace(",", "")) for each in shown}


def exercise(page: Page) -> str:
    """Return the link to an exercise that the page gives for its network."""
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }; window.copied = ''")
    page.click("#copy-exercise")
    page.wait("window.copied")
    return str(page.run("return window.copied"))


def check(page: Page, answer: str) -> str:
    """Give an answer and return what the page says of it."""
    field = page.browser.driver.find_element("id", "answer")
    field.clear()
    page.run("document.getElementById('judged').replaceChildren()")
    field.send_keys(answer, Keys.ENTER)
    page.wait(
        "document.querySelector('#judged li') || document.querySelector('#judged iframe')?.contentDocument"
        "?.querySelector('main')"
    )
    page.wait(SETTLED)
    refused = page.run("return Boolean(document.querySelector('#judged li'))")
    return page.text("#judged") if refused else page.framed("#judged")


def ask(page: Page, link: str) -> None:
    """Follow a link to an exercise from the page as it is, with all that is on it."""
    page.run("location.hash = arguments[0]", link.partition("#")[2])
    page.wait(f"document.body.classList.contains('asking') && {SETTLED}")


def state_of(link: str) -> dict[str, Any]:
    """Return what a link holds."""
    packed = base64.urlsafe_b64decode(link.partition("#1.")[2] + "===")
    state: dict[str, Any] = json.loads(zlib.decompress(packed, wbits=-15))
    return state


def numbers_in(values: Any) -> set[int]:
    """Return the whole numbers anywhere in a spec or a part of it."""
    return {int(number) for number in re.findall(r"\d+", yaml.safe_dump(values))}


@pytest.mark.parametrize("path", SPECS[::9], ids=lambda path: path.stem)  # each takes some seconds
def test_a_link_to_an_exercise_does_not_contain_its_answer(page: Page, path: Path) -> None:
    """Nor does the page that it opens; a wrong answer changes nothing of that, and the solution shows it."""
    text = path.read_text(encoding="utf-8")
    spec = yaml.safe_load(text)
    asked = {key: value for key, value in spec.items() if key not in ("source", "expect", "budget")}
    numbers = {each for each in numbers_in(spec["expect"]) if each > len(SPECS)} - numbers_in(asked)
    page.click("#form [value=yaml]")
    page.set("network", text)
    assert leaked(page, numbers) == numbers
    link = exercise(page)
    assert yaml.safe_load(state_of(link)["network"]) == asked
    ask(page, link)
    assert leaked(page, numbers) == set()
    check(page, "1000003")
    assert leaked(page, numbers) == set()
    page.click("#reveal")
    total = spec["expect"] if isinstance(spec["expect"], int) else spec["expect"]["total"]
    assert f">{total:,}<" in page.views()["count"]


TAGGER = "-c pytorch -i 12 -l embedding:4 -l lstm:3,repeat=2,bidirectional -o 5"
COUNTS = {12 * 4, 2 * 4 * 3 * (4 + 3 + 2), 2 * 4 * 3 * (6 + 3 + 2), 5 * (6 + 1), 563}
"""The counts of its layers and their sum, which is that of the model files in specs/models too."""

RIGHT = ("563", "48 216 264 35", "12*4 + 24*(9 + 11) + 35")
WRONG = (
    "515",
    "564",
    "3941",
    f"{563**2}",
    "560",
    "1e3",
    "0.6k",
    "48 216 264 36",
    "49 216 264 35",
    "12*5",
    "(12,4)",
    "?",
)
PARTS = ("output.weight=5x6", "embedding_1.weight=12x4")


@pytest.mark.parametrize("answer", ["#reveal", *RIGHT])
def test_an_exercise_shows_its_answer_when_it_is_given_or_asked_for(page: Page, answer: str) -> None:
    """And not before, on a page that had it in all its parts: not for a part of the answer, nor behind a control."""
    page.set("network", TAGGER)
    page.click("#side")
    page.click("#views [value=explain]")
    page.set("target", "pytorch")
    check(page, "560")  # the page of a wrong answer names the correct one
    page.drop_tagger()
    page.wait("document.querySelector('#read iframe')")
    for part in ("#judged", "#shown", "#program", "#read"):
        assert "563" in page.run("return document.querySelector(arguments[0]).innerHTML", part), part
    ask(page, exercise(page))
    assert leaked(page, COUNTS) == set()
    for wrong in WRONG if answer == "#reveal" else PARTS:
        told = check(page, wrong)
        assert leaked(page, COUNTS - {int(each) for each in re.findall("[0-9]+", wrong)}) == set(), (wrong, told)
        assert "✓ Correct." not in told, (wrong, told)
    page.drop_tagger()
    page.run(OPERATED)
    page.wait(SETTLED)
    assert not page.run("return document.getElementById('network').checkVisibility()")
    assert page.run("return document.getElementById('reveal').checkVisibility()")
    if answer == "#reveal":
        page.click(answer)
    else:
        assert "✓ Correct." in check(page, answer)
    assert {*page.views()} == {"count", "explain"}
    assert leaked(page, COUNTS) == COUNTS


LSTM = "input: 4\nlayers:\n  - lstm: 3\n    name: memory\noutput: 2\n"
VARY = ("--vary", "memory=2..5", "--vary", "input=3..9:2")


def link_to(call: Call, *words: str) -> str:
    """Return the fragment of the link that `rnncalc exercise` writes to an exercise on the LSTM of a file."""
    Path("network.yaml").write_text(LSTM, encoding="utf-8")
    done = call("exercise", "network.yaml", *words, "-f", "link", "--site", "http://a.test/")
    assert done.out.startswith("http://a.test/#1."), done.err
    return done.out.strip().partition("#")[2]


def test_the_page_of_a_link_shows_what_the_command_writes(
    page: Page, call: Call, tmp_path: Path, monkeypatch: Any
) -> None:
    """The sheet at first, then one with other numbers of the ranges, and the key when the solution is asked for.

    What frames have is said as text too. The solution has the focus, and goes with the exercise.
    """
    monkeypatch.chdir(tmp_path)
    link = link_to(call, *VARY, "--ask", "layers", "--seed", "3")

    def written(seed: int, part: str) -> str:
        words = (*VARY, "--ask", "layers", "--seed", str(seed), part, "-f", "html")
        return str(call("exercise", "network.yaml", *words).out)

    ask(page, f"#{link}")
    shown = "return document.querySelector(arguments[0]).srcdoc"
    assert page.run(shown, "#sheet iframe") == written(3, "--sheet")
    seed = next(seed for seed in range(4, 99) if written(seed, "--sheet") != written(3, "--sheet"))
    page.click("#renew")
    page.wait("document.getElementById('status').textContent === 'New numbers.'")
    page.wait(SETTLED)
    assert page.run(shown, "#sheet iframe") == written(seed, "--sheet")
    assert state_of(page.run("return location.href"))["seed"] == str(seed)
    page.click("#reveal")
    assert page.run(shown, "#judged iframe") == written(seed, "--key")
    assert page.run("return document.getElementById('renew').checkVisibility()")
    said = "document.getElementById('said').textContent.includes"
    page.wait(f"{said}('memory')", 9)
    assert page.run("return document.activeElement.id") == "judged"
    page.click("#renew")
    page.wait(f"document.body.classList.contains('asking') && {SETTLED}")
    assert page.run("return document.getElementById('judged').children.length") == 0
    check(page, "1 1")
    page.wait(f"{said}('Wrong.')", 9)
    page.click("#reveal")
    page.set("steps", "7")
    assert not page.run("return document.getElementById('renew').checkVisibility()")
    assert page.run("return document.getElementById('said').textContent") == ""


@pytest.mark.parametrize(
    ("words", "part", "right"),
    [
        (("--ask", "layers"), "104", "96 8"),  # 4 × 3 × (4 + 3 + 1) and 2 × (3 + 1); their sum alone is not the answer
        (("--ask", "state"), "3", "6"),  # h and c
        (("--ask", "multiply-adds", "-T", "2"), "84", "174"),
    ],
)
def test_an_answer_to_another_question_is_judged_by_it(
    page: Page, call: Call, tmp_path: Path, monkeypatch: Any, words: tuple[str, ...], part: str, right: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ask(page, f"#{link_to(call, *words)}")
    assert not page.run("return document.getElementById('renew').checkVisibility()")  # nothing varies
    check(page, part)
    assert page.run("return document.getElementById('reveal').checkVisibility()")
    assert "✓ Correct." in check(page, right)
    assert not page.run("return document.getElementById('reveal').checkVisibility()")


def test_each_number_that_is_asked_for_has_a_field_before_and_after_it_is_solved(
    page: Page, call: Call, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    ask(page, f"#{link_to(call, '--ask', 'layers')}")
    assert page.text("#fields").split() == ["memory", "output"]
    fill = "const of = document.querySelector(`#fields [name=${arguments[0]}]`); of.value = arguments[1];"
    page.run(fill, "memory", "96")
    page.run(fill, "output", "8")
    assert "✓ Correct." in check(page, "")
    assert not page.run("return document.body.classList.contains('asking')")
    assert page.text("#fields").split() == ["memory", "output"]
    page.run(fill, "output", "4")
    assert "✓ Correct." not in check(page, "")


def test_the_count_is_hidden_while_an_answer_is_typed(page: Page) -> None:
    seen = "return ['total', 'shown'].map(of => document.getElementById(of).checkVisibility())"
    field = page.browser.driver.find_element("id", "answer")
    field.send_keys("3")
    assert page.run(seen) == [False, False]
    page.click("#show-count")
    assert page.run(seen) == [True, True]
    field.send_keys("3")
    assert page.run(seen) == [False, False]
    check(page, "33")
    assert page.run(seen) == [True, True]
    assert not page.run("return document.getElementById('withheld').checkVisibility()")


def test_an_exercise_that_cannot_be_asked_says_why(page: Page) -> None:
    state = "{network: '-i 4 -l lstm:3', ask: 'total', vary: 'memory=2..5'}"
    ask(page, page.run(f"return import('./address.mjs').then(of => of.encoded({state}))"))
    assert page.text("#sheet").startswith("--vary: expected input, steps, lstm_1, ")


def test_a_result_that_comes_late_is_not_shown_on_an_exercise(page: Page) -> None:
    """One that was asked for just before the link was followed."""
    page.set("network", TAGGER)
    link = exercise(page)
    page.browser.driver.find_element("id", "answer").send_keys("563")
    page.run("document.getElementById('target').value = 'pytorch'")
    page.drop_tagger()
    page.run(
        "document.getElementById('judging').requestSubmit();"
        "document.getElementById('target').dispatchEvent(new Event('change'));"
        "document.querySelector('#views [value=training]').click()"
    )
    ask(page, link)
    check(page, "1")  # the engine answers in turn, so that the earlier answers have come
    assert leaked(page, COUNTS) == set()


CHANGES = {
    "network": "-i 9 -l gru:16 -o 1 -T 5",
    "convention": "pytorch",
    "notation": "rows",
    "steps": "7",
    "topology": "many-to-many",
    "sizes": "h=16",
    "example": "3",
    "form": "yaml",
}
"""Each field that changes the network, and another value."""


@pytest.mark.parametrize(
    ("field", "late"), [*[(field, False) for field in CHANGES], *[(field, True) for field in ("network", "form")]]
)
def test_no_result_of_an_earlier_network_stays(
    page: Page, field: str, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither verdict, program nor message, whether it is shown or still asked for when the network changes."""
    from session import export

    monkeypatch.chdir(tmp_path)
    fields = "return [...document.querySelectorAll('.input :is(select, textarea, input)')].map(of => of.id || of.name)"
    assert {*page.run(fields)} == {*CHANGES}
    settings = dict.fromkeys(CHANGES, "") | {"form": "flags", "network": "-i 8 -l gru:16"}
    page.set("network", settings["network"])
    page.set("target", "pytorch")
    exercise(page)
    assert page.text("#status") == "Copied."
    if late:
        page.browser.driver.find_element("id", "answer").send_keys("1200")
        page.run("document.getElementById('judging').requestSubmit()")
    else:
        check(page, "1200")
    if field == "form":
        page.click("#form [value=yaml]")
    else:
        page.set(field, CHANGES[field])
    assert page.run("return document.getElementById('judged').children.length") == 0
    assert page.text("#status") == ""
    settings |= state_of(page.run("return location.href"))
    program = export(settings, "pytorch")
    assert page.run("return document.getElementById('program').textContent") == (
        program.get("text") or "\n".join(program["problems"])
    )
    assert page.run("return document.getElementById('example').value") == ("3" if field == "example" else "")
    check(page, "7")
    assert page.run("return document.getElementById('judged').children.length") == 1


def test_what_is_shown_beside_a_mistake_is_marked_as_earlier(page: Page) -> None:
    page.set("target", "pytorch")
    page.set("network", "-i 8 -l gru:xx")
    assert page.run("return getComputedStyle(document.getElementById('shown')).opacity") == "0.5"
    assert "class Network" not in page.run("return document.getElementById('program').textContent")
    assert not page.run("return document.getElementById('copy-program').checkVisibility()")
    page.set("network", "-i 8 -l gru:16")
    assert page.run("return getComputedStyle(document.getElementById('shown')).opacity") == "1"
    assert "class Network" in page.run("return document.getElementById('program').textContent")


def test_a_followed_link_leaves_nothing_of_the_page_before(page: Page) -> None:
    """Neither the message of a damaged link nor an answer, a verdict, a program, a file or an example."""
    page.run("document.getElementById('shown').ariaBusy = 'true'; location.hash = '#1.____'")
    page.wait(SETTLED)
    assert "cannot be read" in page.text("#status")
    page.set("example", "3")
    page.set("target", "pytorch")
    check(page, "7")
    page.drop_tagger()
    page.wait("document.querySelector('#read iframe')")
    link = page.run("return import('./address.mjs').then(of => of.encoded({network: '-i 8 -l gru:16'}))")
    page.run("document.getElementById('shown').ariaBusy = 'true'; location.hash = arguments[0]", link)
    page.wait(SETTLED)
    shown = (
        "return [document.body.innerText, ...[...document.querySelectorAll('input, select')].map(of => of.value),"
        "...[...document.querySelectorAll('iframe')].map(of => of.srcdoc)]"
    )
    followed = page.run(shown)
    page.open(page.address + link)
    assert followed == page.run(shown)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("#2.abc", "it is of version 2, and this page reads version 1"),
        ("#1.____", "it is damaged, or cut"),
        ("#<script>", "it is damaged, or cut"),
        ("#1." + "A" * 30_000, "it is damaged, or cut"),
    ],
)
def test_a_link_that_is_none_has_a_message(page: Page, link: str, said: str) -> None:
    page.follow(link)
    assert said in page.text("#status")
    assert ">33<" in page.views()["count"]


@pytest.mark.parametrize(
    "state", ["{network: 'x'.repeat(200000)}", "{network: 5}", "[]", "null", "{__proto__x: ''}", "{wrong: ''}"]
)
def test_a_link_with_something_else_has_a_message(page: Page, state: str) -> None:
    link = page.run(f"return import('./address.mjs').then(of => of.encoded({state}))")
    page.follow(link[:20_000])
    assert "cannot be read" in page.text("#status")


ACTING = "script, img, a, main style:not(svg style)"
"""What a name of a network must not become."""


def test_hostile_names_do_not_act(page: Page) -> None:
    """Neither scripts nor styles nor links; what the page asks for is its own."""
    page.click("#form [value=yaml]")
    names = [
        "</title></iframe><script>top.hacked = 1</script>",
        "<img src=http://a.test/x onerror=top.hacked=1>",
        "<style>*{display:none}",
    ]
    for name in names:
        page.set("network", f"name: {name!r}\nsource: {name!r}\ninput: 2\nlayers:\n  - rnn: 3\n    name: {name!r}\n")
        for view in ("explain", "unrolled", "cell", "count"):
            page.click(f"#views [value={view}]")
            page.wait(f"document.querySelector('[data-view={view}] iframe')?.contentDocument.querySelector('main')")
            found = (
                "return document.querySelector('#shown iframe').contentDocument.querySelectorAll(arguments[0]).length"
            )
            assert page.run(found, ACTING) == 0
        page.set("network", f"input: 2\nlayers: [{{rnn: 3, {name!r}: 1}}]\n")
    assert page.run("return window.hacked") is None
    assert foreign(page) == []


def foreign(page: Page) -> list[str]:
    """Return the addresses that were asked for and are not the page's own."""
    own = page.address.removesuffix("index.html")
    return [url for url in page.browser.requests() if not url.startswith((own, f"blob:{own}", "data:", "about:"))]


FETCHES = {
    "page": "return fetch(arguments[0])",
    "worker": """
        const [place] = arguments;
        const code = `fetch(${JSON.stringify(place)}).then(() => postMessage(true), () => postMessage(false))`;
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        return new Promise((yes, no) => (worker.onmessage = ({data}) => (data ? yes() : no(new Error("blocked")))));
    """,
}


DROPPED = """
    const bytes = Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0));
    const held = new DataTransfer();
    held.items.add(new File([bytes], "tagger.safetensors"));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: held, bubbles: true, cancelable: true}));
"""


@pytest.mark.parametrize("where", FETCHES)
def test_no_other_place_can_be_asked(page: Page, where: str) -> None:
    other = page.address.replace("127.0.0.1", "localhost")
    with pytest.raises(JavascriptException):
        page.run(FETCHES[where], other)
    assert foreign(page) == []


def test_a_model_file_is_read_in_the_browser(page: Page) -> None:
    file = ROOT / "specs" / "models" / "tagger.pt"
    page.browser.requests()
    page.browser.driver.find_element("id", "file").send_keys(str(file))
    page.wait("document.querySelector('#read iframe')")
    assert "563" in page.run("return document.querySelector('#read iframe').srcdoc")
    page.click("#use-draft")
    page.wait("document.querySelector('[data-view=count] iframe')?.srcdoc.includes('563')")
    assert [url for url in page.browser.requests() if not url.startswith(("about:", "data:"))] == []


def test_a_file_that_is_none_is_told(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "a.pt"
    bad.write_bytes(b"PK\x03\x04 nothing")
    page.browser.driver.find_element("id", "file").send_keys(str(bad))
    page.wait("document.querySelector('#read li')")
    assert "a.pt" in page.text("#read")


def test_a_program_is_what_the_command_prints(page: Page, call: Call) -> None:
    page.set("target", "pytorch")
    page.wait("!document.getElementById('program').hidden")
    assert (
        page.run("return document.getElementById('program').textContent")
        == call("export", "-i", 2, "-l", "gru:2", "-o", 1, "-T", 3, "--to", "pytorch").out
    )


def test_a_long_computation_can_be_stopped(page: Page) -> None:
    page.click("#views [value=explain]")
    page.run(
        "const of = document.getElementById('network'); of.value = '-i 8 -l lstm:16,repeat=900';"
        "of.dispatchEvent(new Event('input'))"
    )
    page.wait("!document.getElementById('stop').hidden")
    page.run("document.getElementById('stop').click()")
    page.wait("document.querySelector('#shown li, #problems li')")
    assert "Stopped." in page.text("#shown") + page.text("#problems")
    page.set("network", "-i 8 -l gru:16")
    assert "1,200" in page.views()["explain"]


def test_link_spec_command_and_program_are_copied(page: Page) -> None:
    """What is copied is what is on the page: the link restores it, and the command counts it."""
    page.run("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); }")
    page.set("target", "keras")
    page.wait("!document.getElementById('copy-program').hidden")
    for number, name in enumerate(("link", "exercise", "spec", "command", "program"), 1):
        page.run("document.getElementById(arguments[0]).click()", f"copy-{name}")
        page.wait(f"window.copied.length === {number}")
    link, exercise, spec, command, program = page.run("return window.copied")
    assert link != exercise
    assert link.startswith(page.address + "#1.")
    assert exercise.startswith(page.address + "#1.")
    assert yaml.safe_load(spec) == {"name": "network", "steps": 3, "input": 2, "layers": [{"gru": 2}], "output": 1}
    assert command == "rnncalc -i 2 -l gru:2 -o 1 -T 3"
    assert "class Network(keras.Model)" in program
    assert page.text("#status") == "Copied."


def test_paper_has_the_views_and_no_controls(page: Page) -> None:
    page.browser.command("Emulation.setEmulatedMedia", media="print")
    assert page.run("return document.querySelector('#shown iframe').checkVisibility()")
    assert not page.run("return [...document.querySelectorAll('button')].some(of => of.checkVisibility())")


def test_the_keyboard_reaches_everything(page: Page) -> None:
    reached = set()
    page.run("document.body.focus()")
    for _ in range(60):
        ActionChains(page.browser.driver).send_keys(Keys.TAB).perform()
        reached.add(page.run("return document.activeElement.id || document.activeElement.value || ''"))
    assert {
        "example",
        "network",
        "convention",
        "notation",
        "steps",
        "sizes",
        "topology",
        "copy-link",
        "answer",
        "count",
        "target",
        "file",
    } <= reached
    unnamed = (
        "return [...document.querySelectorAll('input, select, textarea, iframe')]"
        ".filter(of => !of.labels?.length && !of.ariaLabel && !of.title).map(of => of.id)"
    )
    assert page.run(unnamed) == []


TOPS = "return arguments[0].map((each) => document.querySelector(each).getBoundingClientRect().top)"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_parameters_come_first_and_the_table_scrolls_in_its_own_box(page: Page, width: int) -> None:
    page.set("network", "-i 80000 -l lstm:10000")
    page.resize(width, "light")
    total, network, views, shown, controls = page.run(TOPS, ["#total", "#network", "#views", "#shown", "#example"])
    assert total < network < views
    assert total < 250
    assert width > 360 or shown - controls <= 300
    assert page.run("return [...document.querySelectorAll('#views button')].every(each => each.checkVisibility())")
    frame = "getComputedStyle(document.querySelector('#shown iframe').contentDocument.body).fontFamily"
    assert page.run(f"return getComputedStyle(document.body).fontFamily === {frame}")
    sizes = "return [...document.querySelector('#shown iframe').contentDocument.querySelectorAll('html, .scroll')]"
    whole, table, *_ = page.run(f"{sizes}.map((each) => [each.scrollWidth, each.clientWidth])")
    assert whole[0] == whole[1]
    assert width == 800 or (table[0] > table[1]) == (width == 360)


def test_flags_are_one_line_on_a_wide_window_and_a_spec_is_several(page: Page) -> None:
    height = "return document.getElementById('network').clientHeight"
    page.set(
        "network",
        "-c pytorch -i 40 -l embedding:64 -l lstm:128,bidirectional,repeat=2 -l gru:32 -o 10,activation=softmax -T 50",
    )
    one = page.run(height)
    assert one < 2 * 20 + 16  # lines of 20 pixels, with padding
    assert page.text("#settings option") == "(from the flags)"
    page.resize(360, "light")
    assert page.run(height) >= 3 * 20
    page.resize(1400, "light")
    page.click("#form [value=yaml]")
    page.wait("document.getElementById('network').value.startsWith('name')")
    assert page.text("#settings option") == "(from the spec)"


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.resize(width, "dark")
    page.click("#side")
    page.click("#views [value=unrolled]")
    page.wait("document.querySelector('[data-view=unrolled] iframe')")
    assert page.browser.overflow() == 0
    ask(page, exercise(page))
    check(page, "1265")
    assert page.browser.overflow() == 0
