"""`rnncalc check`: finds the files, reads each with the flags of the call, and checks its limits.

One file is in memory at a time; only its numbers are kept.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rnncalc import formats
from rnncalc.bounds import MOST_FINDINGS
from rnncalc.cli.commands import command
from rnncalc.cli.flags import (
    dtype_flag,
    dtype_in,
    file_flag,
    files,
    flag_of,
    option,
    override_flags,
    quantize_flag,
    report_flags,
    together,
)
from rnncalc.cli.inputs import SpecPath, find, is_drafted, read_spec, unreadable
from rnncalc.cli.output import AllAtOnce, Destination, call_text, tell, write
from rnncalc.cli.progress import progress_of
from rnncalc.errors import CallError, Problem, RefusedError, SpecError
from rnncalc.expressions import read_number
from rnncalc.network.budget import BUDGET_KEYS, GROWING, Quantity, Rule
from rnncalc.network.network import in_numbers
from rnncalc.network.validation import KEYS
from rnncalc.printable import escape, escape_path
from rnncalc.questions import check as question
from rnncalc.questions.check import Difference, Limit, Verdict
from rnncalc.reports.check import CheckReport
from rnncalc.reports.report import DataReport
from rnncalc.spec import Override, parse, parse_if_meant, read_value
from rnncalc.spec.values import growth
from rnncalc.words import all_of, keys_here, one_of, plural

if TYPE_CHECKING:
    from rnncalc.cli.baseline import Baseline
    from rnncalc.models.files.model import ModelFile

FLAGS = ("max_params", "max_bytes", "max_multiply_adds", "min_dense_ratio")
"""The keys of a budget with a flag of their own."""

_limit_flags = together(*(option(flag_of(key), metavar="N", help=BUDGET_KEYS[key].meaning) for key in FLAGS))


@command(
    "rnncalc check specs --max-params 20M",
    "rnncalc check specs --baseline git:main --max-growth 5%",
    "rnncalc check specs/pytorch/tagger.yaml --model specs/models/tagger.pt",
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=files)
@override_flags
@_limit_flags
@option(
    "--limit",
    multiple=True,
    metavar="KEY=N",
    help=f"Another limit of budget: {one_of(tuple(key for key in BUDGET_KEYS if key not in FLAGS))}.",
)
@option("--rate", metavar="R", help="Steps per second, of a live signal.")
@dtype_flag
@quantize_flag
@file_flag("--baseline", metavar="PATH", help="An earlier version: a spec, folder, git:REF or JSON.")
@option(
    "--max-growth",
    multiple=True,
    metavar="[QUANTITY=]N|N%",
    help=f"The most growth since the baseline, of params unless QUANTITY says {one_of(tuple(GROWING)[1:])}.",
)
@file_flag("--model", help="A model file to compare the one spec with.")
@option("--tensors", help="A row for each tensor of --model.")
@option("--strict", help="A spec with nothing to check fails.")
@report_flags(CheckReport)
def check(
    paths: tuple[str, ...],
    steps: str | None,
    topology: str | None,
    convention: str | None,
    sizes: tuple[str, ...],
    rate: str | None,
    dtype: str | None,
    quantize: str | None,
    baseline: str | None,
    model: str | None,
    tensors: bool,
    strict: bool,
    destination: Destination,
    **limits: Any,
) -> int:
    """Check that specs keep their expect and budget.

    PATH is a YAML file, a folder of them, a model file, or - for standard input. Limits in flags are checked
    beside those of the specs. Exit code 1 if a check fails.
    """
    overrides = {"steps": steps, "topology": topology, "convention": convention, "sizes": sizes, "rate": rate}
    overrides["dtype"] = dtype
    with AllAtOnce() as at_once:
        listed = formats.find(destination.format).can_write(DataReport)
        call = Call((), overrides, (dtype_in(overrides), quantize), strict, listed)
        checks = at_once.ask(_check_all, paths, call, limits, baseline, model)
    checks = checks.replace(tensors=tensors)
    write([checks], destination)
    if destination.file or not (formats.find(destination.format).read_at_once or sys.stdout.isatty()):
        tell(*checks.failures())  # a program or a file has the answer, so that people still see what failed
    return checks.code


class Call(NamedTuple):
    """What a call sets for every file: limits, overrides, and the model file of its one spec.

    stored: the dtype and the quantization for bytes. listed: whether its report lists numbers without a limit.
    """

    limits: tuple[Limit, ...]
    overrides: Mapping[str, Override]
    stored: tuple[str, str | None]
    strict: bool
    listed: bool
    model: ModelFile | None = None


def _check_all(
    paths: Sequence[str], call: Call, limits: Mapping[str, Any], baseline: str | None, model: str | None
) -> CheckReport:
    """Check every file at the paths and return a verdict for each; a broken file does not stop the others.

    limits, baseline, model: flags as typed. Raises SpecError or CallError when the call itself is wrong.
    """
    if not paths:
        raise CallError("nothing to check: give a PATH, such as a folder of specs")
    if "" in paths:
        raise CallError("a PATH is empty: give a spec or a folder of specs, or leave it out")
    numbers = [path for path in paths if not os.path.exists(path) and read_number(path) is not None]
    if not any(map(os.path.exists, paths)):
        from rnncalc.cli.typed import spec_meant

        if cure := spec_meant():
            raise CallError(f"'{escape(' '.join(paths))}': check reads files; {cure}")
    spec = next(filter(os.path.exists, paths), "")
    if numbers and spec:
        cure = call_text(["rnncalc", "answer", spec, *numbers])
        raise CallError(f"{all_of(numbers)}: a number is not a PATH; write {cure}, or expect: {numbers[0]} in the spec")
    call = call._replace(limits=read_limits(limits))
    for key, text in call.overrides.items():
        if isinstance(text, str) and key in KEYS:
            read_value(f"--{key}", text, KEYS[key])
    files = find(paths)
    earlier = None
    if model is not None:
        if len(files) != 1:
            raise CallError(f"--model is the file of one spec, got {len(files):,}; give one PATH")
        from rnncalc.models.files import read

        with progress_of(None, "reading"):
            call = call._replace(model=read(model, "--model"))
    if baseline is not None:
        from rnncalc.cli.baseline import read_baseline  # with git behind it

        measure = partial(question.numbers_of, dtype=call.stored[0], quantize=call.stored[1])
        earlier = read_baseline(baseline, paths, files, measure, call.overrides)
    verdicts: dict[str, Verdict] = {}
    findings = 0
    with progress_of(lambda: len(files), "checking") as progress:
        for file in files:
            verdict = _verdict(file, call, earlier)
            if progress:
                progress(1)
            if verdict is None:
                continue
            findings += len(verdict.problems) + len(verdict.limits)
            if findings > MOST_FINDINGS:
                many = f"{MOST_FINDINGS:,} limits and problems are too many for one call"
                raise RefusedError(f"{escape_path(file.path)}: {many}; check fewer files at a time")
            verdicts[file.path] = verdict
    left_out = [file for file in files if file.path not in verdicts]
    number_in = Counter(file.folder for file in files)
    every = [*verdicts.values()]
    for folder, number in Counter(file.folder for file in left_out).items():
        if folder is not None and number == number_in[folder]:
            message = f"{plural(number, 'YAML file')} below this folder, none a spec by its keys"
            every.append(Verdict(folder, problems=unreadable(folder, message).problems))
    every += earlier.removed() if earlier else ()
    remarks = earlier.remarks if earlier else ()
    return CheckReport(tuple(every), earlier.label if earlier else "", remarks, len(left_out))


def _verdict(file: SpecPath, call: Call, earlier: Baseline | None) -> Verdict | None:
    """Return the verdict of a file; None for a file in a folder whose keys are not a spec's."""
    name = matched = None
    try:
        if file.problem:
            raise file.problem
        data, source = read_spec(file.path)
        spec = (parse if file.named else parse_if_meant)(data, source, **call.overrides)
        if spec is None:
            return None
        try:
            name = in_numbers(spec.described).name
        except RefusedError as error:  # for letters; other files are still checked
            raise SpecError((Problem((), str(error), escape_path(file.path)),)) from None
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
        spec.described,
        call.limits,
        locate=spec.place,
        dtype=call.stored[0],
        quantize=call.stored[1],
        own_convention=spec.own_convention,
        before=before,
        listed=call.listed,
    )
    if matched:
        inputs = [(half, "input") if half else ("input",) for half in spec.described.parts]
        paths = {*inputs, *(check.at for check in matched.tensors if check.at)}
        places = {} if is_drafted(file.path) else {path: place for path in paths if (place := spec.place(path))}
        verdict = verdict._replace(model=matched, places=places)
    difference = Difference(before and before.params, spec.described.params) if earlier else None
    return verdict._replace(file=file.path, strict=call.strict, difference=difference)


def read_limits(flags: Mapping[str, Any]) -> tuple[Limit, ...]:
    """Return the limits of a call by the keys of its flags; `limit` and `max_growth` may be repeated.

    Raises SpecError with every limit that is not a number.
    """
    with AllAtOnce() as at_once:
        limits = [at_once.ask(_limit, flag_of(key), key, flags[key]) for key in FLAGS if flags.get(key) is not None]
        for written in flags.get("limit", ()):
            key, _, text = written.partition("=")
            if key in BUDGET_KEYS:
                limits.append(at_once.ask(_limit, f"--limit {key}", key, text))
            else:
                from rnncalc.spec.aliases import key_cure  # imported only for an unknown key

                keys = tuple(BUDGET_KEYS)
                cure = key_cure(key, keys) or f"; {keys_here(keys)}"
                at_once.refuse(f"--limit: unknown key '{escape(key)}'{cure}")
        limits += [at_once.ask(_growth_limit, written) for written in flags.get("max_growth", ())]
    return tuple(limits)


def _limit(flag: str, key: str, text: str) -> Limit:
    rule, quantity, allowed, *_ = BUDGET_KEYS[key]
    return Limit(rule, quantity, read_value(flag, text, allowed), flag=flag)


def _growth_limit(written: str) -> Limit:
    """Parse a limit on growth, such as `5%` or `state=32`."""
    key, equals, text = written.rpartition("=")
    if not equals and (key := written.rpartition(":")[0]) in GROWING:
        raise CallError(f"--max-growth: write --max-growth {key}={escape(written.rpartition(':')[2])}")
    flag = f"--max-growth {key}" if equals else "--max-growth"
    if equals and key not in GROWING:
        raise CallError(f"{escape(flag)}: expected one of {one_of(tuple(GROWING))} before the =")
    try:
        value, percent = growth(text, GROWING[key or "params"])
    except ValueError as error:
        raise SpecError((Problem((), str(error), flag),)) from None
    return Limit(Rule.GROWTH, Quantity(key or "params"), value, flag=flag, percent=percent)
