"""Escaping belongs to the formats: whatever string is in whatever field of a report, none of them lets it act."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

import pytest
import yaml
from conftest import written
from reported import REPORTS

from rnncalc.formats import FORMATS
from rnncalc.pictures.picture import Arrow, Box, Curve, Dot, Label, Picture, Style
from rnncalc.records import Frozen
from rnncalc.reports.report import (
    CheckedReport,
    DataReport,
    DerivationReport,
    DocumentReport,
    LinkReport,
    PictureReport,
    QuizReport,
    RecordReport,
    Report,
    SheetReport,
)
from rnncalc.typeset.equations import Derivative, Function, Sign, Term
from rnncalc.typeset.sheet import (
    Arithmetic,
    Bar,
    Column,
    Document,
    Entry,
    Finding,
    Outcome,
    Phrase,
    Quiz,
    QuizAnswer,
    QuizQuestion,
    Row,
    Sheet,
    TensorName,
)

HOSTILE = (
    "=\n::error::x\r\x1b[31m\u202e\x9b\x7f\ud800##[error]y%0A::warning::z,"
    "=1+1<b>&\"']]>|`@user #123 https://a.example \\end{document}$x^2_3~{}\udfff"
)
"""What acts on a terminal, on GitHub's runner, in Markdown, XML, LaTeX or a spreadsheet, and halves of surrogates."""


def hostile(value: Any) -> Any:
    """Return a value with the hostile string in place of every string in it; what is no text is left."""
    match value:
        case Enum():
            return value
        case str():
            return HOSTILE
        case dict():
            return {f"{HOSTILE}{number}": hostile(below) for number, below in enumerate(value.values())}
        case Frozen():
            return value.replace(**{name: hostile(below) for name, below in value.values().items()})
        case Label():
            return Label(value.x, value.y, hostile(value.text), value.style, value.align)
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*map(hostile, value))
        case list() | tuple():
            return type(value)(map(hostile, value))
        case Iterator():
            return iter([hostile(item) for item in value])
        case _:
            return value


def poisoned(report: Report, kind: type[Report]) -> Report:
    """Return a report of a kind that has the hostile string in each of its fields."""
    (method,) = kind.__abstractmethods__
    made = getattr(report, method)()
    fields = {method: lambda *_: hostile(made), "__module__": __name__}
    of: type[Report] = type("Poisoned", (kind,), fields)
    return of()


class Full(
    DataReport, RecordReport, DerivationReport, DocumentReport, PictureReport, CheckedReport, LinkReport, QuizReport
):
    """A report that has every field that there is."""

    def sheets(self) -> list[Sheet]:
        values = (
            "a",
            1,
            0.5,
            Arithmetic("a", "b"),
            Arithmetic("a", "a"),
            TensorName("a", "b", "c"),
            Phrase(("a", (Derivative(Term("a"), Term("b", time="c")), Sign.EQUALS, "d"))),
            Bar(0.5),
            (1, None),
            None,
        )
        columns = (Column("a", key=True), *(Column("b") for _ in values[1:]))
        call = Function("tanh"), Sign.OPEN, Term("a", time="b"), Sign.CLOSE
        equations = ((Term("a", "b", "c", (1,)), Sign.EQUALS, *call, "and text"),)
        return [Sheet(columns, [values] * 100, values, "a", "b", ("c", "d"), equations), Sheet((), (), notes=("a",))]

    def data(self) -> dict[str, Any]:
        return {"a": "b", "c": {"d": ["e", None]}, "f": iter([{"a": "b"}])}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        return ("a", "b"), iter(
            [("a", 1), (Arithmetic("a", "b"), TensorName("a", "b")), ((1, None), None), (Bar(0.5),)]
        )

    def document(self) -> Document:
        below = (Entry("a", "b", ("c",)), Entry("d", 1), Entry("e", True))
        return Document(("a", "b"), (Entry("a", "b", ("c",)), Entry("d", below), Entry("e", (below, below))))

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        text = ("a", Term("a", "b"), Term("b", time="c"))
        boxes = (Box(0, 0, 9, 4, (text, text), Style.LAYER), Box(0, 8, 9, 1, (text,), Style.STATE, round=True))
        arrow = Arrow(((4, 4), (4, 7)), Style.BACKWARD)
        shapes = (*boxes, arrow, Dot(4, 5), Label(20, 1, text, Style.NOTE))
        return [Picture("a", "b", 40, 12, (*shapes, Curve(((20, 9), (30, 11)), Style.DENSE)))]

    def findings(self) -> Iterator[tuple[str, str, list[Finding]]]:
        return iter([("a", "d", [Finding("a", outcome, "b", "c", 1, 2) for outcome in Outcome])])

    def link(self) -> tuple[str, dict[str, str]]:
        return "a", {"b": "c"}

    def quiz(self) -> Quiz:
        return quiz_of("a")


def quiz_of(text: str) -> Quiz:
    """Return a quiz that has a text in each field."""
    answers = tuple(QuizAnswer((text, text), text) for _ in range(3))
    question = QuizQuestion(*(text,) * 3, 1, text, (text,), text, text, text, True, answers[0], answers[1:], ())
    questions = (question, question.replace(numeric=False), question.replace(choices=answers))
    return Quiz(text, questions, sheet=True, key=True)


POISONED = [
    pytest.param(report, kind, name, id=f"{type(report).__name__}-{kind.__name__}-{name}")
    for report in [Full(), *REPORTS]
    for name, of in FORMATS.items()
    for kind in of.kinds
    if isinstance(report, kind)
]


@pytest.mark.broad
@pytest.mark.parametrize(("report", "kind", "form"), POISONED)
def test_no_string_of_a_report_acts(report: Report, kind: type[Report], form: str) -> None:
    """Not on a terminal, nor on GitHub's runner; and every encoding of Unicode can write it."""
    text = written(poisoned(report, kind), form)
    assert text.encode("utf-8")
    assert not {char for char in text if not char.isprintable() and char != "\n"}
    assert "##[" not in text
    for line in text.splitlines():
        starts = {"github": r"::(error|notice) [^:]*::.*", "gift": r"::Variant 1\\: .*"}.get(form)
        started = re.fullmatch(starts, line) if starts else None
        assert started or not line.strip().startswith("::"), line
    if form in ACTS:
        ACTS[form](text)


def acts_in_markdown(text: str) -> None:
    """Hold that outside of spans of code nothing is left that Markdown or GitHub acts on."""
    text = re.sub(r"^\$\$\n.*?^\$\$$", "", text, flags=re.MULTILINE | re.DOTALL)  # equations, escaped as LaTeX is
    for line in text.splitlines():
        line = re.sub(r"(?<!\\)\$[\w\\{}^ =,.()+-]+\$", "", line)  # mathematics among words
        bare = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", line)
        bare = re.sub(r"\\.", "", bare).replace("---:", "").replace("---", "").replace("**", "").removeprefix("### ")
        assert not re.search(r"[<@#*_`\[\]~]|://", bare), line
        assert bare.count("|") in (0, *[row.count("|") for row in text.splitlines() if row.startswith("| --")]), line


def acts_in_json(text: str) -> None:
    """Hold that it is JSON in ASCII, of which half a surrogate pair is no part."""
    assert text.isascii()
    assert r"\ud" not in text
    json.loads(text)


def acts_in_latex(text: str) -> None:
    """Hold that the document ends once, and that no bracket or sign of a name is one of LaTeX's."""
    assert text.count(r"\end{document}") == 1
    acts_in_tikz(text)


def acts_in_tikz(text: str) -> None:
    """Hold that no bracket or sign of a name is one of LaTeX's; comments are above the pictures alone."""
    assert text.isascii()
    text = text[text.index(r"\begin{") :]
    assert not re.search(r"(?<!\\)[%~]", text.replace(r"\textasciitilde", ""))


def acts_in_csv(text: str) -> None:
    """Hold that no cell is a formula; a difference is a number."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row if not re.fullmatch(r"-\d+", cell)]
    assert not [cell for cell in cells if cell[:1] in [*"=+@-"]]


def acts_in_xml(text: str) -> None:
    """Hold that it is XML in ASCII."""
    assert text.isascii()
    ET.fromstring(text)


def acts_in_gift(text: str) -> None:
    """Hold that a name has no sign that GIFT gives a meaning: each question has one pair of braces and ends with it."""
    for question in re.sub(r"\\.", "", text).strip().split("\n\n"):
        if not question.startswith("$CATEGORY"):
            assert question.count("{") == question.count("}") == 1
            assert question.endswith("}")
            assert "->" not in question


ELEMENTS = {
    *("html", "head", "meta", "title", "link", "style", "body", "main", "article", "section", "figure", "h1", "h2"),
    *("p", "div", "span", "wbr", "table", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mpadded", "msub", "msubsup", "munder", "msup", "mfrac"),
    *("mtable", "mtr", "mtd"),
}
DRAWN = {
    f"{{http://www.w3.org/2000/svg}}{name}"
    for name in ("svg", "title", "desc", "style", "rect", "text", "tspan", "polyline", "polygon", "path", "circle", "g")
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "rel", "href", "class", "style", "scope", "role", "tabindex"),
    *("aria-label", "form", "stretchy", "lspace", "rspace", "width", "depth"),
}


def acts_in_html(text: str) -> None:
    """Hold that no element, attribute or style of the page comes from a name, which is text that can be read."""
    head, _, page = text.partition("\n")
    assert head == "<!DOCTYPE html>"
    root = ET.fromstring(page)
    assert {element.tag for element in root.iter()} <= ELEMENTS | DRAWN
    own = [element for element in root.iter() if element.tag in ELEMENTS]
    assert {name for element in own for name in element.attrib} <= ATTRIBUTES
    for element in own:
        assert re.fullmatch(r"width: [\d.]+%|min-width: \d+px|--beside: \d+|", element.get("style", "")), element.get(
            "style"
        )
        assert element.get("href", "data:,") == "data:,"
        assert re.fullmatch(r"[a-z ]*", element.get("class", ""))
    assert len([*root.iter("style")]) == len([*root.iter("link")]) == 1
    for element in root.iter("title"):
        assert r"\u202e" in (element.text or "")


def acts_in_yaml(text: str) -> None:
    """Hold that it is YAML, and that every string is in it as text, however it is written."""
    data = yaml.safe_load(text)
    assert data

    def held(value: Any) -> None:
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            if isinstance(each, dict | list):
                held(each)
            else:
                assert isinstance(each, int) or each == HOSTILE.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")

    held(data)


def acts_in_svg(text: str) -> None:
    """Hold that it is XML, of the elements that pictures are made of alone."""
    assert {node.tag for node in ET.fromstring(text).iter()} <= DRAWN


ACTS: dict[str, Callable[[str], None]] = {
    "markdown": acts_in_markdown,
    "json": acts_in_json,
    "latex": acts_in_latex,
    "csv": acts_in_csv,
    "junit": acts_in_xml,
    "moodle": acts_in_xml,
    "gift": acts_in_gift,
    "html": acts_in_html,
    "yaml": acts_in_yaml,
    "tikz": acts_in_tikz,
    "svg": acts_in_svg,
}


def test_the_poison_is_everywhere() -> None:
    """The test would not find a field that it did not fill."""
    (sheet, _) = hostile(Full().sheets())
    assert sheet.title == sheet.subtitle == sheet.notes[1] == sheet.columns[2].title == HOSTILE
    assert sheet.rows[0][3].letters == sheet.rows[0][5].before == sheet.equations[0][0].subscript == HOSTILE
    assert all("##[" in HOSTILE and "\ud800" in key for key in hostile(Full().data()))


def test_half_a_surrogate_pair_is_one_sign_in_every_format() -> None:
    """U+FFFD, and a pair is the character that it is."""
    for name in FORMATS:
        text = written(Surrogate(), name)
        assert {
            "latex": "?",
            "tikz": "?",
            "junit": "&#65533;",
            "json": "\\ufffd",
            "gitlab": "\\ufffd",
            "moodle": "&#65533;",
        }.get(name, "\ufffd") in text, name
    assert json.loads(written(Surrogate(), "json"))["reports"][0]["\U0001f600"] == "a\ufffdb"


class Surrogate(Full):
    """A report of one string."""

    def sheets(self) -> list[Sheet]:
        return [Sheet((Column("a\ud800b"),), [("a\ud800b",)], title="a\udfffb", notes=("a\udfffb",))]

    def document(self) -> Document:
        return Document(("a\ud800b",), (Entry("a", "a\ud800b"),))

    def link(self) -> tuple[str, dict[str, str]]:
        return "\ud800", {}

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        return [Picture("a\ud800b", "", 9, 1, (Label(0, 0, ("a\ud800b",), Style.NOTE),))]

    def data(self) -> dict[str, Any]:
        return {"\U0001f600": "a\ud800b"}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        return ("a",), iter([("a\ud800b",)])

    def quiz(self) -> Quiz:
        return quiz_of("a\ud800b")

    def findings(self) -> Iterator[tuple[str, str, list[Finding]]]:
        return iter([("a\ud800b", "a\ud800b", [Finding("a", Outcome.FAILED)])])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@user did it", "`@user` did it"),
        ("fixes #123 and GH-7", "fixes `#123` and `GH-7`"),
        ("see https://a.example/x, www.b.example", "see `https://a.example/x,` `www.b.example`"),
        ("a1b2c3d is a commit", "`a1b2c3d` is a commit"),
        (":tada: a|b@c `x` x_1", "`:tada:` `a\\|b@c` \\`x\\` x\\_1"),
        *((f"{emoji}, x_1", f"`{emoji},` x\\_1") for emoji in (":+1:", ":-1:", ":e-mail:", ":100:", ":8ball:")),
        ("`@a`", "`` `@a` ``"),
        ("1. one", "1\\. one"),
        ("- one", "\\- one"),
        ("+ one", "\\+ one"),
        ("=== x", "\\=== x"),
        ("12,345 is 3.1 × 4 – a decade", "12,345 is 3.1 × 4 – a decade"),
        ("effaced defaced", "effaced defaced"),
    ],
)
def test_nothing_in_a_note_is_live(text: str, shown: str) -> None:
    """People, issues, addresses, commits and emoji are in spans of code, which stop all of them; lists are none."""

    class Noted(SheetReport):
        def sheets(self) -> list[Sheet]:
            return [Sheet((), (), notes=(text,))]

    assert written(Noted(), "markdown") == f"\n{shown}\n"


@pytest.mark.broad
def test_a_summary_is_one_that_github_shows() -> None:
    """No more than a megabyte, and the number of the lines that are left out."""

    class Long(SheetReport):
        def sheets(self) -> list[Sheet]:
            return [Sheet((Column("a"),), [("é" * 190,)] * 400, notes=("x" * 900,)) for _ in range(40)]

    text = written(Long(), "markdown")
    assert 990_000 < len(text.encode()) <= 1_000_000
    match = re.search(r"… and ([\d,]+) more lines, left out because GitHub shows a megabyte at most\.\n$", text)
    assert match
    assert int(match[1].replace(",", "")) > 10_000


def test_rows_of_many_kinds_are_not_summed() -> None:
    """The row for those left out has sums only where the total has them."""

    class Mixed(SheetReport):
        def sheets(self) -> list[Sheet]:
            columns = (Column("a", key=True), Column("b", right=True), Column("c", right=True))
            rows = [("x", 1, 2)] * 3_000
            return [
                Sheet(columns, rows),
                Sheet(columns, rows, ("Total", 3_000, "")),
                Sheet(columns, rows, ("T", 1, 2), summed=False),
            ]

    for form in ("table", "markdown"):
        elided = [line for line in written(Mixed(), form).splitlines() if "2,960 more" in line]
        assert [re.findall(r"[\d,]+", line) for line in elided] == [["2,960"], ["2,960", "2,960"], ["2,960"]]
