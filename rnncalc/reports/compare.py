"""What a comparison says: a row and a bar a side; and for growing steps, a row and a bar each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rnncalc.layers.cell import Cell
from rnncalc.questions.compare import Compared, Comparison, DenseGrowth, Lack, Missing
from rnncalc.reports.report import DataReport, SheetReport
from rnncalc.reports.setting import setting, title
from rnncalc.reports.sheet import BARS, Bar, Column, Row, Sheet

AS_IT_IS = "as it is"


class ComparisonReport(SheetReport, DataReport):
    """A comparison of several networks, or of one with what it would be as other kinds."""

    comparison: Comparison

    @property
    def title(self) -> str:
        """The one network's name, or what is done with several."""
        return self.comparison.networks[0].name if self._alone else "Comparison"

    @property
    def _alone(self) -> bool:
        return len(self.comparison.networks) == 1

    def data(self) -> dict[str, Any]:
        """Return the object for programs."""
        return {
            "name": self.title,
            "rows": [
                {
                    "name": self._label(side),
                    "params": side.params,
                    "multiply_adds": side.multiply_adds,
                    "bytes": side.bytes,
                    "units": side.units,
                    "ratio": self.comparison.ratio(side),
                }
                for side in self.comparison.sides
            ],
            "notes": [*self._notes()],
        }

    def sheets(self) -> list[Sheet]:
        """Return a row a side, each with a bar drawn to the scale of the largest."""
        searched = self.comparison.same_params
        most = max(side.params for side in self.comparison.sides) or 1
        columns = (
            Column("Network", key=True),
            *([Column("Units", right=True, together=True)] if searched else []),
            *(Column(title, right=True, together=True) for title in ("Parameters", "Ratio")),
            Column("Multiply-adds", right=True),
            Column("Bytes", right=True),
            Column("", together=True),
        )
        rows: list[Row] = [
            (
                self._label(side),
                *([side.units] if searched else []),
                side.params,
                self.comparison.ratio(side),
                side.multiply_adds,
                side.bytes,
                Bar(side.params / most),
            )
            for side in self.comparison.sides
        ]
        subtitle = setting(self.comparison.networks[0]) if self._alone else ""
        heading = title(self.comparison.networks[0]) if self._alone else self.title
        return [Sheet(columns, rows, title=heading, subtitle=subtitle, notes=tuple(self._notes()))]

    def _label(self, side: Compared) -> str:
        return (side.kind or AS_IT_IS) if self._alone else side.name

    def _notes(self) -> Iterator[str]:
        first = self.comparison.sides[0]
        if self._alone and not any(isinstance(placed.layer, Cell) for placed in self.comparison.networks[0].stack):
            yield "No layer is recurrent: there is nothing to exchange, and as any kind the network is as it is."
        for missing in self.comparison.missing:
            yield _why(missing, first)
        if self.comparison.same_params:
            most = "the most that keep within the first row's parameters"
            yield f"All recurrent layers of a row have the same units, {most}."
            if self.comparison.projections:
                yield "A projection keeps its width, in the kinds that have one."
        elif any(side.multiply_adds is None for side in self.comparison.sides):
            yield "Multiply-adds: not known without the number of steps, or with a part counted elsewhere."


def _why(missing: Missing, first: Compared) -> str:
    match missing.reason:
        case Lack.STEPS:
            return f"{missing.kind}: not known without the number of steps; give steps, or -T."
        case Lack.WIDTH:
            return f"{missing.kind}: no width fits in {first.params:,} parameters."
        case problem:
            return f"{missing.kind}: {problem.message}."


class DenseGrowthReport(SheetReport, DataReport):
    """How a dense equivalent grows with the steps."""

    growth: DenseGrowth

    def data(self) -> dict[str, Any]:
        """Return the object for programs."""
        return {
            "name": self.growth.network.name,
            "params": self.growth.network.params,
            "rows": [
                {"steps": row.steps, "params": row.params, "dense": row.dense, "ratio": row.ratio}
                for row in self.growth.rows
            ],
        }

    def sheets(self) -> list[Sheet]:
        """Return a row for each chosen number of steps, and a line that draws the growth."""
        found = self.growth.rows
        most = max(row.dense for row in found) or 1
        columns = (
            Column("Steps", right=True, key=True),
            *(Column(title, right=True, together=True) for title in ("Recurrent", "Dense equivalent", "Ratio")),
            Column("", together=True),
        )
        rows: list[Row] = [(row.steps, row.params, row.dense, row.ratio, Bar(row.dense / most)) for row in found]
        line = "".join(BARS[row.dense * len(BARS) // (most + 1)] for row in found)
        range_ = f"{found[0].steps:,} to {found[-1].steps:,} steps"
        network = self.growth.network
        return [
            Sheet(
                columns,
                rows,
                title=title(network),
                subtitle=f"{network.topology_name}; parameters by the number of steps",
                notes=(f"Dense equivalent {line} over {range_}; recurrent, no change.",),
            )
        ]
