"""What a `check` compares to: the parameters of an earlier spec, of a folder of them, or of an earlier JSON report.

Knows how earlier and present specs are paired; what growth means is `questions/check.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from rnncalc.cli.inputs import read_file
from rnncalc.cli.paths import Found, find
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Size
from rnncalc.questions.check import CheckedFile, Difference
from rnncalc.spec import parse
from rnncalc.text import escape

MOST_BYTES = 100_000_000


class Baseline:
    """Parameters by the name that pairs them: a path below a folder, or a report's name.

    remarks: what could not be read of it; that says nothing against the specs of today.
    """

    def __init__(self, path: str, by: str, params: dict[str, int], remarks: tuple[str, ...] = ()) -> None:
        self.path = path
        self.by = by
        self.params = params
        self.remarks = remarks
        self._paired: set[str] = set()

    def before(self, found: Found, name: str | None, *, alone: bool) -> int | None:
        """Return the parameters that a file had, None when it is new; its name is None when it cannot be read.

        alone: whether it is the only one. Raises SpecError where two files claim one report by its name.
        """
        if self.by == "spec" or (self.by == "name" and alone and len(self.params) == 1):
            keys = [*self.params]
        elif self.by == "folder":
            keys = [os.path.normpath(found.path), found.below]
        else:
            keys = [name] if name is not None else [*self.params]  # any report may be that of a broken spec
        key = next((key for key in keys if key in self.params), None)
        if key is None:
            return None
        if self.by == "name" and key in self._paired and name is not None:
            message = "another spec has this name too, and the baseline pairs by name; compare to a folder"
            raise SpecError((Problem((escape(key),), message),))
        self._paired.update(keys if name is None else [key])
        return self.params[key]

    def removed(self) -> Iterator[CheckedFile]:
        """Yield those that no file was paired with."""
        for name, params in self.params.items():
            if name not in self._paired:
                yield CheckedFile(name, difference=Difference(params, None))


def read_baseline(path: str, files: int, **overrides: str | None) -> Baseline:
    """Return the baseline at a path, to compare so many files with; `overrides` are those of the call.

    Raises SpecError when it cannot be read.
    """
    if os.path.isdir(path):
        return _folder(path, overrides)
    data, source = read_file(path, most=MOST_BYTES)
    if path.endswith(".json") or (data.lstrip()[:1] == b"{" and b'"reports"' in data[:100]):
        return Baseline(source, "name", _reports(data, source))
    if files > 1:
        raise CallError(f"--baseline: one spec, '{escape(path)}', for {files:,}: give a folder, or JSON of them all")
    return Baseline(source, "spec", {source: parse(data, source, **overrides).network.params})


def _folder(path: str, overrides: dict[str, str | None]) -> Baseline:
    params: dict[str, int] = {}
    remarks: list[str] = []
    for found in find([path]):
        try:
            if found.problem:
                raise found.problem
            data, source = read_file(found.path)
            params[found.below] = parse(data, source, **overrides).network.params
        except SpecError as error:
            remarks.append(f"baseline {error.problems[0]}; what it was counts as unknown")
    return Baseline(path, "folder", params, tuple(remarks))


def _reports(data: bytes, source: str) -> dict[str, int]:
    if len(data) > MOST_BYTES:
        raise _error(source, f"a baseline has at most {MOST_BYTES:,} bytes, this has more")
    try:
        report = json.loads(data)
        reports = [(str(of["name"]), of["params"]) for of in report["reports"] if of["params"] is not None]
    except (ValueError, RecursionError, KeyError, TypeError, IndexError):
        raise _error(source, "expected a spec, or the JSON that rnncalc count -f json prints") from None
    params: dict[str, Any] = {}
    for name, count in reports:
        if name in params:
            raise _error(source, f"two reports are called '{escape(name)}'; compare to a folder, or name them apart")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise _error(source, f"{escape(name)}: params: expected {Size(0).expected}, got {escape(repr(count))}")
        params[name] = count
    return params


def _error(source: str, message: str) -> SpecError:
    return SpecError((Problem((), message, escape(source, limit=1_000)),))
