"""The flags that several commands share, and the checks of their values. Knows no command.

Each is a decorator, so that its option is built when its command is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import click

from rnncalc.cli.output import Destination, check_suffix, note
from rnncalc.errors import CallError, Problem
from rnncalc.formats import FORMATS, offered
from rnncalc.printable import escape
from rnncalc.records import imported
from rnncalc.reports.report import Report
from rnncalc.words import one_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


class NetworkFlags(TypedDict):
    """The values of the network flags as typed; None, or no layers, if a flag was not given."""

    input: str | None
    layers: tuple[str, ...]
    output: str | None
    steps: str | None
    topology: str | None
    feedback: str | None
    convention: str | None
    notation: NotRequired[str | None]
    letters: NotRequired[Any]
    sizes: NotRequired[tuple[str, ...]]
    dtype: NotRequired[str | None]


OF_NETWORK = {*NetworkFlags.__annotations__} - {"dtype"}
"""The names of the flags that describe a network, or how it is written."""


GOES_WITH: dict[str, tuple[str, ...]] = {
    "--batch": ("--training", "--operations", "--shapes", "--counters", "--stream", "--quantize"),
    "--sequences": ("--training",),
    "--chunk": ("--training", "--backward"),
    "--optimizer": ("--training",),
    "--time-first": ("--shapes",),
    "--rate": ("--stream",),
    "--loss": ("--training", "--backward"),
    "--targets": ("--backward",),
    "--digits": ("--work",),
    "--notation": ("--work",),
    "--letters": ("--work", "--states", "--weights"),
    "--learning-rate": ("--work --backward",),
    "--tensors": ("--model",),
    "--max-growth": ("--baseline",),
    "--name": ("--from",),
    "--answer": ("--from",),
    "--variant": ("--from",),
    "--points": ("--from",),
}
"""The flags that say nothing without another one, of those that the command has; a blank is between two needed."""


def flag_of(key: str) -> str:
    """Return how a flag is written."""
    return f"--{key.replace('_', '-')}"


def together(*decorators: Decorator) -> Decorator:
    """Return several flags as one decorator, the first on top."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def completions(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the words that a shell may complete a word to."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


class WordOption(click.Option):
    """A flag with a list of allowed values: its help lists them, and shells complete them.

    The list is imported only when it is needed, to keep the start fast. An invalid value is noted, to be reported with
    the other problems of the call; the default is used until then. parts: values that names may follow, after a colon.
    needed: whether a call without the flag is refused.
    """

    def __init__(
        self,
        *args: Any,
        words: Callable[[], Iterable[str]],
        checked: bool = True,
        parts: Collection[str] = (),
        needed: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings, callback=self.known if checked else None)
        self.words, self.parts, self.needed = words, parts, needed

    def known(self, _: click.Context, __: click.Parameter, word: str | None) -> Any:
        """Return the value; if it is invalid, note the problem and return the default."""
        if word is None and self.needed:
            note(Problem((), f"missing; give {one_of(tuple(self.words()))}", self.opts[-1]))
        if word is None or word in (words := tuple(self.words())) or word.partition(":")[0] in self.parts:
            return word
        from rnncalc.spec.aliases import expected_word  # imported only for a call that uses other programs' words

        note(Problem((), expected_word(word, words), self.opts[-1]))
        return self.default

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return completions(self.words(), incomplete)


def word_flag(*names: str, words: str | Callable[[], Iterable[str]], **settings: Any) -> Decorator:
    """Return a WordOption. words: its list, or the list's place."""

    def listed() -> Iterable[str]:
        return tuple(imported(words)) if isinstance(words, str) else words()

    return click.option(*names, cls=WordOption, words=listed, metavar="NAME", **settings)


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def option(*names: str, help: str, metavar: str = "", **settings: Any) -> Decorator:
    """Return a flag that takes a value, or a switch if it has no metavar; a default is in its help."""
    settings |= {"metavar": metavar} if metavar else {"is_flag": True}
    return click.option(*names, help=help, show_default="default" in settings, **settings)


def file_flag(*names: str, help: str, metavar: str = "FILE") -> Decorator:
    """Return a flag whose value is the name of a file."""
    return click.option(*names, metavar=metavar, shell_complete=files, help=help)


def _layers(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rnncalc.cli.suggestions import layers

    return layers(incomplete)


def _sizes(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of named sizes, without blanks; note those without a name."""
    values = []
    for word in words:
        name, equals, value = map(str.strip, word.partition("="))
        if name and equals and value:
            values.append(f"{name}={value}")
        else:
            note(Problem((), f"expected NAME=VALUE, such as D=64, got '{escape(word)}'", "--set"))
    return tuple(values)


specs_argument = click.argument("specs", nargs=-1, metavar="[SPEC]...", shell_complete=files)

override_flags = together(
    click.option("-T", "--steps", metavar="N", help="Length of the sequence."),
    word_flag(
        "--topology",
        words="rnncalc.network.parts:TOPOLOGIES",
        checked=False,
        help="Which steps have inputs and outputs; by default many-to-one, without a recurrent layer many-to-many.",
    ),
    word_flag(
        "-c",
        "--convention",
        words="rnncalc.conventions:CONVENTIONS",
        checked=False,
        help="Framework whose parameters are counted; textbook by default.",
    ),
    click.option(
        "--set", "sizes", multiple=True, metavar="NAME=VALUE", callback=_sizes, help="Another value for a named size."
    ),
)
"""Flags of a network that may also override a spec's own values."""

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
"""All flags that describe a network, as in NetworkFlags."""

spec_flags = together(specs_argument, network_flags)
"""The specs of a call, and the flags that describe a network without one."""

notation_flag = together(
    word_flag(
        "--notation",
        words="rnncalc.conventions:NOTATIONS",
        checked=False,
        help="How parameters and shapes are written: rnncalc help notations.",
    ),
    file_flag("--letters", help="YAML of a course's letters, {h: a, W_xh: W_ax}, or a spec with notation."),
)
"""The flags of commands that show tensors or equations."""

quantize_flag = word_flag(
    "--quantize",
    words="rnncalc.questions.quantized:QUANTIZATIONS",
    help="Bytes as kernels or frameworks store integers.",
)

USUAL_DTYPE = "float32"
dtype_flag = word_flag(
    "--dtype", words="rnncalc.layers.options:DTYPES", help=f"Data type, for bytes; {USUAL_DTYPE} by default."
)


def dtype_in(flags: Mapping[str, Any]) -> str:
    """Return the type that --dtype gives, or else the usual one."""
    return flags.get("dtype") or USUAL_DTYPE


def report_flags(*reports: type[Report], default: str = "") -> Decorator:
    """Return `--format`, with the formats that can write these kinds of report, and `--out`.

    default: the format if none is named; by default the first.
    """
    return together(
        word_flag(
            "-f",
            "--format",
            "format_",
            words=lambda: offered(*reports),
            default=default or offered(*reports)[0],
            show_default=True,
            help="Output format.",
        ),
        out_flag("in the format of its suffix"),
    )


def out_flag(remark: str) -> Decorator:
    """Return `--out`, with a remark on what the file holds."""
    return file_flag("--out", help=f"Write to FILE, {remark}.")


def destination(context: click.Context) -> Destination:
    """Remove `--format` and `--out` from the parameters of a call and return the output they name.

    Notes a problem if the suffix is not a format of the command, or not the format that is named.
    """
    named, file = context.params.pop("format_"), context.params.pop("out")
    if file is None:
        return Destination(named)
    meanings: dict[str, list[str]] = {}
    flags = [option for option in context.command.params if isinstance(option, WordOption)]
    for name in next(option.words() for option in flags if option.name == "format_"):
        if suffix := FORMATS[name].suffix:
            meanings.setdefault(suffix, []).append(name)
    problem = ""
    try:
        formats = meanings[check_suffix(file, [*meanings])]
    except CallError as error:
        formats, problem = [named], str(error)
    if named not in formats:
        if context.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE:
            problem = f"--out '{escape(file)}': the suffix asks for {one_of(formats)}, -f for {named}; leave -f out"
        elif len(formats) > 1:
            problem = f"--out '{escape(file)}': the suffix may mean {one_of(formats)}; say which with -f"
        named = formats[0]
    if problem:
        note(Problem((), problem, "rnncalc"))
    return Destination(named, file)
