"""`rnncalc count`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, dtype_flag, network_flags, notation_flag, report_flags, specs_argument
from rnncalc.cli.inputs import read_files
from rnncalc.cli.output import Destination, write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.update import UpdateFlags, training_flags, update_of
from rnncalc.formats import find
from rnncalc.network.network import Network
from rnncalc.questions import count as question
from rnncalc.reports.count import CountReport, FileReport, SummaryReport
from rnncalc.reports.report import Report

if TYPE_CHECKING:
    from rnncalc.reports.compare import AllocationReport
    from rnncalc.reports.operations import OperationsReport
    from rnncalc.reports.training import TrainingReport


@click.command(
    cls=Command,
    examples=(
        "rnncalc count specs/lstm.yaml --cost",
        "rnncalc count -i 10 -l lstm:20,bidirectional -o 5 -T 7",
        "rnncalc count specs/lstm.yaml -T 100 --training --chunk 35 --batch 32",
    ),
)
@specs_argument
@network_flags
@notation_flag
@click.option("--tensors", is_flag=True, help="Add a row for each tensor.")
@click.option("--cost", is_flag=True, help="Add multiply-adds (MACs) and bytes.")
@click.option("--operations", is_flag=True, help="Add operations by kind, and FLOPs; --batch multiplies them.")
@click.option("--dense", is_flag=True, help="Say what the dense equivalent needs if it is not known.")
@dtype_flag
@training_flags
@click.option("--all-conventions", is_flag=True, help="A column for each framework, and why they differ.")
@report_flags(CountReport)
def count(
    specs: tuple[str, ...],
    tensors: bool,
    cost: bool,
    operations: bool,
    dense: bool,
    dtype: str,
    training: bool,
    chunk: str | None,
    batch: str | None,
    optimizer: str | None,
    all_conventions: bool,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Count parameters, layer by layer.

    SPEC is a YAML file, a folder of them, or - for standard input; without one, the flags describe the network.
    """
    with AllAtOnce() as at_once:
        networks = at_once.ask(read_files, specs, **flags)
        update = at_once.ask(
            update_of, training, {"--chunk": chunk, "--batch": batch}, optimizer, operations=operations
        )
        if training and operations:
            at_once.refuse("--training and --operations have a table each: remove one")
        if all_conventions and (tensors or cost or operations or training or flags["convention"]):
            at_once.refuse("--all-conventions stands alone: remove --tensors, --cost, --operations, --training and -c")
    if all_conventions:
        write(_named([(file, _allocated(network)) for file, network in networks], destination), destination)
        return
    add = _with_operations if operations else _trained if training else None
    counts = [(file, CountReport(question.count(network, dtype), tensors, cost, dense)) for file, network in networks]
    reports = _named([(file, add(of, **update) if add else of) for file, of in counts], destination)
    if len(counts) > 1 and _is_read(destination):
        reports.append(SummaryReport(tuple((file, of.counted) for file, of in counts)))
    write(reports, destination)


def _is_read(destination: Destination) -> bool:
    """Return whether people read the format; it then has titles and a summary of several files."""
    return find(destination.format).can_write(FileReport)


def _named(reports: list[tuple[str, Report]], destination: Destination) -> list[Report]:
    """Return the reports; for people, several reports get the names of their files as titles."""
    titled = len(reports) > 1 and _is_read(destination)
    return [each for file, report in reports for each in ((FileReport(file), report) if titled else (report,))]


def _with_operations(report: CountReport, batch: int = 1, **_: object) -> OperationsReport:
    """Return a report with the operations of a pass; imported only here, because other calls need none."""
    from rnncalc.questions.operations import pass_operations
    from rnncalc.reports.operations import OperationsReport

    return OperationsReport(report, pass_operations(report.counted.network, batch))


def _trained(report: CountReport, **update: Unpack[UpdateFlags]) -> TrainingReport:
    """Return a report with what training needs; imported only here, because other calls need none."""
    from rnncalc.questions.training import training
    from rnncalc.reports.training import TrainingReport

    counted = report.counted
    return TrainingReport(report, training(counted.network, dtype=counted.dtype, **update))


def _allocated(network: Network) -> AllocationReport:
    from rnncalc.questions.allocation import compare_conventions
    from rnncalc.reports.compare import AllocationReport

    return AllocationReport(compare_conventions(network))
