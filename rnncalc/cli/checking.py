"""Strings `check` together: finds the files, reads each with the call's flags, and has it held against its limits.

One file is in memory at a time; what stays of it are the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.cli.inputs import read_file
from rnncalc.cli.limits import read_limits
from rnncalc.cli.paths import Found, find, unreadable
from rnncalc.errors import CallError, RefusedError, SpecError
from rnncalc.network.validation import KEYS
from rnncalc.questions.check import CheckedFile, check
from rnncalc.questions.limits import Difference, Limit
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport
from rnncalc.spec import Spec, parse, parse_if_meant
from rnncalc.spec.flags import read_value
from rnncalc.text import escape

if TYPE_CHECKING:
    from rnncalc.cli.baseline import Baseline
    from rnncalc.modelfiles.model import ModelFile

Texts = Mapping[str, str | None]

MOST_FINDINGS = 500_000
"""More limits and problems, of all files together, are refused: they would take the memory."""


class Call(NamedTuple):
    """What a call says of every file: the limits, what else its flags set, and the model file of its one spec."""

    limits: tuple[Limit, ...]
    overrides: Texts
    dtype: str
    strict: bool
    model: ModelFile | None = None


def check_all(
    paths: Sequence[str],
    overrides: Texts,
    limits: Texts,
    *,
    baseline: str | None = None,
    dtype: str = "float32",
    strict: bool = False,
    model: str | None = None,
) -> CheckReport:
    """Return what is said of every file at the paths; what is wrong with one does not stop the others.

    overrides, limits: flags as typed. Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    if "" in paths:
        raise CallError("a PATH is empty: give a spec or a folder of specs, or leave it out")
    read = read_limits(limits, compares=baseline is not None)
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    found = find(paths)
    file = _model(model, found) if model is not None else None
    was = None
    if baseline is not None:
        from rnncalc.cli.earlier import read_baseline  # with JSON and git behind it

        was = read_baseline(baseline, paths, found, dtype, overrides)
    files = dict(_each(found, Call(read, overrides, dtype, strict, file), was))
    left_out = [file for file in found if file.path not in files]
    broken = _without_specs(Counter(file.folder for file in found), Counter(file.folder for file in left_out))
    reports = tuple(map(FileReport, (*files.values(), *broken, *(was.removed() if was else ()))))
    return CheckReport(reports, was.label if was else "", was.remarks if was else (), len(left_out))


def _each(found: Iterable[Found], call: Call, was: Baseline | None) -> Iterator[tuple[str, CheckedFile]]:
    """Yield the path of each file that is no other YAML, and what was found of it; refuse what takes the memory."""
    findings = 0
    for file in found:
        if checked := _checked(file, call, was):
            findings += len(checked.problems) + (len(checked.verdict.limits) if checked.verdict else 0)
            if findings > MOST_FINDINGS:
                many = f"{MOST_FINDINGS:,} limits and problems are too many for one call"
                raise RefusedError(f"{escape(file.path, limit=1_000)}: {many}; check fewer files at a time")
            yield file.path, checked


def _checked(file: Found, call: Call, was: Baseline | None) -> CheckedFile | None:
    """Return what was found of a file; None of one in a folder that by its keys is no spec."""
    name = matched = None
    try:
        spec = _read(file, call.overrides)
        if spec is None:
            return None
        name = spec.network.name
        before = was.before(file, name) if was else None
        if call.model:
            from rnncalc.cli.models import matched_with

            matched = matched_with(spec, call.model)
    except SpecError as error:
        if was and name is None:  # it is broken, not gone
            with suppress(SpecError):
                was.before(file, None)
        return CheckedFile(file.path, problems=error.problems)
    own = spec.own_convention
    verdict = check(spec.network, call.limits, locate=spec.place, dtype=call.dtype, own_convention=own, before=before)
    if matched:
        places = {path: place for check in matched.tensors if (path := check.at) and (place := spec.place(path))}
        verdict = verdict._replace(model=matched, places=places)
    difference = Difference(before and before.params, verdict.numbers.params) if was else None
    return CheckedFile(file.path, verdict, strict=call.strict, difference=difference)


def _model(path: str, found: Sequence[Found]) -> ModelFile:
    """Return the model file that the one spec of a call is held against."""
    if len(found) != 1:
        raise CallError(f"--model is the file of one spec, got {len(found):,}; give one PATH")
    from rnncalc.modelfiles import read

    return read(path, "--model")


def _read(file: Found, overrides: Texts) -> Spec | None:
    if file.problem:
        raise file.problem
    data, source = read_file(file.path)
    if file.named:
        return parse(data, source, **overrides)
    return parse_if_meant(data, source, **overrides)


def _without_specs(found: Counter[str | None], left_out: Counter[str | None]) -> Iterator[CheckedFile]:
    """Yield a broken file for each folder of whose files none is a spec."""
    for folder, number in left_out.items():
        if folder is not None and number == found[folder]:
            files = f"{number:,} YAML file{'' if number == 1 else 's'} below this folder, none a spec by its keys"
            yield CheckedFile(folder, problems=unreadable(folder, files).problems)
