"""What the formats for test reports and for annotations ask of a report: cases that passed or did not, and remarks.

Knows no question; `reports/check.py` has what is here, and any other report may.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple, Protocol

MOST_LINES = 1_000
"""More failures than this are counted, not told."""


class Outcome(Enum):
    """How a case ended, by JUnit's names."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


class Case(NamedTuple):
    """One thing that was tested."""

    name: str
    outcome: Outcome
    message: str = ""


class Tally(NamedTuple):
    """How many cases there are, and how many of them did not pass, by outcome."""

    tests: int
    failures: int = 0
    errors: int = 0
    skipped: int = 0


class Suite(Protocol):
    """The cases of one file. `tally` is known before they are made, which may be many."""

    @property
    def file(self) -> str: ...

    def tally(self) -> Tally: ...

    def cases(self) -> Iterator[Case]: ...


class Level(Enum):
    """How grave an annotation is, by GitHub's names."""

    ERROR = "error"
    NOTICE = "notice"


class Annotation(NamedTuple):
    """A remark on a file, or on one place in it."""

    level: Level
    title: str
    message: str
    line: int | None = None
    column: int | None = None


class Annotated(Protocol):
    """The remarks on one file."""

    @property
    def file(self) -> str: ...

    def annotations(self) -> Iterator[Annotation]: ...
