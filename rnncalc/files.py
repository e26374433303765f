"""Opens the files that a call reads: only regular files, so that nothing blocks. Knows nothing of their contents."""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from contextvars import ContextVar
from typing import BinaryIO

_DESCRIPTOR = r"/dev/stdin|(/dev|/proc/self)/fd/\d+"
"""The path of a pipe that the shell made for this call, such as `<(cat weights.yaml)`."""

_INPUTS: ContextVar[set[tuple[int, int]]] = ContextVar("inputs")
"""The device and inode of every file that the current call has opened, under any name."""


def forget_inputs() -> None:
    """Forget the files of the call before."""
    _INPUTS.set(set())


def is_input(path: str) -> bool:
    """Return whether the current call reads this file, also as its standard input."""
    inputs = {*_INPUTS.get(set())}
    with suppress(OSError):  # closed
        inputs.add(_identity(os.fstat(0)))
    return _identity(os.stat(path)) in inputs


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def open_input(path: str | os.PathLike[str], *, pipes: bool = False) -> BinaryIO:
    """Open a regular file for reading.

    pipes: whether a pipe from the caller's shell is read too. A pipe in a folder may wait for ever, and a pipe cannot
    be read twice.
    Raises OSError for anything that is not a regular file, without opening it.
    """

    def opened(path: str, flags: int) -> int:
        about = os.stat(path)
        _refuse_irregular(about.st_mode, path, pipes)  # opening a device can have effects
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        try:  # another file may have its name by now
            mode = os.fstat(descriptor).st_mode
            _refuse_irregular(mode, path, pipes)
            if stat.S_ISFIFO(mode):
                os.set_blocking(descriptor, True)
        except BaseException:
            os.close(descriptor)
            raise
        _INPUTS.get(set()).add(_identity(about))
        return descriptor

    return open(os.fspath(path), "rb", opener=opened)


def _refuse_irregular(mode: int, path: str, pipes: bool) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    is_pipe = stat.S_ISFIFO(mode)
    if not (is_pipe and pipes and re.fullmatch(_DESCRIPTOR, path, re.ASCII)):
        kind = "a pipe" if is_pipe else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise OSError(errno.EINVAL, f"is {kind}; only regular files are read")
