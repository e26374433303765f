"""Annotations for GitHub's runner: a line each, on the line of the file that they are about.

The runner reads commands from what a step prints. So every value is escaped as it asks for: a name, a path or a
message in a spec cannot end its annotation and start a command of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from rnncalc.reports.cases import MOST_LINES, Annotation
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.reports.report import Annotated


def write(reports: Iterable[Annotated], file: TextIO) -> None:
    """Write the annotations, up to a number that people read."""
    lines = (_line(report.file, annotation) for report in reports for annotation in report.annotations())
    file.writelines(islice(lines, MOST_LINES))
    if rest := sum(1 for _ in lines):
        file.write(f"::error title=rnncalc::and {rest:,} more failures\n")


def _line(file: str, annotation: Annotation) -> str:
    place = {"line": annotation.line, "col": annotation.column} if annotation.line is not None else {}
    properties = {"file": file, **place, "title": annotation.title or "rnncalc"}
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{annotation.level.value} {given}::{_data(annotation.message)}\n"


def _data(text: str) -> str:
    """Escape what would end the line; `%` first, which the other escapes are made of."""
    safe = escape(text, limit=2_000)
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape what would end the property too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
