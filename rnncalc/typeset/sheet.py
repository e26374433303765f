"""The parts of reports: tables for people, documents such as a draft spec, findings of checks.

Knows no question, no network and no format: formats decide how the parts look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import log10
from typing import TYPE_CHECKING, Any

from rnncalc.conventions.formula import Expression, letters, numbers, substituted
from rnncalc.letters import has_letters, superscript
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.typeset.equations import Line, WorkLine


class Arithmetic(Frozen):
    """A formula in letters, and with numbers; the two are equal if there are no letters."""

    letters: str
    numbers: str


def worked(expression: Expression, sizes: Mapping[str, int] = {}, names: Mapping[str, Any] = {}) -> Arithmetic:
    """Return an expression in letters and with numbers; in the user's letters alone if they gave any for a size.

    names: the letters in the names of a network's sizes, if any of them has one.
    """
    in_numbers = numbers(expression, sizes)
    if names:
        return Arithmetic(letters(substituted(expression, names)), in_numbers)
    return Arithmetic(in_numbers if any(map(has_letters, sizes.values())) else letters(expression), in_numbers)


class TensorName(Frozen):
    """The mathematical name of a tensor: a letter with a subscript.

    before: the mark of a direction. above: what is written above it for the number of its layer.
    """

    letter: str
    below: str = ""
    before: str = ""
    above: str = ""

    @property
    def text(self) -> str:
        """The name on one line: `W_xz`, `forward/W_xz`."""
        return f"{self.before}{self.letter}{superscript(self.above)}{'_' if self.below else ''}{self.below}"


class Phrase(Frozen):
    """Words and mathematics: each part is one or the other."""

    parts: tuple[str | Line, ...]


BARS = "▁▂▃▄▅▆▇█"
"""Bars of one character, from low to high."""


class Bar(Frozen):
    """A share from 0 to 1, drawn to scale; a larger one is a whole bar, broken."""

    share: float


MOST_LINEAR = 50
"""How many times the least number the greatest may be where a scale is linear; else the least would not be seen."""


def bars_of(numbers: Sequence[int], most: int = 0) -> tuple[list[Bar], tuple[str, ...]]:
    """Return a bar for each number, and the notes on their scale: it is logarithmic if small ones would not be seen.

    most: the number whose bar is whole, by default the greatest; bars of greater ones are broken.
    """
    most = most or max(numbers) or 1
    least = min((number for number in numbers if 0 < number <= most), default=most)
    if most <= MOST_LINEAR * least:
        return [Bar(number / most) for number in numbers], ()

    def share(number: int) -> float:
        return (1 + log10(number) - log10(least)) / (1 + log10(most) - log10(least)) if number else 0.0

    return [*map(Bar, map(share, numbers))], ("The bars are on a logarithmic scale.",)


Shape = tuple[int | str | None, ...]
Value = str | int | float | Arithmetic | TensorName | Phrase | Bar | Shape | None
"""The value of a cell; None is an unknown value."""

Row = tuple[Value, ...]
"""A cell for each column."""


def cell(value: Value) -> Value:
    """Return a value as the cell of a table: a number with letters in it is a formula."""
    return Arithmetic(str(value), str(value)) if has_letters(value) else value


class Column(Frozen):
    """A column of a sheet. Numbers are aligned right; a `key` identifies a row and stays beside any other column.

    together: whether a narrow screen keeps it beside the other columns with this mark.
    whole: whether its text stays on one line, as numbers do.
    """

    title: str
    right: bool = False
    key: bool = False
    together: bool = False
    whole: bool = False


def key_columns(*titles: str) -> tuple[Column, ...]:
    """Return columns that identify a row."""
    return tuple(Column(title, key=True) for title in titles)


def number_columns(*titles: str, together: bool = False) -> tuple[Column, ...]:
    """Return columns of numbers; together: a narrow screen does not separate them."""
    return tuple(Column(title, right=True, together=together) for title in titles)


def total_row(columns: Sequence[Column], *numbers: Value) -> Row:
    """Return a row with `Total` in the first column that has a title, and the numbers in the last columns."""
    titled = next(place for place, column in enumerate(columns) if column.title)
    head = ("Total" if place == titled else "" for place in range(len(columns) - len(numbers)))
    return (*head, *numbers)


class Sheet(Frozen):
    """A table for people: rows, their total, and sentences above and below them.

    summed: whether the total's numbers are the sums of their columns. equations: written above the rows. work:
    equations with numbers, written below those.
    """

    columns: tuple[Column, ...]
    rows: Iterable[Row]
    total: Row | None = None
    title: str = ""
    subtitle: str = ""
    notes: tuple[str | Phrase, ...] = ()
    equations: tuple[Line, ...] = ()
    work: tuple[WorkLine, ...] = ()
    summed: bool = True


Scalar = str | int | float | bool


class Entry(Frozen):
    """A key with its value: a scalar or none, entries below it, or a list of items.

    remarks: comments on it.
    """

    key: str
    value: Scalar | tuple[Entry, ...] | tuple[tuple[Entry, ...], ...] | None
    remarks: tuple[str, ...] = ()


class Document(Frozen):
    """Keys and values in order, and remarks on the whole."""

    remarks: tuple[str, ...]
    entries: tuple[Entry, ...]


MOST_LINES = 1_000
"""The most failures to write; the rest are only counted."""


class Outcome(Enum):
    """The result of a check, by JUnit's names; a remark belongs to no check."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"
    REMARK = "remark"


class Finding(Frozen):
    """One check in a file and its result.

    name: the quantity that was checked. key: the key or the flag that sets the check; empty if none does.
    message: what is wrong, or why it was skipped; empty if it passed.
    line, column: the place of the check in the file, None for a flag.
    limit, actual: the limit and the number, as in JSON. cells: the same two as in a table.
    """

    name: str
    outcome: Outcome
    message: str = ""
    key: str = ""
    line: int | None = None
    column: int | None = None
    limit: Any = None
    actual: Any = None
    cells: Row = ("", "")

    @property
    def wrong(self) -> bool:
        """Whether the file fails because of it."""
        return self.outcome in (Outcome.FAILED, Outcome.ERROR)


MOST_READ = 12
"""The most wrong answers to a question that people see; programs get all."""


class QuizAnswer(Frozen):
    """An answer to a question: its spellings, the usual one first, and the feedback on it."""

    spellings: tuple[str, ...]
    feedback: str

    @property
    def text(self) -> str:
        """Its usual spelling."""
        return self.spellings[0]


class QuizQuestion(Frozen):
    """A question for a learner.

    title: that of its network. group: the same for all variants of a question, so that each learner may get one of
    them. id: unique in the quiz.
    network: sentences on the network. layers: a line for each layer. convention: how it is counted, after what
    else a pass begins with. counting: how it is counted alone.
    numeric: whether the answer is a number. wrong: the known wrong answers, the likeliest first.
    choices: the answers to choose from; empty if the answer is to be written.
    numbers: a line for each equation and each number of a pass. tolerance: how far a number may be off.
    entries: the same question for each number of a vector or matrix, for platforms that take single numbers.
    """

    title: str
    group: str
    id: str
    variant: int
    network: str
    layers: tuple[str, ...]
    convention: str
    counting: str
    question: str
    numeric: bool
    right: QuizAnswer
    wrong: tuple[QuizAnswer, ...]
    choices: tuple[QuizAnswer, ...]
    numbers: tuple[str, ...] = ()
    tolerance: float = 0
    entries: tuple[QuizQuestion, ...] = ()

    @property
    def likeliest(self) -> tuple[QuizAnswer, ...]:
        """The wrong answers that people see: the choices, else the likeliest."""
        return tuple(each for each in self.choices if each is not self.right) or self.wrong[:MOST_READ]

    def label(self, answer: QuizAnswer) -> str:
        """Return the text of an answer, after its letter if it is one of the choices."""
        letter = f"({chr(ord('a') + self.choices.index(answer))}) " if self.choices else ""
        return letter + answer.text

    @property
    def heading(self) -> str:
        """The heading in a list of questions: the variant, the title and the group."""
        return f"Variant {self.variant}: {self.title}: {self.group}"


ANSWERS = "Answers"
"""The heading of a key."""


class Quiz(Frozen):
    """Questions in order, with a title. sheet, key: whether the questions and the answers are written on paper.

    tasks, work: by variant what a pass begins with, and the whole of it, if values of it are asked for.
    """

    title: str
    questions: tuple[QuizQuestion, ...]
    sheet: bool
    key: bool
    tasks: Mapping[int, Sequence[Sheet]] = {}
    work: Mapping[int, Sequence[Sheet]] = {}

    def groups(self) -> dict[str, list[QuizQuestion]]:
        """Return the questions of single answers by their group."""
        groups: dict[str, list[QuizQuestion]] = {}
        for question in self.questions:
            for each in question.entries or (question,):
                groups.setdefault(each.group, []).append(each)
        return groups
