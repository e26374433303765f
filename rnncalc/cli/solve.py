"""`rnncalc solve`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import command
from rnncalc.cli.flags import NetworkFlags, dtype_flag, dtype_in, file_flag, files, network_flags, option, report_flags
from rnncalc.cli.inputs import is_drafted, network_meant, read_open_spec, read_spec
from rnncalc.cli.output import AllAtOnce, Destination, write
from rnncalc.errors import CallError
from rnncalc.layers.options import Size, WholeNumber
from rnncalc.printable import escape_path
from rnncalc.questions import solve as question
from rnncalc.questions.count import bytes_of
from rnncalc.reports.solve import SolutionReport
from rnncalc.spec import parse, read_value
from rnncalc.words import one_of


@command("rnncalc solve -i 100 -l 'lstm:?' -o 10 --params 1M", "rnncalc solve -i 8 -l 'gru:?' --match specs/lstm.yaml")
@click.argument("specs", nargs=-1, metavar="[SPEC]", shell_complete=files)
@network_flags
@option("--params", metavar="N", help="The budget in parameters, such as 1M.")
@option("--bytes", "bytes_", metavar="N", help="The budget in bytes, such as 4MB.")
@file_flag("--match", metavar="OTHER_SPEC", help="The budget is the parameters of another spec.")
@dtype_flag
@option("--multiple-of", metavar="N", default="1", help="Only sizes that N divides.")
@option("--exact", help="Only a size that meets the budget exactly; exit code 1 if none.")
@report_flags(SolutionReport)
def solve(
    specs: tuple[str, ...],
    params: str | None,
    bytes_: str | None,
    match: str | None,
    multiple_of: str,
    exact: bool,
    destination: Destination,
    **flags: Unpack[NetworkFlags],
) -> int:
    """Find the size, written ?, that meets a budget.

    Every ? is the same size. Write it in quotes, as -l 'lstm:?', because shells read a bare ? as a pattern. Exit code 1
    if no size fits.
    """
    if specs and (meant := network_meant(specs)):
        raise CallError(meant)
    with AllAtOnce() as at_once:
        size = at_once.ask(bytes_of, dtype_in(flags))
        budget = at_once.ask(_budget, params, bytes_, match)
        multiple = at_once.ask(read_value, "--multiple-of", multiple_of, Size())
        spec = at_once.ask(read_open_spec, specs, **flags)
    if not spec.marked:
        networks = spec.described.networks  # the problems of the spec are first
        file = f"a file with {one_of([*networks])} alone, and give that" if networks else "the file"
        such = f"such as lstm: ?, in {file}" if specs else "as in -l 'lstm:?'"
        if is_drafted(spec.source):
            such = f"in the spec that rnncalc read {escape_path(spec.source)} prints"
        raise CallError(f"no size is written ?, so there is nothing to solve for; write one {such}")
    each = 0 if bytes_ is None else size
    solution = question.solve(spec.sized, budget, multiple=multiple, exact=exact, bytes_each=each)
    write([SolutionReport(solution)], destination)
    return 0 if solution.solved else 1


def _budget(params: str | None, bytes_: str | None, match: str | None) -> int:
    """Return the budget from the one flag that sets it, in bytes for `--bytes`, else in parameters."""
    budget: int
    match params, bytes_, match:
        case str(), None, None:
            budget = read_value("--params", params, WholeNumber(suffixes=True))
        case None, str(), None:
            budget = read_value("--bytes", bytes_, WholeNumber(suffixes=True, unit="B"))
        case None, None, str():
            budget = parse(*read_spec(match, flag="--match")).network.params
        case _:
            raise CallError("give one budget: --params N, --bytes N or --match OTHER_SPEC")
    return budget
