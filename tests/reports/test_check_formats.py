"""The reports of `check` in each format: rows agree with totals, and nothing in a spec acts on who reads them."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import SPEC, Call, file_at, report_of
from junitparser import JUnitXml

FORMATS = ("table", "json", "markdown", "junit", "gitlab", "github")
HOSTILE = "\x1b[31m\n::error::x\r\u202e%0A::warning::y,col=1:##[error]z<b>&\"']]>|`"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a spec that passes, one that fails, one with nothing to check, and a broken one."""
    spec = "input: 4\nsteps: 3\nlayers:\n  - rnn: 3\noutput: 1\n"
    hostile = json.dumps(HOSTILE)
    files = {
        "a": f"{spec}expect: 28\n",
        "b,c %: d": f"name: {hostile}\n{spec.replace('rnn: 3', f'{{rnn: 3, name: {hostile}}}')}"
        "expect: {total: 29, layers: [25, 5]}\nbudget: {max_params: 1}\n",
        "e": spec,
        "f": f"input: xx\n{hostile}: {hostile}\nlayers: [{{lstm: {hostile}}}]\n",
    }
    (tmp_path / "::error::").mkdir()
    for name, text in files.items():
        (tmp_path / "::error::" / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_text_acts_on_nothing(form: str, folder: Path, call: Call) -> None:
    """No control character, and no line that a runner would take for a command of the spec's."""
    result = call("check", folder, "-f", form)
    assert result.code == 2
    for text in (result.out, result.err):
        assert all(char.isprintable() or char == "\n" for char in text)
        assert "##[" not in text
        for line in text.splitlines():
            if form == "github" and text == result.out:
                assert re.fullmatch(r"::(error|notice) (file|line|col|title)=[^:]*::.*", line), line
                assert line.count(",") >= 1
            else:
                assert not line.strip().startswith("::")
    if form == "markdown":
        assert "<b>" not in re.sub(r"\\<b\\>", "", result.out)


def test_annotations_stand_where_the_limit_was_set(folder: Path, call: Call) -> None:
    """An error for each failure, with file, line and column, escaped as the runner unescapes it."""
    lines = call("check", folder, "-f", "github").out.splitlines()
    first = lines[0]
    assert "b%2Cc %25%3A d.yaml,line=7,col=17,title=expect.total (textbook)::expected 29, got 28: 1 fewer" in first
    assert sum(line.startswith("::error") for line in lines) == 4 + 3
    assert sum(line.startswith("::notice") for line in lines) == 1


def test_junit_is_read_by_a_junit_reader(folder: Path, call: Call) -> None:
    """A suite a file, tallies that are those of the cases, and the convention of each spec that can be counted."""
    out = call("check", folder, "-f", "junit").out
    suites = JUnitXml.fromstring(out.encode())
    assert (suites.tests, suites.failures, suites.errors, suites.skipped) == (1 + 4 + 1 + 3, 4, 3, 1)
    root = ET.fromstring(out)
    for kind, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.attrib[kind]) == sum(int(suite.attrib[kind]) for suite in root) == len([*root.iter(tag)])
        assert all(int(suite.attrib[kind]) == len([*suite.iter(tag)]) for suite in root)
    assert [each.get("value") for each in root.iterfind("*/properties/property[@name='convention']")] == [
        "textbook"
    ] * 3


def test_gitlab_reads_the_issues(folder: Path, call: Call) -> None:
    """The keys that GitLab requires, a fingerprint each, and paths that do not start with ./.

    From https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    issues = json.loads(call("check", folder, "-f", "gitlab").out)
    assert len(issues) == len({issue["fingerprint"] for issue in issues}) == 4 + 3
    for issue in issues:
        assert {*issue} == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not issue["location"]["path"].startswith("./")
    (total,) = (issue for issue in issues if issue["check_name"] == "expect.total")
    assert (total["description"], total["location"]["lines"]) == (
        "expect.total (textbook): expected 29, got 28: 1 fewer",
        {"begin": 7},
    )


def test_formats_agree(folder: Path, call: Call) -> None:
    """The failures of the JSON are those of every other format."""
    reports = json.loads(call("check", folder, "-f", "json").out)["reports"]
    assert reports[1]["name"] == HOSTILE
    assert [report["status"] for report in reports] == ["passed", "failed", "unchecked", "broken"]
    messages = [each["message"] for report in reports for each in report["checks"] if not each["ok"]]
    assert len(messages) == 4
    table = call("check", folder).out
    for message in messages:
        assert message.split(" in ")[0] in table
    assert sum(line.startswith("✗") for line in table.splitlines()) == 5
    markdown = call("check", folder, "-f", "markdown").out
    assert sum(line.startswith("| ✗") for line in markdown.splitlines()) == 5


def test_the_table_names_the_convention_of_each_spec(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once if it is the same, else beside the checks that have another; a narrow table keeps the names of the files."""
    for name, convention in (("a", "textbook"), ("b", "textbook"), ("c", "pytorch")):
        file_at(tmp_path / f"{name}.yaml", f"convention: {convention}\n{SPEC}expect: {{total: 28}}\n")
    same = call("check", tmp_path / "a.yaml", tmp_path / "b.yaml").out
    assert same.splitlines()[1] == "2 specs, 2 checks; convention textbook"
    other = call("check", tmp_path, "-f", "csv", "--max-params", "1k").out
    rows = [*csv.DictReader(io.StringIO(other))]
    assert [row["convention"] for row in rows] == ["textbook"] * 4 + ["pytorch"] * 2
    monkeypatch.setenv("COLUMNS", "80")
    table = call("check", tmp_path).out
    assert table.splitlines()[1] == "3 specs, 3 checks; convention textbook unless a check names another"
    assert re.search(r"a\.yaml +expect\.total +28", table)
    assert re.search(r"c\.yaml +expect\.total \(pytorch\) +28", table)


@pytest.mark.broad
def test_many_checks_show_those_that_failed(tmp_path: Path, call: Call) -> None:
    """Of three hundred specs, the table has the two that matter, and says how many others were kept."""
    for number in range(300):
        limit = 10 if number in (3, 298) else 24
        (tmp_path / f"{number:04}.yaml").write_text(f"input: 4\nlayers: [rnn: 3]\nexpect: {limit}\n")
    out = call("check", tmp_path).out
    assert "300 specs, 300 checks; the 298 that were kept are not shown" in out
    assert sum(line.startswith("✗") for line in out.splitlines()) == 2
    assert "298 passed; 2 failed." in out
    out = call("check", tmp_path, "--baseline", tmp_path).out
    assert re.search(r"300 others, unchanged +7,200 +7,200 +0", out)


@pytest.mark.broad
def test_endless_failures_are_counted(tmp_path: Path, call: Call) -> None:
    """A thousand are told, the others counted, in every format for people."""
    path = tmp_path / "a.yaml"
    half = "{input: 1, layers: [{rnn: 1, repeat: 1000}]}"
    path.write_text(f"encoder: {half}\ndecoder: {half}\nexpect: {{layers: [{', '.join('1' * 2000)}]}}\n")
    assert "and 1,000 more failures" in call("check", path).out
    assert call("check", path, "-f", "github").out.count("\n") == 1_001
    assert len(report_of(call, "check", path)["checks"]) == 2_000


@pytest.mark.broad
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "latin-1"])
def test_junit_is_utf_8_in_every_terminal(encoding: str, tmp_path: Path) -> None:
    """A file of it can be read, with every name as it is, whatever the terminal's encoding was."""
    path = tmp_path / "Überblick → 中 \U0001f600.yaml"
    path.write_text("name: Übung\ninput: 1\nlayers: [{rnn: 1, name: ß→}]\nexpect: {layers: [1]}\n", encoding="utf-8")
    env = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(Path.cwd())}
    words = [sys.executable, "-m", "rnncalc", "check", str(tmp_path), "-f", "junit"]
    out = subprocess.run(words, env=env, capture_output=True, check=False).stdout
    (case,) = ET.fromstring(out.decode("utf-8")).iter("testcase")
    assert case.attrib["classname"] == str(path)
    assert case[0].attrib["message"].endswith("expected 1 in ß→, got 3: 2 more")


@pytest.mark.parametrize("form", FORMATS)
def test_a_budget_of_a_hostile_layer_acts_on_nothing(form: str, tmp_path: Path, call: Call) -> None:
    """The name of a layer is the name of its limit too."""
    name = json.dumps(HOSTILE)
    spec = f"input: 1\nlayers: [{{rnn: 1, name: {name}}}]\nbudget: {{layers: {{{name}: 1}}}}\n"
    for number, text in enumerate((spec, spec.replace("name:", "# name:").replace("}]", "\n  }]"))):
        (tmp_path / "a.yaml").write_text(text)
        result = call("check", tmp_path / "a.yaml", "-f", form)
        assert result.code == number + 1
        for printed in (result.out, result.err):
            assert all(char.isprintable() or char == "\n" for char in printed)
            assert "##[" not in printed
            if form != "github":
                assert not any(line.strip().startswith("::") for line in printed.splitlines())


def test_a_number_is_shown_with_the_digits_that_tell_it_from_its_limit(tmp_path: Path, call: Call) -> None:
    """127 / 28 beside 4.54 is 4.536, and beside 4.5 it is 4.54; no format leaks a float."""
    (tmp_path / "a.yaml").write_text("input: 4\nsteps: 3\nlayers:\n  - rnn: 3\noutput: 1\n")
    for limit, row in (("4.54", "4.540 | 4.536"), ("4.6", "4.60 | 4.54"), ("4.5", "4.50 | 4.54")):
        out = call("check", tmp_path, "--min-dense-ratio", limit, "-f", "markdown").out
        assert f"| --min-dense-ratio | {row} |" in out.replace("\\", "")
        for form in ("table", "junit", "github"):
            assert "4.5357142" not in call("check", tmp_path, "--min-dense-ratio", limit, "-f", form).out
