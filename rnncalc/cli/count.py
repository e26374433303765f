"""`rnncalc count`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rnncalc.cli.beside import REPORTS, beside, beside_flags, take_beside
from rnncalc.cli.commands import command
from rnncalc.cli.flags import dtype_flag, dtype_in, flag_of, notation_flag, option, report_flags, spec_flags
from rnncalc.cli.inputs import read_each
from rnncalc.cli.output import AllAtOnce, Destination, name_file, write
from rnncalc.cli.vary import described_varied, read_vary, varied_report, vary_flag
from rnncalc.formats import find
from rnncalc.network.network import Network
from rnncalc.questions import count as question
from rnncalc.questions.count import Count
from rnncalc.reports.count import CountReport, FileReport, SummaryReport
from rnncalc.reports.report import DrawnReport, Report
from rnncalc.words import all_of

_OF_TRAINING = ("--training", "--chunk", "--batch", "--optimizer", "--sequences")
"""The flags that change what `--vary` counts."""


@command(
    "rnncalc count specs/lstm.yaml --cost",
    "rnncalc count -i 10 -l lstm:20,bidirectional -o 5 -T 7",
    "rnncalc count specs/lstm.yaml -T 100 --training --chunk 35 --batch 32",
)
@spec_flags
@notation_flag
@option("--tensors", help="Add a row for each tensor.")
@option("--cost", help="Add multiply-adds (MACs) and bytes.")
@option("--dense", help="Say what the dense equivalent needs, if unknown.")
@dtype_flag
@beside_flags
@option("--all-conventions", help="A row for each framework, and why they differ.")
@vary_flag
@report_flags(CountReport, DrawnReport)
def count(
    specs: tuple[str, ...],
    tensors: bool,
    cost: bool,
    dense: bool,
    all_conventions: bool,
    vary: tuple[str, ...],
    destination: Destination,
    **flags: Any,
) -> None:
    """Count parameters, layer by layer.

    SPEC is a YAML file, a folder of them, a model file, or - for standard input; without one, the flags describe
    the network.
    """
    asked, dtype = take_beside(flags), dtype_in(flags)
    with AllAtOnce() as at_once:
        varied = read_vary(vary, at_once)
        networks: Any = at_once.ask(read_each, specs, flags, lambda each: (each.source, described_varied(each, varied)))
        add = at_once.ask(beside, asked)
        values = {"tensors": tensors, "cost": cost, **dict.fromkeys(REPORTS, False), **asked}
        others = [flag_of(key) for key, value in values.items() if value] + ["-c"] * bool(flags["convention"])
        for flag in ("notation", "letters") if not tensors and destination.format != "json" else ():
            if flags.get(flag):
                at_once.refuse(f"--{flag}: only tensors are written in a notation here; add --tensors")
        without = [flag_of(key) for key in ("operations", "shapes", "counters") if asked[key]]
        if cost and without and not (asked["stream"] or asked["quantize"]):
            at_once.refuse(f"{without[0]} has a table of its own: remove --cost")
        if all_conventions and (others := others + ["--vary"] * bool(vary)):
            at_once.refuse(f"--all-conventions is used alone: remove {all_of(others)}")
        elif vary and (tables := [flag for flag in others if flag not in ("-c", *_OF_TRAINING)]):
            at_once.refuse(f"--vary has a table of its own: remove {all_of(tables)}")
    reports: list[Report] = []
    counts: list[tuple[str, Count]] = []
    if all_conventions:
        from rnncalc.questions.compare import compare_conventions
        from rnncalc.reports.compare import AllocationReport

        reports += [AllocationReport(compare_conventions(network)) for _, network in networks]
    elif varied:

        def counted(changed: Sequence[Network], titles: Sequence[str]) -> Iterator[tuple[str, Any]]:
            labels = titles if len(titles) > 1 else [""]
            each: Iterator[Any] = (question.count(network, dtype) for network in changed)
            if add:  # the report of training, as no other goes with --vary
                trained: Iterator[Any] = map(add, map(CountReport, each))
                each = (report.training for report in trained)
            return zip(labels, each, strict=True)

        reports.append(varied_report([network for _, network in networks], varied, counted, bool(add)))
    else:
        for file, network in networks:
            counts.append((file, question.count(network, dtype)))
            report = CountReport(counts[-1][1], tensors, cost, dense)
            with name_file(file if len(networks) > 1 else ""):
                reports.append(add(report) if add else report)
    if len(reports) > 1 and find(destination.format).can_write(FileReport):  # for people
        titles = (FileReport(file) for file, _ in networks)
        reports = [each for pair in zip(titles, reports, strict=True) for each in pair]
        reports += [SummaryReport(tuple(counts))] if counts else []
    write(reports, destination)
