"""Prints the size of the package by room and of its tests, and the change since a commit.

Usage: `python tests/size.py [COMMIT]`. Lines of code are those that hold a token other than a comment or a docstring.
Without a commit the change is that since the last commit on main; on main itself, since the commit before.
"""

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
BESIDE_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class Size(NamedTuple):
    """What one file, or all files of a room, come to."""

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0
    classes: int = 0

    def plus(self, other: "Size") -> "Size":
        return Size(*(a + b for a, b in zip(self, other, strict=True)))


def size(source: str) -> Size:
    """Return the size of one file."""
    nodes = [*ast.walk(ast.parse(source))]
    docstrings = {
        line
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in spanned(node)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {
        line for token in tokens if token.type not in BESIDE_CODE for line in range(token.start[0], token.end[0] + 1)
    }
    imports = {line for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for line in spanned(node)}
    classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
    return Size(1, source.count("\n"), len(code - docstrings), len(imports), classes)


def spanned(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def room_of(path: str) -> str:
    """Return the folder below rnncalc/ that a file is in, or `tests`."""
    folders = path.split("/")[:-1]
    return "tests" if folders[0] == "tests" else "/".join(folders[:2])


def git(*args: str) -> bytes:
    return subprocess.run(["git", *args], cwd=ROOT, capture_output=True, check=True).stdout


def sources(commit: str | None) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of Python, of a commit or as it is now."""
    if commit is None:
        for path in git("ls-files", "--cached", "--others", "--exclude-standard", "*.py").decode().splitlines():
            if path.startswith(("rnncalc/", "tests/")) and (ROOT / path).exists():
                yield path, (ROOT / path).read_text("utf-8")
        return
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "rnncalc", "tests"))) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(".py") else None
            if content:
                yield member.name, content.read().decode()


def rooms(commit: str | None = None) -> dict[str, Size]:
    """Return the size of each room, and of the package as `rnncalc in all`."""
    found: dict[str, Size] = defaultdict(Size)
    for path, source in sources(commit):
        of = size(source)
        found[room_of(path)] = found[room_of(path)].plus(of)
        if path.startswith("rnncalc/"):
            found["rnncalc in all"] = found["rnncalc in all"].plus(of)
    return found


def last_on_main() -> str | None:
    """Return the commit that the work is compared with, None where there is none, as in a copy without history."""
    try:
        here, main = (git("rev-parse", name).decode().strip() for name in ("HEAD", "main"))
        return git("rev-parse", "HEAD~1").decode().strip() if here == main else main
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else last_on_main()
    now, before = rooms(), rooms(commit) if commit else {}
    print(f"{'':<22}" + "".join(f"{name:>17}" for name in Size._fields))
    for room in sorted({*now, *before}):
        new, old = now.get(room, Size()), before.get(room, Size())
        cells = []
        for value, was in zip(new, old, strict=True):
            change = f"{value - was:+,}" if commit and value != was else ""
            cells.append(f"{value:>8,}{change:>9}")
        print(f"{room:<22}" + "".join(cells))


if __name__ == "__main__":
    main()
