"""The report of `answer` on a class: each student's grade, how many are right, and the mistakes by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rnncalc.questions.answer.gradebook import OWN_COLUMNS, Grade, Gradebook
from rnncalc.reports.answer import feedback_on, mistake_of
from rnncalc.reports.report import DataReport, RecordReport, SheetReport
from rnncalc.reports.sheet import Bar, Column, Row, Sheet
from rnncalc.text import escape, plural

NOTHING = "gives no answer"
_SIGNS = {True: "✓", False: "✗", None: "?"}


class GradebookReport(SheetReport, DataReport, RecordReport):
    """The grades of a class as data, as tables, and as the rows of the file with three more columns."""

    listed_as = "grades"
    book: Gradebook
    title: str = ""
    subtitle: str = ""

    def data(self) -> Iterator[dict[str, Any]]:
        for grade, (mistake, feedback) in self._graded():
            row = grade.row
            yield {
                "row": row.line,
                "name": row.name,
                "answers": [*row.answers],
                "right": grade.right,
                "mistake": mistake or None,
                "feedback": feedback,
            }

    def beside(self) -> dict[str, Any]:
        """Return how many are right, and the mistakes by frequency."""
        mistakes = [{"text": text, "count": count} for text, count in self._frequencies()]
        return {"number_right": self.book.number_right, "mistakes": mistakes}

    def records(self) -> tuple[tuple[str, ...], Iterable[Row]]:
        """Return the columns and rows of the file, each with its grade."""
        rows = (
            (*grade.row.cells, "" if grade.right is None else grade.right, *words) for grade, words in self._graded()
        )
        return (*self.book.file.columns, *OWN_COLUMNS), rows

    def sheets(self) -> list[Sheet]:
        """Return the grades, and the mistakes by frequency if there are any."""
        columns = (
            *(Column("", key=True), Column("Line", right=True), Column("Name", key=True)),
            *(Column(title, right=True) for title in self.book.file.asked),
            Column("First mistake"),
        )
        rows: list[Row] = [
            (_SIGNS[grade.right], grade.row.line, grade.row.name, *grade.row.answers, mistake or grade.problem)
            for grade, (mistake, _) in self._graded()
        ]
        notes = tuple(self._notes())
        grades = Sheet(columns, rows, title=self.title, subtitle=self.subtitle, notes=notes)
        frequencies = self._frequencies()
        most = max((count for _, count in frequencies), default=1)
        bars: list[Row] = [(text, count, Bar(count / most)) for text, count in frequencies]
        titles = (Column("Mistake", key=True), Column("Students", right=True), Column(""))
        return [grades, *([Sheet(titles, bars, title="Mistakes by frequency")] if bars else [])]

    def warnings(self) -> Iterator[tuple[int, str]]:
        """Yield the warnings about single rows, each with its line."""
        for grade in self.book.grades:
            if grade.problem:
                yield grade.row.line, grade.problem
        for grade, first in self.book.repeated():
            yield grade.row.line, f"'{escape(grade.row.name)}' stands in line {first.row.line} too; both are graded"

    def _notes(self) -> Iterator[str]:
        grades = self.book.grades
        yield f"{self.book.number_right:,} of {plural(len(grades), 'answer')} right."
        if unread := sum(1 for grade in grades if grade.problem):
            yield f"{plural(unread, 'answer')} could not be read."

    def _graded(self) -> Iterator[tuple[Grade, tuple[str, str]]]:
        """Yield each grade with its first mistake and its feedback, computed once for equal answers."""
        said: dict[int, tuple[str, str]] = {}
        for grade in self.book.grades:
            answer = grade.answer
            if answer is None:
                yield grade, (("", f"Not judged: {grade.problem}.") if grade.problem else (NOTHING, "No answer."))
                continue
            if id(answer) not in said:
                said[id(answer)] = ("" if answer.right else mistake_of(answer), feedback_on(answer))
            yield grade, said[id(answer)]

    def _frequencies(self) -> list[tuple[str, int]]:
        """Return the first mistakes with how many students made each, the most frequent first."""
        return Counter(mistake for _, (mistake, _) in self._graded() if mistake).most_common()
