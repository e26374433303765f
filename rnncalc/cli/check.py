"""`rnncalc check`: finds the files, reads each with the flags of the call, and checks its limits.

One file is in memory at a time; only its numbers are kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from rnncalc import formats
from rnncalc.bounds import MOST_FINDINGS
from rnncalc.cli.commands import Command
from rnncalc.cli.flags import Decorator, dtype_flag, files, flag_of, override_flags, report_flags, together
from rnncalc.cli.inputs import SpecPath, find, read_file, unreadable
from rnncalc.cli.output import AllAtOnce, Destination, tell, write
from rnncalc.errors import CallError, Problem, RefusedError, SpecError
from rnncalc.layers.options import Ratio
from rnncalc.network.budget import AMOUNT, BUDGET_KEYS, BYTES, BudgetKey, Quantity, Rule
from rnncalc.network.network import Network, in_numbers
from rnncalc.network.validation import KEYS
from rnncalc.questions import check as question
from rnncalc.questions.check import Difference, Limit, Verdict
from rnncalc.reports.check import CheckReport
from rnncalc.reports.report import DataReport
from rnncalc.spec import Spec, parse, parse_if_meant, read_value
from rnncalc.spec.values import ways_to_write
from rnncalc.text import all_of, escape, escape_path, plural

if TYPE_CHECKING:
    from rnncalc.cli.baseline import Baseline
    from rnncalc.modelfiles.model import ModelFile

Texts = Mapping[str, str | None]

COMPARISONS = {
    "max_growth": BudgetKey(Rule.GROWTH, Quantity.PARAMS, AMOUNT, "The most parameters more: 10k, or 5%."),
    "max_bytes_growth": BudgetKey(Rule.GROWTH, Quantity.BYTES, BYTES, "The most bytes more: 10kB, or 5%."),
    "max_multiply_adds_growth": BudgetKey(
        Rule.GROWTH, Quantity.MULTIPLY_ADDS, AMOUNT, "The most multiply-adds more: 1M, or 5%."
    ),
    "max_state_growth": BudgetKey(Rule.GROWTH, Quantity.STATE, AMOUNT, "The most numbers of state more: 32, or 5%."),
    "max_state_bytes_growth": BudgetKey(
        Rule.GROWTH, Quantity.STATE_BYTES, BYTES, "The most bytes of state more: 1kB, or 5%."
    ),
    "max_multiply_adds_per_second_growth": BudgetKey(
        Rule.GROWTH, Quantity.MULTIPLY_ADDS_PER_SECOND, AMOUNT, "The most multiply-adds per second more: 5%."
    ),
    "max_dense_ratio_fall": BudgetKey(
        Rule.FALL, Quantity.DENSE_RATIO, Ratio(), "The most that the dense ratio falls: 5%."
    ),
}
"""The limits on changes since a baseline, by flag; each may also be a percentage."""


def _limit_flags(keys: Mapping[str, BudgetKey], or_percent: str = "") -> Decorator:
    metavars = {key: "X" if isinstance(entry.allowed, Ratio) else "N" for key, entry in keys.items()}
    flags = (click.option(flag_of(key), metavar=metavars[key] + or_percent, help=keys[key].meaning) for key in keys)
    return together(*flags)


@click.command(
    cls=Command,
    examples=(
        "rnncalc check specs --max-params 20M",
        "rnncalc check specs --baseline git:main --max-growth 5%",
        "rnncalc check specs/pytorch/tagger.yaml --model specs/models/tagger.pt",
    ),
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=files)
@override_flags
@_limit_flags(BUDGET_KEYS)
@click.option("--rate", metavar="R", help="Steps per second, of a live signal.")
@dtype_flag
@click.option(
    "--baseline",
    metavar="PATH",
    shell_complete=files,
    help="A spec, folder, git:REF or JSON to compare.",
)
@_limit_flags(COMPARISONS, "|N%")
@click.option("--model", metavar="FILE", shell_complete=files, help="A model file to compare the one spec with.")
@click.option("--strict", is_flag=True, help="A spec with nothing to check fails.")
@report_flags(CheckReport)
def check(
    paths: tuple[str, ...],
    steps: str | None,
    topology: str | None,
    convention: str | None,
    rate: str | None,
    dtype: str,
    baseline: str | None,
    model: str | None,
    strict: bool,
    destination: Destination,
    **limits: str | None,
) -> int:
    """Check that specs keep their expect and budget.

    PATH is a YAML file, a folder of them, or - for standard input. A limit given here holds beside a spec's own.
    Exit code 1: a check failed.
    """
    overrides = {"steps": steps, "topology": topology, "convention": convention, "rate": rate}
    with AllAtOnce() as at_once:
        listed = formats.find(destination.format).can_write(DataReport)
        checks = at_once.ask(_check_all, paths, overrides, limits, baseline, dtype, strict, model, listed)
    write([checks], destination)
    if destination.file or not (formats.find(destination.format).read_at_once or sys.stdout.isatty()):
        tell(*checks.failures())  # a program or a file has the answer, so that people still see what failed
    return checks.code


class Call(NamedTuple):
    """What a call sets for every file: limits, overrides, and the model file of its one spec.

    listed: whether its report lists numbers without a limit.
    """

    limits: tuple[Limit, ...]
    overrides: Texts
    dtype: str
    strict: bool
    listed: bool
    model: ModelFile | None = None


def _check_all(
    paths: Sequence[str],
    overrides: Texts,
    limits: Texts,
    baseline: str | None,
    dtype: str,
    strict: bool,
    model: str | None,
    listed: bool,
) -> CheckReport:
    """Check every file at the paths and return a verdict for each; a broken file does not stop the others.

    overrides, limits: flags as typed. Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    if "" in paths:
        raise CallError("a PATH is empty: give a spec or a folder of specs, or leave it out")
    numbers = [path for path in paths if re.fullmatch("[0-9][0-9,._]*[kKMG]?", path) and not os.path.exists(path)]
    if numbers and len(numbers) < len(paths):
        spec = next(path for path in paths if path not in numbers)
        cure = escape(f"rnncalc answer {spec} {' '.join(numbers)}", limit=200)
        raise CallError(f"{all_of(numbers)}: a number is not a PATH; write {cure}, or expect: {numbers[0]} in the spec")
    call_limits = read_limits(limits, compares=baseline is not None)
    for key, text in overrides.items():
        if text is not None:
            read_value(f"--{key}", text, KEYS[key])
    files = find(paths)
    model_file = None if model is None else _model(model, files)
    earlier = None
    if baseline is not None:
        from rnncalc.cli.baseline import read_baseline  # with git behind it

        earlier = read_baseline(baseline, paths, files, dtype, overrides)
    call = Call(call_limits, overrides, dtype, strict, listed, model_file)
    verdicts: dict[str, Verdict] = {}
    findings = 0
    for file in files:
        if (verdict := _verdict(file, call, earlier)) is None:
            continue
        findings += len(verdict.problems) + len(verdict.limits)
        if findings > MOST_FINDINGS:
            many = f"{MOST_FINDINGS:,} limits and problems are too many for one call"
            raise RefusedError(f"{escape_path(file.path)}: {many}; check fewer files at a time")
        verdicts[file.path] = verdict
    left_out = [file for file in files if file.path not in verdicts]
    every = [*verdicts.values(), *_without_specs(files, left_out), *(earlier.removed() if earlier else ())]
    remarks = earlier.remarks if earlier else ()
    return CheckReport(tuple(every), earlier.label if earlier else "", remarks, len(left_out))


def _verdict(file: SpecPath, call: Call, earlier: Baseline | None) -> Verdict | None:
    """Return the verdict of a file; None for a file in a folder whose keys are not a spec's."""
    name = matched = None
    try:
        spec = _read(file, call.overrides)
        if spec is None:
            return None
        name = _in_numbers(spec.network, file.path).name
        before = earlier.before(file, name) if earlier else None
        if call.model:
            from rnncalc.cli.models import matched_with

            matched = matched_with(spec, call.model)
    except SpecError as error:
        if earlier and name is None:  # it is broken, not removed
            with suppress(SpecError):
                earlier.before(file, None)
        return Verdict(file.path, problems=error.problems)
    verdict = question.check(
        spec.network,
        call.limits,
        locate=spec.place,
        dtype=call.dtype,
        own_convention=spec.own_convention,
        before=before,
        listed=call.listed,
    )
    if matched:
        places = {path: place for check in matched.tensors if (path := check.at) and (place := spec.place(path))}
        verdict = verdict._replace(model=matched, places=places)
    difference = Difference(before and before.params, spec.network.params) if earlier else None
    return verdict._replace(file=file.path, strict=call.strict, difference=difference)


def _in_numbers(network: Network, path: str) -> Network:
    """Return the network of a file. Raises SpecError for sizes in letters, so that other files are still checked."""
    try:
        return in_numbers(network)
    except RefusedError as error:
        raise SpecError((Problem((), str(error), escape_path(path)),)) from None


def _model(path: str, files: Sequence[SpecPath]) -> ModelFile:
    """Return the model file to compare the call's one spec with."""
    if len(files) != 1:
        raise CallError(f"--model is the file of one spec, got {len(files):,}; give one PATH")
    from rnncalc.modelfiles import read

    return read(path, "--model")


def _read(file: SpecPath, overrides: Texts) -> Spec | None:
    if file.problem:
        raise file.problem
    data, source = read_file(file.path)
    if file.named:
        return parse(data, source, **overrides)
    return parse_if_meant(data, source, **overrides)


def _without_specs(files: Sequence[SpecPath], left_out: Sequence[SpecPath]) -> Iterator[Verdict]:
    """Yield an invalid verdict for each folder without a spec."""
    total = Counter(file.folder for file in files)
    for folder, number in Counter(file.folder for file in left_out).items():
        if folder is not None and number == total[folder]:
            message = f"{plural(number, 'YAML file')} below this folder, none a spec by its keys"
            yield Verdict(folder, problems=unreadable(folder, message).problems)


def read_limits(texts: Texts, *, compares: bool) -> tuple[Limit, ...]:
    """Return the limits of a call by the keys of their flags. compares: whether there is a baseline.

    Raises SpecError with every limit that is not a number, and every limit on growth without a baseline.
    """
    with AllAtOnce() as at_once:
        limits = []
        for key, text in texts.items():
            if text is not None and key in COMPARISONS:
                if not compares:
                    at_once.refuse(f"{flag_of(key)} compares: give --baseline too")
                limits.append(at_once.ask(read_comparison, key, text))
            elif text is not None:
                limits.append(at_once.ask(_limit, key, text, BUDGET_KEYS[key]))
    return tuple(limits)


def read_comparison(key: str, text: str) -> Limit:
    """Parse a limit on growth or fall, such as `5%` or `10k`."""
    try:
        return _comparison(key, text)
    except SpecError:
        allowed, percent = COMPARISONS[key].allowed, text.endswith("%")
        such = "0.5" if isinstance(allowed, Ratio) and not percent else f"10k{getattr(allowed, 'unit', '')}"
        message = f"expected a percentage such as 5%, or a number such as {such}, got '{escape(text)}'"
        bare = "".join(text.split())
        for meant in (bare, bare.replace(",", "."), *ways_to_write(text, Ratio() if percent else allowed)):
            with suppress(SpecError):
                _comparison(key, meant)
                message += f"; write {meant}"
                break
        raise SpecError((Problem((), message, flag_of(key)),)) from None


def _comparison(key: str, text: str) -> Limit:
    if not text.endswith("%"):
        return _limit(key, text, COMPARISONS[key])
    limit = _limit(key, text.removesuffix("%"), COMPARISONS[key]._replace(allowed=Ratio()))
    return limit._replace(percent=True)


def _limit(key: str, text: str, entry: BudgetKey) -> Limit:
    return Limit(entry.rule, entry.quantity, read_value(flag_of(key), text, entry.allowed), flag=flag_of(key))
