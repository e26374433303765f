"""The answers of `check` as annotations for GitHub's runner: a line each, on the line of the file that set the limit.

The runner reads commands from what a step prints. So every value is escaped as it asks for: a name, a path or a
message in a spec cannot end its annotation and start a command of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from rnncalc.questions.check import Checked
from rnncalc.reports.check import MOST_LINES
from rnncalc.text import escape


def write(reports: Iterable[Checked], file: TextIO) -> None:
    """Write an error for each failure, a notice for each spec with nothing to check or gone."""
    left = MOST_LINES
    for report in reports:
        for line in _lines(report):
            left -= 1
            if left >= 0:
                file.write(line)
    if left < 0:
        file.write(f"::error title=rnncalc::and {-left:,} more failures\n")


def _lines(report: Checked) -> Iterator[str]:
    for place, name, message in report.failures():
        yield _annotation("error", report.file, place, name or "rnncalc", message)
    if report.status == "unchecked":
        yield _annotation("notice", report.file, None, "rnncalc", report.nothing)
    elif report.skipped and report.status == "passed":
        yield _annotation("notice", report.file, None, "rnncalc", report.skipped)
    elif report.status == "removed":
        yield _annotation("notice", report.file, None, "rnncalc", "in the baseline, and no more among the specs")


def _annotation(kind: str, file: str, place: tuple[int, int] | None, title: str, message: str) -> str:
    properties = {"file": file, "title": title}
    if place:
        properties |= {"line": str(place[0]), "col": str(place[1])}
    order = [key for key in ("file", "line", "col", "title") if key in properties]
    given = ",".join(f"{key}={_property(properties[key])}" for key in order)
    return f"::{kind} {given}::{_data(message)}\n"


def _data(text: str) -> str:
    """Escape what would end the line; `%` first, which the other escapes are made of."""
    safe = escape(text, limit=2_000)
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape what would end the property too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
