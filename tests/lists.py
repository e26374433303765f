"""Lists of what is registered, in the lines that cases expect: `{kinds}`, `{formats of draw}` and their like."""

import re
from collections.abc import Iterable

import click

from rnncalc.cli.commands import COMMANDS, cli
from rnncalc.cli.help import TOPICS
from rnncalc.conventions import CONVENTIONS, NOTATIONS
from rnncalc.formats import FORMATS
from rnncalc.layers import KINDS, kind
from rnncalc.layers.options import ACTIVATIONS
from rnncalc.programs import SPELLINGS
from rnncalc.words import all_of, one_of

LISTS: dict[str, Iterable[str]] = {
    "activations": ACTIVATIONS,
    "cells": [name for name in KINDS if "bidirectional" in kind(name).options()],
    "commands": COMMANDS,
    "conventions": CONVENTIONS,
    "kinds": KINDS,
    "notations": NOTATIONS,
    "targets": SPELLINGS,
    "topics": TOPICS,
}


def commands_with(flag: str) -> list[str]:
    """Return the commands that have a flag."""
    found = {name: cli.get_command(click.Context(cli), name) for name in COMMANDS}
    return [name for name, each in found.items() if each and any(flag in option.opts for option in each.params)]


def formats_of(command: str) -> list[str]:
    """Return the formats that a command offers."""
    found = cli.get_command(click.Context(cli), command)
    (words,) = [getattr(option, "words", list) for option in found.params if "--format" in option.opts] if found else []
    return [*words()]


def listed(text: str) -> str:
    """Return a text with `a, b or c` for each list that it names in braces."""
    for name, words in LISTS.items():
        text = text.replace(f"{{{name}}}", one_of([*words]))
    text = re.sub(r"\{formats of (\w+)\}", lambda found: one_of(formats_of(found[1])), text)
    text = re.sub(r"\{commands with (\S+)\}", lambda found: all_of(commands_with(found[1])), text)
    suffixes = lambda found: one_of([*dict.fromkeys(FORMATS[name].suffix for name in formats_of(found[1]))])  # noqa: E731
    return re.sub(r"\{suffixes of (\w+)\}", suffixes, text)
