"""Reports as CSV: one header, then every report's rows. Numbers are plain; unknown values are empty."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TextIO

from rnncalc.formats import text_of
from rnncalc.printable import FORMULA, escape
from rnncalc.reports.report import RecordReport
from rnncalc.typeset.sheet import Arithmetic, Bar, Phrase, TensorName, Value

_NO_NUMBER = r"(?!-\.?\d[\d.]*[\s)\]]*(?:[;,\t]|\Z))"
"""A number, alone or at the end of a vector, is no formula: `-0.5`, `-0.5))`."""


def write(reports: Iterable[RecordReport], file: TextIO) -> None:
    """Write the records of all reports under the header of the first."""
    for number, report in enumerate(reports):
        header, records = report.records()
        rows = csv.writer(file, delimiter=report.separator, lineterminator="\n")
        if not number:
            file.write(report.beginning)
            rows.writerow(map(_plain, header))
        rows.writerows(map(_plain, record) for record in records)


def _plain(value: Value) -> object:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return re.sub(FORMULA.format("") + _NO_NUMBER, r"\1'", escape(value, limit=10_000))
        case Arithmetic() | TensorName() | Phrase():
            return _plain(text_of(value))
        case Bar(share):
            return share
        case tuple():
            return f"({', '.join(str(size) if isinstance(size, int) else '' for size in value)})"
        case int() | float():
            return value
        case _:  # unknown, or with letters in it: then it is known as its formula alone
            return ""
