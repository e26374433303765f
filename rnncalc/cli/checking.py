"""Strings `check` together: finds the files, reads each with the call's flags, and has it held against its limits.

One file is in memory at a time; what stays of it are the numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rnncalc.cli.baseline import read_baseline
from rnncalc.cli.inputs import read_file
from rnncalc.cli.paths import Found, find
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Ratio, WholeNumber
from rnncalc.network.validation import KEYS
from rnncalc.questions.check import LIMIT_OF, CheckedFile, Difference, Limit, Quantity, Rule, check
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport
from rnncalc.spec import parse
from rnncalc.spec.flags import read_value
from rnncalc.spec.reader import BUDGET
from rnncalc.text import escape

Texts = Mapping[str, str | None]

GROWTH = "--max-growth"


def check_all(
    paths: Sequence[str],
    overrides: Texts,
    limits: Texts,
    *,
    baseline: str | None = None,
    max_growth: str | None = None,
    dtype: str = "float32",
    strict: bool = False,
) -> CheckReport:
    """Return what is said of every file at the paths; what is wrong with one does not stop the others.

    overrides, limits: flags as typed. Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    if max_growth is not None and baseline is None:
        raise CallError(f"{GROWTH} compares: give --baseline too")
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    given = [read_limit(key, text) for key, text in limits.items() if text is not None]
    if max_growth is not None:
        given.append(read_growth(max_growth))
    found = find(paths)
    was = read_baseline(baseline, len(found), **overrides) if baseline is not None else None

    def checked(file: Found) -> CheckedFile:
        name = None
        try:
            if file.problem:
                raise file.problem
            data, source = read_file(file.path)
            spec = parse(data, source, **overrides)
            name = spec.network.name
            before = was.before(file, name, alone=len(found) == 1) if was else None
        except SpecError as error:
            if was and name is None:  # it is broken, not gone
                with suppress(SpecError):
                    was.before(file, None, alone=len(found) == 1)
            return CheckedFile(file.path, problems=error.problems)
        own = spec.own_convention
        verdict = check(spec.network, given, locate=spec.place, dtype=dtype, own_convention=own, before=before)
        difference = Difference(before, verdict.numbers.params) if was else None
        return CheckedFile(file.path, verdict, strict=strict, difference=difference)

    files = [checked(file) for file in found]
    # Of a folder, what is in the baseline alone is gone; single files, as a hook names them, say nothing of others.
    whole = was is not None and (was.by != "folder" or any(os.path.isdir(path) for path in paths))
    gone = was.removed() if was and whole else ()
    return CheckReport(tuple(map(FileReport, (*files, *gone))), was.path if was else "", was.remarks if was else ())


def read_limit(key: str, text: str) -> Limit:
    """Return the limit of a flag, which has a budget's key."""
    flag = f"--{key.replace('_', '-')}"
    return Limit(*LIMIT_OF[key], read_value(flag, text, BUDGET[key]), flag=flag)


def read_growth(text: str) -> Limit:
    """Return what `5%` or `10k` allows."""
    percent = text.endswith("%")
    try:
        most = read_value(GROWTH, text.removesuffix("%"), Ratio() if percent else WholeNumber(suffixes=True))
        return Limit(Rule.GROWTH, Quantity.PARAMS, most, flag=GROWTH, percent=percent)
    except SpecError:
        message = f"expected a percentage such as 5%, or a number such as 10k, got '{escape(text)}'"
        raise SpecError((Problem((), message, GROWTH),)) from None
