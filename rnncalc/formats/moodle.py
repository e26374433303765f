"""Questions as Moodle's XML, with feedback on each known wrong answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape as quoted
from typing import TextIO

from rnncalc.formats.gift import LONGEST, UNKNOWN
from rnncalc.reports.report import QuizReport
from rnncalc.reports.sheet import QuizAnswer, QuizQuestion
from rnncalc.text import escape


def write(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write one quiz: a category for each group of variants, from which Moodle can draw one at random."""
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n')
    for report in reports:
        quiz = report.quiz()
        for group, questions in quiz.groups().items():
            path = "/".join(part.replace("/", "//") for part in ("rnncalc", quiz.title, group))
            file.write(f'  <question type="category">\n    <category>{_text(f"$course$/{path}")}</category>\n')
            file.write("  </question>\n")
            for question in questions:
                file.writelines(_question(question))
    file.write("</quiz>\n")


def _question(question: QuizQuestion) -> Iterator[str]:
    kind = "multichoice" if question.choices else "numerical" if question.numeric else "shortanswer"
    yield f'  <question type="{kind}">\n    <name>{_text(question.heading)}</name>\n'
    yield f'    <questiontext format="html">{_text(_html(question))}</questiontext>\n'
    yield "    <defaultgrade>1</defaultgrade>\n    <penalty>0</penalty>\n    <hidden>0</hidden>\n"
    yield f"    <idnumber>{_quoted(question.id)}</idnumber>\n"
    if question.choices:
        yield "    <single>true</single>\n    <shuffleanswers>true</shuffleanswers>\n"
        yield "    <answernumbering>abc</answernumbering>\n"
        for each in question.choices:
            yield _answer(_quoted(each.text), each, right=each is question.right, html=True)
    else:
        tolerance = "<tolerance>0</tolerance>" if question.numeric else ""
        if not question.numeric:
            yield "    <usecase>0</usecase>\n"
        for each in (question.right, *question.wrong):
            for text in each.spellings:
                yield _answer(text, each, right=each is question.right, after=tolerance)
        yield _answer("*", QuizAnswer(("*",), UNKNOWN), right=False, after=tolerance)
        if question.numeric:  # no units
            yield "    <unitgradingtype>0</unitgradingtype>\n    <showunits>3</showunits>\n"
    yield "  </question>\n"


def _html(question: QuizQuestion) -> str:
    layers = "".join(f"<li>{_quoted(line)}</li>" for line in question.layers)
    before = f"<p>{_quoted(question.network)}</p><ul>{layers}</ul>"
    return f"{before}<p>{_quoted(question.convention)}</p><p><b>{_quoted(question.question)}</b></p>"


def _answer(text: str, answer: QuizAnswer, *, right: bool, after: str = "", html: bool = False) -> str:
    form = "html" if html else "moodle_auto_format"
    feedback = f'<feedback format="html">{_text(_quoted(answer.feedback))}</feedback>'
    start = f'    <answer fraction="{100 if right else 0}" format="{form}">'
    return f"{start}{_text(text)}{feedback}{after}</answer>\n"


def _text(text: str) -> str:
    """Return an element with text in it, which may itself be HTML."""
    return f"<text>{_quoted(text)}</text>"


def _quoted(text: str) -> str:
    return quoted(escape(text, LONGEST), quote=False).encode("ascii", "xmlcharrefreplace").decode()
