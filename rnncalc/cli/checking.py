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
from rnncalc.layers.options import Count, Ratio
from rnncalc.network.budget import BUDGET_KEYS, Quantity, Rule
from rnncalc.network.validation import KEYS
from rnncalc.questions.check import CheckedFile, check
from rnncalc.questions.limits import Difference, Limit
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport
from rnncalc.spec import parse
from rnncalc.spec.flags import read_value
from rnncalc.text import escape

Texts = Mapping[str, str | None]

COMPARISONS = {
    "max_growth": (Rule.GROWTH, Quantity.PARAMS),
    "max_bytes_growth": (Rule.GROWTH, Quantity.BYTES),
    "max_multiply_adds_growth": (Rule.GROWTH, Quantity.MULTIPLY_ADDS),
    "max_dense_ratio_fall": (Rule.FALL, Quantity.DENSE_RATIO),
}
"""The limits on what changed since a baseline, by the flag that sets each."""


def check_all(
    paths: Sequence[str],
    overrides: Texts,
    limits: Texts,
    *,
    baseline: str | None = None,
    dtype: str = "float32",
    strict: bool = False,
) -> CheckReport:
    """Return what is said of every file at the paths; what is wrong with one does not stop the others.

    overrides, limits: flags as typed. Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    given = {key: text for key, text in limits.items() if text is not None}
    for key in COMPARISONS:
        if key in given and baseline is None:
            raise CallError(f"{_flag(key)} compares: give --baseline too")
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    read = [read_comparison(key, text) if key in COMPARISONS else read_limit(key, text) for key, text in given.items()]
    found = find(paths)
    was = read_baseline(baseline, len(found), dtype, **overrides) if baseline is not None else None

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
        verdict = check(spec.network, read, locate=spec.place, dtype=dtype, own_convention=own, before=before)
        difference = Difference(before and before.params, verdict.numbers.params) if was else None
        return CheckedFile(file.path, verdict, strict=strict, difference=difference)

    files = [checked(file) for file in found]
    # Of a folder, what is in the baseline alone is gone; single files, as a hook names them, say nothing of others.
    whole = was is not None and (was.by != "folder" or any(os.path.isdir(path) for path in paths))
    gone = was.removed() if was and whole else ()
    return CheckReport(tuple(map(FileReport, (*files, *gone))), was.path if was else "", was.remarks if was else ())


def read_limit(key: str, text: str) -> Limit:
    """Return the limit of a flag, which has a budget's key."""
    rule, quantity, allowed, _ = BUDGET_KEYS[key]
    return Limit(rule, quantity, read_value(_flag(key), text, allowed), flag=_flag(key))


def read_comparison(key: str, text: str) -> Limit:
    """Return what `5%` or `10k` allows a number to grow or fall by."""
    rule, quantity = COMPARISONS[key]
    flag, percent = _flag(key), text.endswith("%")
    fraction = percent or quantity is Quantity.DENSE_RATIO
    unit = "B" if quantity is Quantity.BYTES else ""
    try:
        most = read_value(flag, text.removesuffix("%"), Ratio() if fraction else Count(suffixes=True, unit=unit))
    except SpecError:
        such = "0.5" if fraction and not percent else f"10k{unit}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        raise SpecError((Problem((), message, flag),)) from None
    return Limit(rule, quantity, most, flag=flag, percent=percent)


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"
