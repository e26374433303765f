"""Questions as GIFT, which Moodle and other learning platforms import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from rnncalc.reports.report import QuizReport
from rnncalc.reports.sheet import QuizAnswer, QuizQuestion
from rnncalc.text import escape

LONGEST = 20_000
"""The characters of a text: a network of a thousand layers has as many."""

UNKNOWN = "No known mistake gives this answer."
"""The feedback on every other answer."""


def write(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write each question with its category before it; the right answer first, each wrong one with its feedback."""
    for report in reports:
        quiz = report.quiz()
        for category, questions in quiz.groups().items():
            file.write(f"$CATEGORY: $course$/rnncalc/{_category(quiz.title)}/{_category(category)}\n\n")
            for question in questions:
                file.writelines(_question(question))


def _question(question: QuizQuestion) -> Iterator[str]:
    words = f"{question.network} {'; '.join(question.layers)}. {question.convention}"
    yield f"// {escape(question.id)}\n"
    yield f"::{_text(question.heading)}::[plain]{_text(words)} {_text(question.question)} "
    if question.choices:
        marks = {True: "=", False: "~"}
        yield "{\n"
        yield from (_answer(marks[each is question.right], each.text, each) for each in question.choices)
    elif question.numeric:
        yield "{#\n"
        yield _answer("=", question.right.text, question.right)
        yield from (_answer("=%0%", each.text, each) for each in question.wrong)
        yield f"~#{_text(UNKNOWN)}\n"  # stands for all other numbers
    else:
        yield "{\n"
        yield from (_answer("=", text, question.right) for text in question.right.spellings)
        yield from (_answer("=%0%", text, each) for each in question.wrong for text in each.spellings)
        yield f"=%0%*#{_text(UNKNOWN)}\n"
    yield "}\n\n"


def _answer(mark: str, text: str, answer: QuizAnswer) -> str:
    return f"{mark}{_text(text)}#{_text(answer.feedback)}\n"


def _text(text: str) -> str:
    """Return text with a backslash before each special character of GIFT."""
    bare = escape(text, LONGEST).replace("->", "→")  # an arrow would turn answers into pairs to match
    return re.sub(r"([\\~=#{}:])", r"\\\1", bare)


def _category(text: str) -> str:
    """Return the name of a category: a slash would begin another below it, and GIFT's signs cannot be escaped here."""
    return re.sub(r"[\\~=#{}:]", "-", escape(text)).replace("/", "//")
