"""Writes results to standard output or to a file. `formats/` formats them."""

import io
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rnncalc.cli.streams import discard_unwritten, write_utf8
from rnncalc.errors import CallError
from rnncalc.files import is_input
from rnncalc.layers.frozen import Frozen
from rnncalc.text import escape, escape_path, one_of


class Destination(Frozen):
    """The destination of a result: its format, and the file, None for standard output."""

    format: str
    file: str | None = None


def write(reports: Sequence[Any], to: Destination) -> None:
    """Write reports to standard output or to their file."""
    from rnncalc import formats

    if to.file is not None:
        text = io.StringIO()
        formats.write(reports, to.format, text)
        write_file(to.file, text.getvalue())
        return
    try:
        if not formats.find(to.format).for_screens and not sys.stdout.isatty():
            write_utf8()
        formats.write(reports, to.format, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, closed the pipe
        discard_unwritten()


def write_text(text: str, file: str | None = None) -> None:
    """Write text unchanged, to a file if one is named."""
    if file is not None:
        write_file(file, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_unwritten()


def check_file(path: str, flag: str) -> None:
    """Raise CallError if a path must not be overwritten: a folder, a device, a file that this call reads."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # no such file, or `write_file` reports why it cannot be written
    if stat.S_ISDIR(mode):
        raise CallError(f"{flag} '{escape_path(path)}': is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise CallError(f"{flag} '{escape_path(path)}': is not a regular file; name another file")
    if is_input(path):
        raise CallError(f"{flag} '{escape_path(path)}': is read by this call; name another file")


_BITMAPS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


def check_suffix(path: str, suffixes: Sequence[str]) -> str:
    """Return the suffix of a file to write. Raises CallError for another suffix and for a folder."""
    suffix = os.path.splitext(path)[1].lower()
    check_file(path, "--out")
    if suffix not in suffixes:
        cure = f"; the units of the output layer are -o {path}" if path.isdecimal() else ""
        if suffix in _BITMAPS and ".svg" in suffixes:
            cure = f"; write {escape(path[: -len(suffix)])}.svg; no bitmaps are written"
        got = f"got '{escape(suffix)}'" if suffix else "got none"
        raise CallError(f"--out '{escape(path)}': expected the suffix {one_of([*suffixes])}, {got}{cure}")
    return suffix


def write_file(path: str, text: str, flag: str = "--out") -> None:
    """Write a file in UTF-8, whole or not at all: a new file beside it replaces it when complete.

    flag: the flag that names the file.
    Raises CallError if it cannot be written; an earlier file is then unchanged and no other file remains.
    """
    check_file(path, flag)
    from rnncalc.cli.progress import cleared_when_ended  # `signal` takes time, and few calls write a file

    try:
        mode = None
        with suppress(FileNotFoundError):  # OSError for a cycle of links is reported
            mode = os.stat(path).st_mode & 0o777
        place = os.path.realpath(path)  # keep a link and replace its target
        new = os.path.join(os.path.dirname(place), f".rnncalc-{os.urandom(8).hex()}.tmp")

        def remove() -> None:
            with suppress(FileNotFoundError):
                os.unlink(new)

        with cleared_when_ended(remove), open(new, "x", encoding="utf-8", newline="\n") as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    os.chmod(new, mode)
                os.replace(new, place)
            except BaseException:
                remove()
                raise
    except (OSError, ValueError) as error:  # ValueError: the name contains a zero byte
        why = error.strerror or str(error) if isinstance(error, OSError) else "no such file"
        raise CallError(f"{flag} '{escape_path(path)}': cannot be written: {why.lower()}") from None
