"""A progress bar on a terminal for what takes longer than a second, and nothing for what does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import Any, TextIO

PATIENCE = 1.0


def progress_of(total: int) -> AbstractContextManager[Callable[[int], None] | None]:
    """Give what is to be told of work done, or None where no terminal shows it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    return _bar(total, sys.stderr)


@contextmanager
def _bar(total: int, file: TextIO) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of work done; after a second it draws a bar of the total, cleared at the end."""
    began = monotonic()
    done = 0
    drawn: Any = None

    def advance(count: int) -> None:
        nonlocal done, drawn
        done += count
        if drawn is None and monotonic() - began > PATIENCE:
            drawn = _started(total, file)
        if drawn is not None:
            drawn.update(drawn.task_ids[0], completed=done)

    try:
        yield advance
    finally:
        if drawn is not None:
            drawn.stop()


def _started(total: int, file: TextIO) -> Any:
    from rich.console import Console  # 40 ms, paid only by those who wait anyway
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=file)
    columns = (
        TextColumn("running"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=console, transient=True)
    progress.add_task("run", total=total)
    progress.start()
    return progress
