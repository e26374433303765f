"""The base of reports beside a count: the count's object, records and tables, with more numbers for each layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rnncalc.layers.layer import External
from rnncalc.network.parts import steps_known
from rnncalc.reports.count import CountReport
from rnncalc.reports.report import DataReport, RecordReport, SheetReport

if TYPE_CHECKING:
    from rnncalc.network.network import Network
    from rnncalc.reports.sheet import Row, Sheet


class BesideReport(SheetReport, DataReport, RecordReport, ABC):
    """A count, with more numbers for each layer and for the network.

    keys: the names of the numbers. within: the key of the JSON object that holds them; empty for the layer's own
    object.
    """

    keys: ClassVar[tuple[str, ...]]
    within: ClassVar[str] = ""

    counts: CountReport

    @abstractmethod
    def numbers(self) -> Iterator[Mapping[str, Any] | None]:
        """Yield the numbers of each layer by key, and last those of the network; None if they are unknown."""

    @abstractmethod
    def whole(self) -> dict[str, Any]:
        """Return the keys that the JSON object has in addition to the count's."""

    @abstractmethod
    def layer_sheet(self) -> Sheet:
        """Return the table of layers."""

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's, with the numbers added."""
        *layers, _ = self.numbers()
        data = self.counts.data()
        added = ({self.within: of} if self.within else of or {} for of in layers)
        data["layers"] = ({**layer, **of} for layer, of in zip(data["layers"], added, strict=True))
        return {**data, **self.whole()}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row for each layer and the total last; with `tensors`, the count's rows, without these numbers."""
        header, rows = self.counts.records()
        if self.counts.tensors:
            return header, rows
        names = tuple(f"{self.within}_{key}" if self.within else key for key in self.keys)
        return (*header, *names), ((*row, *self.row(of)) for row, of in zip(rows, self.numbers(), strict=True))

    def row(self, numbers: Mapping[str, Any] | None) -> Row:
        """Return numbers in the order of their keys."""
        return tuple((numbers or dict.fromkeys(self.keys)).values())

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        return [self.layer_sheet(), *self.counts.tensor_sheets()]


def on_unknown(network: Network) -> Iterator[str]:
    """Yield the reason if numbers are unknown because they need the steps."""
    if steps_known(network.parts):
        yield from on_elsewhere(network)
    else:
        yield "Not known without the number of steps; give steps, or -T."


def on_elsewhere(network: Network) -> Iterator[str]:
    """Yield a sentence on the first part that is counted elsewhere, if there is one."""
    for placed in network.stack:
        if isinstance(placed.layer, External):
            yield f"Not known for what is counted elsewhere: {placed.name}."
            return
