"""What every question answers with: sheets for people and data for machines. Knows no format."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from rnncalc.conventions.convention import CONVENTIONS
from rnncalc.network.network import Network


class Equation(NamedTuple):
    """A formula in letters, and with the numbers in."""

    letters: str
    numbers: str


class Bar(NamedTuple):
    """A share from 0 to 1, drawn to scale."""

    share: float


Shape = tuple[int | None, ...]
Value = str | int | float | Equation | Bar | Shape | None
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


class Recorded(Report, Protocol):
    """A report that fits the one table of a CSV file."""

    def records(self) -> tuple[tuple[str, ...], Iterable[tuple[Value, ...]]]:
        """Return the header and the rows."""


def steps_of(network: Network) -> int | dict[str, int | None] | None:
    """Return the number of steps as reports give it: one number, or one for each half of an encoder-decoder."""
    if len(network.parts) == 1:
        return network.parts[None].steps
    return {str(name): part.steps for name, part in network.parts.items()}


def setting(network: Network) -> str:
    """Return the topology, the steps and the convention, as reports head themselves."""
    steps = [f"{part.steps:,}" if part.steps else "T" for part in network.parts.values()]
    plural = "" if steps == ["1"] else "s"
    row = CONVENTIONS[network.convention]
    return f"{network.topology_name}, {' and '.join(steps)} step{plural}; convention {row.title}: {row.note}"
