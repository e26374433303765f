"""The report of `count --operations`: a table of operations, records, and the object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.questions.operations import PassOperations
from rnncalc.reports.beside import BesideReport, on_unknown
from rnncalc.reports.count import widths
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import plural

if TYPE_CHECKING:
    from rnncalc.reports.sheet import Sheet
    from rnncalc.step.costs import OperationCounts

TITLES = {
    "multiply_adds": "Multiply-adds",
    "bias_additions": "Bias additions",
    "elementwise": "Element-wise",
    "activations": "Activations",
    "flops": "FLOPs",
}
"""The title of each number's column."""


class OperationsReport(BesideReport):
    """A count, and the operations of a forward pass."""

    keys = tuple(TITLES)
    within = "operations"

    operations: PassOperations

    def numbers(self) -> Iterator[dict[str, int | None]]:
        """Yield the operations of each layer, and of the network last."""
        return map(operation_numbers, (*self.operations.layers, self.operations.total))

    def whole(self) -> dict[str, Any]:
        """Return the operations of the network."""
        return {self.within: operation_numbers(self.operations.total)}

    def layer_sheet(self) -> Sheet:
        """Return the table of layers."""
        network = self.operations.network
        *layers, total = map(self.row, self.numbers())
        rows = ((of, (widths(of), of.params, *row)) for of, row in zip(network.stack, layers, strict=True))
        titles = ("Parameters", *TITLES.values())
        return layer_sheet(network, ("In → out",), titles, rows, (network.params, *total), self._notes())

    def _notes(self) -> Iterator[str]:
        yield f"Operations of one forward pass over {plural(self.operations.batch, 'sequence')}."
        yield "Element-wise: products, quotients and sums of two numbers; FLOPs: 2 × multiply-adds (MACs) + the rest."
        yield from on_unknown(self.operations.network)


def operation_numbers(of: OperationCounts | None) -> dict[str, int | None]:
    """Return the numbers of operations by key; None each if they are unknown."""
    return {key: getattr(of, key, None) for key in TITLES}
