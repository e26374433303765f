"""`rnncalc solve`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, bytes_of, dtype_flag, format_flag, network_flags
from rnncalc.cli.inputs import read_spec, read_template
from rnncalc.cli.output import write
from rnncalc.errors import CallError
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.questions import solve as question
from rnncalc.reports.solve import SolutionReport
from rnncalc.spec.flags import read_value


@click.command(cls=Command)
@click.argument("specs", nargs=-1, metavar="[SPEC]")
@network_flags
@click.option("--params", metavar="N", help="The budget in parameters, such as 1M.")
@click.option("--bytes", "bytes_", metavar="N", help="The budget in bytes, such as 4MB.")
@click.option("--match", metavar="OTHER_SPEC", help="The budget is the parameters of another spec.")
@dtype_flag
@click.option("--multiple-of", metavar="N", default="1", show_default=True, help="Only sizes that N divides.")
@click.option("--exact", is_flag=True, help="Only a size that meets the budget exactly; exit code 1 if none.")
@format_flag(SolutionReport)
def solve(
    specs: tuple[str, ...],
    params: str | None,
    bytes_: str | None,
    match: str | None,
    dtype: str,
    multiple_of: str,
    exact: bool,
    format_: str,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Find the size, written ?, that meets a budget.

    Every ? stands for one and the same size: -l lstm:? -l lstm:?. Exit code 1 when no size fits.
    """
    budget = _budget(params, bytes_, match, bytes_of(dtype))
    template = read_template(specs, **flags)
    if not template.marked:
        raise CallError("no size is written ?, so there is nothing to solve for; write one as in -l lstm:?")
    multiple = read_value("--multiple-of", multiple_of, Size())
    solution = question.solve(template.network, budget, multiple=multiple, exact=exact)
    write([SolutionReport(solution)], format_)
    return 0 if solution.solved else 1


def _budget(params: str | None, bytes_: str | None, match: str | None, bytes_each: int) -> int:
    """Return the parameters there may be, of the one flag that says it."""
    budget: int
    match params, bytes_, match:
        case str(), None, None:
            budget = read_value("--params", params, WholeNumber(suffixes=True))
        case None, str(), None:
            budget = read_value("--bytes", bytes_, WholeNumber(suffixes=True, unit="B")) // bytes_each
        case None, None, str():
            budget = read_spec(match).network.params
        case _:
            raise CallError("give one budget: --params N, --bytes N or --match OTHER_SPEC")
    return budget
