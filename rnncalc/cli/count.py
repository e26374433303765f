"""`rnncalc count`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, dtype_flag, network_flags, report_flags, specs_argument
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import Destination, write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.cli.update import UpdateFlags, training_flags, update_of
from rnncalc.network.network import Network
from rnncalc.questions import count as question
from rnncalc.reports.count import CountReport

if TYPE_CHECKING:
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
@click.option("--tensors", is_flag=True, help="Add a row for each tensor.")
@click.option("--cost", is_flag=True, help="Add multiply-adds and bytes.")
@click.option("--operations", is_flag=True, help="Add operations by kind, and FLOPs; --batch multiplies them.")
@dtype_flag
@training_flags
@click.option("--all-conventions", is_flag=True, help="A column for each framework, and why they differ.")
@report_flags(CountReport)
def count(
    specs: tuple[str, ...],
    tensors: bool,
    cost: bool,
    operations: bool,
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

    SPEC is a YAML file, or - for standard input; without one, the flags describe the network.
    """
    with AllAtOnce() as at_once:
        networks = at_once.ask(read_networks, specs, **flags)
        update = at_once.ask(
            update_of, training, {"--chunk": chunk, "--batch": batch}, optimizer, operations=operations
        )
        if training and operations:
            at_once.refuse("--training and --operations have a table each: remove one")
        if all_conventions and (tensors or cost or operations or training or flags["convention"]):
            at_once.refuse("--all-conventions stands alone: remove --tensors, --cost, --operations, --training and -c")
    if all_conventions:
        _all_conventions(networks, destination)
        return
    reports = [CountReport(question.count(network, dtype), tensors, cost) for network in networks]
    if operations:
        write([_with_operations(report, **update) for report in reports], destination)
    else:
        write([_trained(report, **update) for report in reports] if training else reports, destination)


def _with_operations(report: CountReport, batch: int = 1, **_: object) -> OperationsReport:
    """Return a report with the operations of a pass, which nobody else pays for."""
    from rnncalc.questions.operations import pass_operations
    from rnncalc.reports.operations import OperationsReport

    return OperationsReport(report, pass_operations(report.counted.network, batch))


def _trained(report: CountReport, **update: Unpack[UpdateFlags]) -> TrainingReport:
    """Return a report with what training takes, which nobody else pays for."""
    from rnncalc.questions.training import training
    from rnncalc.reports.training import TrainingReport

    counted = report.counted
    return TrainingReport(report, training(counted.network, dtype=counted.dtype, **update))


def _all_conventions(networks: list[Network], destination: Destination) -> None:
    from rnncalc.questions.allocation import compare_conventions
    from rnncalc.reports.compare import AllocationReport

    write([AllocationReport(compare_conventions(network)) for network in networks], destination)
