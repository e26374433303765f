"""The manual page rnncalc(1), made of the commands' own help when a wheel is built; `python docs/man.py` prints it."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
HEAD = """\
.TH RNNCALC 1 "" "rnncalc {version}"
.SH NAME
rnncalc \\- count the parameters of recurrent networks
.SH SYNOPSIS
.nf
rnncalc [SPEC] [OPTIONS]
rnncalc COMMAND [OPTIONS] [ARGS]
.fi
.SH DESCRIPTION
"""
TAIL = """\
.SH EXIT STATUS
.TP
0
The command did what it was asked for.
.TP
1
A check failed, an answer is wrong, or no size fits.
.TP
2
A spec or the call is invalid.
.SH FILES
A spec is a YAML file; rnncalc schema prints its JSON Schema.
"""


def page() -> str:
    """Return the page in roff's man macros."""
    sys.path.insert(0, str(ROOT))
    import click

    from rnncalc import __version__
    from rnncalc.cli.commands import COMMANDS, cli

    with click.Context(cli, info_name="rnncalc", terminal_width=76) as context:
        text = HEAD.format(version=__version__) + literal(cli.get_help(context)) + ".SH COMMANDS\n"
        for name in COMMANDS:
            command = cli.get_command(context, name)
            assert command
            with click.Context(command, context, f"rnncalc {name}", terminal_width=76) as below:
                text += f".SS {name}\n{literal(command.get_help(below))}"
    return text + TAIL


def literal(text: str) -> str:
    """Return lines as they are, escaped as roff reads them."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return ".nf\n" + "".join(f"\\&{line}\n" if line else "\n" for line in escaped.splitlines()) + ".fi\n"


class ManualPage(BuildHookInterface):
    """Write the page beside the build, and put it where programs have their manual."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Take part in the build of a wheel; an editable installation has no page."""
        if version != "editable":
            path = Path(self.directory) / "rnncalc.1"
            path.parent.mkdir(exist_ok=True)
            path.write_text(page(), encoding="utf-8")
            build_data["shared_data"][str(path)] = "share/man/man1/rnncalc.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the build."""
        (Path(self.directory) / "rnncalc.1").unlink(missing_ok=True)


if __name__ == "__main__":
    sys.stdout.write(page())
