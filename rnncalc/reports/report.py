"""What a report is: the answer to a question, in each of the forms that formats ask for.

A kind of report has one method that is abstract, and a format writes kinds: tables, an object for programs, records,
findings, pictures. A report is of every kind that it says it is; one that lacks what a kind asks for, or misspells it,
is refused when its class is defined. A report that a format cannot write is not of its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.errors import DeclarationError
from rnncalc.layers.frozen import Frozen
from rnncalc.text import all_of

if TYPE_CHECKING:
    from rnncalc.pictures.picture import Picture
    from rnncalc.reports.sheet import Document, Finding, Row, Sheet


class Report(Frozen, ABC):
    """A report: its fields are the annotations of its class. A kind of report names ABC as a base class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if missing := methods_of(cls) if ABC not in cls.__bases__ else []:
            raise DeclarationError(f"{cls.__name__} has no {all_of(missing)}, which reports of its kind have")


def methods_of(kind: type[Report]) -> list[str]:
    """Return the methods that a kind of report asks for."""
    return [name for name in dir(kind) if getattr(getattr(kind, name, None), "__isabstractmethod__", False)]


class SheetReport(Report, ABC):
    """A report that people read as tables."""

    @abstractmethod
    def sheets(self) -> list[Sheet]:
        """Return the tables."""


class PageReport(SheetReport, ABC):
    """A report that has more on a page than its tables."""

    @abstractmethod
    def page(self) -> Iterable[Sheet | Picture]:
        """Return what stands on the page."""


class DataReport(Report, ABC):
    """A report that programs read as an object. listed_as: the key in JSON that such reports stand under."""

    listed_as: ClassVar[str] = "reports"

    @abstractmethod
    def data(self) -> dict[str, Any] | Iterable[dict[str, Any]]:
        """Return the object, or several; an iterator in it is a list that is written with a line for each item."""

    def beside(self) -> dict[str, Any]:
        """Return what stands beside the list of objects, such as what they come to together."""
        return {}


class RecordReport(Report, ABC):
    """A report that fits into one table of plain values."""

    @abstractmethod
    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        """Return the header and the rows."""


class DerivationReport(SheetReport, ABC):
    """A report whose tables have equations, or an Arithmetic in each row, and can be typeset as mathematics."""


class DocumentReport(Report, ABC):
    """A report that can be written as a document, such as the draft of a spec."""

    @abstractmethod
    def document(self) -> Document:
        """Return the document."""


class PictureReport(Report, ABC):
    """A report that can be drawn."""

    @property
    def standalone(self) -> bool:
        """Whether a format whose pictures are parts of documents writes a whole document."""
        return False

    @abstractmethod
    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return pictures, if possible no wider than `width` cells; signs: words to write instead of letters."""


class CheckedReport(Report, ABC):
    """A report on files that were checked."""

    @abstractmethod
    def findings(self) -> Iterable[tuple[str, list[Finding]]]:
        """Return the path of each file, with what was checked in it."""
