"""From the reports of questions to text: one module a format, `as_FORMAT`, each with `write(reports, file)`.

A new format is a new module here and its name in the commands that offer it. Imports one format at a time, so that
no format pays for another.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TextIO

from rnncalc.reports.sheet import Report


def write(reports: Iterable[Report], format: str, file: TextIO) -> None:
    """Write the reports in a format to a text file."""
    import_module(f"rnncalc.formats.{format}").write(reports, file)
