"""The table of commands, the group that imports a command when it is called, and what runs a call.

A new command is a file in this room and a line in the table. The file and the click command in it have the command's
name. Nothing here imports a command: a call would then build the options of all commands.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from rnncalc import __version__
from rnncalc.cli.flags import GOES_WITH, OF_NETWORK, WordOption, destination, flag_of
from rnncalc.cli.output import discard_unwritten, make_encodable, note, tell, write_text
from rnncalc.errors import CallError, Cure, DeclarationError, Problem, RefusedError, SpecError, exception_text
from rnncalc.files import forget_inputs
from rnncalc.printable import escape
from rnncalc.words import one_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "count": ("Count", "Count parameters, layer by layer."),
    "compare": ("Count", "Compare RNN, GRU, LSTM and dense, or several specs."),
    "solve": ("Count", "Find the size, written ?, that meets a budget."),
    "draw": ("Count", "Draw a network: unrolled, a cell, or its growth."),
    "explain": ("Learn", "Derive the count step by step."),
    "answer": ("Learn", "Judge a count, shapes or values, and find a wrong one's mistake."),
    "exercise": ("Learn", "Write exercises on a network, with answers and mistakes."),
    "run": ("Learn", "Run a forward pass that confirms shapes, weights and work."),
    "check": ("Code", "Check that specs keep their expect and budget."),
    "read": ("Code", "List the tensors of a model file, and draft its spec."),
    "export": ("Code", "Write the network as source code for a framework."),
    "convert": ("Code", "Convert a network's weights to another framework."),
    "schema": ("Code", "Print the JSON Schema of a spec, for editors."),
    "completion": ("Help", "Print a shell's completion script."),
    "help": ("Help", "Explain layers, network, conventions, notations or formats."),
}
"""The commands by name, each with its group and the first line of its own help; the first is the default command."""

DEFAULT = next(iter(COMMANDS))

NO_COMMAND = "rnncalc.no_command"
"""The context key of the call's first word, if that may be a misspelled command."""

SEVERAL = "rnncalc.several"
"""The context key of a call that reads a model of several networks, where a flag sets no steps."""


def show_help(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the help; refuse if its exit code 0 could be mistaken for a result."""
    if asked:
        if isinstance(context.command, Command) and context.command.help_alone and len(context.obj) > 1:
            raise click.UsageError("the help is asked for alone", context)
        typed: list[str] = context.obj or []
        if "-h" in typed[:-1] and typed[typed.index("-h") + 1].isdecimal():
            from rnncalc.cli.typed import call_meant

            if call := call_meant(context):
                see = f"(see {context.command_path} --help)"
                raise CallError(f"-h is short for --help; for units {call} {see}")
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
"""Used instead of click's own, whose exit code 0 could be mistaken for a result."""


class Commands(click.Group):
    """The commands of the table; a call that starts with neither a command nor a flag of the group runs the default."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: Command = getattr(import_module(f"rnncalc.cli.{cmd_name}"), cmd_name)
        return command

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return HELP_FLAG

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        group_flags = {flag for parameter in self.get_params(ctx) for flag in parameter.opts}
        if args and args[0] not in COMMANDS and args[0] not in group_flags:
            ctx.meta[NO_COMMAND] = args[0]
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        default = self.get_command(ctx, DEFAULT)
        completions = super().shell_complete(ctx, incomplete)
        if default and incomplete.startswith("-"):
            return [*completions, *default.shell_complete(ctx, incomplete)]
        return [CompletionItem(incomplete, type="file"), *completions]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for group in dict.fromkeys(heading for heading, _ in COMMANDS.values()):
            with formatter.section(group):
                lines = [(f"{name:{width}}", text) for name, (heading, text) in COMMANDS.items() if heading == group]
                formatter.write_dl(lines)


class Command(click.Command):
    """A command of the table.

    examples: calls that its help shows. help_alone: whether `--help` with other words is refused, because exit code 0
    is a result.
    """

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), help_alone: bool = False, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples
        self.help_alone = help_alone

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return HELP_FLAG

    def make_parser(self, ctx: click.Context) -> Any:
        """Return click's parser with short flags among the long ones: else it first looks for words like each of them.

        That takes as long as ten layers to count: https://github.com/pallets/click, `_process_opts`.
        """
        parser: Any = super().make_parser(ctx)
        parser._long_opt |= parser._short_opt  # noqa: SLF001
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = args
        flags = {name: each for each in self.get_params(ctx) if isinstance(each, click.Option) for name in each.opts}
        words = args[: args.index("--")] if "--" in args else args
        if answer := next((word for word in words if word.startswith("- ")), None):  # click reads it as flags
            raise click.UsageError(f"write -- before '{escape(answer, 40)}', which begins with a dash", ctx)
        for word, value in pairwise(words):
            if word in flags and value in flags and not flags[word].is_flag:  # -i -l lstm:5
                raise click.BadOptionUsage(word, f"Option '{word}' requires an argument.", ctx)
        *_, order = self.make_parser(ctx).parse_args([*args])  # click empties the list
        options = [each for each in order if isinstance(each, click.Option)]
        typed = {name for each in options for name in each.opts}
        for option in dict.fromkeys(options):
            flag, often = option.opts[-1], option.multiple or option.is_flag or option.name == "format_"
            if options.count(option) > 1 and not often:  # click would use the last
                note(Problem((), "is given twice; remove one", flag))
            others = [each for each in GOES_WITH.get(flag, ()) if flags.keys() >= {*each.split()}]
            if others and not any(typed >= {*each.split()} for each in others):
                from rnncalc.cli.beside import JOINED, REPORTS  # needed for a call that is refused alone

                tables, joined = {*map(flag_of, REPORTS)} & {*typed, *others}, {*map(flag_of, JOINED)}
                clash = typed & tables and tables.issuperset(others) and not tables <= joined
                add = "" if clash else f"add {'it' if len(others) == 1 else 'one'}, or "
                note(Problem((), f"needs {one_of(others)}; {add}remove {flag}", flag))
        rest = super().parse_args(ctx, [*args])
        if "format_" in ctx.params:
            ctx.params["destination"] = destination(ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own flags in full, and one line that names those of a network and their topics."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        of_network = [option for option in options if option.name in OF_NETWORK]
        others = [option for option in options if option not in of_network]
        write_flags(formatter, ctx, "Options", others)
        if of_network:
            metavars = ("" if each.is_flag else f" {(each.metavar or '').partition('[')[0]}" for each in of_network)
            named = (f"{each.opts[0]}{metavar}" for each, metavar in zip(of_network, metavars, strict=True))
            with formatter.section("Network (see rnncalc help network, layers, conventions)"):
                formatter.write_text(" ".join(named))
        write_allowed_values(formatter, others)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            write_examples(formatter, self.examples)


def command(*examples: str, **settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Return the decorator of a command of the table. examples: calls that its help shows."""
    return click.command(cls=Command, examples=examples, **settings)


def write_flags(
    formatter: click.HelpFormatter, context: click.Context, title: str, options: list[click.Option]
) -> None:
    """Write the help of some flags."""
    with formatter.section(title):
        formatter.write_dl([record for option in options if (record := option.get_help_record(context))])


def write_allowed_values(formatter: click.HelpFormatter, options: list[click.Option]) -> None:
    """Write the allowed values of some flags, without breaking a word."""
    from textwrap import wrap  # only help needs it

    flags = [option for option in options if isinstance(option, WordOption)]
    if flags:
        with formatter.section("Allowed values"):
            for flag in flags:
                lines = wrap(", ".join(flag.words()), 64, break_on_hyphens=False)
                values = f"\n{'':{formatter.current_indent + 14}}".join(lines)
                formatter.write(f"{'':{formatter.current_indent}}{flag.opts[-1]:<14}{values}\n")


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


COMPLETE = "_RNNCALC_COMPLETE"
"""The environment variable that a shell's completion script sets for a call."""

# Run one call: every error becomes a message on standard error and an exit code

FLAGS = {
    Cure.STEPS: "give steps, or -T",
    Cure.FEWER_STEPS: "lower the number of steps with -T",
    Cure.MORE_MULTIPLY_ADDS: "raise --max-multiply-adds",
    Cure.ONLY_RUN: "write --states, which shows only the results",
    Cure.VARIANT_COLUMN: "name the column of the variants with --variant",
    Cure.ANSWER_COLUMN: "name it with --answer, by its title or number, or several in order",
    Cure.ANOTHER_SIZE: "write a number for it, and ? for a width, such as the units of a layer",
}
"""Cures of refusals, written with the command's flags."""


def run_call(args: list[str]) -> int:
    """Run a call and return its exit code."""
    make_encodable()
    forget_inputs()
    try:
        if asked := os.environ.get(COMPLETE):
            from click.shell_completion import shell_complete

            return shell_complete(cli, {}, "rnncalc", COMPLETE, asked)
        with cli.make_context("rnncalc", args or ["--help"]) as context:
            code = _invoke(context, args)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (CallError, DeclarationError) as error:
        tell(f"rnncalc: {error}")
    except RefusedError as error:
        flags = {cure: words for cure, words in FLAGS.items() if not (SEVERAL in context.meta and "-T" in words)}
        tell(f"rnncalc: {error.with_cures(flags)}")
    except SpecError as error:
        tell(*map(str, error.problems))
    except click.UsageError as error:
        message = _shorten(error.format_message())
        if isinstance(error, click.NoSuchOption) and error.ctx:
            from rnncalc.cli.unknown_flag import unknown_flag_message

            message = unknown_flag_message(error.option_name, error.ctx, cli)
        command = error.ctx.command_path if error.ctx else f"rnncalc {args[0] if args[0] in COMMANDS else DEFAULT}"
        tell(f"rnncalc: {message} (see {command} --help)")
    except click.ClickException as error:
        tell(f"rnncalc: {_shorten(error.format_message())}")
    except OSError as error:
        discard_unwritten(sys.stdout)
        tell(f"rnncalc: cannot write the answer: {(error.strerror or 'standard output is closed').lower()}")
    else:
        return code if isinstance(code, int) else 0
    return 2


def _invoke(context: click.Context, args: list[str]) -> object:
    """Run the command; turn an exception that no command should raise into a line that names its file and line.

    Python's development mode, `python -X dev`, shows the traceback instead.
    """
    try:
        return cli.invoke(context)
    except CallError as error:  # on an argument, `ask: ...`: the command's flag of that name is --ask
        command = cli.get_command(context, context.invoked_subcommand or "")
        flags = {flag for option in command.params for flag in option.opts} if command else set()
        key, colon, message = str(error).partition(": ")
        typed = any(re.match(rf"\s*{re.escape(key)}\b", word) for word in args)  # output=(1,2) is an answer
        named = flag_of(key) in flags and not typed
        raise CallError(f"{flag_of(key)}{colon}{message}" if named else str(error)) from error
    except (click.ClickException, click.exceptions.Exit, RefusedError, SpecError, DeclarationError):
        raise
    except (OSError, MemoryError):
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        name = context.invoked_subcommand
        file = getattr(sys.modules.get(f"rnncalc.cli.{name}"), "__file__", None)
        raise DeclarationError(f"{name}: {exception_text(error, file)}") from error


def _shorten(message: str) -> str:
    """Return a message with long words, which the call may have typed, shortened, and the whole limited in length."""
    words = re.sub(r"\s*\n\s*", " ", message)  # click lists the choices of a missing argument on lines of their own
    return escape(re.sub(r"\S{81,}", lambda word: escape(word[0]), words), limit=500)
