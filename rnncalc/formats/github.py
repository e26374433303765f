"""Annotations for GitHub's runner: one line each, placed on a line of a file.

The runner reads commands from what a step prints. So every value is escaped: a name, a path or a message in a spec
cannot end its annotation and start another command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TextIO

from rnncalc.reports.report import CheckedReport
from rnncalc.reports.sheet import MOST_LINES, Finding, Outcome
from rnncalc.text import escape


def write(reports: Iterable[CheckedReport], file: TextIO) -> None:
    """Write an error for each failure, up to MOST_LINES, and a notice for each skipped check."""
    lines = (line for report in reports for path, findings in report.findings() for line in _lines(path, findings))
    file.writelines(islice(lines, MOST_LINES))
    if rest := sum(1 for _ in lines):
        file.write(f"::error title=rnncalc::and {rest:,} more failures\n")


def _lines(file: str, findings: list[Finding]) -> Iterator[str]:
    """Yield the errors of a file; if there are none, its notices."""
    errors = [finding for finding in findings if finding.wrong]
    for finding in errors or findings:
        if finding.outcome is not Outcome.PASSED:
            place = {"line": finding.line, "col": finding.column} if finding.line is not None else {}
            properties = {"file": file, **place, "title": finding.key or "rnncalc"}
            given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
            yield f"::{'error' if finding.wrong else 'notice'} {given}::{_data(finding.message)}\n"


def _data(text: str) -> str:
    """Escape what would end the line; `%` first, which the other escapes are made of."""
    safe = escape(text, limit=2_000)
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
