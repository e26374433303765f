"""`rnncalc completion`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import command
from rnncalc.cli.output import write_text
from rnncalc.cli.suggestions import SCRIPTS


@command("rnncalc completion bash")
@click.argument("shell", type=click.Choice([*SCRIPTS]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Bash and zsh read it with eval "$(rnncalc completion bash)", fish with rnncalc completion fish | source.
    """
    write_text(SCRIPTS[shell])
