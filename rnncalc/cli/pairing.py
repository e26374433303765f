"""Which earlier spec a file is paired with: the one that has its path below the same folder.

Of files in a folder that was given that is their path below it. Of files that were given one by one, as a hook names
them, it is the folder above all of them under which the most are found: so `new/a.yaml` and `new/sub/a.yaml` are two.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from rnncalc.cli.paths import Found
from rnncalc.errors import Problem, SpecError
from rnncalc.text import escape

Pair = Callable[[Found], str | None]
"""Returns the path of the earlier spec, None for a file that is new; raises SpecError where it could be two."""


def unpaired(message: str) -> SpecError:
    """Return the error of a file that could be paired in two ways, or in none."""
    return SpecError((Problem((), message),))


def pair_below(found: Sequence[Found], earlier: Collection[str]) -> Pair:
    """Return how some files are paired with the paths in a folder of earlier specs."""
    groups = dict.fromkeys(file.folder for file in found)
    tops = {folder: _top(folder, [file.path for file in found if file.folder == folder], earlier) for folder in groups}

    def pair(file: Found) -> str | None:
        if file.path == "-":
            raise unpaired("standard input has no path that a folder could be compared by; give a file")
        top = tops[file.folder]
        if top is not None:
            below = _below(file.path, top)
            return below if below in earlier else None
        name = os.path.basename(file.path)
        if file.folder is None and name in earlier:
            message = f"the baseline's '{escape(name)}' has no more than its name in common with this file"
            raise unpaired(f"{message}; give the folder that the file is in")
        return None

    return pair


def _top(folder: str | None, paths: Sequence[str], earlier: Collection[str]) -> str | None:
    """Return the folder that the earlier specs are to be found below: of those above all paths that with the most.

    The folder that was given comes first, and then the others from the top. None where none of the paths is there.
    """
    files = [path for path in paths if path != "-"]
    if folder is not None and _pairs(files, folder, earlier):
        return folder
    best = max(_above(files), key=lambda top: _pairs(files, top, earlier), default=None)
    return best if best is not None and _pairs(files, best, earlier) else None


def _pairs(paths: Iterable[str], top: str, earlier: Collection[str]) -> int:
    return sum(_below(path, top) in earlier for path in paths)


def _below(path: str, top: str) -> str:
    return os.path.relpath(path, top)


def _above(paths: Sequence[str]) -> Iterator[str]:
    """Yield the folders above all paths, from the top."""
    try:
        common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    except ValueError:  # no paths, or drives that have nothing in common
        return
    parts = [common]
    while (above := os.path.dirname(parts[-1])) != parts[-1]:
        parts.append(above)
    yield from reversed(parts)
