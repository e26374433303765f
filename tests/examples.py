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


def reads_specs(name: str) -> bool:
    """Return whether a command reads the specs that a call names."""
    arguments = {each.name for each in command(name).params if isinstance(each, click.Argument)}
    return bool(arguments & {"specs", "words", "paths"}) and name != "read"


def examples(name: str) -> list[list[str]]:
    """Return the examples without the program's name.

    One that reads a branch of git is left out: the checkout of a test may have no such branch.
    """
    return [shlex.split(line)[1:] for line in command(name).examples if "git:" not in line]


def make_files(folder: Path) -> None:
    """Make what the examples read in a folder, where they may write files."""
    (folder / "specs").symlink_to(ROOT / "specs")
    (folder / "class.csv").write_text("name,answer\nAda,1152\n")


def formats(name: str) -> list[str]:
    """Return the words of a command's `--format`; none if it has no such flag."""
    options = [each for each in command(name).params if isinstance(each, WordOption) and "--format" in each.opts]
    return [word for option in options for word in option.words()]
