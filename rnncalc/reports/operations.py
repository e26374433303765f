"""The report of `count --operations`: a table of operations, records, and the object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.layers.layer import External
from rnncalc.network.parts import steps_known
from rnncalc.questions.operations import PassOperations
from rnncalc.reports.count import CountReport, widths
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import plural

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed
    from rnncalc.reports.sheet import Row, Sheet
    from rnncalc.step.costs import OperationCounts

TITLES = {
    "multiply_adds": "Multiply-adds",
    "bias_additions": "Bias additions",
    "elementwise": "Element-wise",
    "activations": "Activations",
    "flops": "FLOPs",
}
"""The title of each number's column."""


class OperationsReport(SheetReport, DataReport, RecordReport):
    """A count, and the operations of a forward pass."""

    counts: CountReport
    operations: PassOperations

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's, with the operations added."""
        data = self.counts.data()
        pairs = zip(data["layers"], self.operations.layers, strict=True)
        data["layers"] = ({**layer, "operations": _numbers(of)} for layer, of in pairs)
        return {**data, "operations": _numbers(self.operations.total)}

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row for each layer and the total; with `tensors`, which have no operations, the count's rows."""
        header, rows = self.counts.records()
        if self.counts.tensors:
            return header, rows
        more = map(_row, (*self.operations.layers, self.operations.total))
        names = tuple(f"operations_{name}" for name in TITLES)
        return (*header, *names), ((*row, *own) for row, own in zip(rows, more, strict=True))

    def sheets(self) -> list[Sheet]:
        """Return the table of layers and, with `tensors`, the table of tensors."""
        network = self.operations.network
        rows: Iterator[tuple[Placed, Row]] = (
            (placed, (widths(placed), placed.params, *_row(of)))
            for placed, of in zip(network.stack, self.operations.layers, strict=True)
        )
        total = (network.params, *_row(self.operations.total))
        titles = ("Parameters", *TITLES.values())
        sheet = layer_sheet(network, ("In → out",), titles, rows, total, self._notes())
        return [sheet, *(self.counts.sheets()[1:] if self.counts.tensors else ())]

    def _notes(self) -> Iterator[str]:
        network = self.operations.network
        yield f"Operations of one forward pass over {plural(self.operations.batch, 'sequence')}."
        yield "Element-wise: products, quotients and sums of two numbers; FLOPs: 2 × multiply-adds (MACs) + the rest."
        if not steps_known(network.parts):
            yield "Not known without the number of steps; give steps, or -T."
        elif elsewhere := [placed.name for placed in network.stack if isinstance(placed.layer, External)]:
            yield f"Not known for what is counted elsewhere: {elsewhere[0]}."


def _numbers(of: OperationCounts | None) -> dict[str, int] | None:
    return of and {**of._asdict(), "flops": of.flops}


def _row(of: OperationCounts | None) -> Row:
    return (*(_numbers(of) or dict.fromkeys(TITLES)).values(),)
