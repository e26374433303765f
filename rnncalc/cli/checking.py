"""Strings `check` together: finds the files, reads each with the call's flags, and has it held against its limits.

One file is in memory at a time; what stays of it are the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from rnncalc.cli.baseline import Baseline
from rnncalc.cli.inputs import read_file
from rnncalc.cli.paths import Found, find, unreadable
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.layers.options import Count, Ratio
from rnncalc.network.budget import BUDGET_KEYS, Quantity, Rule
from rnncalc.network.validation import KEYS
from rnncalc.questions.check import CheckedFile, check
from rnncalc.questions.limits import Difference, Limit
from rnncalc.reports.check import CheckReport
from rnncalc.reports.checked_file import FileReport
from rnncalc.spec import Spec, parse
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


class Call(NamedTuple):
    """What a call says of every file: the limits, and what else its flags set."""

    limits: tuple[Limit, ...]
    overrides: Texts
    dtype: str
    strict: bool


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
    for key in COMPARISONS:
        if limits.get(key) is not None and baseline is None:
            raise CallError(f"{_flag(key)} compares: give --baseline too")
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    given = {key: text for key, text in limits.items() if text is not None}
    read = tuple(
        read_comparison(key, text) if key in COMPARISONS else read_limit(key, text) for key, text in given.items()
    )
    call = Call(read, overrides, dtype, strict)
    found = find(paths)
    was = None
    if baseline is not None:
        from rnncalc.cli.earlier import read_baseline  # with JSON and git behind it

        was = read_baseline(baseline, paths, found, dtype, overrides)
    files: list[CheckedFile] = []
    left_out: list[Found] = []
    for file in found:
        checked = _checked(file, call, was)
        if checked:
            files.append(checked)
        else:
            left_out.append(file)
    files += _without_specs(Counter(file.folder for file in found), Counter(file.folder for file in left_out))
    if was:
        files += was.removed()
    reports = tuple(map(FileReport, files))
    return CheckReport(reports, was.label if was else "", was.remarks if was else (), len(left_out))


def _checked(file: Found, call: Call, was: Baseline | None) -> CheckedFile | None:
    """Return what was found of a file; None of one in a folder that by its keys is no spec."""
    name = None
    try:
        spec = _read(file, call.overrides)
        if spec is None:
            return None
        name = spec.network.name
        before = was.before(file, name) if was else None
    except SpecError as error:
        if was and name is None:  # it is broken, not gone
            with suppress(SpecError):
                was.before(file, None)
        return CheckedFile(file.path, problems=error.problems)
    own = spec.own_convention
    verdict = check(spec.network, call.limits, locate=spec.place, dtype=call.dtype, own_convention=own, before=before)
    difference = Difference(before and before.params, verdict.numbers.params) if was else None
    return CheckedFile(file.path, verdict, strict=call.strict, difference=difference)


def _read(file: Found, overrides: Texts) -> Spec | None:
    if file.problem:
        raise file.problem
    data, source = read_file(file.path)
    if file.named:
        return parse(data, source, **overrides)
    from rnncalc.spec.recognition import parse_if_meant

    return parse_if_meant(data, source, **overrides)


def _without_specs(found: Counter[str | None], left_out: Counter[str | None]) -> Iterator[CheckedFile]:
    """Yield a broken file for each folder of whose files none is a spec."""
    for folder, number in left_out.items():
        if folder is not None and number == found[folder]:
            files = f"{number:,} YAML file{'' if number == 1 else 's'} below this folder, none a spec by its keys"
            yield CheckedFile(folder, problems=unreadable(folder, files).problems)


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
