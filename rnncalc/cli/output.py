"""Answers to standard output, as much of them as its reader wants. What they look like is `formats/`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rnncalc.cli.streams import discard_unwritten, write_utf8


def write(reports: Sequence[Any], format: str) -> None:
    """Write reports in a format."""
    from rnncalc.formats import find, write

    try:
        if not find(format).for_screens and not sys.stdout.isatty():
            write_utf8()
        write(reports, format, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # head has seen enough
        discard_unwritten()


def write_text(text: str) -> None:
    """Write text as it is."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_unwritten()
