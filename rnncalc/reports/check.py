"""All files of one `check` together, for people: a table of the checks, one of the changes, a line for each failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from rnncalc.questions.check import Checked
from rnncalc.reports.sheet import Column, Sheet, Value
from rnncalc.text import escape

MOST_ROWS = 200
"""With more checks than this, those that were kept are not shown."""

MOST_LINES = 1_000
"""More failures than this are counted, not told."""

_SAID = {
    "passed": "passed",
    "failed": "failed",
    "broken": "no valid spec",
    "unchecked": "with nothing to check",
    "removed": "removed",
}


class Checks(NamedTuple):
    """The answers for all files; baseline: what they were compared to, if anything."""

    files: tuple[Checked, ...]
    baseline: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: 2 when a spec is broken, 1 when a check failed, else 0."""
        found = {file.status for file in self.files}
        return 2 if "broken" in found else 1 if "failed" in found else 0

    def failures(self) -> Iterator[str]:
        """Yield a line for each failure, up to a number that people read."""
        lines = (line(file, place, name, message) for file in self.files for place, name, message in file.failures())
        yield from islice(lines, MOST_LINES)
        if rest := sum(1 for _ in lines):
            yield f"and {rest:,} more failures"
        yield from self.remarks

    def data(self) -> dict[str, Any]:
        """Return the JSON object of all files as one."""
        return {"files": [file.data() for file in self.files]}

    def records(self) -> tuple[tuple[str, ...], Iterable[tuple[Value, ...]]]:
        """Return a row a check."""
        return ("", *(column.title for column in _COLUMNS[1:])), [row for file in self.files for row in _rows(file)]

    def sheets(self) -> list[Sheet]:
        """Return the table of checks and, with a baseline, that of changes."""
        notes = tuple(self._notes())
        if not self.baseline:
            return [self._check_sheet(notes)]
        return [self._check_sheet(()), self._change_sheet(notes)]

    def _check_sheet(self, notes: tuple[str, ...]) -> Sheet:
        many = sum(len(file.checks) or 1 for file in self.files) > MOST_ROWS
        rows = [row for file in self.files for row in _rows(file) if not (many and row[0] == "✓")]
        return Sheet(_COLUMNS, rows, title="Checks", subtitle=self._subtitle(many), notes=notes)

    def _subtitle(self, many: bool) -> str:
        specs = sum(file.status != "removed" for file in self.files)
        kept = sum(check.ok for file in self.files for check in file.checks)
        count = sum(len(file.checks) for file in self.files)
        text = f"{_plural(specs, 'spec')}, {_plural(count, 'check')}"
        return f"{text}; the {kept:,} that were kept are not shown" if many and kept else text

    def _change_sheet(self, notes: tuple[str, ...]) -> Sheet:
        compared = [file for file in self.files if file.change]
        shortened = len(compared) > MOST_ROWS
        same = [file for file in compared if shortened and file.change and file.change.before == file.change.after]
        rows = [_change_row(file) for file in compared if file not in same] if same else [*map(_change_row, compared)]
        if same:
            params = sum(file.change.before or 0 for file in same if file.change)
            rows.append((f"{len(same):,} others, unchanged", params, params, "0", "", ""))
        before = sum(file.change.before or 0 for file in compared if file.change)
        after = sum(file.change.after or 0 for file in compared if file.change)
        percent = f"{100 * (after - before) / before:+,.2f}%" if before else ""
        return Sheet(
            (
                Column("Spec", key=True),
                *(Column(title, right=True) for title in ("Before", "After", "Change", "Percent")),
                Column("State"),
            ),
            rows,
            ("Total", before, after, _signed(after - before), percent, ""),
            title="Changes",
            subtitle=f"parameters against {escape(self.baseline)}",
            notes=notes,
        )

    def _notes(self) -> Iterator[str]:
        yield from self.failures()
        for reason, count in Counter(file.skipped for file in self.files if file.skipped).items():
            yield f"{_plural(count, 'spec')}: {reason}."
        counts = Counter(file.status for file in self.files)
        yield f"{'; '.join(f'{counts[status]:,} {said}' for status, said in _SAID.items() if counts[status])}."


_COLUMNS = (
    Column(""),
    Column("Spec", key=True),
    Column("Check", key=True),
    Column("Limit", right=True),
    Column("Actual", right=True),
)


def line(file: Checked, place: tuple[int, int] | None, name: str, message: str) -> str:
    """Return a failure on one line, as problems are told elsewhere."""
    where = escape(file.file if file.file != "-" else "stdin", limit=1_000)
    if place:
        where += f":{place[0]}:{place[1]}"
    return ": ".join(part for part in (where, name, message) if part)


def _rows(file: Checked) -> Iterator[tuple[Value, ...]]:
    if file.status == "broken":
        yield "✗", file.file, _plural(len(file.problems), "problem"), "", ""
    elif not file.checks and file.counted:
        yield "✗" if file.strict else "·", file.file, "nothing to check", "", ""
    for check in file.checks:
        numbers = (check.limit, check.actual)
        cells = (f"{number:,.2f}%" if check.percent and number is not None else number for number in numbers)
        yield "✓" if check.ok else "✗", file.file, check.name, *cells


def _change_row(file: Checked) -> tuple[Value, ...]:
    assert file.change  # only what was compared comes here
    before, after = file.change
    percent = "" if file.change.percent is None else f"{file.change.percent:+,.2f}%"
    state = "new" if before is None else "removed" if after is None else ""
    gap = ""
    return (
        file.file,
        gap if before is None else before,
        gap if after is None else after,
        _signed(file.change.change),
        percent,
        state,
    )


def _signed(number: int) -> str:
    return f"{number:+,}" if number else "0"


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
