"""`rnncalc schema`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import HELP
from rnncalc.cli.output import write_text
from rnncalc.spec.schema import text


@click.command(context_settings=HELP)
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""
    write_text(f"{text()}\n")
