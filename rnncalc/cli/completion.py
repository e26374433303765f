"""`rnncalc completion`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import COMPLETE, cli, command


@command("rnncalc completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Bash and zsh read it with eval "$(rnncalc completion bash)", fish with rnncalc completion fish | source.
    """
    from click.shell_completion import shell_complete

    shell_complete(cli, {}, "rnncalc", COMPLETE, f"{shell}_source")
