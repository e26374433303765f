"""What commands there are: the one table of them, and the group that imports a command when it is called.

A new command is a file in this room, named as the command is and with a click command of that name in it, and its line
in the table. Nothing here imports a command: each would have to build its options for the calls of all others.
"""

from __future__ import annotations

from importlib import import_module
from itertools import islice

import click

from rnncalc import __version__
from rnncalc.errors import CallError

COMMANDS = {
    "count": "Count parameters, layer by layer.",
    "answer": "Judge a count, and find the mistake behind a wrong one.",
    "check": "Check that specs keep their expect and budget.",
    "compare": "Compare RNN, GRU, LSTM and dense, or several specs.",
    "explain": "Derive the count step by step.",
    "run": "Run a forward pass that confirms shapes, weights and work.",
    "schema": "Print the JSON Schema of a spec, for editors.",
    "solve": "Find the size, written ?, that meets a budget.",
}
"""The commands as the help lists them, each with the first line of its own help; the first is meant where none is."""

DEFAULT = next(iter(COMMANDS))


def show_help(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the help."""
    if asked:
        click.echo(context.get_help())
        context.exit()


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version."""
    if asked:
        click.echo(f"rnncalc {__version__}")
        context.exit()


HELP_FLAG = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_help,
    help="Show this message and exit.",
)
"""In place of click's own, for which it would look up a translation at every start."""


class Commands(click.Group):
    """The commands of the table; a call that starts with none of them, nor with a flag of the group, is the default."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"rnncalc.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return HELP_FLAG

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {flag for parameter in self.get_params(ctx) for flag in parameter.opts}
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(f"{name}*" if name == DEFAULT else name, text) for name, text in COMMANDS.items()])


OVERRIDABLE = "format_"
"""The one flag of which the last counts: a script that calls for a format puts its own behind those of its user."""


class Command(click.Command):
    """A command of the table."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return HELP_FLAG

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self.refuse_repeated(args)
        return super().parse_args(ctx, self.spelled_out(args))

    def refuse_repeated(self, args: list[str]) -> None:
        """Refuse a flag of one value that is given twice: click would take the last, as if the first were not there."""
        options = {flag: option for option in self.params if isinstance(option, click.Option) for flag in option.opts}
        seen: set[str | None] = set()
        rest = iter(args)
        for arg in rest:
            if arg == "--":
                return
            flag, equals, _ = arg.partition("=") if arg.startswith("--") else (arg[:2], arg[2:], "")
            option = options.get(flag)
            if option is None or option.is_flag:
                continue
            if not equals:
                next(rest, "")
            if option.multiple or option.name == OVERRIDABLE:
                continue
            if option.name in seen:
                raise CallError(f"{option.opts[-1]}: given twice; give it once")
            seen.add(option.name)

    def spelled_out(self, args: list[str]) -> list[str]:
        """Return the arguments with each short flag as its long one.

        click looks for a short flag among the long ones first, and guesses what may have been meant by it: 2 ms.
        """
        options = {flag: option for option in self.params if isinstance(option, click.Option) for flag in option.opts}
        spelled, rest = [], iter(args[:-1])  # the last may lack its value, and is then complained of as it was typed
        for arg in rest:
            option = options.get(arg)
            spelled.append(option.opts[-1] if option else arg)
            if arg == "--":
                spelled += rest
            elif option and not option.is_flag:
                spelled += islice(rest, 1)
        return [*spelled, *args[-1:]]


@click.group(cls=Commands)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Count the parameters of recurrent networks, exactly and without a framework.

    rnncalc SPEC is rnncalc count SPEC.
    """
