"""A pass as work, as formats ask for it; what it says is made when it is asked for, and no other call pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnncalc.reports.report import DerivationReport, SheetReport

if TYPE_CHECKING:
    from rnncalc.questions.work import Work
    from rnncalc.reports.sheet import Sheet


class WorkReport(SheetReport, DerivationReport):
    """A pass as work, said."""

    work: Work

    @property
    def agrees(self) -> bool:
        """Whether every layer did what is declared of it."""
        return self.work.run.agrees

    def sheets(self) -> list[Sheet]:
        """Return the network, each layer with its weights, each step, and what came out."""
        from rnncalc.reports.work_sheets import work_sheets

        return work_sheets(self.work)

    def derivations(self) -> list[Sheet]:
        """Return the same sheets."""
        return self.sheets()
