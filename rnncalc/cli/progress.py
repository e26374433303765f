"""A progress bar on a terminal, for work of more than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TextIO

from rnncalc.cli.output import cleared_when_ended
from rnncalc.formats import terminal_width

Progress = Callable[[int], None]
"""Takes how much more is done."""

PATIENCE = 1.0
PAUSE = 0.1
"""Seconds before the bar is first drawn, and between two drawings."""


def progress_of(total: Callable[[], int], word: str = "running") -> AbstractContextManager[Progress | None]:
    """Yield the function that reports progress, or None without a terminal; the total is then not computed.

    word: what is done.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    return _bar(total(), word, sys.stderr)


@contextmanager
def _bar(total: int, word: str, file: TextIO) -> Iterator[Progress]:
    """Yield a function that adds work done; after a second it draws its share and the time left, cleared at the end."""
    began = monotonic()
    next_drawing = began + PATIENCE
    done, width = 0, 0

    def advance(count: int) -> None:
        nonlocal done, next_drawing, width
        done += count
        now = monotonic()
        if now > next_drawing:
            next_drawing = now + PAUSE
            width = terminal_width() - 1  # some terminals break a line that is full
            share = min(done / (total or 1), 1.0)
            left = round((now - began) * (1 - share) / share) if share else 0
            text = f" {share:4.0%}  {left // 60}:{left % 60:02d} left"
            room = max(width - len(f"{word} ") - len(text), 0)
            filled = round(room * share)
            file.write(f"\r{word} {'█' * filled}{'─' * (room - filled)}{text}"[: width + 1])
            file.flush()

    def clear() -> None:
        if width:
            file.write(f"\r{' ' * width}\r")
            file.flush()

    try:
        with cleared_when_ended(clear):
            yield advance
    finally:
        clear()
