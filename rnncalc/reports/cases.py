"""What the formats for test reports and for annotations write: cases that passed or did not, and remarks.

Knows no question; any report may have them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

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
