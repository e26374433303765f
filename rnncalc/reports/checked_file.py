"""What `check` says of one file: data, cases, annotations, a line for each failure, rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.errors import Problem, dotted
from rnncalc.questions.check import CheckedFile, Status, Verdict
from rnncalc.reports.cases import Annotation, Case, Level, Outcome, Tally
from rnncalc.reports.limits import as_json
from rnncalc.reports.said import said_of
from rnncalc.reports.sheet import Value
from rnncalc.text import escape, plural


class Failure(NamedTuple):
    """What is wrong with a file: the limit or the part of the spec, the message, and the place of either."""

    name: str
    message: str
    line: int | None = None
    column: int | None = None


class FileReport(NamedTuple):
    """What is said of one file."""

    checked: CheckedFile

    @property
    def file(self) -> str:
        """The file's path, as it was given or found."""
        return self.checked.file

    def failures(self) -> Iterator[Failure]:
        """Yield what is wrong."""
        checked = self.checked
        for problem in checked.problems:
            yield Failure(_path(problem, checked.file), problem.message, problem.line, problem.column)
        if checked.verdict is None or checked.status is Status.PASSED:
            return
        if checked.status is Status.FAILED and not checked.verdict.checked:
            yield Failure("--strict", _nothing(checked.verdict))
        for said in said_of(checked.verdict):
            if said.message:
                yield Failure(said.name, said.message, said.line, said.column)

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        verdict, difference = self.checked.verdict, self.checked.difference
        found = verdict and verdict.numbers
        broken = self.failures() if self.checked.problems else ()
        return {
            "file": self.file,
            "name": verdict and verdict.name,
            "convention": verdict and verdict.convention,
            "status": self.checked.status.value,
            "params": found and found.params,
            "bytes": found and found.bytes,
            "multiply_adds": found and found.multiply_adds,
            "dense_ratio": found and as_json(found.dense_ratio),
            "dense_params": found and found.dense_params,
            "checks": self._limits(),
            "skipped": verdict and left_out(verdict),
            "baseline": difference
            and {**difference._asdict(), "change": difference.growth, "percent": as_json(difference.percent)},
            "problems": [
                {"line": line, "column": column, "path": path, "message": message}
                for path, message, line, column in broken
            ],
        }

    def _limits(self) -> Iterator[dict[str, Any]]:
        for said in said_of(self.checked.verdict) if self.checked.verdict else ():
            limit, actual = said.numbers
            yield {
                "name": said.name,
                "limit": limit,
                "actual": actual,
                "ok": said.message is None,
                "message": said.message,
                "line": said.line,
                "column": said.column,
            }

    def tally(self) -> Tally:
        """Return how many cases there are; none of a removed file, of which nothing is left to test."""
        checked = self.checked
        if checked.problems:
            return Tally(len(checked.problems), errors=len(checked.problems))
        if checked.verdict is None:
            return Tally(0)
        verdict = checked.verdict
        if not verdict.checked:
            return Tally(1, failures=int(checked.strict), skipped=int(not checked.strict))
        skipped = int(verdict.expect_counts is not None)
        return Tally(len(verdict.checks) + skipped, sum(not check.kept for check in verdict.checks), skipped=skipped)

    def cases(self) -> Iterator[Case]:
        """Yield each problem or each limit."""
        verdict = self.checked.verdict
        if verdict is None:
            for failure in self.failures():
                yield Case(failure.name or "spec", Outcome.ERROR, f"{self._at(failure)}: {failure.message}")
            return
        if not verdict.checked:
            outcome = Outcome.FAILED if self.checked.strict else Outcome.SKIPPED
            yield Case("nothing to check", outcome, _nothing(verdict))
            return
        for said in said_of(verdict):
            if said.message:
                place = self._at(Failure("", "", said.line, said.column))
                yield Case(said.name, Outcome.FAILED, f"{place}: {said.message}")
            else:
                yield Case(said.name, Outcome.PASSED)
        if skipped := left_out(verdict):
            yield Case("expect", Outcome.SKIPPED, skipped)

    def annotations(self) -> Iterator[Annotation]:
        """Yield an error for each failure, a notice for a spec with nothing to check or gone."""
        for failure in self.failures():
            yield Annotation(Level.ERROR, *failure)
        verdict, status = self.checked.verdict, self.checked.status
        if verdict and status is Status.UNCHECKED:
            yield Annotation(Level.NOTICE, "", _nothing(verdict))
        elif verdict and status is Status.PASSED and (skipped := left_out(verdict)):
            yield Annotation(Level.NOTICE, "", skipped)
        elif status is Status.REMOVED:
            yield Annotation(Level.NOTICE, "", "in the baseline, and no more among the specs")

    def lines(self) -> Iterator[str]:
        """Yield each failure on a line, as problems are told elsewhere."""
        file = escape(self.file if self.file != "-" else "stdin", limit=1_000)
        for failure in self.failures():
            where = f"{file}:{failure.line}:{failure.column}" if failure.line else file
            name = escape(failure.name, limit=1_000)  # a layer's, in a budget, may be any text
            yield ": ".join(part for part in (where, name, failure.message) if part)

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Yield a row a limit, or one for the file where there are none."""
        checked = self.checked
        if checked.problems:
            yield "✗", self.file, plural(len(checked.problems), "problem"), "", ""
        if checked.verdict is None:
            return
        if not checked.verdict.checked:
            yield "✗" if checked.strict else "·", self.file, "nothing to check", "", ""
        for said in said_of(checked.verdict):
            yield "✗" if said.message else "✓", self.file, said.name, *said.cells

    def _at(self, failure: Failure) -> str:
        return f"{self.file}:{failure.line}:{failure.column}" if failure.line else self.file


def _nothing(verdict: Verdict) -> str:
    """Return what to say of a file without limits."""
    return left_out(verdict) or "nothing to check; give expect or budget, or a limit such as --max-params"


def left_out(verdict: Verdict) -> str | None:
    """Return why `expect` was not held against anything; None where it was."""
    if verdict.expect_counts is None:
        return None
    return f"expect is not checked: it counts what {verdict.expect_counts} has, and -c says {verdict.convention}"


def _path(problem: Problem, file: str) -> str:
    """Return the path to a problem, before it a flag if that is where the problem is."""
    name = escape("stdin" if file == "-" else file, limit=1_000)
    flag = "" if problem.source in (name, f"'{name}'", f"'{escape(file)}'", file) else problem.source
    return ": ".join(part for part in (flag, dotted(problem.path)) if part)
