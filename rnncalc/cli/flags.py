"""The flags that several commands share, and how their words are checked. Knows no command.

Each is a decorator, so that its option is built when the command that bears it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import click

from rnncalc.errors import CallError
from rnncalc.formats import offered
from rnncalc.text import did_you_mean, escape, one_of

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


class NetworkFlags(TypedDict):
    """What the flags of a network say, each as typed; None, or no layers, where a flag was not given."""

    input: str | None
    layers: tuple[str, ...]
    output: str | None
    steps: str | None
    topology: str | None
    convention: str | None


def together(*decorators: Decorator) -> Decorator:
    """Return several flags as one decorator, the first on top."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


specs_argument = click.argument("specs", nargs=-1, metavar="[SPEC]...")

override_flags = together(
    click.option("-T", "--steps", metavar="N", help="Length of the sequence."),
    click.option("--topology", metavar="NAME", help="one-to-one, one-to-many, many-to-one or many-to-many."),
    click.option("-c", "--convention", metavar="NAME", help="Whose tensors to count; textbook by default."),
)
"""What may be said of a network in flags, or stand in place of a spec's own."""

network_flags = together(
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
    override_flags,
)
"""A network in flags: those of NetworkFlags."""

dtype_flag = click.option(
    "--dtype", default="float32", show_default=True, metavar="NAME", help="Type of a parameter, for bytes."
)


def format_flag(*reports: type) -> Decorator:
    """Return `--format`, with the formats that can write these kinds of report; the first where it is not given."""
    formats = offered(*reports)
    return click.option(
        "-f",
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Output format.",
    )


def bytes_of(dtype: str) -> int:
    """Return the bytes of a parameter of the type that `--dtype` names; refuse one that is not known."""
    from rnncalc.questions.count import DTYPES  # a flag costs nothing where nobody asks what it means

    check_word("--dtype", dtype, tuple(DTYPES))
    return DTYPES[dtype]


def check_word(flag: str, word: str, known: tuple[str, ...]) -> None:
    """Refuse a word that the flag does not know."""
    if word not in known:
        raise CallError(f"{flag}: expected {one_of(known)}, got {escape(word)!r}{did_you_mean(word, known)}")
