"""A progress bar on a terminal for work of more than a second; it is cleared when a signal ends the process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import current_thread, main_thread
from time import monotonic
from typing import TextIO

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
    from rnncalc.formats.values import terminal_width  # not needed to write a file

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


_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def cleared_when_ended(clear: Callable[[], None]) -> Iterator[None]:
    """Call `clear` when SIGTERM or SIGHUP ends the process; it then ends as it would without this."""

    def end(number: int, _: object) -> None:
        clear()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    main = current_thread() is main_thread()  # only the main thread may set a handler
    ours = [number for number in _SIGNALS if main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
