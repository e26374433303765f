"""Suites of cases as JUnit's XML. Knows nothing of what was tested.

Characters beyond ASCII are written as references (`&#252;`): so the file is the UTF-8 that it says it is, whatever
encoding the terminal has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO
from xml.sax.saxutils import escape as escape_xml

from rnncalc.reports.report import CheckedReport
from rnncalc.reports.sheet import Finding, Outcome
from rnncalc.text import escape


def write(reports: Iterable[CheckedReport], file: TextIO) -> None:
    """Write `<testsuites>`, with a suite for each file that was checked."""
    found = [(path, _cases(of)) for report in reports for path, of in report.findings()]
    suites = [(path, cases) for path, cases in found if cases]
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write(f'<testsuites name="rnncalc check" {_numbers([case for _, cases in suites for case in cases])}>\n')
    for path, cases in suites:
        file.write(f"  <testsuite name={_quoted(path)} {_numbers(cases)}>\n")
        file.writelines(_case(path, case) for case in cases)
        file.write("  </testsuite>\n")
    file.write("</testsuites>\n")


def _cases(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.outcome is not Outcome.REMARK]


def _numbers(cases: Sequence[Finding]) -> str:
    outcomes = Counter(case.outcome for case in cases)
    failures, errors, skipped = (outcomes[of] for of in (Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED))
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
    quoted = escape_xml(escape(text, limit=2_000), {'"': "&quot;"})
    return f'"{quoted.encode("ascii", "xmlcharrefreplace").decode()}"'
