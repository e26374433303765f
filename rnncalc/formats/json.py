"""Reports as one JSON object in ASCII, a line for each item of a list, written as it is made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rnncalc.reports.report import DataReport


def write(reports: Iterable[DataReport], file: TextIO) -> None:
    """Write `{"version": 1, "reports": [...]}`; reports that go by another name are listed under that."""
    reports = [*reports]
    key = next((report.listed_as for report in reports), DataReport.listed_as)
    file.write(f'{{"version": 1, "{key}": [')
    for number, data in enumerate(data for report in reports for data in _objects(report)):
        file.write(", {" if number else "{")
        for place, (key, value) in enumerate(data.items()):
            file.write(",\n  " if place else "\n  ")
            file.write(f"{_text(key)}: ")
            if isinstance(value, Iterator):
                _write_list(value, file)
            else:
                _write_value(value, file)
        file.write("\n}")
    file.write("]}\n")


def _objects(report: DataReport) -> Iterable[dict[str, Any]]:
    data = report.data()
    return (data,) if isinstance(data, dict) else data


def _write_list(items: Iterator[Any], file: TextIO) -> None:
    file.write("[")
    for number, item in enumerate(items):
        file.write(",\n    " if number else "\n    ")
        _write_value(item, file)
    file.write("\n  ]")


MANY = 100
"""A longer list is written item by item: the text of a million numbers is never held whole."""


def _write_value(value: Any, file: TextIO) -> None:
    """Write a value as one text, or piece by piece what has long lists in it; the result is the same."""
    if not _long(value):
        file.write(_text(value))
    elif isinstance(value, dict):
        for number, (key, below) in enumerate(value.items()):
            file.write(f"{', ' if number else '{'}{_text(key)}: ")
            _write_value(below, file)
        file.write("}")
    else:
        for start in range(0, len(value), MANY):
            file.write(f"{', ' if start else '['}{_text(value[start : start + MANY])[1:-1]}")
        file.write("]")


def _long(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_long, value.values()))
    return isinstance(value, list | tuple) and len(value) > MANY


_encode = json.JSONEncoder(allow_nan=False).encode

_ESCAPED = r"\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..|##\[|\x7f"
"""An escaped backslash, a pair of surrogates and half a pair; what GitHub's runner takes for a command; DEL."""

_HARMLESS = {"##[": r"#\u0023[", "\x7f": r"\u007f"}


def _text(value: Any) -> str:
    """Return a value as JSON in ASCII: nothing acts on a terminal or hides in it, and any encoding can write it.

    Half a pair of surrogates is no character, and becomes the same sign as in every other format.
    """
    text = _encode(value)
    return re.sub(_ESCAPED, _harmless, text) if "\\" in text or "##[" in text or "\x7f" in text else text


def _harmless(found: re.Match[str]) -> str:
    if found[0].startswith(r"\u"):
        return found[0] if len(found[0]) > 6 else r"\ufffd"
    return _HARMLESS.get(found[0], found[0])
