"""What a solution says: the size that fits, the next one, and what is left of the budget."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnncalc.questions.solve import Solution
from rnncalc.reports.setting import setting, title
from rnncalc.reports.sheet import Column, Row, Sheet


class SolutionReport(NamedTuple):
    """A solution, or that there is none."""

    solution: Solution

    def data(self) -> dict[str, Any]:
        """Return the object for programs."""
        solution = self.solution
        return {
            "name": solution.smallest.name,
            "budget": solution.budget,
            "size": solution.size,
            "params": solution.params,
            "next_size": solution.next_size,
            "next_params": solution.next_params,
            "exact": solution.exact,
            "left": solution.left,
            "solved": solution.solved,
        }

    def sheets(self) -> list[Sheet]:
        """Return a row for the size that fits and one for the next."""
        solution = self.solution
        rows: list[Row] = []
        if solution.size is not None:
            rows.append((f"? = {solution.size:,}", solution.params, solution.left))
        if solution.next_size is not None and solution.next_params is not None:
            rows.append((f"? = {solution.next_size:,}", solution.next_params, solution.budget - solution.next_params))
        columns = (
            Column("Size", key=True),
            *(Column(title, right=True, together=True) for title in ("Parameters", "Left of the budget")),
        )
        network = solution.smallest
        return [
            Sheet(
                columns,
                rows,
                title=title(network, solution.network),
                subtitle=setting(network),
                notes=(self._verdict(),),
            )
        ]

    def _verdict(self) -> str:
        solution, budget = self.solution, f"{self.solution.budget:,} parameters"
        if solution.size is None:
            needs = f"{solution.next_size:,} needs {solution.next_params:,}"
            return f"✗ No size fits: even {needs}, and the budget is {budget}."
        if not solution.left:
            return f"✓ {solution.size:,} gives exactly {budget}."
        if solution.exact:
            return f"✗ No size gives exactly {budget}."
        left = f"{solution.left:,} are left"
        if solution.next_size is None:
            return f"✓ {solution.size:,} fits in {budget}, and it is the largest size there can be; {left}."
        return f"✓ {solution.size:,} is the largest that fits in {budget}; {left}."
