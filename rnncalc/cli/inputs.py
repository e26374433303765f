"""Where a call's networks come from: spec files, standard input, or flags. Knows nothing of what is asked of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Unpack

from rnncalc.cli.commands import COMMANDS
from rnncalc.cli.flags import NetworkFlags
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.spec import MAX_BYTES, Spec, Template, contents, flags_template, from_flags, parse, parse_template
from rnncalc.text import did_you_mean, escape, one_of


def read_specs(specs: Sequence[str], **flags: Unpack[NetworkFlags]) -> list[Spec]:
    """Return what the specs, or the flags, describe.

    Raises SpecError with the problems of all of them, CallError when nothing, or both, is given.
    """
    in_flags = _describing(flags)
    if specs and in_flags:
        message = f"{one_of(in_flags)} describes a network, and so does '{escape(specs[0])}': give one of them"
        raise CallError(message)
    if not specs:
        if not in_flags:
            raise CallError("no network: give a SPEC file, or flags such as -i 4 -l rnn:3 -o 1")
        return [from_flags(**flags)]
    overrides = _overrides(flags)
    found: list[Spec] = []
    problems: list[Problem] = []
    for spec in specs:
        try:
            found.append(read_spec(spec, **overrides))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(tuple(problems))
    return found


def read_spec(path: str, **overrides: str | None) -> Spec:
    """Return what one spec describes, its steps, topology or convention overridden.

    Raises SpecError with every problem; a file that is missing may be a command, misspelled.
    """
    data, source = read_file(path, hint=True)
    return parse(data, source, **overrides)


def read_template(specs: Sequence[str], **flags: Unpack[NetworkFlags]) -> Template:
    """Return what one spec, or the flags, say, sizes written `?` left open. Raises as `read_specs` does."""
    if len(specs) + bool(_describing(flags)) != 1:
        raise CallError("expected one network: a SPEC file, or flags such as -i 4 -l rnn:? -o 1")
    if specs:
        data, source = read_file(specs[0])
        return parse_template(data, source, **_overrides(flags))
    return flags_template(**flags)


def _describing(flags: NetworkFlags) -> list[str]:
    """Return the flags given that describe a network of their own."""
    return [flag for flag, given in (("-i", flags["input"]), ("-l", flags["layers"]), ("-o", flags["output"])) if given]


def _overrides(flags: NetworkFlags) -> dict[str, str | None]:
    """Return what stands in place of a spec's own values."""
    return {"steps": flags["steps"], "topology": flags["topology"], "convention": flags["convention"]}


def read_file(path: str, *, hint: bool = False, most: int = MAX_BYTES) -> tuple[bytes, str]:
    """Return the bytes of a file, or of standard input, and how problems name it. Raises SpecError if none.

    Of more bytes than `most`, one more is read: enough to know that there are too many.
    hint: whether the word may have been meant for a command.
    """
    if path != "-":
        try:
            return contents(path, most), path
        except OSError as error:
            raise SpecError((Problem((), _unreadable(path, error, hint), f"'{escape(path)}'"),)) from None
        except ValueError:  # a zero byte in the name
            raise SpecError((Problem((), "no such file", f"'{escape(path)}'"),)) from None
    if sys.stdin is None or sys.stdin.closed or not (data := sys.stdin.buffer.read(most + 1)):
        raise SpecError((Problem((), "standard input is empty; give it one spec, once", "-"),))
    return data, "stdin"


def _unreadable(path: str, error: OSError, hint: bool) -> str:
    """Return why a file cannot be read, with a hint where a command was misspelled."""
    if isinstance(error, FileNotFoundError):
        meant = did_you_mean(path, [*COMMANDS]) if hint else ""
        return f"no such file{meant.replace('mean', 'mean the command')}"
    if isinstance(error, IsADirectoryError):
        return "is a folder; give a file in it, or all of it to rnncalc check"
    return (error.strerror or str(error)).lower()
