"""The flags that several commands share, and how their words are checked. Knows no command.

Each is a decorator, so that its option is built when the command that bears it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict

import click

from rnncalc.cli.problems import note
from rnncalc.errors import Problem
from rnncalc.formats import offered
from rnncalc.reports.report import Report

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
        help="Where it reads and hands on; many-to-one by default.",
    ),
    click.option(
        "-c",
        "--convention",
        cls=WordOption,
        words=_conventions,
        checked=False,
        metavar="NAME",
        help="Whose tensors to count; textbook by default.",
    ),
)
"""What may be said of a network in flags, or stand in place of a spec's own."""

_input_flag = click.option(
    "-i", "--input", metavar="N", help="Features per time step, or the vocabulary of an embedding."
)
_layer_flag = click.option(
    "-l",
    "--layer",
    "layers",
    multiple=True,
    metavar="KIND:UNITS[,OPTION[=VALUE]]...",
    help="A layer, in order; may be repeated. The kinds and their options stand below.",
    shell_complete=_layers,
)


def _output_flag(*flags: str) -> Decorator:
    return click.option(*flags, metavar="N[,OPTION[=VALUE]]...", help="Units of the dense output layer.")


_feedback_flag = click.option(
    "--feedback",
    is_flag=True,
    flag_value="true",
    default=None,
    help="In one-to-many, read each output as the next input; else zeros follow.",
)

network_flags = together(_input_flag, _layer_flag, _output_flag("-o", "--output"), override_flags, _feedback_flag)
"""A network in flags: those of NetworkFlags."""

network_flags_and_file = together(
    _input_flag,
    _layer_flag,
    _output_flag("--output"),
    override_flags,
    _feedback_flag,
    click.option(
        "-o", "--out", metavar="FILE", shell_complete=files, help="Write to this file, at once or not at all."
    ),
)
"""The same for a command that writes a file: `-o` names that."""

dtype_flag = click.option(
    "--dtype",
    cls=WordOption,
    words=_dtypes,
    default="float32",
    show_default=True,
    metavar="NAME",
    help="Type of a parameter, for bytes.",
)


def format_flag(*reports: type[Report], default: str = "") -> Decorator:
    """Return `--format`, with the formats that can write these kinds of report; by default the first of them."""
    formats = offered(*reports)
    return click.option(
        "-f",
        "--format",
        "format_",
        cls=WordOption,
        words=lambda: formats,
        default=default or formats[0],
        show_default=True,
        metavar="NAME",
        help="Output format.",
    )


def _unknown(flag: str, word: str, known: tuple[str, ...]) -> Problem:
    from rnncalc.spec.aliases import expected_word  # no call pays for other programs' words but one that uses them

    return Problem((), expected_word(word, known), flag)
