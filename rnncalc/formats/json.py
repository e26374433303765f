"""Reports as one JSON object, a line a layer, written as it is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rnncalc.reports.sheet import Report


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
                file.write(_text(value))
        file.write("\n}")
    file.write("]}\n")


def _write_list(items: Iterator[Any], file: TextIO) -> None:
    file.write("[")
    written: dict[int, tuple[Any, str]] = {}
    for number, item in enumerate(items):
        file.write(",\n    " if number else "\n    ")
        file.write(_object(item, written))
    file.write("\n  ]")


def _object(item: dict[str, Any], written: dict[int, tuple[Any, str]]) -> str:
    """Return an object as JSON. A list at its end is not written anew where equal layers share it."""
    key, value = next(reversed(item.items()))
    if type(value) is not list:
        return _text(item)
    if id(value) not in written:
        if len(written) == _KEPT:
            written.clear()
        written[id(value)] = (value, _text(value))  # the list stays here, so that no other takes its identity
    text = _text({**item, key: None})
    return f"{text[:-5]}{written[id(value)][1]}}}"


_KEPT = 64
"""How many lists are kept as text: more than one network has different layers by turns."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _text(value: Any) -> str:
    """Return a value as JSON, readable but for the characters that act on a terminal or hide in it.

    Nor does `##[` stand in it, which GitHub's runner takes for a command anywhere in a line.
    """
    text = _encode(value).replace("##[", r"#\u0023[")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
