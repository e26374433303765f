"""Opens the files that a call reads: nothing that could block, or that is no file. Knows nothing of what they hold."""

import errno
import os
import re
import stat
from contextlib import suppress
from contextvars import ContextVar
from typing import BinaryIO

_DESCRIPTOR = r"/dev/stdin|(/dev|/proc/self)/fd/\d+"
"""What a shell calls a pipe that it made for this call, such as `<(cat weights.yaml)`."""


_INPUTS: ContextVar[set[tuple[int, int]]] = ContextVar("inputs")
"""The device and the number of every file that the current call has opened, whatever its names."""


def forget_inputs() -> None:
    """Begin a call, which has read no file yet."""
    _INPUTS.set(set())


def is_input(path: str) -> bool:
    """Return whether a file is one that the current call reads, as its standard input too."""
    inputs = {*_INPUTS.get(set())}
    with suppress(OSError):  # closed
        inputs.add(_identity(os.fstat(0)))
    return _identity(os.stat(path)) in inputs


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def open_input(path: str | os.PathLike[str], *, pipes: bool = False) -> BinaryIO:
    """Open a regular file for reading.

    pipes: whether a pipe is read too that the caller's shell made; not one that lies in a folder, which may wait for
    ever, and not where a file is read more than once.
    Raises OSError for whatever is no regular file, without having opened it or waited for it.
    """

    def opened(path: str, flags: int) -> int:
        may_be_pipe = pipes and re.fullmatch(_DESCRIPTOR, path, re.ASCII) is not None
        about = os.stat(path)
        _refuse_irregular(about.st_mode, may_be_pipe)  # to open a device can have effects
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        try:  # another file may have its name by now
            mode = os.fstat(descriptor).st_mode
            _refuse_irregular(mode, may_be_pipe)
            if stat.S_ISFIFO(mode):
                os.set_blocking(descriptor, True)
        except BaseException:
            os.close(descriptor)
            raise
        _INPUTS.get(set()).add(_identity(about))
        return descriptor

    return open(os.fspath(path), "rb", opener=opened)


def _refuse_irregular(mode: int, may_be_pipe: bool) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISFIFO(mode) and may_be_pipe:
        return
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise OSError(errno.EINVAL, f"is {kind}; only regular files are read")
