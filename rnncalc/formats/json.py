"""Reports as one JSON object, a line for each item of a list, written as it is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from rnncalc.reports.sheet import Alike

if TYPE_CHECKING:
    from rnncalc.reports.report import Report


def write(reports: Iterable[Report], file: TextIO) -> None:
    """Write `{"version": 1, "reports": [...]}`."""
    file.write('{"version": 1, "reports": [')
    for number, report in enumerate(reports):
        file.write(", {" if number else "{")
        for place, (key, value) in enumerate(report.data().items()):
            file.write(",\n  " if place else "\n  ")
            file.write(f"{_text(key)}: ")
            if isinstance(value, Iterator):
                _write_list(value, file)
            else:
                _write_value(value, file)
        file.write("\n}")
    file.write("]}\n")


def _write_list(items: Iterator[Any], file: TextIO) -> None:
    file.write("[")
    for number, item in enumerate(items):
        file.write(",\n    " if number else "\n    ")
        if isinstance(item, Alike):
            file.write(_joined(item))
        else:
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


def _joined(item: Alike) -> str:
    """Return an object's own keys and the shared ones as one object; these are encoded once for all that have them."""
    shared = item.shared
    if shared.text is None:
        shared.text = _text(shared.value)
    return f"{_text(item.own)[:-1]}, {shared.text[1:]}"


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _text(value: Any) -> str:
    """Return a value as JSON, readable but for the characters that act on a terminal or hide in it.

    Nor does `##[` stand in it, which GitHub's runner takes for a command anywhere in a line.
    """
    text = _encode(value).replace("##[", r"#\u0023[")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
