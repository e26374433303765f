"""A class graded: the answer of each student judged, each with the network that was asked about. No sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions.answer.answer_file import AnswerFile, StudentRow
from rnncalc.questions.answer.grading import Answer, Grader
from rnncalc.questions.answer.reading import read_answer


class Grade(NamedTuple):
    """A student's answer, judged.

    answer: None if there is none that can be judged; problem: why not, empty if nothing was answered.
    """

    row: StudentRow
    answer: Answer | None = None
    problem: str = ""

    @property
    def right(self) -> bool | None:
        """Whether the answer is right, None if it cannot be read; no answer at all is not right."""
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
        """Yield each grade of a name that stands further up too, with the first grade of that name."""
        first: dict[str, Grade] = {}
        for grade in self.grades:
            name = " ".join(grade.row.name.casefold().split())
            if name and first.setdefault(name, grade) is not grade:
                yield grade, first[name]


def grade_class(file: AnswerFile, network_of: Callable[[StudentRow], Network], *, exact: bool = False) -> Gradebook:
    """Return the grades of a class.

    network_of: the network that a student was asked about. Mistakes in a network are worked out once, and an answer
    that several students give is judged once; so it should return one object for all who were asked about the same.
    exact: whether a rounded number is taken as it stands.
    """
    graders: dict[int, Grader] = {}
    judged: dict[tuple[int, tuple[str, ...]], Grade] = {}

    def grade(row: StudentRow) -> Grade:
        network = network_of(row)
        grader = graders.setdefault(
            id(network), Grader(network)
        )  # which keeps the network, so that no other has its id
        key = (id(network), row.answers)
        if key not in judged:
            judged[key] = _grade(row, grader, exact=exact)
        return judged[key]._replace(row=row)

    return Gradebook(file, tuple(map(grade, file.rows)))


def _grade(row: StudentRow, grader: Grader, *, exact: bool) -> Grade:
    if not any(row.answers):
        return Grade(row)
    if not all(row.answers):
        return Grade(row, problem="some answers are empty")
    try:
        return Grade(row, grader.judge([read_answer(text, exact=exact) for text in row.answers]))
    except CallError as error:
        return Grade(row, problem=str(error))
