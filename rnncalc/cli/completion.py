"""`rnncalc completion`."""

from __future__ import annotations

import click

from rnncalc.cli.commands import COMPLETE, cli, command
from rnncalc.cli.output import write_text


@command("rnncalc completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    Bash and zsh read it with eval "$(rnncalc completion bash)", fish with rnncalc completion fish | source.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    completion_of = get_completion_class(shell)
    assert completion_of is not None  # of each shell among the choices
    # bash's own method asks the first bash on the path for its version, and another may read the script
    write_text(ShellComplete.source(completion_of(cli, {}, "rnncalc", COMPLETE)))
