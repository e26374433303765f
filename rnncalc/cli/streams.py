"""The two streams that people and pipes read, and what can be amiss with them. Knows no command and no network."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from rnncalc.text import PLAIN, escape

MOST_OF_A_LINE = 10_000
"""More characters than a line for people has."""


def tell(*lines: str) -> None:
    """Write lines to standard error, each harmless whatever is in it, unless nobody reads there; red where wanted.

    All that goes to standard error goes through here, so that no message can act on a terminal or on GitHub's runner.
    """
    if sys.stderr is None:
        return
    start, end = ("\x1b[31m", "\x1b[0m") if _wants_colours(sys.stderr) else ("", "")
    try:
        sys.stderr.write("".join(f"{start}{escape(line, MOST_OF_A_LINE)}{end}\n" for line in lines))
        sys.stderr.flush()
    except OSError:  # closed at its other end, or full: the exit code still tells
        _discard(sys.stderr)


def _wants_colours(stream: TextIO) -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in (None, "dumb", "unknown")
    return stream.isatty() and wanted


def discard_unwritten() -> None:
    """Send what standard output still holds to nowhere: the interpreter would try again to write it as it ends."""
    _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    with suppress(ValueError):  # it has no number, or is closed: a notebook's has none
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def make_encodable() -> None:
    """See that every character can be written: our symbols become plain ones where need be, others `?`."""
    if sys.stdout is None:  # closed by the caller, who does not want the answer
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open for as long as the process runs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not _is_utf8(stream):
            import codecs

            codecs.register_error("rnncalc", _plainly)
            stream.reconfigure(errors="rnncalc")


def write_utf8() -> None:
    """Have standard output write UTF-8, whatever the terminal's encoding is: it goes to a program or a file."""
    if isinstance(sys.stdout, TextIOWrapper) and not _is_utf8(sys.stdout):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")


def _is_utf8(stream: TextIOWrapper) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(char, "?") for char in error.object[error.start : error.end]), error.end
