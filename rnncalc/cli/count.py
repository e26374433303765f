"""`rnncalc count`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, bytes_of, dtype_flag, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import write
from rnncalc.errors import CallError


@click.command(cls=Command)
@specs_argument
@network_flags
@click.option("--tensors", is_flag=True, help="Add a row for each tensor.")
@click.option("--cost", is_flag=True, help="Add multiply-adds and bytes.")
@dtype_flag
@click.option("--all-conventions", is_flag=True, help="A column for each framework, and why they differ.")
@format_flag("table", "json", "csv", "markdown")
def count(
    specs: tuple[str, ...],
    tensors: bool,
    cost: bool,
    dtype: str,
    all_conventions: bool,
    format_: str,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Count parameters, layer by layer.

    SPEC is a YAML file, or - for standard input; without one, the flags describe the network.
    """
    if all_conventions:
        if tensors or cost or flags["convention"]:
            raise CallError("--all-conventions stands alone: remove --tensors, --cost and -c")
        from rnncalc.questions.conventions import all_conventions as under_all

        write([under_all(spec.network) for spec in read_specs(specs, **flags)], format_)
        return
    from rnncalc.questions.count import Count

    bytes_of(dtype)
    reports = [Count(spec.network, dtype, tensors, cost) for spec in read_specs(specs, **flags)]
    for report in reports:
        report.refuse_endless(format_)
    write(reports, format_)
