"""A report: the result of a question, in each of the forms that formats need.

A kind of report has one abstract method. A format writes some kinds: tables, an object for programs, records,
findings, pictures. A report inherits from its kinds. A format cannot write a report of another kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.pictures.picture import Picture
    from rnncalc.typeset.sheet import Document, Finding, Quiz, Row, Sheet


def fields(result: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a result, as keys of a JSON object; None each if there is no result."""
    return {name: None if result is None else getattr(result, name) for name in names}


class Report(Frozen, ABC):
    """A report: its fields are the annotations of its class. A kind of report names ABC as a base class."""


class SheetReport(Report, ABC):
    """A report that people read as tables."""

    @abstractmethod
    def sheets(self) -> list[Sheet]:
        """Return the tables."""

    def page(self) -> Iterable[Sheet | Picture]:
        """Return the parts of a page: the tables, or more."""
        return self.sheets()


class DataReport(Report, ABC):
    """A report that programs read as an object. listed_as: the JSON key of a list of such reports."""

    listed_as: ClassVar[str] = "reports"

    @abstractmethod
    def data(self) -> dict[str, Any] | Iterable[dict[str, Any]]:
        """Return the object, or several; an iterator in it is written as a list with one item per line."""

    def beside(self) -> dict[str, Any]:
        """Return keys to write beside the list of objects, such as their totals."""
        return {}


class RecordReport(Report, ABC):
    """A report that fits into one table of plain values."""

    @property
    def separator(self) -> str:
        """What is between the cells of a row."""
        return ","

    @property
    def beginning(self) -> str:
        """What is written before the header."""
        return ""

    @abstractmethod
    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        """Return the header and the rows."""


class RowsReport(SheetReport, DataReport, RecordReport, ABC):
    """A table whose object has a `name`, and `rows` with the same keys."""

    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        data: Any = self.data()
        return ("network", *next(iter(data["rows"]), {})), [(data["name"], *row.values()) for row in data["rows"]]


class DerivationReport(SheetReport, ABC):
    """A report that is typeset as mathematics in LaTeX: its tables have equations, or an Arithmetic in each row."""


class DocumentReport(Report, ABC):
    """A report that can be written as a document, such as the draft of a spec."""

    @abstractmethod
    def document(self) -> Document:
        """Return the document."""


class DrawnReport(Report, ABC):
    """A report with pictures, which may have tables too."""

    @abstractmethod
    def pictures(self, width: int | None = None, signs: Mapping[str, str] | None = None) -> list[Picture]:
        """Return pictures, if possible no wider than `width` cells; signs: words to write instead of letters."""


class PictureReport(DrawnReport, ABC):
    """A report that is nothing but pictures."""

    @property
    def standalone(self) -> bool:
        """Whether a format that writes parts of documents, such as TikZ, writes a whole document."""
        return False


class CheckedReport(Report, ABC):
    """A report on files that were checked."""

    @abstractmethod
    def findings(self) -> Iterable[tuple[str, str, list[Finding]]]:
        """Return the path of each file, the convention of its counts, empty if it is invalid, and its findings."""


class LinkReport(Report, ABC):
    """A report that the playground shows."""

    @abstractmethod
    def link(self) -> tuple[str, dict[str, str]]:
        """Return the address of the playground, and what it shows, in the keys of its links."""


class QuizReport(Report, ABC):
    """A report with questions for learners, and their answers."""

    @abstractmethod
    def quiz(self) -> Quiz:
        """Return the questions."""
