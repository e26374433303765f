"""`rnncalc draw`."""

from __future__ import annotations

import io
from typing import Unpack

import click

from rnncalc import formats
from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, WordOption, format_flag, network_flags_and_file, specs_argument
from rnncalc.cli.inputs import read_networks
from rnncalc.cli.output import form_of, write, write_file
from rnncalc.cli.problems import AllAtOnce
from rnncalc.errors import CallError
from rnncalc.reports.draw import VIEWS, Drawing
from rnncalc.text import not_among


@click.command(
    cls=Command, examples=("rnncalc draw specs/lstm.yaml", "rnncalc draw -i 4 -l gru:3 --output 1 -T 5 -o gru.svg")
)
@specs_argument
@click.option(
    "--view",
    cls=WordOption,
    words=lambda: VIEWS,
    default=next(iter(VIEWS)),
    show_default=True,
    metavar="NAME",
    help="What to draw: the network unrolled in time, a cell, or how parameters grow with the steps.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Draw the layer of this name alone; may be repeated.")
@network_flags_and_file
@format_flag(Drawing)
@click.pass_context
def draw(
    context: click.Context,
    specs: tuple[str, ...],
    view: str,
    only: tuple[str, ...],
    out: str | None,
    format_: str,
    **flags: Unpack[NetworkFlags],
) -> None:
    """Draw a network: unrolled, a cell, or its growth.

    In characters, as wide as the terminal; or, by the suffix of -o, as SVG, TikZ, HTML or text in a file.
    """
    with AllAtOnce() as at_once:
        if out is not None:
            written = context.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE
            form = at_once.ask(form_of, out, formats.by_suffix(Drawing))
            if written and form and form != format_:
                at_once.refuse(f"-o asks for {form} by its suffix, -f for {format_}; leave -f out")
        if len(specs) > 1:
            at_once.refuse(f"expected one network to draw, got {len(specs)} specs")
        networks = at_once.ask(read_networks, specs, **flags)
    if len(networks) != 1:
        raise CallError(f"expected one network to draw, got {len(networks)}; name one spec")
    (network,) = networks
    known = tuple(placed.name for placed in network.stack)
    if wrong := not_among(only, known):
        raise CallError(f"--only: {wrong}")
    drawing = Drawing(network, view, only)
    if out is None:
        write([drawing], format_)
        return
    file = io.StringIO()
    formats.write([drawing], form, file)
    write_file(out, file.getvalue())
