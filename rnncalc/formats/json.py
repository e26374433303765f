"""Reports as one JSON object in ASCII, with a line for each layer, file or check.

Written without Python's own module: importing it takes a fortieth of a short call, and it would leave DEL, GitHub's
commands and halves of characters to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isfinite
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


_WORDS = {None: "null", True: "true", False: "false"}

_ESCAPES = dict(zip('"\\\n\r\t\b\f', '"\\nrtbf', strict=True))
"""The letters that stand for a character behind a backslash."""

_UNSAFE = r"##\[|[^ !#-\[\]-~]"


def _text(value: Any) -> str:
    """Return a value as JSON in ASCII: it is safe on a terminal and in any encoding.

    A number that has letters in it is null. Raises TypeError for what no report should hold.
    """
    match value:
        case str():
            return f'"{re.sub(_UNSAFE, _escaped, value)}"'
        case None | bool():
            return _WORDS[value]
        case int():
            return int.__repr__(value)
        case float() if isfinite(value):
            return float.__repr__(value)
        case dict():
            return f"{{{', '.join(f'{_text(str(key))}: {_text(below)}' for key, below in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_text, value))}]"
    if not has_letters(value):
        raise TypeError(f"{value!r} is no value for JSON")
    return "null"


def _escaped(found: re.Match[str]) -> str:
    """Return a character as its UTF-16 in hexadecimal digits; half a surrogate pair is none, and is replaced."""
    if found[0] == "##[":  # what GitHub's runner takes for a command
        return r"#\u0023["
    if found[0] in _ESCAPES:
        return f"\\{_ESCAPES[found[0]]}"
    if "\ud800" <= found[0] <= "\udfff":
        return r"\ufffd"
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
