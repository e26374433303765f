"""`rnncalc compare`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, bytes_of, dtype_flag, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import write
from rnncalc.errors import CallError
from rnncalc.layers.options import Size
from rnncalc.questions import compare as question
from rnncalc.reports.compare import ComparisonReport, DenseGrowthReport
from rnncalc.spec.flags import read_value


@click.command(cls=Command)
@specs_argument
@network_flags
@click.option("--same-params", is_flag=True, help="Which width each kind gets for the spec's parameters.")
@dtype_flag
@format_flag(ComparisonReport, DenseGrowthReport)
def compare(specs: tuple[str, ...], same_params: bool, dtype: str, format_: str, **flags: Unpack[NetworkFlags]) -> None:
    """Compare RNN, GRU, LSTM and dense, or several specs.

    --steps FIRST..LAST shows how the dense equivalent grows with the number of steps.
    """
    bytes_of(dtype)
    span = _span(flags["steps"] or "")
    if span:
        flags["steps"] = None
        if same_params or span[0] > span[1]:
            raise CallError("--steps FIRST..LAST stands alone, and FIRST is not above LAST")
    networks = [spec.network for spec in read_specs(specs, **flags)]
    if span:
        write([DenseGrowthReport(question.dense_growth(network, *span)) for network in networks], format_)
    elif same_params:
        write([ComparisonReport(question.compare_same_params(network, dtype)) for network in networks], format_)
    else:
        write([ComparisonReport(question.compare(*networks, dtype=dtype))], format_)


def _span(steps: str) -> tuple[int, int] | None:
    """Return the ends of `FIRST..LAST`, None where a single number of steps is given."""
    first, dots, last = steps.partition("..")
    return (read_value("--steps", first, Size()), read_value("--steps", last, Size())) if dots else None
