"""`rnncalc compare`."""

from __future__ import annotations

import re
from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, dtype_flag, network_flags, report_flags, specs_argument
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import Destination, write
from rnncalc.cli.problems import AllAtOnce
from rnncalc.errors import Problem
from rnncalc.layers.options import Size
from rnncalc.questions import compare as question
from rnncalc.reports.compare import ComparisonReport, DenseGrowthReport
from rnncalc.spec.flags import read_value
from rnncalc.text import escape

_OTHER_SPAN = re.compile(r"([0-9]+) ?(?:-|–|:|,|to) ?([0-9]+)")


@click.command(
    cls=Command,
    examples=("rnncalc compare specs/lstm.yaml --same-params", "rnncalc compare -i 4 -l rnn:3 -o 1 --steps 1..100"),
)
@specs_argument
@network_flags
@click.option("--same-params", is_flag=True, help="Which width each kind gets for the spec's parameters.")
@dtype_flag
@report_flags(ComparisonReport, DenseGrowthReport)
def compare(
    specs: tuple[str, ...], same_params: bool, dtype: str, destination: Destination, **flags: Unpack[NetworkFlags]
) -> None:
    """Compare RNN, GRU, LSTM and dense, or several specs.

    --steps FIRST..LAST shows how the dense equivalent grows with the number of steps.
    """
    with AllAtOnce() as at_once:
        if found := _OTHER_SPAN.fullmatch(flags["steps"] or ""):
            at_once.problems.append(_written(found))
            flags["steps"] = None
        spans = ".." in (flags["steps"] or "")
        span = at_once.ask(_span, flags["steps"] or "") if spans else None
        if spans:
            flags["steps"] = None
            if same_params:
                at_once.refuse("--steps FIRST..LAST and --same-params ask different things: give one of them")
            if span and span[0] > span[1]:
                at_once.refuse(f"--steps: expected FIRST..LAST, the smaller first; write {span[1]}..{span[0]}")
        networks = at_once.ask(read_networks, specs, **flags)
    if span:
        write([DenseGrowthReport(question.dense_growth(network, *span)) for network in networks], destination)
    elif same_params:
        write([ComparisonReport(question.compare_same_params(network, dtype)) for network in networks], destination)
    else:
        write([ComparisonReport(question.compare(*networks, dtype=dtype))], destination)


def _written(found: re.Match[str]) -> Problem:
    """Return the message for a range written like `1-100`."""
    expected = f"expected a positive whole number, or FIRST..LAST, got '{escape(found[0])}'"
    return Problem((), f"{expected}; write {found[1]}..{found[2]}", "--steps")


def _span(steps: str) -> tuple[int, int]:
    """Return the ends of `FIRST..LAST`."""
    first, _, last = steps.partition("..")
    return read_value("--steps", first, Size()), read_value("--steps", last, Size())
