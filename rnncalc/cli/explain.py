"""`rnncalc explain`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, WordOption, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import write
from rnncalc.errors import CallError
from rnncalc.formats import find
from rnncalc.questions import explain as question
from rnncalc.questions.notation import NOTATIONS, W
from rnncalc.reports.explain import ExplanationReport
from rnncalc.reports.refusals import refuse_long_explanation
from rnncalc.text import not_among


@click.command(
    cls=Command, examples=("rnncalc explain specs/gru.yaml", "rnncalc explain -i 4 -l rnn:3 -o 1 --only rnn_1")
)
@specs_argument
@network_flags
@click.option("--only", multiple=True, metavar="NAME", help="Explain the layer of this name alone; may be repeated.")
@click.option(
    "--notation",
    cls=WordOption,
    words=lambda: NOTATIONS,
    default=W.name,
    show_default=True,
    metavar="NAME",
    help="How equations are spelled: W_xh x + W_hh h, U x + W h, x W, or [h, x] W.",
)
@format_flag(ExplanationReport)
def explain(
    specs: tuple[str, ...], only: tuple[str, ...], notation: str, format_: str, **flags: Unpack[NetworkFlags]
) -> None:
    """Derive the count step by step.

    Each layer comes with its equations and the shape of every term. Equal neighbours are explained once, with their
    number.
    """
    networks = read_networks(specs, **flags)
    known = tuple(entry.name_of(copy) for net in networks for entry in net.stack for copy in range(entry.copies))
    if wrong := not_among(only, known):
        raise CallError(f"--only: {wrong}")
    for network in networks:
        refuse_long_explanation(network, only, find(format_).method)
    found = [question.explain_those(network, only, NOTATIONS[notation]) for network in networks]
    write([ExplanationReport(each) for each in found], format_)
