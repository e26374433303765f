"""What commands there are: the one table of them, and the group that imports a command when it is called.

A new command is a file in this room, named as the command is and with a click command of that name in it, and its line
in the table. Nothing here imports a command: each would have to build its options for the calls of all others.
"""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from rnncalc import __version__
from rnncalc.cli.output import write_text
from rnncalc.cli.problems import note
from rnncalc.errors import Problem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "count": ("Count", "Count parameters, layer by layer."),
    "compare": ("Count", "Compare RNN, GRU, LSTM and dense, or several specs."),
    "solve": ("Count", "Find the size, written ?, that meets a budget."),
    "draw": ("Count", "Draw a network: unrolled, a cell, or its growth."),
    "explain": ("Learn", "Derive the count step by step."),
    "answer": ("Learn", "Judge a count, and find the mistake behind a wrong one."),
    "run": ("Learn", "Run a forward pass that confirms shapes, weights and work."),
    "check": ("Code", "Check that specs keep their expect and budget."),
    "read": ("Code", "List the tensors of a model file, and draft its spec."),
    "export": ("Code", "Write the network as source code for a framework."),
    "schema": ("Code", "Print the JSON Schema of a spec, for editors."),
    "help": ("Help", "Explain layers, network, conventions, notations or formats."),
}
"""The commands by name, each with its group and the first line of its own help; the first is the default command."""

DEFAULT = next(iter(COMMANDS))

NO_COMMAND = "rnncalc.no_command"
"""Where a call keeps its first word if it is no command, though one could stand there."""


def show_help(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the help; refuse to where it would pass for the answer to something else."""
    if asked:
        if isinstance(context.command, Command) and context.command.help_alone and len(context.obj) > 1:
            raise click.UsageError("the help is asked for alone", context)
        write_text(f"{context.get_help()}\n")
        context.exit()


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version."""
    if asked:
        write_text(f"rnncalc {__version__}\n")
        context.exit()


HELP_FLAG = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_help,
    help="Show this message and exit.",
)
"""Instead of click's own, for which it would look up a translation at every start."""


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
            ctx.meta[NO_COMMAND] = args[0]
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        default = self.get_command(ctx, DEFAULT)
        own = super().shell_complete(ctx, incomplete)
        if default and incomplete.startswith("-"):
            return [*own, *default.shell_complete(ctx, incomplete)]
        return [CompletionItem(incomplete, type="file"), *own]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for group in dict.fromkeys(group for group, _ in COMMANDS.values()):
            with formatter.section(group):
                lines = [(f"{name:{width}}", text) for name, (of, text) in COMMANDS.items() if of == group]
                formatter.write_dl(lines)


class Command(click.Command):
    """A command of the table.

    examples: calls that its help shows. help_alone: whether `--help` beside anything else is a mistake, as it is where
    the exit code 0 is an answer.
    """

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), help_alone: bool = False, **given: Any) -> None:
        super().__init__(*args, **given)
        self.examples = examples
        self.help_alone = help_alone

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return HELP_FLAG

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = args
        rest = super().parse_args(ctx, self.spelled_out(args))
        if "format_" in ctx.params:
            from rnncalc.cli.flags import destination

            ctx.params["destination"] = destination(ctx)
        return rest

    def make_parser(self, ctx: click.Context) -> Any:
        """Return click's parser, which notes what is given twice: click itself would take the last."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def noting(args: list[str]) -> Any:
            values, rest, order = parse(args)
            given = [each for each in order if isinstance(each, click.Option) and not (each.multiple or each.is_flag)]
            for option in dict.fromkeys(given):
                if given.count(option) > 1 and option.name != "format_":  # how it is written changes no answer
                    note(Problem((), "stands here a second time; remove one", option.opts[-1]))
            return values, rest, order

        vars(parser)["parse_args"] = noting
        return parser

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags: those of the command in full, those of a network in a line that points to the topics."""
        from rnncalc.cli.flags import NetworkFlags

        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        of_network = [option for option in options if option.name in NetworkFlags.__annotations__]
        own = [option for option in options if option not in of_network]
        write_flags(formatter, ctx, "Options", own)
        if of_network:
            with formatter.section("Network (see rnncalc help network, layers, conventions)"):
                formatter.write_text(" ".join(map(_short, of_network)))
        write_allowed_values(formatter, own)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            write_examples(formatter, self.examples)

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


def _short(option: click.Option) -> str:
    """Return `-l KIND:UNITS`, without the options of a layer."""
    metavar = "" if option.is_flag else f" {(option.metavar or '').partition('[')[0]}"
    return f"{option.opts[0]}{metavar}"


def write_flags(
    formatter: click.HelpFormatter, context: click.Context, title: str, options: list[click.Option]
) -> None:
    """Write what each of some flags does."""
    with formatter.section(title):
        formatter.write_dl([record for option in options if (record := option.get_help_record(context))])


def write_allowed_values(formatter: click.HelpFormatter, options: list[click.Option]) -> None:
    """Write the words that each of some flags may have, unbroken."""
    from rnncalc.cli.flags import WordOption

    flags = [option for option in options if isinstance(option, WordOption)]
    if flags:
        with formatter.section("Allowed values"):
            for flag in flags:
                formatter.write(f"{'':{formatter.current_indent}}{flag.opts[-1]:<14}{', '.join(flag.words())}\n")


def write_examples(formatter: click.HelpFormatter, examples: tuple[str, ...]) -> None:
    """Write the examples, each on a line of its own that can be copied."""
    with formatter.section("Examples" if len(examples) > 1 else "Example"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{example}\n")


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
