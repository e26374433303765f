"""What every question answers with: sheets for people and data for machines. Knows no format."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol


class Equation(NamedTuple):
    """A formula in letters, and with the numbers in."""

    letters: str
    numbers: str


Shape = tuple[int | None, ...]
Value = str | int | float | Equation | Shape | None
"""What a cell of a sheet holds; None is what is not known. Formats decide how it looks."""


class Column(NamedTuple):
    """A column of a sheet. Numbers stand to the right; a `key` says which row it is, and stays beside any other."""

    title: str
    right: bool = False
    key: bool = False


class Sheet(NamedTuple):
    """A table for people: rows that sum to the total where there is one, and what is to be said above and below it."""

    columns: tuple[Column, ...]
    rows: Iterable[tuple[Value, ...]]
    total: tuple[Value, ...] | None = None
    title: str = ""
    subtitle: str = ""
    notes: tuple[str, ...] = ()


class Report(Protocol):
    """The answer to a question about one network."""

    def data(self) -> dict[str, Any]:
        """Return the JSON object; an iterator in it is a list whose items are made as they are written."""

    def sheets(self) -> list[Sheet]:
        """Return the tables for people."""

    def records(self) -> tuple[tuple[str, ...], Iterable[tuple[Value, ...]]]:
        """Return the header and the rows of a CSV file."""
