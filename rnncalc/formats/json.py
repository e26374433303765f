"""Reports as one JSON object in ASCII, with a line for each layer, file or check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rnncalc.reports.report import DataReport
from rnncalc.text import has_letters


def write(reports: Iterable[DataReport], file: TextIO) -> None:
    """Write `{"version": 1, "reports": [...]}`, with the key that the reports are listed under."""
    reports = [*reports]
    key = next((report.listed_as for report in reports), DataReport.listed_as)
    file.write(f'{{"version": 1, "{key}": [')
    for number, data in enumerate(data for report in reports for data in _objects(report)):
        pairs = ",".join(f"\n  {_text(key)}: {_value(value)}" for key, value in data.items())
        file.write(f"{', ' if number else ''}{{{pairs}\n}}")
    beside = {key: value for report in reports for key, value in report.beside().items()}
    file.write(f"]{''.join(f', {_text(key)}: {_value(value)}' for key, value in beside.items())}}}\n")


def _objects(report: DataReport) -> Iterable[dict[str, Any]]:
    data = report.data()
    return (data,) if isinstance(data, dict) else data


def _value(value: Any) -> str:
    """Return a value as JSON: an iterator as a list with a line for each item, anything else on one line."""
    if isinstance(value, Iterator):
        lines = ",".join(f"\n    {_text(item)}" for item in value)
        return f"[{lines}\n  ]"
    return _text(value)


def _null(size: object) -> None:
    """Return null for a number that has letters in it. Raises TypeError for what no report should hold."""
    if not has_letters(size):
        raise TypeError(f"{size!r} is no value for JSON")


_encode = json.JSONEncoder(allow_nan=False, default=_null).encode

_ESCAPED = r"\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..|##\[|\x7f"
"""An escaped backslash, a pair of surrogates and half a pair; what GitHub's runner takes for a command; DEL."""

_HARMLESS = {"##[": r"#\u0023[", "\x7f": r"\u007f"}


def _text(value: Any) -> str:
    """Return a value as JSON in ASCII: it is safe on a terminal and in any encoding.

    Half a surrogate pair is not a character; it is replaced as in every other format.
    """
    text = _encode(value)
    return re.sub(_ESCAPED, _harmless, text) if "\\ud" in text or "##[" in text or "\x7f" in text else text


def _harmless(found: re.Match[str]) -> str:
    if found[0].startswith(r"\u"):
        return found[0] if len(found[0]) > 6 else r"\ufffd"
    return _HARMLESS.get(found[0], found[0])
