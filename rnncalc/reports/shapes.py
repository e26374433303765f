"""The report of `count --shapes`: the arrays that each module reads and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rnncalc.questions.shapes import ModuleArray, NetworkShapes
from rnncalc.reports.count import CountReport
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.setting import layer_sheet
from rnncalc.text import plural

if TYPE_CHECKING:
    from rnncalc.network.stack import Placed
    from rnncalc.questions.shapes import ModuleShapes
    from rnncalc.reports.sheet import Row, Sheet

_HEADER = ("network", "layers", "kind", "part", "input", "returns", "shape")


class ShapesReport(SheetReport, DataReport, RecordReport):
    """A count, and the arrays that modules read and return."""

    counts: CountReport
    shapes: NetworkShapes

    def data(self) -> dict[str, Any]:
        """Return the object for programs: the count's object with the shapes added."""
        return {
            **self.counts.data(),
            "shapes": [
                {
                    "layers": [placed.name for placed in module.places],
                    "input": module.input.shape,
                    "returns": {name: array.shape for name, array in module.returns.items()},
                }
                for module in self.shapes.modules
            ],
        }

    def records(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        return _HEADER, self._records()

    def _records(self) -> Iterator[Row]:
        for module in self.shapes.modules:
            first = module.places[0]
            layers = " ".join(placed.name for placed in module.places)
            for name, array in module.returns.items():
                about = (self.shapes.network.name, layers, first.kind, first.part)
                yield *about, written(module.input), name, written(array)

    def sheets(self) -> list[Sheet]:
        """Return the table of modules and, with `tensors`, the table of tensors."""
        network = self.shapes.network
        rows: Iterator[tuple[Placed, Row]] = (
            (_named(module), (_kind(module), written(module.input), name, written(array)))
            for module in self.shapes.modules
            for name, array in module.returns.items()
        )
        sheet = layer_sheet(network, ("Kind", "Input", "Returns", "Shape"), (), rows, (), self._notes())._replace(
            total=None
        )
        return [sheet, *self.counts.tensor_sheets()]

    def _notes(self) -> Iterator[str]:
        returns = self.shapes.returns
        arrays = [array for of in self.shapes.modules for array in (of.input, *of.returns.values())]
        letters = {axis for array in arrays for axis, size in zip(*array, strict=True) if size is None}
        meant = {"B": "the sequences in a batch (--batch)", "T": "the steps (-T)"}
        if letters:
            yield "; ".join(f"{letter}: {meant[letter]}" for letter in sorted(letters)) + "."
        yield (self.shapes.time_first and returns.note_time_first) or returns.note


def written(array: ModuleArray) -> str:
    """Return a shape for people, `(B, T, 20)`."""
    sizes = [axis if size is None else f"{size:,}" for axis, size in zip(*array, strict=True)]
    return f"({', '.join(sizes)})"


def _named(module: ModuleShapes) -> Placed:
    """Return a module's first layer, named after all its layers."""
    first, *others = module.places
    return first._replace(name=f"{first.name} to {others[-1].name}") if others else first


def _kind(module: ModuleShapes) -> str:
    layers = len(module.places)
    return f"{module.places[0].kind}, {plural(layers, 'layer')}" if layers > 1 else module.places[0].kind
