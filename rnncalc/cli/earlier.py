"""Reads the baseline of a `check`: an earlier spec, a folder or a commit with several, or the JSON of a report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rnncalc.cli.baseline import Baseline, Earlier, OneSpec, Paths, Reports
from rnncalc.cli.inputs import read_file
from rnncalc.cli.pairing import pair_below
from rnncalc.cli.paths import SUFFIXES, Found, find
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.questions.check import numbers_of
from rnncalc.spec import contents, is_meant, keys_in, parse, parse_if_meant
from rnncalc.text import escape

MOST_BYTES = 30_000_000
"""A report of more bytes is refused unread: a thousand networks of ten layers print less."""

GIT = "git:"

_REF = re.compile(r"[\w./@~^-]{1,100}", re.ASCII)

Texts = Mapping[str, str | None]


def read_baseline(path: str, paths: Sequence[str], found: Sequence[Found], dtype: str, overrides: Texts) -> Baseline:
    """Return the baseline at a path, or at a commit written `git:REF`, for the files found at some paths.

    dtype, overrides: those of the call. Raises SpecError or CallError when it cannot be read.
    """
    whole = any(path != "-" and os.path.isdir(path) for path in paths)
    if path.startswith(GIT):
        from rnncalc.cli.baseline_git import at_commit  # with subprocess behind it

        read = partial(numbers_at, dtype=dtype, overrides=overrides)
        return at_commit(path.removeprefix(GIT), paths, whole=whole, read=read)
    if os.path.isdir(path):
        earlier = dict(_folder(path, dtype, overrides))
        return Paths(path, earlier, pair_below(found, earlier), whole=whole)
    try:
        data, source = read_file(path, flag="--baseline", most=MOST_BYTES)
    except SpecError as error:
        raise _with_commit(error, path) from None
    from rnncalc.cli.baseline_json import is_report, read_reports

    if is_report(path, data):
        if len(data) > MOST_BYTES:
            message = f"a baseline has at most {MOST_BYTES:,} bytes, this has more"
            raise SpecError((Problem((), message, escape(source, limit=1_000)),))
        return Reports(source, read_reports(data, source), alone=len(found) == 1)
    if len(found) > 1 and (specs := sum(map(_is_spec, found))) > 1:
        cure = "give a folder, or JSON of them all"
        raise CallError(f"--baseline: one spec, '{escape(path)}', for {specs:,}: {cure}")
    return OneSpec(source, numbers_of(parse(data, source, **overrides).network, dtype))


def _with_commit(error: SpecError, path: str) -> SpecError:
    """Return the error of a baseline that is not there, with the way to write a commit if it may be one's name."""
    (problem,) = error.problems
    if os.path.exists(path) or path.lower().endswith((*SUFFIXES, ".json")) or not _REF.fullmatch(path):
        return error
    return SpecError((problem._replace(message=f"{problem.message}; a commit is git:{path}"),))


def _is_spec(file: Found) -> bool:
    """Return whether a file is one of the specs that are checked: other YAML in a folder is left out."""
    if file.named or file.problem:
        return True
    try:
        return is_meant(keys_in(contents(file.path)))
    except OSError:
        return True


def _folder(path: str, dtype: str, overrides: Texts) -> Iterator[Earlier]:
    """Yield the numbers of each spec in a folder, by its path below the folder."""
    for found in find([path]):
        try:
            if found.problem:
                raise found.problem
            data, source = read_file(found.path)
        except SpecError as error:
            yield found.below or found.path, f"baseline {error.problems[0]}; what it was counts as unknown"
        else:
            yield from numbers_at(found.below, data, source, dtype=dtype, overrides=overrides)


def numbers_at(path: str, data: bytes, source: str, *, dtype: str, overrides: Texts) -> Iterator[Earlier]:
    """Yield the numbers of a spec; of a broken one, why they are not known; nothing of what is no spec by its keys."""
    try:
        if spec := parse_if_meant(data, source, **overrides):
            yield path, numbers_of(spec.network, dtype)
    except SpecError as error:
        yield path, f"baseline {error.problems[0]}; what it was counts as unknown"
