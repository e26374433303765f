"""What `check` says of all its files together, for people: a table of the limits, one of what changed, each failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from rnncalc.questions.check import Status
from rnncalc.questions.limits import Difference
from rnncalc.reports.cases import MOST_LINES
from rnncalc.reports.checked_file import FileReport, left_out
from rnncalc.reports.limits import as_json, fixed
from rnncalc.reports.sheet import Column, Sheet, Value
from rnncalc.text import escape, plural

if TYPE_CHECKING:
    from rnncalc.questions.limits import Number

MOST_ROWS = 200
"""With more rows than this, those that were kept, or did not change, are not shown."""

_SAID = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.BROKEN: "no valid spec",
    Status.UNCHECKED: "with nothing to check",
    Status.REMOVED: "removed",
}


class CheckReport(NamedTuple):
    """What is said of all files.

    baseline: what they were compared to, if anything; remarks: what could not be read of it.
    left_out: how many files of the folders are no specs.
    """

    files: tuple[FileReport, ...]
    baseline: str = ""
    remarks: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def code(self) -> int:
        """The exit code: 2 when a spec is broken, 1 when a limit was not kept, else 0."""
        found = {file.checked.status for file in self.files}
        return 2 if Status.BROKEN in found else 1 if Status.FAILED in found else 0

    def failures(self) -> Iterator[str]:
        """Yield a line for each failure, up to a number that people read."""
        lines = (line for file in self.files for line in file.lines())
        yield from islice(lines, MOST_LINES)
        if rest := sum(1 for _ in lines):
            yield f"and {rest:,} more failures"
        yield from self.remarks
        if self.left_out:
            yield f"left out, as no specs by their keys: {plural(self.left_out, 'YAML file')}"

    def sheets(self) -> list[Sheet]:
        """Return the table of limits and, with a baseline, that of changes."""
        notes = tuple(self._notes())
        if not self.baseline:
            return [self._limit_sheet(notes)]
        return [self._limit_sheet(()), self._difference_sheet(notes)]

    def _limit_sheet(self, notes: tuple[str, ...]) -> Sheet:
        rows = [row for file in self.files for row in file.rows()]
        verdicts = [file.checked.verdict for file in self.files if file.checked.verdict]
        checks = [check for verdict in verdicts for check in verdict.checks]
        kept = sum(each.kept for each in checks)
        specs = sum(file.checked.status is not Status.REMOVED for file in self.files)
        subtitle = f"{plural(specs, 'spec')}, {plural(len(checks), 'check')}"
        if len(rows) > MOST_ROWS and kept:
            rows = [row for row in rows if row[0] != "✓"]
            subtitle += f"; the {kept:,} that were kept are not shown"
        return Sheet(_COLUMNS, rows, title="Checks", subtitle=subtitle, notes=notes)

    def _difference_sheet(self, notes: tuple[str, ...]) -> Sheet:
        compared = [(file.file, file.checked.difference) for file in self.files if file.checked.difference]
        same = [of for _, of in compared if of.before == of.after] if len(compared) > MOST_ROWS else []
        rows = [_row(file, of) for file, of in compared if not same or of.before != of.after]
        if same:
            params = as_json(sum(difference.before or 0 for difference in same))
            rows.append((f"{len(same):,} others, unchanged", params, params, "0", "", ""))
        whole = Difference(*(sum(of[side] or 0 for _, of in compared) for side in (0, 1)))
        return Sheet(
            (
                Column("Spec", key=True, whole=True),
                *(Column(title, right=True, together=True) for title in ("Before", "After", "Change", "Percent")),
                Column("State"),
            ),
            rows,
            ("Total", as_json(whole.before), as_json(whole.after), _signed(whole.growth), _percent(whole), ""),
            title="Changes",
            subtitle=f"parameters against {escape(self.baseline)}",
            notes=notes,
        )

    def _notes(self) -> Iterator[str]:
        yield from self.failures()
        verdicts = [file.checked.verdict for file in self.files]
        reasons = Counter(reason for verdict in verdicts if verdict and (reason := left_out(verdict)))
        for reason, count in reasons.items():
            yield f"{plural(count, 'spec')}: {reason}."
        counts = Counter(file.checked.status for file in self.files)
        models = [verdict.model for verdict in verdicts if verdict and verdict.model]
        if others := sum(model.left_out for model in models):
            yield f"{plural(others, 'tensor')} of the model file, no parameters, left out."
        yield f"{'; '.join(f'{counts[status]:,} {said}' for status, said in _SAID.items() if counts[status])}."


_COLUMNS = (
    Column("", key=True),
    Column("Spec", key=True, whole=True),
    Column("Check", key=True),
    Column("Limit", right=True, together=True),
    Column("Actual", right=True, together=True),
)


def _row(file: str, difference: Difference) -> tuple[Value, ...]:
    before, after = difference
    state = "new" if before is None else "removed" if after is None else ""
    numbers = ("" if number is None else as_json(number) for number in difference)
    return file, *numbers, _signed(difference.growth), _percent(difference), state


def _percent(difference: Difference) -> str:
    return "" if difference.percent is None else f"{fixed(difference.percent, 2, signed=True)}%"


def _signed(number: Number) -> str:
    return f"{number:+,}" if number else "0"
