"""What was meant by a flag that a command has not: loaded when one is met, and by no other call."""

from __future__ import annotations

import click

from rnncalc.cli.commands import COMMANDS, cli
from rnncalc.cli.flags import WordOption
from rnncalc.layers.options import OPTIONS
from rnncalc.text import all_of, did_you_mean


def told(flag: str, command: click.Command) -> str:
    """Return what to say of a flag that a command has not."""
    return f"No such option '{flag}'{_cure(flag, command) or '.'}"


def _cure(flag: str, command: click.Command) -> str:
    """Return what to write in its place: a flag's word, a flag that is near, an option of a layer, another command."""
    word = flag.removeprefix("--").replace("_", "-")
    if word == flag or not word:
        return ""
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in options:
        if isinstance(option, WordOption) and word in option.words():
            return f"; write {option.opts[-1]} {word}"
    known = [option.opts[-1] for option in options]
    if word.replace("-", "_") in OPTIONS and "--layer" in known:
        return f"; an option of a layer stands behind it, as in -l lstm:20,{word.replace('-', '_')}"
    own = [option.opts[-1] for option in cli.params]
    bare = [each.removeprefix("--") for each in (*known, *own, "--help")]  # dashes would make all flags look alike
    near = did_you_mean(word, bare).replace("mean '", "mean '--")
    takers = [f"rnncalc {name}" for name in COMMANDS if name != command.name and _has(name, f"--{word}")]
    return f"; it is a flag of {all_of(takers)}{near.replace('; ', ', or ')}" if takers else near


def _has(name: str, flag: str) -> bool:
    command = cli.get_command(click.Context(cli), name) if isinstance(cli, click.Group) else None
    return command is not None and any(flag in option.opts for option in command.params)
