"""Questions as text for text2qti, which makes a Canvas quiz: a group of variants, one for each student."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from rnncalc.formats.gift import LONGEST
from rnncalc.reports.report import QuizReport
from rnncalc.reports.sheet import QuizQuestion
from rnncalc.text import escape


def write(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write one quiz with a group for each thing that is asked."""
    quizzes = [report.quiz() for report in reports]
    file.write(f"Quiz title: {_text(quizzes[0].title)}\n\n")
    for quiz in quizzes:
        for questions in quiz.groups().values():
            file.write("GROUP\npick: 1\npoints per question: 1\n\n")
            for question in questions:
                file.writelines(_question(question))
            file.write("END_GROUP\n\n")


def _question(question: QuizQuestion) -> Iterator[str]:
    yield f"Title: {_text(question.heading)}\n"
    yield f"1. {_text(question.network)}\n\n"
    yield from (f"   - {_text(line)}\n" for line in question.layers)
    yield f"\n   {_text(question.convention)}\n\n   **{_text(question.question)}**\n"
    if question.choices:
        for number, each in enumerate(question.choices):
            mark = "*" if each is question.right else ""
            yield f"{mark}{chr(ord('a') + number)}) {_text(each.text)}\n... {_text(each.feedback)}\n"
    else:
        told = " ".join(each.feedback for each in question.likeliest)  # feedback cannot depend on what is written
        yield f"+ {_text(question.right.feedback)}\n- {_text(told or 'Not right.')}\n"
        if question.numeric:
            yield f"=   {_text(question.right.text)}\n"
        else:
            yield from (f"*   {_text(text)}\n" for text in question.right.spellings)
    yield "\n"


def _text(text: str) -> str:
    r"""Return text with the special characters of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#$^~|])", r"\\\1", escape(text, LONGEST))
