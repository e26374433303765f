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


def progress_of(total: Callable[[], int] | None, word: str = "running") -> AbstractContextManager[Progress | None]:
    """Yield the function that reports progress, or None without a terminal; the total is then not computed.

    total: None if it is not known; a quarter of the bar then moves, beside the time taken. word: what is done.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    return _bar(total and total(), word, sys.stderr)


def _clock(seconds: float) -> str:
    """Return a time as `1:05`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


@contextmanager
def _bar(total: int | None, word: str, file: TextIO) -> Iterator[Progress]:
    """Yield a function that adds work done; after a second it draws its share and the time left, cleared at the end."""
    from threading import Event, Thread

    began = monotonic()
    next_drawing = began + PATIENCE
    done, width = 0, 0
    ended = Event()

    def advance(count: int) -> None:
        nonlocal done, next_drawing, width
        done += count
        now = monotonic()
        if now > next_drawing:
            next_drawing = now + PAUSE
            width = terminal_width() - 1  # some terminals break a line that is full
            taken = now - began
            if total is None:
                share, text = 0.25, f"  {_clock(taken)}"
            else:
                share = min(done / (total or 1), 1.0)
                text = f" {share:4.0%}  {_clock(taken * (1 - share) / share if share else 0)} left"
            room = max(width - len(f"{word} ") - len(text), 0)
            filled = round(room * share)
            before = round(taken / PAUSE) % (room - filled + 1) if total is None else 0
            file.write(f"\r{word} {'─' * before}{'█' * filled}{'─' * (room - filled - before)}{text}"[: width + 1])
            file.flush()

    def draw() -> None:
        while not ended.wait(PAUSE):
            advance(0)

    def clear() -> None:
        if width:
            file.write(f"\r{' ' * width}\r")
            file.flush()

    thread = Thread(target=draw, daemon=True)
    if total is None:
        thread.start()
    try:
        with cleared_when_ended(clear):
            yield advance
    finally:
        ended.set()
        if total is None:
            thread.join()
        clear()
