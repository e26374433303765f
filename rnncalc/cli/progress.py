"""A progress bar on a terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TextIO

from rnncalc.cli.ending import cleared_when_ended
from rnncalc.formats.values import terminal_width

PATIENCE = 1.0
PAUSE = 0.1
"""Seconds before the bar is first drawn, and between two drawings."""


def progress_of(total: Callable[[], int]) -> AbstractContextManager[Callable[[int], None] | None]:
    """Yield the function that reports progress, or None without a terminal; the total is then not computed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    return _bar(total(), sys.stderr)


@contextmanager
def _bar(total: int, file: TextIO) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds work done; after a second it draws a bar, which is cleared at the end."""
    began = monotonic()
    next_drawing = began + PATIENCE
    done, width = 0, 0

    def advance(count: int) -> None:
        nonlocal done, next_drawing, width
        done += count
        now = monotonic()
        if now > next_drawing:
            next_drawing = now + PAUSE
            width = terminal_width() - 1  # in some terminals a full line starts another
            _draw(file, min(done / (total or 1), 1.0), now - began, width)

    def clear() -> None:
        if width:
            file.write(f"\r{' ' * width}\r")
            file.flush()

    try:
        with cleared_when_ended(clear):
            yield advance
    finally:
        clear()


def _draw(file: TextIO, share: float, seconds: float, width: int) -> None:
    """Draw the share of the work done and the estimated time left over the current line."""
    left = round(seconds * (1 - share) / share) if share else 0
    text = f" {share:4.0%}  {left // 60}:{left % 60:02d} left"
    room = max(width - len("running ") - len(text), 0)
    filled = round(room * share)
    file.write(f"\rrunning {'█' * filled}{'─' * (room - filled)}{text}"[: width + 1])
    file.flush()
