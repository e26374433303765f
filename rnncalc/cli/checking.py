"""Strings `check` together: finds the files, reads each with the call's flags, and has it held against its limits.

One file is in memory at a time; what stays of it are the numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from rnncalc.cli.baseline import Baseline, read_baseline
from rnncalc.cli.inputs import read_file
from rnncalc.cli.paths import Found, find
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Count, Ratio
from rnncalc.network.validation import KEYS
from rnncalc.questions.check import GROWTH, Checked, Growth, check
from rnncalc.reports.check import Checks
from rnncalc.spec import parse
from rnncalc.spec.flags import read_value
from rnncalc.spec.reader import BUDGET
from rnncalc.text import escape

Texts = Mapping[str, str | None]
"""Flags as typed, by their names in a spec; None where they are not given."""


class Asked(NamedTuple):
    """What one call asks of every file.

    overrides: what stands in place of a spec's own steps, topology and convention; limits: in place of its budget.
    growth: the most it may have grown since the baseline.
    """

    overrides: Texts
    limits: Mapping[str, int | float]
    growth: Growth | None
    dtype: str
    strict: bool


def check_all(
    paths: Sequence[str],
    overrides: Texts,
    limits: Texts,
    *,
    baseline: str | None = None,
    max_growth: str | None = None,
    dtype: str = "float32",
    strict: bool = False,
) -> Checks:
    """Return the checks of every file at the paths; what is wrong with one does not stop the others.

    Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    if max_growth is not None and baseline is None:
        raise CallError(f"{GROWTH} compares: give --baseline too")
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    numbers = read_limits(limits)
    growth = read_growth(max_growth) if max_growth is not None else None
    asked = Asked(overrides, numbers, growth, dtype, strict)
    found = find(paths)
    was = read_baseline(baseline, len(found), **overrides) if baseline is not None else None
    files = [_checked(file, asked, was, alone=len(found) == 1) for file in found]
    # Of a folder, what is in the baseline alone is gone; single files, as a hook names them, say nothing of others.
    whole = was is not None and (was.by != "folder" or any(os.path.isdir(path) for path in paths))
    gone = was.removed() if was and whole else ()
    return Checks((*files, *gone), was.path if was else "", was.remarks if was else ())


def _checked(file: Found, asked: Asked, was: Baseline | None, *, alone: bool) -> Checked:
    """Return the checks of one file, or its problems; `alone`: whether there is no other."""
    name = None
    try:
        if file.problem:
            raise file.problem
        data, source = read_file(file.path)
        spec = parse(data, source, **asked.overrides)
        name = spec.network.name
        before = was.before(file, name, alone=alone) if was else None
    except SpecError as error:
        if was and name is None:  # it is broken, not gone
            with suppress(SpecError):
                was.before(file, None, alone=alone)
        return Checked(file.path, problems=error.problems)
    return check(
        spec.network,
        file.path,
        spec.place,
        dtype=asked.dtype,
        limits=asked.limits,
        own_convention=spec.own_convention,
        strict=asked.strict,
        before=before,
        growth=asked.growth,
        compared=was is not None,
    )


def read_limits(texts: Texts) -> dict[str, int | float]:
    """Return the numbers of the limits that are given; raises SpecError for what is none."""
    given = {key: text for key, text in texts.items() if text is not None}
    return {key: read_value(f"--{key.replace('_', '-')}", text, BUDGET[key]) for key, text in given.items()}


def read_growth(text: str) -> Growth:
    """Return what `5%` or `10k` allows; raises SpecError for what is neither."""
    percent = text.endswith("%")
    try:
        return Growth(read_value(GROWTH, text.removesuffix("%"), Ratio() if percent else Count(suffixes=True)), percent)
    except SpecError:
        message = f"expected a percentage such as 5%, or a number such as 10k, got '{escape(text)}'"
        raise SpecError((Problem((), message, GROWTH),)) from None
