"""The report of `solve`: the size that fits, the next one, and what remains of the budget."""

from __future__ import annotations

from typing import Any

from rnncalc.questions.solve import Solution
from rnncalc.reports.report import DataReport, RecordReport, SheetReport, fields
from rnncalc.typeset.setting import setting, title
from rnncalc.typeset.sheet import Row, Sheet, key_columns, number_columns
from rnncalc.words import plural


class SolutionReport(SheetReport, DataReport, RecordReport):
    """A solution, or that there is none."""

    solution: Solution

    def data(self) -> dict[str, Any]:
        solution = self.solution
        keys = ("size", "params", "next_size", "next_params", "exact", "left", "left_bytes", "solved")
        return {
            "name": solution.smallest.name,
            "budget": solution.budget,
            "budget_bytes": solution.bytes,
            **fields(solution, *keys),
        }

    def records(self) -> tuple[tuple[str, ...], list[Row]]:
        data = self.data()
        return (*data,), [(*data.values(),)]

    def sheets(self) -> list[Sheet]:
        """Return a row for the size that fits and one for the next."""
        solution = self.solution
        rows: list[Row] = []
        if solution.size is not None:
            rows.append((f"? = {solution.size:,}", solution.params, solution.left))
        if solution.next_size is not None and solution.next_params is not None:
            rows.append((f"? = {solution.next_size:,}", solution.next_params, solution.budget - solution.next_params))
        columns = *key_columns("Size"), *number_columns("Parameters", "Remaining", together=True)
        heading, subtitle = title(solution.smallest, solution.largest), setting(solution.network or solution.smallest)
        return [Sheet(columns, rows, title=heading, subtitle=subtitle, notes=(self._verdict(),))]

    def _verdict(self) -> str:
        solution = self.solution
        if solution.size is None:
            needs = f"{solution.next_size:,} needs {solution.next_params:,}"
            return f"✗ No size fits: even {needs}, and the budget is {self._budget()}."
        if solution.met:
            return f"✓ {solution.size:,} gives exactly {self._budget()}."
        if solution.exact:
            return f"✗ No size gives exactly {self._budget()}."
        rest = f"{solution.left:,} remain"
        if solution.next_size is None:
            return f"✓ {solution.size:,} fits in {self._budget()}, and it is the largest size there can be; {rest}."
        return f"✓ {solution.size:,} is the largest that fits in {self._budget()}; {rest}."

    def _budget(self) -> str:
        """Return the budget as given; a budget in bytes also in parameters."""
        solution = self.solution
        params = plural(solution.budget, "parameter")
        if solution.bytes is None or solution.bytes_each is None:
            return params
        return f"{plural(solution.bytes, 'byte')}, {params} of {plural(solution.bytes_each, 'byte')} each"
