"""Checks for programs that watch a repository: JUnit's XML, annotations for GitHub, issues for GitLab.

Knows no network and no limit.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import TextIO

from rnncalc.printable import escape
from rnncalc.reports.report import CheckedReport
from rnncalc.typeset.sheet import MOST_LINES, Finding, Outcome

# JUnit's XML. Characters beyond ASCII are written as references (`&#252;`): so the file is the UTF-8 that it says it
# is, whatever encoding the terminal has.


def write_junit(reports: Iterable[CheckedReport], file: TextIO) -> None:
    """Write `<testsuites>`, with a suite for each file that was checked."""
    suites = []
    for path, convention, findings in (each for report in reports for each in report.findings()):
        if cases := [finding for finding in findings if finding.outcome is not Outcome.REMARK]:
            suites.append((path, convention, cases))
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write(f'<testsuites name="rnncalc check" {_numbers([case for *_, cases in suites for case in cases])}>\n')
    for path, convention, cases in suites:
        file.write(f"  <testsuite name={_quoted(path)} {_numbers(cases)}>\n")
        if convention:
            file.write(f'    <properties><property name="convention" value={_quoted(convention)}/></properties>\n')
        file.writelines(_case(path, case) for case in cases)
        file.write("  </testsuite>\n")
    file.write("</testsuites>\n")


def _numbers(cases: Sequence[Finding]) -> str:
    outcomes = Counter(case.outcome for case in cases)
    failures, errors, skipped = (outcomes[outcome] for outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED))
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="0"'


def _case(file: str, case: Finding) -> str:
    start = f"    <testcase classname={_quoted(file)} name={_quoted(case.name)}"
    outcome = case.outcome.value
    if case.outcome is Outcome.PASSED:
        return f"{start}/>\n"
    if case.outcome is Outcome.SKIPPED:
        return f"{start}><{outcome} message={_quoted(case.message)}/></testcase>\n"
    where = f"{file}:{case.line}:{case.column}: " if case.line else f"{file}: "
    limited = case.outcome is Outcome.ERROR or case.key == case.name  # a file without limits has no place to name
    message = _quoted(f"{where if limited else ''}{case.message}")
    return f'{start}><{outcome} message={message} type="{outcome}"/></testcase>\n'


def _quoted(text: str) -> str:
    quoted = html.escape(escape(text, limit=2_000), quote=False).replace('"', "&quot;")
    return f'"{quoted.encode("ascii", "xmlcharrefreplace").decode()}"'


# Annotations, one line each, placed on a line of a file. GitHub's runner reads commands from what a step prints. So
# every value is escaped: a name, a path or a message in a spec cannot end its annotation and start another command.


def write_github(reports: Iterable[CheckedReport], file: TextIO) -> None:
    """Write an error for each failure, up to MOST_LINES, and a notice for each skipped check."""
    lines = (line for report in reports for each in report.findings() for line in _lines(*each))
    file.writelines(islice(lines, MOST_LINES))
    if rest := sum(1 for _ in lines):
        file.write(f"::error title=rnncalc::and {rest:,} more failures\n")


def _lines(file: str, convention: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the errors of a file; if there are none, its notices."""
    errors = [finding for finding in findings if finding.wrong]
    for finding in errors or findings:
        if finding.outcome is not Outcome.PASSED:
            place = {"line": finding.line, "col": finding.column} if finding.line is not None else {}
            counted = f" ({convention})" if convention else ""
            properties = {"file": file, **place, "title": f"{finding.key or 'rnncalc'}{counted}"}
            values = {
                key: _data(str(value)).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()
            }
            where = ",".join(f"{key}={value}" for key, value in values.items())
            yield f"::{'error' if finding.wrong else 'notice'} {where}::{_data(finding.message)}\n"


def _data(text: str) -> str:
    """Escape what would end the line; `%` first, which the other escapes are made of."""
    safe = escape(text, limit=2_000)
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# GitLab's Code Quality: an array of issues; https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format


def write_gitlab(reports: Iterable[CheckedReport], file: TextIO) -> None:
    """Write an issue for each failure; one without a place is on the first line of its file."""
    files = [each for report in reports for each in report.findings()]
    json.dump([_issue(path, name, each) for path, name, below in files for each in below if each.wrong], file, indent=1)
    file.write("\n")


def _issue(path: str, convention: str, finding: Finding) -> dict[str, object]:
    """Return an issue; its fingerprint stays the same as long as the file and the failure do."""
    path, message = escape(path, limit=2_000), escape(finding.message, limit=2_000)
    name = escape(finding.key or finding.name)
    return {
        "description": f"{name}{f' ({escape(convention)})' if convention else ''}: {message}",
        "check_name": name,
        "fingerprint": sha256("\n".join((path, name, message)).encode()).hexdigest(),
        "severity": "blocker" if finding.outcome is Outcome.ERROR else "major",
        "location": {"path": path.removeprefix("./"), "lines": {"begin": finding.line or 1}},
    }
