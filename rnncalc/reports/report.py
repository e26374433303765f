"""What a report is, for type checkers alone: the methods that formats ask for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from rnncalc.reports.cases import Annotation, Case, Tally
from rnncalc.reports.pictures.picture import Picture
from rnncalc.reports.sheet import Row, Sheet


class Report(Protocol):
    """What the answer to a question says, for people and for programs.

    A report that some formats cannot write has not the method that those ask for.
    """

    def data(self) -> dict[str, Any]:
        """Return the object for programs; an iterator in it is a list whose items are made as they are written."""

    def sheets(self) -> list[Sheet]:
        """Return the tables for people."""


class Paged(Protocol):
    """A report that has more to say on a page than its sheets."""

    def page(self) -> Iterable[Sheet | Picture]:
        """Return what stands on the page."""


class Recorded(Protocol):
    """A report that fits into one table of plain values."""

    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        """Return the header and the rows."""


class Derived(Protocol):
    """A report that derives what it says, and can be typeset as mathematics."""

    def derivations(self) -> list[Sheet]:
        """Return sheets with equations, and with an Arithmetic in each row."""


class Suite(Protocol):
    """A report on one file that was tested. `tally` is known before the cases are made, which may be many."""

    @property
    def file(self) -> str: ...

    def tally(self) -> Tally:
        """Return how many cases there are."""

    def cases(self) -> Iterator[Case]:
        """Yield what was tested."""


class Annotated(Protocol):
    """A report with remarks on one file."""

    @property
    def file(self) -> str: ...

    def annotations(self) -> Iterator[Annotation]:
        """Yield the remarks."""


class Drawn(Protocol):
    """A report that can be drawn."""

    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return pictures, none wider than so many cells where that can be; signs: words that stand for letters."""
