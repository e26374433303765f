"""The flags that several commands share, and how their words are checked. Knows no command.

Each is a decorator, so that its option is built when the command that bears it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import click

from rnncalc.cli.output import Destination, check_suffix
from rnncalc.cli.problems import note
from rnncalc.errors import CallError, Problem
from rnncalc.formats import FORMATS, offered
from rnncalc.reports.report import Report
from rnncalc.text import escape, one_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
Words = Callable[[], Iterable[str]]


class NetworkFlags(TypedDict):
    """What the flags of a network say, each as typed; None, or no layers, where a flag was not given."""

    input: str | None
    layers: tuple[str, ...]
    output: str | None
    steps: str | None
    topology: str | None
    feedback: str | None
    convention: str | None
    notation: NotRequired[str | None]


def together(*decorators: Decorator) -> Decorator:
    """Return several flags as one decorator, the first on top."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


class WordOption(click.Option):
    """A flag whose value is one of a few words: its help lists them, and shells complete them.

    They are asked for when they are needed, so that no start pays for where they stand. A word that is none of them is
    noted, to be told with what else is wrong; the default stands in for it.
    """

    def __init__(self, *args: Any, words: Words, checked: bool = True, **given: Any) -> None:
        super().__init__(*args, **given, callback=self.known if checked else None)
        self.words = words

    def known(self, _: click.Context, __: click.Parameter, word: str | None) -> Any:
        """Return the word, or, noting the problem, the default."""
        if word is None or word in (words := tuple(self.words())):
            return word
        note(_unknown(self.opts[-1], word, words))
        return self.default

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _layers(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rnncalc.cli.completion import layers

    return layers(incomplete)


def _conventions() -> Iterable[str]:
    from rnncalc.conventions.catalogue import CONVENTIONS

    return CONVENTIONS


def _notations() -> Iterable[str]:
    from rnncalc.conventions.catalogue import NOTATIONS

    return NOTATIONS


def _topologies() -> Iterable[str]:
    from rnncalc.network.parts import TOPOLOGIES

    return TOPOLOGIES


def _dtypes() -> Iterable[str]:
    from rnncalc.questions.count import DTYPES

    return DTYPES


specs_argument = click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=files)

override_flags = together(
    click.option("-T", "--steps", metavar="N", help="Length of the sequence."),
    click.option(
        "--topology",
        cls=WordOption,
        words=_topologies,
        checked=False,
        metavar="NAME",
        help="Which steps have inputs and outputs; many-to-one by default.",
    ),
    click.option(
        "-c",
        "--convention",
        cls=WordOption,
        words=_conventions,
        checked=False,
        metavar="NAME",
        help="Framework whose parameters are counted; textbook by default.",
    ),
)
"""What may be said of a network in flags, or replace a spec's own."""

network_flags = together(
    click.option("-i", "--input", metavar="N", help="Features per time step, or the vocabulary of an embedding."),
    click.option(
        "-l",
        "--layer",
        "layers",
        multiple=True,
        metavar="KIND:UNITS[,OPTION[=VALUE]]...",
        help="A layer; repeat it for each layer, in order. Kinds and options: rnncalc help layers.",
        shell_complete=_layers,
    ),
    click.option("-o", "--output", metavar="N[,OPTION[=VALUE]]...", help="Units of the dense output layer."),
    override_flags,
    click.option(
        "--feedback",
        is_flag=True,
        flag_value="true",
        default=None,
        help="In one-to-many, each output is the next input; without it the later inputs are zeros.",
    ),
)
"""A network in flags: those of NetworkFlags."""

notation_flag = click.option(
    "--notation",
    cls=WordOption,
    words=_notations,
    checked=False,
    metavar="NAME",
    help="How parameters and shapes are written: rnncalc help notations.",
)
"""Of a command that shows tensors or equations."""

dtype_flag = click.option(
    "--dtype",
    cls=WordOption,
    words=_dtypes,
    default="float32",
    show_default=True,
    metavar="NAME",
    help="Data type of a parameter, for bytes.",
)


def report_flags(*reports: type[Report], default: str = "") -> Decorator:
    """Return `--format`, with the formats that can write these kinds of report, and `--out`.

    default: the format where none is named; without one the first that is offered.
    """
    return together(
        click.option(
            "-f",
            "--format",
            "format_",
            cls=WordOption,
            words=lambda: offered(*reports),
            default=default or offered(*reports)[0],
            show_default=True,
            metavar="NAME",
            help="Output format.",
        ),
        out_flag("in the format of its suffix"),
    )


def out_flag(remark: str) -> Decorator:
    """Return `--out`, with a remark on what the file holds."""
    return click.option("--out", metavar="FILE", shell_complete=files, help=f"Write to FILE, {remark}.")


def destination(context: click.Context) -> Destination:
    """Take `--format` and `--out` out of the parameters of a call, and return what they say together.

    Notes the problem of a file whose suffix is no format of the command, or another than the one that is named.
    """
    named, file = context.params.pop("format_"), context.params.pop("out")
    if file is None:
        return Destination(named)
    default = context.get_parameter_source("format_") is not click.core.ParameterSource.COMMANDLINE
    flags = [option for option in context.command.params if isinstance(option, WordOption)]
    formats = next(option.words() for option in flags if option.name == "format_")
    try:
        return Destination(_format_of(file, formats, named, default=default), file)
    except CallError as error:
        note(Problem((), str(error), "rnncalc"))
        return Destination(named)


def _format_of(path: str, formats: Iterable[str], named: str, *, default: bool) -> str:
    """Return the format that the suffix of a file asks for.

    named: that of `--format`; default: whether the call leaves that out.
    """
    meanings: dict[str, list[str]] = {}
    for name in formats:
        if suffix := FORMATS[name].suffix:
            meanings.setdefault(suffix, []).append(name)
    found = meanings[check_suffix(path, [*meanings])]
    if named in found:
        return named
    if not default:
        raise CallError(f"--out '{escape(path)}': the suffix asks for {one_of(found)}, -f for {named}; leave -f out")
    if len(found) > 1:
        raise CallError(f"--out '{escape(path)}': the suffix may mean {one_of(found)}; say which with -f")
    return found[0]


def _unknown(flag: str, word: str, known: tuple[str, ...]) -> Problem:
    from rnncalc.spec.aliases import expected_word  # no call pays for other programs' words but one that uses them

    return Problem((), expected_word(word, known), flag)
