"""What a `check` compares to: earlier numbers, and how they are paired with the files of today.

Where two specs could be meant there is no guess: that is a problem of the file that is to be paired. How baselines are
read is `earlier.py`, how paths are paired `pairing.py`; what growth means is `questions/limits.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from rnncalc.cli.pairing import Pair, unpaired
from rnncalc.cli.paths import Found
from rnncalc.errors import Problem, SpecError
from rnncalc.questions.check import CheckedFile
from rnncalc.questions.limits import Difference, Numbers
from rnncalc.text import escape

Earlier = tuple[str, Numbers | str]
"""A path, and the numbers of the spec that was there; or a remark on why they are not known."""


class Baseline(Protocol):
    """Earlier numbers, and the files that they are those of.

    label: what was compared to, for people.
    remarks: what could not be read of it; that says nothing against the specs of today.
    """

    @property
    def label(self) -> str: ...

    @property
    def remarks(self) -> tuple[str, ...]: ...

    def before(self, found: Found, name: str | None) -> Numbers | None:
        """Return the numbers that a file had, None when it is new; its network's name is None when it is broken.

        Raises SpecError where it could be paired in two ways.
        """

    def removed(self) -> Iterator[CheckedFile]:
        """Yield those that no file was paired with."""


class OneSpec(NamedTuple):
    """One earlier spec, that of the one file that is checked."""

    label: str
    numbers: Numbers
    remarks: tuple[str, ...] = ()

    def before(self, found: Found, name: str | None) -> Numbers | None:
        return self.numbers

    def removed(self) -> Iterator[CheckedFile]:
        yield from ()


class Reports:
    """An earlier report, paired by the networks' names; one report with one file whatever their names are."""

    def __init__(self, label: str, numbers: dict[str, Numbers], *, alone: bool) -> None:
        self.label = label
        self.remarks: tuple[str, ...] = ()
        self._numbers = numbers
        self._alone = alone and len(numbers) == 1
        self._paired: set[str] = set()

    def before(self, found: Found, name: str | None) -> Numbers | None:
        if self._alone:
            (name,) = self._numbers
        if name is None:  # any of them may be that of a broken spec
            self._paired.update(self._numbers)
        if name is None or name not in self._numbers:
            return None
        if name in self._paired and not self._alone:
            message = "another spec has this name too, and the baseline pairs by name; compare to a folder"
            raise SpecError((Problem((escape(name),), message),))
        self._paired.add(name)
        return self._numbers[name]

    def removed(self) -> Iterator[CheckedFile]:
        yield from _removed({name: of for name, of in self._numbers.items() if name not in self._paired})


class Paths:
    """Earlier specs by their paths in a folder or a repository; `pair` tells a file's.

    whole: whether what no file was paired with is gone. Single files, as a hook names them, say nothing of others.
    """

    def __init__(self, label: str, earlier: Mapping[str, Numbers | str], pair: Pair, *, whole: bool) -> None:
        self.label = label
        self.remarks = tuple(of for of in earlier.values() if isinstance(of, str))
        self._numbers = {path: of for path, of in earlier.items() if not isinstance(of, str)}
        self._pair = pair
        self._whole = whole
        self._paired: dict[str, str] = {}

    def before(self, found: Found, name: str | None) -> Numbers | None:
        path = self._pair(found)
        if path is None:
            return None
        if (other := self._paired.setdefault(path, found.path)) != found.path:
            message = f"'{escape(path)}' of the baseline could be this file's or that of '{escape(other)}'"
            raise unpaired(f"{message}; compare one folder with it")
        return self._numbers.get(path)

    def removed(self) -> Iterator[CheckedFile]:
        if self._whole:
            yield from _removed({path: of for path, of in self._numbers.items() if path not in self._paired})


def _removed(numbers: Mapping[str, Numbers]) -> Iterator[CheckedFile]:
    for name, of in numbers.items():
        yield CheckedFile(name, difference=Difference(of.params, None))
