"""`rnncalc schema`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import Command
from rnncalc.cli.output import write_text
from rnncalc.spec.schema import text


@click.command(cls=Command, examples=("rnncalc schema > spec.schema.json",))
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""
    write_text(f"{text()}\n")
