"""Where a call's networks come from: spec files, standard input, or flags. Knows nothing of what is asked of them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.spec import MAX_BYTES, Spec, Template, contents, flags_template, from_flags, parse, parse_template
from rnncalc.text import did_you_mean, escape, one_of


def read_specs(
    specs: Sequence[str],
    commands: Collection[str],
    *,
    input: str | None,
    layers: tuple[str, ...],
    output: str | None,
    **others: str | None,
) -> list[Spec]:
    """Return what the specs, or the flags, describe; a missing file may be one of the `commands`, misspelled.

    Raises SpecError with the problems of all of them, CallError when nothing, or both, is given.
    """
    in_flags = [flag for flag, given in (("-i", input), ("-l", layers), ("-o", output)) if given]
    if specs and in_flags:
        message = f"{one_of(in_flags)} describes a network, and so does '{escape(specs[0])}': give one of them"
        raise CallError(message)
    if not specs:
        if not in_flags:
            raise CallError("no network: give a SPEC file, or flags such as -i 4 -l rnn:3 -o 1")
        return [from_flags(input, layers, output, **others)]
    found: list[Spec] = []
    problems: list[Problem] = []
    for spec in specs:
        try:
            data, source = read_file(spec, commands)
            found.append(parse(data, source, **others))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(tuple(problems))
    return found


def read_template(
    specs: Sequence[str],
    *,
    input: str | None,
    layers: tuple[str, ...],
    output: str | None,
    **others: str | None,
) -> Template:
    """Return what one spec, or the flags, say, sizes written `?` left open. Raises as `read_specs` does."""
    in_flags = input or layers or output
    if len(specs) + bool(in_flags) != 1:
        raise CallError("expected one network: a SPEC file, or flags such as -i 4 -l rnn:? -o 1")
    if specs:
        data, source = read_file(specs[0])
        return parse_template(data, source, **others)
    return flags_template(input, layers, output, **others)


def read_file(path: str, commands: Collection[str] = (), *, most: int = MAX_BYTES) -> tuple[bytes, str]:
    """Return the bytes of a file, or of standard input, and how problems name it. Raises SpecError if none.

    Of more bytes than `most`, one more is read: enough to know that there are too many.
    """
    if path != "-":
        try:
            return contents(path, most), path
        except OSError as error:
            raise SpecError((Problem((), _unreadable(path, error, commands), f"'{escape(path)}'"),)) from None
        except ValueError:  # a zero byte in the name
            raise SpecError((Problem((), "no such file", f"'{escape(path)}'"),)) from None
    if sys.stdin is None or sys.stdin.closed or not (data := sys.stdin.buffer.read(most + 1)):
        raise SpecError((Problem((), "standard input is empty; give it one spec, once", "-"),))
    return data, "stdin"


def _unreadable(path: str, error: OSError, commands: Collection[str]) -> str:
    """Return why a file cannot be read, with a hint where a command was misspelled."""
    if isinstance(error, FileNotFoundError):
        return f"no such file{did_you_mean(path, list(commands)).replace('mean', 'mean the command')}"
    return (error.strerror or str(error)).lower()
