"""The page: its MathML says what the plain text says, its words and numbers are those of the other formats."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from cells import CELLS, equations
from conftest import Call, report_of, written

from rnncalc import GRU, LSTM, RNN, Network, Output, explain
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.reports.explain import ExplanationReport
from rnncalc.typeset.sheet import Sheet

SVG = "{http://www.w3.org/2000/svg}"
CHILDREN = {"math": None, "mrow": None, "mpadded": 1, "msub": 2, "munder": 2, "mi": 0, "mn": 0, "mo": 0, "mtext": 0}
CHILDREN |= {"mspace": 0, "mtable": None, "mtr": None, "mtd": 1, "msup": 2}
"""The elements of MathML that there are here, with how many others each holds; None is any number."""


def page_of(net: Network, notation: str = "w") -> ET.Element:
    """Return the page about a network, which must be XML."""
    return ET.fromstring(written(ExplanationReport(explain(net, notation=notation)), "html").partition("\n")[2])


def said(element: ET.Element, shapes: dict[str, list[int]]) -> str:
    """Return an element of MathML in plain text, and note the shape below each term."""
    assert CHILDREN[element.tag] in (None, len(element)), element.tag
    match element.tag:
        case "mspace":
            return " "
        case "msub":
            letter, below = (said(part, shapes) for part in element)
            return f"{letter}_({below})" if "−" in below else f"{letter}_{below}"
        case "munder":
            term, below = (said(part, shapes) for part in element)
            shapes[term] = [int(size) for size in below.split("×")]
            return term
        case "msup":
            base, power = (said(part, shapes) for part in element)
            return f"{base}^{power}"
        case "mtable":
            return "; ".join(" ".join(said(cell, shapes) for cell in row) for row in element)
        case "mo" if element.get("form") == "infix":
            text = element.text or ""
            return {",": ", ", ";": "; ", "·": "·" if element.get("lspace") == "0.1em" else " · "}.get(
                text, f" {text} "
            )
        case _:
            return (element.text or "") + "".join(said(part, shapes) for part in element)


@pytest.mark.broad
@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_the_mathml_says_what_the_text_says(name: str, notation: str) -> None:
    """Every equation of every cell and option, under every convention, read back with the shape below each term."""
    from rnncalc.formats import mathml

    for shown, data in equations(name, notation):
        rows = [*ET.fromstring("".join(mathml.displayed(Sheet((), (), equations=tuple(shown)))))]
        for row, expected in zip(rows, data, strict=True):
            shapes: dict[str, list[int]] = {}
            text = "".join(said(math, shapes) for math in row.iter("math"))
            assert text == expected["text"] == row.get("aria-label")
            assert shapes == {term: shape for term, shape in expected["shapes"].items() if shape}


def test_a_pass_worked_by_hand_says_what_its_text_says(call: Call) -> None:
    """Matrices, columns and numbers, read back; those of the table are the same."""
    args = ("run", "-i", 3, "-l", "gru:2", "-l", "lstm:1,peepholes", "-o", 1, "-T", 2, "--work")
    page = ET.fromstring(call(*args, "-f", "html").out.partition("\n")[2])
    rows = [row for group in page.iter("div") if group.get("aria-label") == "Numbers" for row in group]
    assert len(rows) > 30
    for row in rows:
        text = "".join(said(math, {}) for math in row.iter("math"))
        assert text == re.sub(r"e([−+]?)0*(\d+)(?!\d)", r"·10^\1\2", row.get("aria-label") or "").replace("^+", "^")
    numbers = re.compile(r"\d+\.\d+")
    shown = {number for row in rows for number in numbers.findall(row.get("aria-label") or "")}
    assert shown == {*numbers.findall(call(*args).out.partition("Outcome")[0])}


def titles(page: ET.Element) -> list[str]:
    return ["".join(heading.itertext()) for heading in page.iter() if heading.tag in ("h1", "h2")]


def test_the_page_has_everything(call: Call) -> None:
    """The count, the pictures, each derivation, the dense equivalent and each convention, in this order."""
    done = call("explain", "specs/encoder-decoder.yaml", "-c", "pytorch", "-f", "html")
    assert (done.code, done.err) == (0, "")
    page = ET.fromstring(done.out.partition("\n")[2])
    layers = ["lstm_1", "lstm_2", "output"]
    more = ["Total", "Dense equivalent", "Growth with the steps", "Conventions"]
    assert titles(page) == ["Characters to characters", "Unrolled in time", *layers, *more]
    tables = [[["".join(cell.itertext()) for cell in row] for row in table.iter("tr")] for table in page.iter("table")]
    assert tables[0][-1] == ["Total", "", "", "", "", "", "720,221"]
    assert [row[1] for row in tables[0][1:-1]] == layers
    report = report_of(call, "explain", "specs/encoder-decoder.yaml", "-c", "pytorch")
    for table, layer in zip(tables[1:4], report["layers"], strict=True):
        assert [int(row[-1].replace(",", "")) for row in table[1:]] == [step["params"] for step in layer["steps"]]
        for row, step in zip(table[1:], layer["steps"], strict=True):
            alone = step["formula"] == step["substituted"]
            assert row[2] == (step["formula"] if alone else f"{step['formula']} = {step['substituted']}")
    assert [row[0] for row in tables[-1][1:]] == [*CONVENTIONS]
    assert len([*page.iter(f"{SVG}svg")]) == 3  # the two LSTMs are one cell


def test_what_cannot_be_drawn_is_said_in_its_place() -> None:
    """A network of one step does not grow; a framework that lacks a cell says so."""
    net = Network(input=3, layers=(LSTM(2, peepholes=True),), output=Output(1), topology="one-to-one")
    page = page_of(net)
    text = "".join(page.itertext())
    assert "a one-to-one network has one step, and nothing grows with it" in text
    assert "Not counted because of peepholes: pytorch" in text
    assert "Conventions" in titles(page)


def test_one_layer_alone_is_its_derivation(call: Call) -> None:
    """Without what is said of the whole network."""
    page = ET.fromstring(
        call("explain", "specs/time-series-gru.yaml", "--only", "gru_2", "-f", "html").out.partition("\n")[2]
    )
    assert titles(page) == ["gru_2"]


def test_several_networks_are_several_articles(call: Call) -> None:
    """With a heading of the first rank each; other reports too are written so, a count with the files and a summary."""
    names = ["LSTM, one layer", "GRU, one layer"]
    counted = ["specs/lstm.yaml", names[0], "specs/gru.yaml", names[1], "Summary"]
    for command, titles in {"explain": names, "count": counted}.items():
        page = ET.fromstring(call(command, "specs/lstm.yaml", "specs/gru.yaml", "-f", "html").out.partition("\n")[2])
        assert [article[0][0].text for article in page.iter("article")] == titles
        assert [*page.iter("h1")] == [article[0][0] for article in page.iter("article")]


HOSTILE = '<script>alert("1")</script>]]>&amp;\'"\u202e\u2066\n\x1b[31m</style><img src=x onerror=alert(1)>'


def test_names_of_strangers_stay_text() -> None:
    """Markup, entities, ends of sections, quotes, bidi controls and newlines, in names of networks and layers."""
    layers = (GRU(2, name=HOSTILE), RNN(2, name="]]>"))
    page = page_of(Network(name=HOSTILE, input=3, layers=layers, steps=2))
    assert not {element.tag for element in page.iter()} & {"script", "img", "iframe", "object", "a"}
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    shown = (
        HOSTILE.replace("\u202e", r"\u202e").replace("\u2066", r"\u2066").replace("\n", r"\n").replace("\x1b", r"\x1b")
    )
    assert titles(page)[0] == shown
    assert shown in titles(page)[1:]
    text = "".join(page.itertext())
    assert not {char for char in text if not char.isprintable() and char != "\n"}


@pytest.mark.broad
def test_the_other_formats_pay_nothing_for_the_page() -> None:
    """A table of an explanation loads neither the page nor pictures; the page does."""
    assert not {"rnncalc.reports.count", "rnncalc.pictures.picture", "rnncalc.formats.html"} & loaded("table")
    assert {"rnncalc.reports.count", "rnncalc.pictures.picture", "rnncalc.formats.html"} <= loaded("html")
    assert not {"rich", "yaml"} & loaded("html")


def loaded(form: str) -> set[str]:
    code = "import sys; from rnncalc.cli import call; call(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, "explain", "-i", "4", "-l", "rnn:3", "-f", form]
    return {*subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()}
