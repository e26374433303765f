"""The calls that each command's help shows as examples, as lists of arguments, and the formats of a command."""

import shlex
from pathlib import Path

import click

from rnncalc.cli.commands import Command, cli
from rnncalc.cli.flags import WordOption

ROOT = Path(__file__).parent.parent


def command(name: str) -> Command:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, Command)
    return command


def examples(name: str) -> list[list[str]]:
    """Return the examples without the program's name, what a shell does left out.

    One that reads a branch of git is left out too: the checkout of a test may have no such branch.
    """
    lines = [line.split(" > ")[0] for line in command(name).examples if "git:" not in line]
    return [shlex.split(line)[1:] for line in lines]


def formats(name: str) -> list[str]:
    """Return the words of a command's `--format`; none if it has no such flag."""
    options = [each for each in command(name).params if isinstance(each, WordOption) and "--format" in each.opts]
    return [word for option in options for word in option.words()]
