"""A baseline from git: the specs as they were at a commit, paired by their paths in the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from rnncalc.bounds import MAX_BYTES
from rnncalc.cli.git import Commit
from rnncalc.cli.paths import SpecPath, is_listed
from rnncalc.errors import Problem, SpecError
from rnncalc.questions.check import Numbers
from rnncalc.text import escape

Earlier = tuple[str, Numbers | str]
"""A path and the numbers of its spec, or a remark on why they are unknown."""

Read = Callable[[str, bytes, str], Iterator[Earlier]]


def at_commit(
    ref: str, paths: Sequence[str], read: Read
) -> tuple[dict[str, Numbers | str], Callable[[SpecPath], str | None]]:
    """Return the specs of a commit at and below some paths, and the function that pairs a file with one.

    Raises CallError if there is no such commit.
    """
    commit = Commit(ref, os.curdir)
    label = f"git:{ref}"
    earlier = dict(_earlier(commit, label, paths, read))

    def pair(found: SpecPath) -> str | None:
        inside = None if found.path == "-" else commit.path_of(found.path)
        if inside is None:
            message = f"not in the repository of {escape(label)}; give a file that is in it"
            raise SpecError((Problem((), message),))
        path = _from_here(commit, inside)
        return path if path in earlier else None

    return earlier, pair


def _earlier(commit: Commit, label: str, paths: Sequence[str], read: Read) -> Iterator[Earlier]:
    inside = {path: os.path.isdir(given) for given in paths if given != "-" and (path := commit.path_of(given))}
    files = [file for file in commit.files([*inside]) if _is_asked_for(file.path, inside)]
    regular = [file for file in files if file.is_regular]
    unread = {file.path: "a link" for file in files if not file.is_regular}
    for file, data in zip(regular, commit.contents(regular, MAX_BYTES), strict=True):
        if data is None:
            unread[file.path] = "too large"
        else:
            yield from read(_from_here(commit, file.path), data, f"{label}:{file.path}")
    for path, why in unread.items():
        yield path, f"baseline {escape(label)}: {escape(path)} is {why}; what it was counts as unknown"


def _is_asked_for(path: str, asked: Mapping[str, bool]) -> bool:
    """Return whether a path is one of the wanted files, or a spec below a wanted folder."""
    if path in asked:
        return True
    parts = path.split("/")
    tops = ("/".join(parts[:end]) or "." for end in range(len(parts)))
    return any(asked.get(top, False) and is_listed("/".join(parts[end:])) for end, top in enumerate(tops))


def _from_here(commit: Commit, inside: str) -> str:
    """Return a path in the repository relative to the current folder, as users write it."""
    return os.path.relpath(os.path.join(commit.top, *inside.split("/")), os.path.realpath(os.curdir))
