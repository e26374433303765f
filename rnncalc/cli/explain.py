"""`rnncalc explain`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, check_word, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import write
from rnncalc.questions import explain as question
from rnncalc.reports.explain import ExplanationReport


@click.command(cls=Command)
@specs_argument
@network_flags
@click.option("--only", multiple=True, metavar="NAME", help="Explain the layer of this name alone; may be repeated.")
@format_flag(ExplanationReport)
def explain(specs: tuple[str, ...], only: tuple[str, ...], format_: str, **flags: Unpack[NetworkFlags]) -> None:
    """Derive the count step by step.

    Each layer comes with its equations and the shape of every term. Equal neighbours are explained once, with their
    number.
    """
    networks = [spec.network for spec in read_specs(specs, **flags)]
    known = tuple(entry.name_of(copy) for net in networks for entry in net.stack for copy in range(entry.copies))
    for name in only:
        check_word("--only", name, known)
    write([ExplanationReport(question.explain(network, only)) for network in networks], format_)
