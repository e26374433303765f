"""The files of a commit, as git has them: for a baseline that needs no second checkout.

Whoever wrote the commit and the names in it may mean harm. So no shell reads what is passed to git, a name of a commit
is checked before git sees it, paths follow `--`, files are asked for by their hashes, and nothing is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rnncalc.errors import CallError
from rnncalc.text import escape

_REF = re.compile(r"(?!.*(\.\.|\{/))[^\s:?*\[\\\x00-\x1f\x7f^-][^\s:?*\[\\\x00-\x1f\x7f]{0,199}")
_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_REGULAR = (b"100644", b"100755")
_PATHS = 500
"""So many paths are given to one call of git: more may be too long for the system."""


class File(NamedTuple):
    """A file of a commit: its path below the repository's top, with `/`, what git calls it, its size.

    is_regular: whether it is no link.
    """

    path: str
    object: str
    size: int
    is_regular: bool


class Commit:
    """A commit of the repository that a folder is in. Raises CallError where there is none, or no git."""

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
        """Return a path as the repository has it; None for one that is not in it."""
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
            listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", self.hash, "--", *some)
            for entry in listed.split(b"\0")[:-1]:
                about, _, path = entry.partition(b"\t")
                mode, kind, name, size = about.split()
                if kind == b"blob":
                    yield File(os.fsdecode(path), name.decode(), int(size), mode in _REGULAR)
            if not some:
                return

    def contents(self, files: Sequence[File]) -> Iterator[bytes]:
        """Yield the bytes of each file."""
        if not files:
            return
        command = self._command("cat-file", "--batch")
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        ) as git:
            assert git.stdin
            assert git.stdout
            for file in files:
                git.stdin.write(f"{file.object}\n".encode())
                git.stdin.flush()
                about = git.stdout.readline().split()  # the hash, blob, and the size; or the hash, missing
                if about[1:2] != [b"blob"]:
                    raise CallError(f"--baseline: git does not have '{escape(file.path)}' here")
                yield git.stdout.read(int(about[2]) + 1)[:-1]
            git.stdin.close()

    def _run(self, *args: str) -> bytes:
        done = subprocess.run(
            self._command(*args), stdin=subprocess.DEVNULL, capture_output=True, env=_environment(), check=False
        )
        if done.returncode:
            reason = (done.stderr.decode(errors="replace").splitlines() or ["no reason given"])[0]
            raise CallError(f"--baseline: git: {escape(reason.removeprefix('fatal: '), limit=200)}")
        return done.stdout

    def _command(self, *args: str) -> list[str]:
        safe = ("--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "protocol.allow=never")
        return [self._git, *safe, "-C", self._folder, *args]


def _program() -> str:
    """Return the path of git, never one in the current folder: on Windows a search would begin there."""
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
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
