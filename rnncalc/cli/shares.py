"""Work on a long list that is shared among the cores, each share in a process of its own.

Imported only for long lists.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import active_count
from typing import BinaryIO, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_shares(work: Callable[[Sequence[Item]], Iterable[Result]], items: Sequence[Item], most: int) -> Iterator[Result]:
    """Yield what the work yields of all items, in their order.

    most: the most shares. There is one if this system cannot fork, or if this process has threads, which do not fork.
    A share whose process fails is worked on here, so that whatever stopped it is raised here.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") and active_count() == 1 else 1
    size = -(-len(items) // min(cores, most))
    first, *others = (items[start : start + size] for start in range(0, len(items), size))
    begun = [_begun(work, share) for share in others]
    yield from work(first)
    for share, process in zip(others, begun, strict=True):
        found: list[Result] | None = _ended(*process)
        yield from work(share) if found is None else found


def _begun(work: Callable[[Sequence[Item]], Iterable[Result]], share: Sequence[Item]) -> tuple[int, BinaryIO]:
    """Return the number of a process that works on a share, and the pipe that it writes to."""
    reads, writes = os.pipe()
    if number := os.fork():
        os.close(writes)
        return number, open(reads, "rb")
    try:
        with open(writes, "wb") as pipe:
            pickle.dump([*work(share)], pipe)
        os._exit(0)
    finally:
        os._exit(1)


def _ended(number: int, pipe: BinaryIO) -> list[Result] | None:
    """Return what a process has found, None if it failed."""
    with pipe:
        data = pipe.read()
    _, code = os.waitpid(number, 0)
    return None if code else pickle.loads(data)
