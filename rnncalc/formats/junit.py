"""Suites of cases as JUnit's XML. Knows nothing of what was tested.

Characters beyond ASCII are written as references (`&#252;`): so the file is the UTF-8 that it says it is, whatever
encoding the terminal has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape as escape_xml

from rnncalc.reports.cases import Case, Outcome, Tally
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Suite


def write(reports: Iterable[Suite], file: TextIO) -> None:
    """Write `<testsuites>`, a suite a file; a file without cases has none."""
    suites = [(report, tally) for report in reports if (tally := report.tally()).tests]
    whole = Tally(*map(sum, zip(*(tally for _, tally in suites), strict=True))) if suites else Tally(0)
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write(f'<testsuites name="rnncalc check" {_numbers(whole)}>\n')
    for report, tally in suites:
        file.write(f"  <testsuite name={_quoted(report.file)} {_numbers(tally)}>\n")
        file.writelines(_case(report.file, case) for case in report.cases())
        file.write("  </testsuite>\n")
    file.write("</testsuites>\n")


def _numbers(tally: Tally) -> str:
    return " ".join(f'{name}="{count}"' for name, count in tally._asdict().items()) + ' time="0"'


def _case(file: str, case: Case) -> str:
    start = f"    <testcase classname={_quoted(file)} name={_quoted(case.name)}"
    if case.outcome is Outcome.PASSED:
        return f"{start}/>\n"
    kind = "" if case.outcome is Outcome.SKIPPED else f' type="{case.outcome.value}"'
    return f"{start}><{case.outcome.value} message={_quoted(case.message)}{kind}/></testcase>\n"


def _quoted(text: str) -> str:
    quoted = escape_xml(escape(text, limit=2_000), {'"': "&quot;"})
    return f'"{quoted.encode("ascii", "xmlcharrefreplace").decode()}"'
