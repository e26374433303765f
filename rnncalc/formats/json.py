"""Reports as one JSON object in ASCII, with a line for each layer, file or check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from json import JSONEncoder
from typing import Any, TextIO

from rnncalc.letters import has_letters
from rnncalc.reports.report import DataReport


def write(reports: Iterable[DataReport], file: TextIO) -> None:
    """Write `{"version": 1, "reports": [...]}`, with the key that the reports are listed under."""
    reports = [*reports]
    key = next((report.listed_as for report in reports), DataReport.listed_as)
    file.write(f'{{"version": 1, "{key}": [')
    results = (report.data() for report in reports)
    objects = chain.from_iterable((data,) if isinstance(data, dict) else data for data in results)
    for number, data in enumerate(objects):
        pairs = ",".join(f"\n  {_text(key)}: {_value(value)}" for key, value in data.items())
        file.write(f"{', ' if number else ''}{{{pairs}\n}}")
    beside = {key: value for report in reports for key, value in report.beside().items()}
    file.write(f"]{''.join(f', {_text(key)}: {_value(value)}' for key, value in beside.items())}}}\n")


def _value(value: Any) -> str:
    """Return a value as JSON: an iterator as a list with a line for each item, anything else on one line."""
    if isinstance(value, Iterator):
        lines = ",".join(f"\n    {_text(item)}" for item in value)
        return f"[{lines}\n  ]"
    return _text(value)


def _text(value: Any) -> str:
    """Return a value as JSON in ASCII, safe on a terminal and for GitHub's runner, which reads commands after `##[`."""
    return re.sub(r"(?<=#)#(?=\[)|[^ -~]", _escaped, _ENCODER.encode(value))


def _escaped(match: re.Match[str]) -> str:
    """Return a character as its UTF-16 in hexadecimal digits; half a surrogate pair is none, and is replaced."""
    char = "\ufffd" if "\ud800" <= match[0] <= "\udfff" else match[0]
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _null(value: object) -> None:
    """Return the value of a number that has letters in it. Raises TypeError for what no report should hold."""
    if not has_letters(value):
        raise TypeError(f"{value!r} is no value for JSON")


_ENCODER = JSONEncoder(ensure_ascii=False, allow_nan=False, default=_null)
