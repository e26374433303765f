"""Work on a long list that is shared among the cores, each share in a process of its own.

Imported only for long lists.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from threading import active_count
from typing import BinaryIO, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Sequence[Item]], Iterable[Result]]


def in_shares(work: Work[Item, Result], items: Sequence[Item], most: int) -> Iterator[Result]:
    """Yield what the work yields of all items, in their order.

    most: the most shares. There is one share on systems without `sched_getaffinity` (macOS, Windows), and if this
    process has threads: a fork keeps only one of them. A share whose process fails is worked on here, so that whatever
    stopped it is raised here.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") and active_count() == 1 else 1
    shares = min(cores, most)
    edges = [len(items) * share // shares for share in range(shares + 1)]
    first, *others = (items[start:end] for start, end in pairwise(edges))
    started = [_start(work, share) for share in others]
    try:
        yield from work(first)
        for share, process in zip(others, started, strict=True):
            found: list[Result] | None = _result(*process) if process else None
            yield from work(share) if found is None else found
    finally:
        for process in filter(None, started):
            process[1].close()  # whose process is still writing ends


def _start(work: Work[Item, Result], share: Sequence[Item]) -> tuple[int, BinaryIO] | None:
    """Start a process that works on a share; return its id and the pipe with its result, None if it cannot start."""
    try:
        reads, writes = os.pipe()
    except OSError:  # too many files are open
        return None
    try:
        process = os.fork()
    except OSError:  # too many processes run
        os.close(reads)
        os.close(writes)
        return None
    if process:
        os.close(writes)
        return process, open(reads, "rb")
    try:
        os.close(reads)  # else nothing would tell it that nobody reads
        with open(writes, "wb") as pipe:
            pickle.dump([*work(share)], pipe)
    finally:
        os._exit(0)


def _result(process: int, pipe: BinaryIO) -> list[Result] | None:
    """Return the result of a process, None if it failed."""
    data = pipe.read()
    with suppress(ChildProcessError):  # whoever called this one may have asked the system to forget its processes
        os.waitpid(process, 0)
    try:
        found: list[Result] = pickle.loads(data)
    except (EOFError, pickle.UnpicklingError):  # it stopped before the end
        return None
    return found
