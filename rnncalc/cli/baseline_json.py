"""A baseline from an earlier report: the JSON printed by `count` or `check`.

Read as strictly as a spec: an invalid number or name, or a repeated key, is a problem.
"""

from __future__ import annotations

import json
from typing import Any

from rnncalc.bounds import MAX_DIGITS
from rnncalc.errors import Path, Problem, SpecError
from rnncalc.layers.options import Text, WholeNumber
from rnncalc.questions.check import Numbers
from rnncalc.text import escape

_STREAM = ("state", "state_bytes", "multiply_adds_per_second")
_COUNTS = ("params", "bytes", "multiply_adds", "dense_params", *_STREAM)
_READ = {"version", "reports", "name", "dense", "stream", *_COUNTS}
_FROM_COUNT = "the JSON that rnncalc count -f json prints"


def is_report(path: str, data: bytes) -> bool:
    """Return whether a file is a JSON report. A spec may be JSON too."""
    start = data[:1_000].lstrip()
    return path.endswith(".json") or (start[:1] == b"{" and b'"reports"' in start[:100])


def read_reports(data: bytes, source: str) -> dict[str, Numbers]:
    """Return the numbers of each report by name. Raises SpecError for an invalid report."""
    source = escape(source, limit=1_000)
    try:
        return _reports(_parsed(data))
    except SpecError as error:
        raise SpecError(tuple(problem._replace(source=source) for problem in error.problems)) from None


def _parsed(data: bytes) -> Any:
    """Parse a JSON text in any encoding of Unicode; keep only the keys that are read."""
    try:
        return json.loads(data, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg}"
        raise SpecError((Problem((), message, line=error.lineno, column=error.colno),)) from None
    except UnicodeDecodeError as error:
        raise _error((), f"no {error.encoding.upper()} text") from None
    except RecursionError:
        raise _error((), "lists and objects stand too deep for a report") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return only the keys that are read: layers and tensors would take many times the memory."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _error((), f"the key {key} stands twice in one object; remove one")
        if key in _READ:
            found[key] = value
    return found


def _whole(digits: str) -> int:
    """Return a whole number; if it has too many digits, the smallest number that is refused."""
    return int(digits) if len(digits) <= MAX_DIGITS else 10**MAX_DIGITS


def _reports(top: Any) -> dict[str, Numbers]:
    reports = top.get("reports") if isinstance(top, dict) else None
    if reports is None:
        raise _error((), f"expected a spec, or {_FROM_COUNT}")
    if (version := top.get("version", 1)) != 1:
        raise _error(("version",), f"expected 1, got {_written(version)}: made by another rnncalc")
    if not isinstance(reports, list):
        raise _error(("reports",), f"expected a list, got {_written(reports)}")
    found: dict[str, Numbers] = {}
    for place, report in enumerate(reports):
        path = ("reports", place)
        name, numbers = _report(report, path)
        if name in found:
            raise _error(path, f"two reports are called '{escape(name)}'; compare to a folder, or name them apart")
        if name is not None and numbers is not None:
            found[name] = numbers
        elif name is not None or numbers is not None:
            raise _error(path, "expected a name and params, or null for both: a file that is no spec")
    return found


def _report(report: Any, path: Path) -> tuple[str | None, Numbers | None]:
    """Return the name and the numbers of a report; both are None if the file was not a spec."""
    if not isinstance(report, dict):
        raise _error(path, f"expected an object, got {_written(report)}")
    if "params" not in report:
        raise _error(path, f"params: missing; give {_FROM_COUNT}")
    name = report.get("name")
    if name is not None and (problem := Text().problem(name)):
        raise _error((*path, "name"), problem)
    counts = {key: _count(report.get(key), (*path, key)) for key in _COUNTS}
    if isinstance(dense := report.get("dense"), dict):
        counts["dense_params"] = _count(dense.get("params"), (*path, "dense", "params"))
    if isinstance(running := report.get("stream"), dict):
        counts |= {key: _count(running.get(key), (*path, "stream", key)) for key in _STREAM}
    params = counts.pop("params")
    return name, None if params is None else Numbers(params, **counts)


def _count(value: Any, path: Path) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _error(path, f"expected {WholeNumber().expected}, got {_written(value)}")
    if value >= 10**MAX_DIGITS:
        raise _error(path, f"expected at most {MAX_DIGITS} digits")
    return value


def _written(value: Any) -> str:
    """Return a value as JSON, shortened if it is long."""
    return escape(json.dumps(value))


def _error(path: Path, message: str) -> SpecError:
    return SpecError((Problem(path, message),))
