"""Standard output and standard error, and what can fail when they are written. Knows no command and no network."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from rnncalc.text import PLAIN, escape

MOST_OF_A_LINE = 10_000
"""The most characters of a line on standard error; longer lines are shortened."""


def tell(*lines: str) -> None:
    """Write lines to standard error with control characters escaped, in color if asked; do nothing if it is closed.

    All messages go through here, so that none can control a terminal or GitHub's runner.
    """
    if sys.stderr is None:
        return
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "dumb", "unknown")
    start, end = ("\x1b[31m", "\x1b[0m") if sys.stderr.isatty() and not plain else ("", "")
    try:
        sys.stderr.write("".join(f"{start}{escape(line, MOST_OF_A_LINE)}{end}\n" for line in lines))
        sys.stderr.flush()
    except OSError:  # the pipe is closed, or the disk full: the exit code remains
        _discard(sys.stderr)


def discard_unwritten() -> None:
    """Discard what standard output still buffers: the interpreter would write it again at exit."""
    _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    with suppress(ValueError):  # closed, or without a file descriptor, as in a notebook
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def make_encodable() -> None:
    """Make every character writable: if the encoding lacks one of our symbols, write a plain one; others become `?`."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open for as long as the process runs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not _is_utf8(stream):
            import codecs

            codecs.register_error("rnncalc", _plainly)
            stream.reconfigure(errors="rnncalc")


def write_utf8() -> None:
    """Make standard output write UTF-8, whatever the terminal's encoding: a program or a file reads it."""
    if isinstance(sys.stdout, TextIOWrapper) and not _is_utf8(sys.stdout):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")


def _is_utf8(stream: TextIOWrapper) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end
