"""A baseline from git: the specs as they were at a commit, paired by their paths; no second checkout is needed.

A commit and the names in it may be malicious. So git is called without a shell, a commit's name is checked before git
sees it, paths follow `--`, files are requested by their hashes, and nothing is fetched.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from rnncalc.bounds import MAX_BYTES
from rnncalc.cli.inputs import SpecPath, is_listed
from rnncalc.errors import CallError, Problem, SpecError
from rnncalc.printable import escape
from rnncalc.questions.check import Numbers
from rnncalc.spec import Reads

_REF = re.compile(r"(?!.*(\.\.|\{/))[^\s:?*\[\\\x00-\x1f\x7f^-][^\s:?*\[\\\x00-\x1f\x7f]{0,199}")
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_REGULAR = (b"100644", b"100755")
_PATHS = 500
"""The most paths in one call of git: more may exceed the system's limit."""


class File(NamedTuple):
    """A file of a commit: its path below the repository's top, with `/`, and its hash.

    is_regular: whether it is a regular file, not a link.
    """

    path: str
    object: str
    is_regular: bool


class Commit:
    """A commit of the repository around a folder. Raises CallError if there is no such commit or no git."""

    def __init__(self, ref: str, folder: str) -> None:
        if not _REF.fullmatch(ref):
            raise CallError(f"--baseline: expected git: and a commit, a tag or a branch, got '{escape(ref)}'")
        self._git = _program()
        self._folder = folder
        self.top = os.path.realpath(os.fsdecode(self._run("rev-parse", "--show-toplevel").removesuffix(b"\n")))
        try:
            self.hash = self._run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
        except CallError:
            self.hash = ""
        if not _HASH.fullmatch(self.hash):
            cure = "fetch it first (in a workflow, actions/checkout takes fetch-depth: 0)"
            raise CallError(f"--baseline: no commit '{escape(ref)}' in this repository; {cure}")

    def path_of(self, path: str) -> str | None:
        """Return a path relative to the repository's top; None for a path outside."""
        folder, name = os.path.split(os.path.abspath(path))
        real = os.path.realpath(path) if os.path.isdir(path) else os.path.join(os.path.realpath(folder), name)
        try:
            inside = os.path.relpath(real, self.top)
        except ValueError:  # on another drive
            return None
        return None if inside.split(os.sep)[0] == os.pardir else inside.replace(os.sep, "/")

    def files(self, paths: Sequence[str]) -> Iterator[File]:
        """Yield the files at and below some paths of the repository; `.` is all of it."""
        for start in range(0, len(paths), _PATHS):
            some = [] if "." in paths else paths[start : start + _PATHS]
            listed = self._run("ls-tree", "-r", "-z", "--full-tree", self.hash, "--", *some)
            for entry in listed.split(b"\0")[:-1]:
                about, _, path = entry.partition(b"\t")
                mode, kind, name = about.split()
                if kind == b"blob":
                    yield File(os.fsdecode(path), name.decode(), mode in _REGULAR)
            if not some:
                return

    def contents(self, files: Sequence[File], most: int) -> Iterator[bytes | None]:
        """Yield the bytes of each file, None if it has more than `most`. Raises CallError if one is missing."""
        if not files:
            return
        with self._cat_file("--batch-check") as sizes, self._cat_file("--batch") as git:
            assert git.stdout
            for file in files:
                if _size(sizes, file) > most:
                    yield None
                    continue
                size = _size(git, file)
                data = git.stdout.read(size + 1)
                if len(data) <= size:
                    raise _missing(file)
                yield data[:-1]

    def _cat_file(self, how: str) -> subprocess.Popen[bytes]:
        command = self._command("cat-file", how)
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        )

    def _run(self, *args: str) -> bytes:
        done = subprocess.run(
            self._command(*args), stdin=subprocess.DEVNULL, capture_output=True, env=_environment(), check=False
        )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").splitlines() or ["no reason given"]
            reason = next((line for line in lines if line.startswith("fatal: ")), lines[0])  # warnings may precede it
            raise CallError(f"--baseline: git: {escape(reason.removeprefix('fatal: '), limit=200)}")
        return done.stdout

    def _command(self, *args: str) -> list[str]:
        safe = ("--no-pager", "--no-replace-objects", "--literal-pathspecs")
        return [self._git, *safe, "-C", self._folder, *args]


def _size(git: subprocess.Popen[bytes], file: File) -> int:
    """Request a file from `git cat-file` and return the size in the header of its answer."""
    assert git.stdin
    assert git.stdout
    try:
        os.write(git.stdin.fileno(), f"{file.object}\n".encode())  # unbuffered: nothing is left to write later
    except OSError:  # git ended at the previous file
        raise _missing(file) from None
    about = git.stdout.readline().split()  # the hash, blob, and the size; or the hash, missing; or nothing
    if about[1:2] != [b"blob"]:
        raise _missing(file)
    return int(about[2])


def _missing(file: File) -> CallError:
    cure = "in a partial clone, fetch it first: git fetch --refetch --no-filter"
    return CallError(f"--baseline: git does not have '{escape(file.path)}' here; {cure}")


def _program() -> str:
    """Return the path of git, never in the current folder, where Windows would search first."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise CallError("--baseline git: needs git, and there is none on the PATH")


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # for an older git, which does not know the first variable
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


Earlier = tuple[str, Numbers | str]
"""A path and the numbers of its spec, or a remark on why they are unknown."""

Read = Callable[[str, bytes, str, Reads], Iterator[Earlier]]


def at_commit(
    ref: str, paths: Sequence[str], read: Read
) -> tuple[dict[str, Numbers | str], Callable[[SpecPath], str | None]]:
    """Return the specs of a commit at and below some paths, and the function that pairs a file with one.

    Raises CallError if there is no such commit.
    """
    commit = Commit(ref, os.curdir)
    label = f"git:{ref}"
    earlier = dict(_earlier(commit, label, paths, read))

    def pair(file: SpecPath) -> str | None:
        inside = None if file.path == "-" else commit.path_of(file.path)
        if inside is None:
            message = f"not in the repository of {escape(label)}; give a file that is in it"
            raise SpecError((Problem((), message),))
        path = _from_here(commit, inside)
        return path if path in earlier else None

    return earlier, pair


def _earlier(commit: Commit, label: str, paths: Sequence[str], read: Read) -> Iterator[Earlier]:
    inside = {path: os.path.isdir(name) for name in paths if name != "-" and (path := commit.path_of(name))}
    files = [file for file in commit.files([*inside]) if _is_asked_for(file.path, inside)]
    regular = [file for file in files if file.is_regular]
    unread = {file.path: "a link" for file in files if not file.is_regular}
    for file, data in zip(regular, commit.contents(regular, MAX_BYTES), strict=True):
        if data is None:
            unread[file.path] = "too large"
        else:
            reads = partial(_beside, commit, label, file.path)
            yield from read(_from_here(commit, file.path), data, f"{label}:{file.path}", reads)
    for path, why in unread.items():
        yield path, f"baseline {escape(label)}: {escape(path)} is {why}; the earlier count is unknown"


def _beside(commit: Commit, label: str, path: str, name: str) -> tuple[bytes, str]:
    """Return a file that a spec of a commit names, as it was at the commit. Raises OSError if it cannot be read."""
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name.replace(os.sep, "/")))
    listed = [] if inside.startswith(("/", "..")) else [*commit.files([inside])]
    file = next((file for file in listed if file.path == inside), None)
    if file is None:
        raise FileNotFoundError
    data = next(commit.contents([file], MAX_BYTES)) if file.is_regular else None
    if data is None:
        raise OSError("too large" if file.is_regular else "is a link")
    return data, f"{label}:{inside}"


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
