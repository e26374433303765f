"""The baseline of a `check`: reads earlier numbers and pairs them with files.

A pair is never guessed: a file that could be paired in two ways is a problem. A JSON report is read as strictly as a
spec: an invalid number or name, or a repeated key, is a problem.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rnncalc.bounds import MAX_DIGITS, MAX_REPORT_BYTES
from rnncalc.cli.inputs import SUFFIXES, SpecPath, find, read_file, read_spec
from rnncalc.errors import CallError, Path, Problem, SpecError
from rnncalc.layers.options import Text, WholeNumber
from rnncalc.network.model import Described
from rnncalc.printable import escape, escape_path
from rnncalc.questions.check import Difference, Numbers, Verdict
from rnncalc.spec import Override, Reads, parse, parse_if_meant

GIT = "git:"

_REF = re.compile(r"[\w./@~^-]{1,100}", re.ASCII)

Overrides = Mapping[str, Override]
Measure = Callable[[Described], Numbers]
Pair = Callable[[SpecPath], str | None]
"""Returns the path of the earlier spec, None for a new file. Raises SpecError if two specs match."""


class Baseline:
    """Earlier numbers by key: a path, to which `pair` maps a file, or without `pair` the name of a network.

    label: the baseline's name, for people. remarks: what could not be read.
    whole: whether a key without a file is a removed spec. It is not if the baseline is a single file.
    alone: there is one network and one file, so their names need not match.
    """

    def __init__(
        self,
        label: str,
        earlier: Mapping[str, Numbers | str],
        pair: Pair | None = None,
        *,
        whole: bool = True,
        alone: bool = False,
    ) -> None:
        self.label = label
        self.numbers = {key: entry for key, entry in earlier.items() if not isinstance(entry, str)}
        self.remarks = tuple(entry for entry in earlier.values() if isinstance(entry, str))
        self.pair = pair
        self.whole = whole
        self.alone = alone and len(self.numbers) == 1
        self.files: dict[str, str] = {}

    def before(self, file: SpecPath, name: str | None) -> Numbers | None:
        """Return the earlier numbers of a file, None for a new file. Raises SpecError if two files have its key.

        name: the network's name, None for a broken spec.
        """
        if self.pair:
            key = self.pair(file)
        elif self.alone:
            key = next(iter(self.numbers))
        else:
            key = name if name in self.numbers else None
            self.whole = self.whole and name is not None  # a broken spec may be any of them: none is surely removed
        if key is None:
            return None
        other = self.files.setdefault(key, file.path)
        if other != file.path and self.pair:
            message = f"'{escape(key)}' of the baseline could be this file's or that of '{escape(other)}'"
            raise _error((), f"{message}; compare one folder with it")
        if other != file.path:
            message = "another spec has this name too, and the baseline pairs by name; compare to a folder"
            raise _error((escape(key),), message)
        return self.numbers.get(key)

    def removed(self) -> Iterator[Verdict]:
        """Yield the specs that no file was paired with."""
        for key, numbers in self.numbers.items() if self.whole else ():
            if key not in self.files:
                yield Verdict(key, difference=Difference(numbers.params, None))


def read_baseline(
    path: str, paths: Sequence[str], files: Sequence[SpecPath], measure: Measure, overrides: Overrides
) -> Baseline:
    """Return the baseline at a path or at a commit `git:REF`, for the files found at some paths.

    measure: returns the numbers of a network. overrides: those of the call.
    Raises SpecError or CallError when it cannot be read.
    """
    whole = any(path != "-" and os.path.isdir(path) for path in paths)
    if path.startswith(GIT):
        from rnncalc.cli.git import at_commit  # with subprocess behind it

        read = partial(numbers_at, measure=measure, overrides=overrides)
        earlier, pair = at_commit(path.removeprefix(GIT), paths, read)
        return Baseline(path, earlier, pair, whole=whole)
    if os.path.isdir(path):
        earlier = dict(_folder(path, measure, overrides))
        return Baseline(path, earlier, pair_below(files, earlier), whole=whole)
    try:
        data, source = read_file(path, flag="--baseline", most=MAX_REPORT_BYTES)
    except SpecError as error:
        if os.path.exists(path) or path.lower().endswith((*SUFFIXES, ".json")) or not _REF.fullmatch(path):
            raise
        (problem,) = error.problems  # no such file, and the name may be a commit's
        raise SpecError((problem._replace(message=f"{problem.message}; a commit is git:{path}"),)) from None
    start = data[:1_000].lstrip()
    if path.endswith(".json") or (start[:1] == b"{" and b'"reports"' in start[:100]):  # a spec may be JSON too
        if len(data) > MAX_REPORT_BYTES:
            message = f"a baseline has at most {MAX_REPORT_BYTES:,} bytes, this has more"
            raise SpecError((Problem((), message, escape_path(source)),))
        return Baseline(source, read_reports(data, source), alone=len(files) == 1)
    if len(files) > 1:
        cure = "give a folder, or JSON of all specs"
        raise CallError(f"--baseline: one spec, '{escape(path)}', for {len(files):,} files: {cure}")
    numbers = measure(parse(data, source, **overrides).described)
    return Baseline(source, {path: numbers}, alone=True, whole=False)


def _folder(path: str, measure: Measure, overrides: Overrides) -> Iterator[tuple[str, Numbers | str]]:
    """Yield the numbers of each spec in a folder, by its path below the folder."""
    for file in find([path]):
        try:
            if file.problem:
                raise file.problem
            data, source = read_spec(file.path)
        except SpecError as error:
            yield file.below or file.path, f"baseline {error.problems[0]}; the earlier count is unknown"
        else:
            yield from numbers_at(file.below, data, source, measure=measure, overrides=overrides)


def numbers_at(
    path: str, data: bytes, source: str, reads: Reads | None = None, *, measure: Measure, overrides: Overrides
) -> Iterator[tuple[str, Numbers | str]]:
    """Yield the numbers of a spec, or for a broken spec why they are unknown; nothing for other YAML."""
    try:
        if spec := parse_if_meant(data, source, reads, **overrides):
            yield path, measure(spec.described)
    except SpecError as error:
        yield path, f"baseline {error.problems[0]}; the earlier count is unknown"


def pair_below(files: Sequence[SpecPath], earlier: Collection[str]) -> Pair:
    """Return the function that pairs files with paths in a folder of earlier specs."""
    tops: dict[str | None, str | None] = {}  # above all files of a folder, with paths that match the most earlier specs
    for folder in dict.fromkeys(file.folder for file in files):
        paths = [file.path for file in files if file.folder == folder and file.path != "-"]
        if folder is not None and _pairs(paths, folder, earlier):
            tops[folder] = folder
        else:  # the topmost of those that match as many
            best = max(_above(paths), key=lambda top: _pairs(paths, top, earlier), default=None)
            tops[folder] = best if best is not None and _pairs(paths, best, earlier) else None

    def pair(file: SpecPath) -> str | None:
        if file.path == "-":
            raise _error((), "standard input has no path that a folder could be compared by; give a file")
        top = tops[file.folder]
        if top is not None:
            below = os.path.relpath(file.path, top)
            return below if below in earlier else None
        name = os.path.basename(file.path)
        if file.folder is None and name in earlier:
            message = f"the baseline's '{escape(name)}' shares only its name with this file"
            raise _error((), f"{message}; give the folder that the file is in")
        return None

    return pair


def _pairs(paths: Iterable[str], top: str, earlier: Collection[str]) -> int:
    return sum(os.path.relpath(path, top) in earlier for path in paths)


def _above(paths: Sequence[str]) -> Iterator[str]:
    """Yield the folders above all paths, from the top."""
    try:
        common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    except ValueError:  # no paths, or paths on different drives
        return
    parts = [common]
    while (above := os.path.dirname(parts[-1])) != parts[-1]:
        parts.append(above)
    yield from reversed(parts)


_STREAM = ("state", "state_bytes", "multiply_adds_per_step", "multiply_adds_per_second")
_COUNTS = ("params", "bytes", "multiply_adds", "dense_params", *_STREAM)
_READ = {"version", "reports", "name", "dense", "stream", *_COUNTS}
_FROM_COUNT = "the JSON that rnncalc count -f json prints"


def read_reports(data: bytes, source: str) -> dict[str, Numbers]:
    """Return the numbers of each report by name. Raises SpecError for an invalid report."""

    def whole(digits: str) -> int:
        return int(digits) if len(digits) <= MAX_DIGITS else 10**MAX_DIGITS  # which is refused

    try:
        return _reports(json.loads(data, object_pairs_hook=_object, parse_int=whole))
    except SpecError as error:
        (problem,) = error.problems
    except json.JSONDecodeError as error:
        problem = Problem((), f"not valid JSON: {error.msg}", line=error.lineno, column=error.colno)
    except UnicodeDecodeError as error:
        problem = Problem((), f"no {error.encoding.upper()} text")
    except RecursionError:
        problem = Problem((), "lists and objects are nested too deep for a report")
    raise SpecError((problem._replace(source=escape_path(source)),))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return only the keys that are read: layers and tensors would take many times the memory."""
    kept: dict[str, Any] = {}
    for key, value in pairs:
        if key in kept:
            raise _error((), f"the key {key} is given twice in one object; remove one")
        if key in _READ:
            kept[key] = value
    return kept


def _reports(top: Any) -> dict[str, Numbers]:
    reports = top.get("reports") if isinstance(top, dict) else None
    if reports is None:
        raise _error((), f"expected a spec, or {_FROM_COUNT}")
    if (version := top.get("version", 1)) != 1:
        raise _error(("version",), f"expected 1, got {_as_json(version)}: made by another rnncalc")
    if not isinstance(reports, list):
        raise _error(("reports",), f"expected a list, got {_as_json(reports)}")
    numbers_by_name: dict[str, Numbers] = {}
    for place, report in enumerate(reports):
        path = ("reports", place)
        name, numbers = _report(report, path)
        if name in numbers_by_name:
            raise _error(path, f"two reports are called '{escape(name)}'; compare to a folder, or name them apart")
        if name is not None and numbers is not None:
            numbers_by_name[name] = numbers
        elif name is not None or numbers is not None:
            raise _error(path, "expected a name and params, or null for both: a file that is no spec")
    return numbers_by_name


def _report(report: Any, path: Path) -> tuple[str | None, Numbers | None]:
    """Return the name and the numbers of a report; both are None if the file was not a spec."""
    if not isinstance(report, dict):
        raise _error(path, f"expected an object, got {_as_json(report)}")
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
    elif "state" not in report:  # a count's work of a step is also of what cannot run step by step
        counts["multiply_adds_per_step"] = None
    params = counts.pop("params")
    return name, None if params is None else Numbers(params, **counts)


def _count(value: Any, path: Path) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _error(path, f"expected {WholeNumber().expected}, got {_as_json(value)}")
    if value >= 10**MAX_DIGITS:
        raise _error(path, f"expected at most {MAX_DIGITS} digits")
    return value


def _as_json(value: Any) -> str:
    """Return a value as JSON, shortened if it is long."""
    return escape(json.dumps(value))


def _error(path: Path, message: str) -> SpecError:
    return SpecError((Problem(path, message),))
