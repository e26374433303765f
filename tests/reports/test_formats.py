"""The list of formats: one is added by a file and a line, and it writes the reports of the kinds that it names."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Call, written
from reported import REPORTS

from rnncalc import LSTM, Network, count
from rnncalc.errors import CallError
from rnncalc.formats import FORMATS, Format, find, offered, write
from rnncalc.reports.answer import AnswerReport
from rnncalc.reports.check import CheckReport
from rnncalc.reports.compare import AllocationReport, ComparisonReport, DenseGrowthReport
from rnncalc.reports.count import CountReport
from rnncalc.reports.draw import Drawing
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.report import DerivationReport, Report, SheetReport
from rnncalc.reports.run import RunReport
from rnncalc.reports.solve import SolutionReport
from rnncalc.typeset.equations import Block, EquationText, Function, Sign, Term
from rnncalc.typeset.sheet import Arithmetic, Column, Phrase, Row, Sheet, TensorName, Value
from rnncalc.words import one_of

STRANGER = '''
"""What every sheet, table or object holds, a line each."""

def write(reports, file):
    for report in reports:
        for sheet in report.sheets():
            for row in (*sheet.rows, sheet.total or ()):
                file.write("; ".join(map(str, row)) + "\\n")
'''


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Add a format the way a stranger would: a module with `write`, and its line in the list."""
    (tmp_path / "plain_format.py").write_text(STRANGER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(FORMATS, "plain", Format("plain_format", (SheetReport,)))
    return "plain"


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_a_format_that_is_added_writes_every_report_it_can(report: Report, plain: str) -> None:
    """All of the kind that it names, and commands offer it for those alone."""
    file = io.StringIO()
    if not isinstance(report, SheetReport):
        assert plain not in offered(type(report))
        with pytest.raises(CallError, match=f"cannot be written as plain; choose {one_of(offered(type(report)))}"):
            write([report], plain, file)
        assert file.getvalue() == ""
        return
    assert offered(type(report))[-1] == plain
    write([report, report], plain, file)
    lines = file.getvalue().splitlines()
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :] != []


@pytest.mark.broad
def test_a_command_offers_a_format_that_is_added(tmp_path: Path) -> None:
    """The list is all that names it: help and calls follow."""
    (tmp_path / "plain_format.py").write_text(STRANGER)
    add = (
        "import sys; from rnncalc.formats import FORMATS, Format, SheetReport; from rnncalc.cli import call;"
        "FORMATS['plain'] = Format('plain_format', (SheetReport,)); sys.path.insert(0, sys.argv[1]);"
        "sys.exit(call(sys.argv[2:]))"
    )

    def called(*args: str) -> str:
        command = [sys.executable, "-c", add, str(tmp_path), *args]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout

    assert "table, json, csv, markdown, latex, svg, html, plain" in called("count", "--help")
    out = called("-i", "4", "-l", "rnn:3", "-o", "1", "-f", "plain")
    assert out.splitlines()[-1] == "Total; ; ; ; ; 28"
    assert "✓; specs/lstm.yaml; expect.total; 1600; 1600" in called("check", "specs/lstm.yaml", "-f", "plain")


@pytest.mark.broad
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_each_format_writes_every_report_that_it_is_offered_for(report: Report) -> None:
    """Something, without an error, and the same twice."""
    for name in offered(type(report)):
        files = io.StringIO(), io.StringIO()
        for file in files:
            write([report], name, file)
        assert files[0].getvalue() == files[1].getvalue() != ""


CONTRACT = ["table", "json", "csv", "markdown", "yaml", "latex", "text", "svg", "tikz", "html", "junit", "github"]


@pytest.mark.parametrize(
    ("reports", "formats"),
    [
        ((CountReport,), "table json csv markdown latex html"),
        ((AllocationReport,), "table json csv markdown latex html"),
        ((RunReport,), "table json csv markdown latex html"),
        ((ComparisonReport, DenseGrowthReport), "table json csv markdown latex html"),
        ((SolutionReport,), "table json csv markdown latex html"),
        ((AnswerReport,), "table json markdown latex html"),
        ((ExplanationReport,), "table json markdown latex html"),
        ((Drawing,), "text svg tikz html"),
        ((CheckReport,), "table json csv markdown latex html junit github"),
    ],
)
def test_what_is_offered(reports: tuple[type, ...], formats: str) -> None:
    """As the contract has it, in the order of the list; formats that are added may be between."""
    contract = formats.split()
    assert [name for name in offered(*reports) if name in contract] == contract
    assert {*CONTRACT} & {*offered(*reports)} == {*contract}


@pytest.mark.parametrize(
    "name", ["", "Json", "jsonn", "values", "../json", "json.tool", "os", "rnncalc.cli", "\x1b[31m"]
)
def test_an_unknown_format_fails_in_one_clear_line(name: str) -> None:
    """Modules that are no formats are unknown too, and none is imported."""
    file = io.StringIO()
    with pytest.raises(CallError, match=r"^format: expected table, json, .* or github, got [^\n\x1b]*$") as error:
        write(REPORTS[:1], name, file)
    assert file.getvalue() == ""
    assert "did you mean 'json'" in str(error.value) or name not in ("Json", "jsonn", "../json")


def test_a_report_that_a_format_cannot_write_is_refused_before_the_first_is_written() -> None:
    """A derivation has no one table, so it has no CSV."""
    file = io.StringIO()
    derivation = next(report for report in REPORTS if isinstance(report, ExplanationReport))
    with pytest.raises(CallError, match=f"cannot be written as csv; choose {one_of(offered(ExplanationReport))}"):
        write([REPORTS[0], derivation], "csv", file)
    assert file.getvalue() == ""


def test_every_format_of_the_list_is_there() -> None:
    """Its module is in the room of formats, and some report is of each kind that the list says."""
    for name, of in FORMATS.items():
        assert of.module.startswith("rnncalc.formats.")
        assert of.suffix.startswith(".")
        assert all(any(isinstance(report, kind) for report in REPORTS) for kind in of.kinds)
        assert find(name) is of


def test_tensors_are_numbered_as_the_framework_numbers_them() -> None:
    """A framework counts the copies of a repeated layer in its tensors' names, and the report does so too."""
    network = Network(input=4, layers=(LSTM(4, repeat=3),), convention="pytorch")
    layers = json.loads(written(CountReport(count(network)), "json"))["reports"][0]["layers"]
    assert [layer["tensors"][0]["name"] for layer in layers] == ["weight_ih_l0", "weight_ih_l1", "weight_ih_l2"]
    assert [layer["name"] for layer in layers] == ["lstm_1", "lstm_2", "lstm_3"]
    lines = written(CountReport(count(network), tensors=True), "csv").splitlines()
    assert [line.split(",")[4] for line in lines[1:-1:4]] == ["weight_ih_l0", "weight_ih_l1", "weight_ih_l2"]


class Marked(SheetReport):
    """A report with a word of its own in each part that a table has, and in each kind of value."""

    def sheets(self) -> list[Sheet]:
        sums: list[Value] = [
            "thekey",
            TensorName("thename"),
            Phrase(("thephrase ", (Term("thesymbol"),))),
            (4711, 4712),
            815,
            0.75,
        ]
        rows: list[Row] = [(value, Arithmetic("theletters", "thenumbers")) for value in sums]
        sheet = Sheet((Column("thecolumn", key=True), Column("thesums")), [*rows, ("thewords", "without a sum")])
        return [
            sheet.replace(
                total=("thetotal", Arithmetic("thewhole", "thewhole")),
                title="thetitle",
                subtitle="thesubtitle",
                notes=("thenote", Phrase(("theremark",))),
                equations=((Term("theside"), Sign.EQUALS, Function("thefunction"), Sign.OPEN, "thetext", Sign.CLOSE),),
                work=((Term("theresult"), " = ", EquationText("thework"), Block((("4713",), ("4714",)))),),
            )
        ]


PARTS = (
    *("thekey", "thename", "thephrase", "thesymbol", "4711", "815", "0.75", "theletters", "thenumbers", "thewords"),
    *("without a sum", "thetotal", "thewhole", "thetitle", "thesubtitle", "thenote", "theremark", "theside"),
    *("thefunction", "thetext", "theresult", "thework", "4713", "4714", "thecolumn", "thesums"),
)


class MarkedDerivation(Marked, DerivationReport):
    """The same as a derivation."""


@pytest.mark.parametrize("name", offered(Marked))
def test_a_format_of_tables_writes_every_part_of_them(name: str) -> None:
    """LaTeX writes the rows of a derivation as lines, which have no header."""
    assert {part for part in PARTS if part not in written(Marked(), name)} == set()
    missing = {part for part in PARTS if part not in written(MarkedDerivation(), name)}
    assert missing == ({"thecolumn", "thesums"} if name == "latex" else set())


def test_a_format_of_one_table_is_named_as_it_is_called(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as the one that comes with the package."""
    monkeypatch.setitem(FORMATS, "tsv", FORMATS["csv"]._replace(suffix=".tsv"))
    done = call("run", "-i", 3, "-l", "gru:4", "-T", 2, "--states", "-f", "tsv")
    assert done.err == "rnncalc: --states needs several tables, and tsv has one; write -f json\n"
