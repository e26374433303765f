"""Lists the files that a call names: files, specs below folders, and `-`. Opens none of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rnncalc.errors import Problem, SpecError
from rnncalc.text import escape_path

SUFFIXES = (".yaml", ".yml")


class SpecPath(NamedTuple):
    """A file to read: its path as the user wrote it.

    folder: the folder of the call that contains it, if any. below: its path below that folder.
    named: whether the call names the file itself.
    problem: why it cannot be read.
    """

    path: str
    folder: str | None = None
    below: str = ""
    named: bool = False
    problem: SpecError | None = None


def find(paths: Sequence[str]) -> list[SpecPath]:
    """Return the files of all paths, each once, sorted within a folder."""
    found: dict[str, SpecPath] = {}
    for path in paths:
        for file in below(path) if path != "-" and os.path.isdir(path) else (SpecPath(path, named=True),):
            known = found.get(file.path, file)
            found[file.path] = (known if known.folder else file)._replace(named=known.named or file.named)
    return [*found.values()]


def below(folder: str) -> list[SpecPath]:
    """Return the specs below a folder; if there are none, one file with a problem.

    Hidden files and folders are left out, and links to folders are not followed: they may lead in circles, or to the
    whole disk.
    """
    found = sorted(_walk(folder), key=lambda file: file.path.split(os.sep))
    return found or [SpecPath(folder, problem=unreadable(folder, f"no {' or '.join(SUFFIXES)} file below this folder"))]


def is_listed(path: str) -> bool:
    """Return whether a path below a folder has a spec's suffix and no hidden part."""
    parts = path.replace(os.sep, "/").split("/")
    return parts[-1].lower().endswith(SUFFIXES) and not any(part.startswith(".") for part in parts)


def _walk(top: str) -> Iterator[SpecPath]:
    start = len(os.path.normpath(os.path.join(top, "_"))) - 1  # the start of the part below the folder
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = [*entries]
        except OSError as error:
            yield SpecPath(folder, problem=unreadable(folder, (error.strerror or str(error)).lower()))
            continue
        for entry in listed:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif is_listed(entry.name) and not (entry.is_symlink() and os.path.isdir(entry.path)):
                path = os.path.normpath(entry.path)  # without ./, which GitHub's annotations do not match
                yield SpecPath(path, top, path[start:])


def unreadable(path: str, message: str) -> SpecError:
    """Return the error of a file or folder with nothing to check."""
    return SpecError((Problem((), message, f"'{escape_path(path)}'"),))
