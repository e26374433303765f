"""The door: one small function a command. Reads the call, asks the question, has the answer written.

No arithmetic and no formatting here. Imports inside a function are what that command alone uses.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click_default_group import DefaultGroup

from rnncalc import __version__
from rnncalc.errors import Fault, Problem, SpecError, did_you_mean, one_of, shown

if TYPE_CHECKING:
    from rnncalc.model.network import Network

FORMATS = ("table", "json", "csv", "markdown")
HELP = {"help_option_names": ["-h", "--help"]}
NETWORK_FLAGS = (
    click.option("-i", "--input", metavar="N", help="Features per time step, or the vocabulary of an embedding."),
    click.option(
        "-l",
        "--layer",
        "layers",
        multiple=True,
        metavar="KIND:UNITS[,OPTION[=VALUE]]...",
        help="A layer, in order; may be repeated. Example: -l lstm:512,bidirectional,projection=128.",
    ),
    click.option("-o", "--output", metavar="N", help="Units of the dense output layer."),
    click.option("-T", "--steps", metavar="N", help="Length of the sequence."),
    click.option("--topology", metavar="NAME", help="one-to-one, one-to-many, many-to-one or many-to-many."),
    click.option("-c", "--convention", metavar="NAME", help="Whose tensors to count; textbook by default."),
)


def network_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Add the flags that describe a network, or override a spec's own values."""
    for flag in reversed(NETWORK_FLAGS):
        command = flag(command)
    return command


def format_flag(formats: Sequence[str] = FORMATS) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add `--format`."""
    return click.option(
        "-f",
        "--format",
        "format_",
        type=click.Choice(formats),
        default="table",
        show_default=True,
        help="Output format.",
    )


@click.group(cls=DefaultGroup, default="count", context_settings=HELP, no_args_is_help=False)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda *call: show_version(*call),
    help="Show the version and exit.",
)
def cli() -> None:
    """Count the parameters of recurrent networks, exactly and without a framework.

    rnncalc SPEC is rnncalc count SPEC.
    """


@click.command(context_settings=HELP)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@network_flags
@click.option("--tensors", is_flag=True, help="Add a row for each tensor.")
@click.option("--cost", is_flag=True, help="Add multiply-adds and bytes.")
@click.option("--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes.")
@format_flag()
def count(specs: tuple[str, ...], tensors: bool, cost: bool, dtype: str, format_: str, **flags: Any) -> None:
    """Count parameters, layer by layer.

    SPEC is a YAML file, or - for standard input; without one, the flags describe the network.
    """
    from rnncalc.questions.count import DTYPES, Count

    check_word("--dtype", dtype, tuple(DTYPES))
    write([Count(network, dtype, tensors, cost) for network in networks(specs, **flags)], format_)


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the version; click's own option for it would look up a translation at every start."""
    if asked:
        click.echo(f"rnncalc {__version__}")
        context.exit()


cli.add_command(count)


def networks(
    specs: Sequence[str], *, input: str | None, layers: tuple[str, ...], output: str | None, **others: str | None
) -> list[Network]:
    """Return the networks of the specs, or the one in flags. Raises SpecError with the problems of all of them."""
    from rnncalc.spec import from_flags, load, parse

    in_flags = [flag for flag, given in (("-i", input), ("-l", layers), ("-o", output)) if given]
    if specs and in_flags:
        raise click.ClickException(
            f"{one_of(in_flags)} describes a network, and so does {shown(specs[0])}: give one of them"
        )
    if not specs:
        if not in_flags:
            raise click.ClickException("no network: give a SPEC file, or flags such as -i 4 -l rnn:3 -o 1")
        return [from_flags(input, layers, output, **others)]
    found: list[Network] = []
    problems: list[Problem | Fault] = []
    for spec in specs:
        try:
            if spec == "-":
                found.append(parse(sys.stdin.buffer.read(), "stdin", "stdin", **others))
            else:
                found.append(load(spec, **others))
        except SpecError as error:
            problems += error.problems
        except OSError as error:
            raise click.ClickException(f"{shown(spec)}: {unreadable(spec, error)}") from None
    if problems:
        raise SpecError(tuple(problems))
    return found


def unreadable(spec: str, error: OSError) -> str:
    """Return why a file cannot be read, with a hint where a command was misspelled."""
    if isinstance(error, FileNotFoundError):
        return f"no such file, and no such command{did_you_mean(spec, list(cli.commands))}"
    return (error.strerror or str(error)).lower()


def check_word(flag: str, word: str, known: tuple[str, ...]) -> None:
    """Refuse a word that the flag does not know."""
    if word not in known:
        raise click.ClickException(f"{flag}: expected {one_of(known)}, got {shown(word)!r}{did_you_mean(word, known)}")


def write(reports: Sequence[Any], format_: str) -> None:
    """Write the reports to standard output, as much of them as its reader wants."""
    from rnncalc.reports import write

    try:
        write(reports, format_, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # head has seen enough; what is left unwritten must not fail as the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line: answers to standard output, everything else to standard error, an exit code at the end."""
    gc.disable()  # one short call leaves no cycles worth looking for: that would cost a tenth of its time
    code = run(sys.argv[1:] if args is None else args)
    gc.freeze()  # nor need the interpreter look for any as it ends
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run one call and return its exit code: 0 fine, 1 the answer is no, 2 the input is wrong."""
    be_encodable()
    try:
        code = cli.main(args or ["--help"], prog_name="rnncalc", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SpecError as error:
        complain(*map(str, error.problems))
    except click.ClickException as error:
        complain(f"rnncalc: {error.format_message()}{hint(error)}")
    except (KeyboardInterrupt, click.Abort):
        complain("rnncalc: interrupted")
        return 130
    return 2


def hint(error: click.ClickException) -> str:
    """Return where to read on after a call that click itself refused."""
    context = getattr(error, "ctx", None)
    return (
        f" (see {context.command_path if context else 'rnncalc'} --help)" if isinstance(error, click.UsageError) else ""
    )


def complain(*lines: str) -> None:
    """Write lines to standard error."""
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def be_encodable() -> None:
    """Let output pass where the terminal's encoding lacks our few symbols: they become plain ones, others `?`."""
    if sys.stdout.encoding.lower().replace("-", "") != "utf8":
        import codecs

        plain = {"→": "->", "×": "x", "·": "*", "–": "-", "…": "...", "─": "-", "✓": "ok", "✗": "no"}

        def replace(error: UnicodeError) -> tuple[str, int]:
            assert isinstance(error, UnicodeEncodeError)
            return "".join(plain.get(char, "?") for char in error.object[error.start : error.end]), error.end

        codecs.register_error("rnncalc", replace)
        sys.stdout.reconfigure(errors="rnncalc")  # type: ignore[union-attr]
        sys.stderr.reconfigure(errors="rnncalc")  # type: ignore[union-attr]
