"""What every convention allocates: a column each, and in words why the numbers differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.conventions.formula import letters
from rnncalc.network.stack import Placed
from rnncalc.questions.allocation import BASE, Allocations, Difference
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import flow, halves_of, steps_of, title
from rnncalc.reports.sheet import Column, Row, Sheet

MOST_NAMES = 3
"""More layers are the first two, and the number of the others."""


class AllocationReport(SheetReport, DataReport, RecordReport):
    """The allocations of one network."""

    allocations: Allocations

    def data(self) -> dict[str, Any]:
        """Return the object for programs."""
        network = self.allocations.network
        return {
            "name": network.name,
            "topology": network.topology_name,
            "steps": steps_of(network),
            "layers": [
                {"name": placed.name, "kind": placed.layer.kind, "part": placed.part, "params": params}
                for placed, params in self._rows()
            ],
            "params": self._totals(),
            "differences": [
                {"convention": each.convention, "params": each.params, "text": _told(each)}
                for each in self.allocations.differences
            ],
            "reasons": {name: problem.message for name, problem in self.allocations.problems.items()},
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return a row a layer and the total."""
        return ("network", "name", "kind", "part", *self.allocations.networks), self._records()

    def _records(self) -> Iterator[Row]:
        network = self.allocations.network.name
        for placed, params in self._rows():
            yield (network, placed.name, placed.layer.kind, placed.part, *params.values())
        yield (network, None, "total", None, *self._totals().values())

    def sheets(self) -> list[Sheet]:
        """Return the table of layers with a column a convention, and a sentence for each difference."""
        network = self.allocations.network
        halves = halves_of(network)
        titles = ("Part", "Layer") if halves else ("Layer",)
        return [
            Sheet(
                columns=(
                    *(Column(title, key=True) for title in titles),
                    Column("Kind"),
                    *(Column(name, right=True) for name in self.allocations.networks),
                ),
                rows=[
                    (*([placed.part] if halves else []), placed.name, placed.layer.kind, *params.values())
                    for placed, params in self._rows()
                ],
                total=("Total", *[""] * len(titles), *self._totals().values()),
                title=title(network),
                subtitle=flow(network),
                notes=tuple(self._notes()),
            )
        ]

    def _rows(self) -> Iterator[tuple[Placed, dict[str, int | None]]]:
        """Yield each layer in its place, with the parameters that each convention gives it."""
        networks = self.allocations.networks
        for number, placed in enumerate(self.allocations.network.stack):
            yield placed, {name: of.stack[number].params if of else None for name, of in networks.items()}

    def _totals(self) -> dict[str, int | None]:
        return {name: of.params if of else None for name, of in self.allocations.networks.items()}

    def _notes(self) -> Iterator[str]:
        differences = self.allocations.differences
        for difference in differences:
            yield f"{difference.convention}: {_told(difference)}."
        different = {BASE, *(difference.convention for difference in differences)}
        same = [name for name, network in self.allocations.networks.items() if network and name not in different]
        if same:
            yield f"{', '.join(same)}: as the textbook."
        for problem in self.allocations.problems.values():
            yield f"{problem.message}."


def _told(difference: Difference) -> str:
    more = f"{abs(difference.params):,} {'more' if difference.params > 0 else 'fewer'}"
    names = difference.layers
    layers = ", ".join(names if len(names) <= MOST_NAMES else [*names[:2], f"{len(names) - 2:,} others"])
    biases, others = letters(difference.biases), letters(difference.biases_of_textbook)
    tensors = ", ".join(difference.tensors)
    return f"{more} in {layers} than the textbook, biases of {biases} in place of {others} ({tensors})"
