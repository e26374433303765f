"""`rnncalc explain`."""

from __future__ import annotations

from typing import Unpack

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.flags import NetworkFlags, check_word, format_flag, network_flags, specs_argument
from rnncalc.cli.inputs import read_specs
from rnncalc.cli.output import write
from rnncalc.questions.explain import Explanation


@click.command(cls=Command)
@specs_argument
@network_flags
@format_flag("table", "json", "markdown", "latex")
def explain(specs: tuple[str, ...], format_: str, **flags: Unpack[NetworkFlags]) -> None:
    """Derive the count step by step.

    --layer NAME, without units, explains that layer alone.
    """
    names = tuple(layer for layer in flags["layers"] if ":" not in layer)
    flags["layers"] = tuple(layer for layer in flags["layers"] if ":" in layer)
    networks = [spec.network for spec in read_specs(specs, **flags)]
    for name in names:
        check_word("--layer", name, tuple(placed.name for network in networks for placed in network.placed))
    write([Explanation(network, names) for network in networks], format_)
