"""Grades a class: judges each student's answer to the variant that was asked. Writes no sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rnncalc.errors import CallError
from rnncalc.questions.answer.answer_file import AnswerFile, StudentRow
from rnncalc.questions.answer.grading import Answer, Grader
from rnncalc.questions.answer.reading import read_answer


class Grade(NamedTuple):
    """A student's answer, judged.

    answer: None if it cannot be judged. problem: the reason; empty if nothing was answered.
    """

    row: StudentRow
    answer: Answer | None = None
    problem: str = ""

    @property
    def right(self) -> bool | None:
        """Whether the answer is right; None if it cannot be read. An empty answer is not right."""
        return self.answer.right if self.answer else None if self.problem else False


class Gradebook(NamedTuple):
    """The grades of a class, in the order of the file."""

    file: AnswerFile
    grades: tuple[Grade, ...]

    @property
    def number_right(self) -> int:
        """How many answers are right."""
        return sum(1 for grade in self.grades if grade.right)

    def repeated(self) -> Iterator[tuple[Grade, Grade]]:
        """Yield each grade whose name was there before, with the first grade of that name."""
        first: dict[str, Grade] = {}
        for grade in self.grades:
            name = " ".join(grade.row.name.casefold().split())
            if name and first.setdefault(name, grade) is not grade:
                yield grade, first[name]


def grade_class(file: AnswerFile, grader_of: Callable[[str], Grader], *, exact: bool = False) -> Gradebook:
    """Return the grades of a class.

    grader_of: returns the grader of a variant; raises CallError if there is no such variant. It is called once for each
    variant, and only one grader is in memory at a time. Equal answers are judged once.
    exact: whether a number that looks rounded is taken exactly.
    """
    by_variant: dict[str, list[StudentRow]] = {}
    for row in file.rows:
        by_variant.setdefault(row.variant, []).append(row)
    grades: dict[StudentRow, Grade] = {}
    for variant, rows in by_variant.items():
        grades |= zip(rows, _grades(rows, partial(grader_of, variant), exact=exact), strict=True)
    return Gradebook(file, tuple(grades[row] for row in file.rows))


def _grades(rows: Sequence[StudentRow], make: Callable[[], Grader], *, exact: bool) -> Iterator[Grade]:
    """Yield the grades of the students of one variant."""
    judged: dict[tuple[str, ...], Grade] = {}
    try:
        grader = make()
    except CallError as error:
        yield from (Grade(row, problem=str(error)) for row in rows)
        return
    for row in rows:
        if row.answers not in judged:
            judged[row.answers] = _grade(row, grader, exact=exact)
        yield judged[row.answers]._replace(row=row)


def _grade(row: StudentRow, grader: Grader, *, exact: bool) -> Grade:
    if not any(row.answers):
        return Grade(row)
    if not all(row.answers):
        return Grade(row, problem="some answers are empty")
    try:
        return Grade(row, grader.judge([read_answer(text, exact=exact) for text in row.answers]))
    except CallError as error:
        return Grade(row, problem=str(error))
