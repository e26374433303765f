"""The answers of `check` as JUnit's XML: a suite a file, a case a check, an error where a file is no spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO
from xml.sax.saxutils import escape as escape_xml

from rnncalc.questions.check import Checked
from rnncalc.text import escape


class Case(NamedTuple):
    """A case of a suite; `outcome` is failure, error, skipped, or nothing when it passed."""

    name: str
    outcome: str = ""
    message: str = ""


def write(reports: Iterable[Checked], file: TextIO) -> None:
    """Write `<testsuites>`; a removed file has no suite: there is nothing left to test."""
    suites = [report for report in reports if report.status != "removed"]
    counts = [[_tally(report)[kind] for report in suites] for kind in range(4)]
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write(f'<testsuites name="rnncalc check" {_numbers([sum(kind) for kind in counts])}>\n')
    for report in suites:
        file.write(f"  <testsuite name={_quoted(report.file)} {_numbers(_tally(report))}>\n")
        file.writelines(_case(report, case) for case in _cases(report))
        file.write("  </testsuite>\n")
    file.write("</testsuites>\n")


def _tally(report: Checked) -> list[int]:
    """Return how many cases, failures, errors and skipped a suite has, without making them."""
    failures = sum(not check.ok for check in report.checks)
    if report.status == "broken":
        return [len(report.problems), 0, len(report.problems), 0]
    if not report.checks:
        return [1, int(report.strict), 0, int(not report.strict)]
    return [len(report.checks) + bool(report.skipped), failures, 0, int(bool(report.skipped))]


def _numbers(counts: list[int]) -> str:
    names = ("tests", "failures", "errors", "skipped")
    return " ".join(f'{name}="{count}"' for name, count in zip(names, counts, strict=True)) + ' time="0"'


def _cases(report: Checked) -> Iterator[Case]:
    if report.status == "broken":
        for place, path, message in report.failures():
            yield Case(path or "spec", "error", f"{_at(report, place)}: {message}")
        return
    if not report.checks:
        yield Case("nothing to check", "failure" if report.strict else "skipped", report.nothing)
        return
    for check in report.checks:
        if check.ok:
            yield Case(check.name)
        else:
            yield Case(check.name, "failure", f"{_at(report, check.at)}: {check.message}")
    if report.skipped:
        yield Case("expect", "skipped", report.skipped)


def _at(report: Checked, place: tuple[int, int] | None) -> str:
    return f"{report.file}:{place[0]}:{place[1]}" if place else report.file


def _case(report: Checked, case: Case) -> str:
    start = f"    <testcase classname={_quoted(report.file)} name={_quoted(case.name)}"
    if not case.outcome:
        return f"{start}/>\n"
    message = _quoted(case.message)
    kind = "" if case.outcome == "skipped" else f' type="{case.outcome}"'
    return f"{start}><{case.outcome} message={message}{kind}/></testcase>\n"


def _quoted(text: str) -> str:
    return f'"{escape_xml(escape(text, limit=2_000), {chr(34): "&quot;"})}"'
