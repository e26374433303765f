"""Quizzes for learning platforms, with feedback on known wrong answers: GIFT, Moodle, Canvas; links to exercises."""

from __future__ import annotations

import json
import re
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from html import escape as quoted
from typing import TextIO

from rnncalc.printable import escape
from rnncalc.reports.report import LinkReport, QuizReport
from rnncalc.typeset.sheet import QuizAnswer, QuizQuestion

LONGEST = 20_000
"""The characters of a text: a network of a thousand layers has as many."""

UNKNOWN = "No known mistake gives this answer."
"""The feedback on every other answer."""


# GIFT, which Moodle and other learning platforms import


def write_gift(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write each question with its category before it; the correct answer first, each wrong one with its feedback."""
    for report in reports:
        quiz = report.quiz()
        for category, questions in quiz.groups().items():
            file.write(f"$CATEGORY: $course$/rnncalc/{_gift_category(quiz.title)}/{_gift_category(category)}\n\n")
            for question in questions:
                file.writelines(_gift_question(question))


def _gift_question(question: QuizQuestion) -> Iterator[str]:
    words = f"{question.network} {'; '.join((*question.layers, *question.numbers))}. {question.convention}"
    yield f"// {escape(question.id)}\n"
    yield f"::{_gift_text(question.heading)}::[plain]{_gift_text(words)} {_gift_text(question.question)} "
    if question.choices:
        marks = {True: "=", False: "~"}
        yield "{\n"
        yield from (_gift_answer(marks[each is question.right], each.text, each) for each in question.choices)
    elif question.numeric:
        yield "{#\n"
        within = f":{question.tolerance:g}" if question.tolerance else ""
        yield _gift_answer("=", question.right.text, question.right, within)
        yield from (_gift_answer("=%0%", each.text, each, within) for each in question.wrong)
        yield f"~#{_gift_text(UNKNOWN)}\n"  # stands for all other numbers
    else:
        yield "{\n"
        yield from (_gift_answer("=", text, question.right) for text in question.right.spellings)
        yield from (_gift_answer("=%0%", text, each) for each in question.wrong for text in each.spellings)
        yield f"=%0%*#{_gift_text(UNKNOWN)}\n"
    yield "}\n\n"


def _gift_answer(mark: str, text: str, answer: QuizAnswer, within: str = "") -> str:
    return f"{mark}{_gift_text(text)}{within}#{_gift_text(answer.feedback)}\n"


def _gift_text(text: str) -> str:
    """Return text with a backslash before each special character of GIFT."""
    bare = escape(text, LONGEST).replace("->", "→")  # an arrow would turn answers into pairs to match
    return re.sub(r"([\\~=#{}:])", r"\\\1", bare)


def _gift_category(text: str) -> str:
    """Return the name of a category: a slash would begin another below it, and GIFT's signs cannot be escaped here."""
    return re.sub(r"[\\~=#{}:]", "-", escape(text)).replace("/", "//")


# Moodle's XML


def write_moodle(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write one quiz: a category for each group of variants, from which Moodle can draw one at random."""
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n')
    for report in reports:
        quiz = report.quiz()
        for group, questions in quiz.groups().items():
            path = "/".join(part.replace("/", "//") for part in ("rnncalc", quiz.title, group))
            file.write(f'  <question type="category">\n    <category>{_moodle_text(f"$course$/{path}")}</category>\n')
            file.write("  </question>\n")
            for question in questions:
                file.writelines(_moodle_question(question))
    file.write("</quiz>\n")


def _moodle_question(question: QuizQuestion) -> Iterator[str]:
    kind = "multichoice" if question.choices else "numerical" if question.numeric else "shortanswer"
    layers = "".join(f"<li>{_moodle_quoted(line)}</li>" for line in (*question.layers, *question.numbers))
    words = f"<p>{_moodle_quoted(question.network)}</p><ul>{layers}</ul><p>{_moodle_quoted(question.convention)}</p>"
    words += f"<p><b>{_moodle_quoted(question.question)}</b></p>"
    yield f'  <question type="{kind}">\n    <name>{_moodle_text(question.heading)}</name>\n'
    yield f'    <questiontext format="html">{_moodle_text(words)}</questiontext>\n'
    yield "    <defaultgrade>1</defaultgrade>\n    <penalty>0</penalty>\n    <hidden>0</hidden>\n"
    yield f"    <idnumber>{_moodle_quoted(question.id)}</idnumber>\n"
    if question.choices:
        yield "    <single>true</single>\n    <shuffleanswers>true</shuffleanswers>\n"
        yield "    <answernumbering>abc</answernumbering>\n"
        for each in question.choices:
            yield _moodle_answer(_moodle_quoted(each.text), each, right=each is question.right, html=True)
    else:
        tolerance = f"<tolerance>{question.tolerance:g}</tolerance>" if question.numeric else ""
        if not question.numeric:
            yield "    <usecase>0</usecase>\n"
        for each in (question.right, *question.wrong):
            for text in each.spellings:
                yield _moodle_answer(text, each, right=each is question.right, after=tolerance)
        yield _moodle_answer("*", QuizAnswer(("*",), UNKNOWN), right=False, after=tolerance)
        if question.numeric:  # no units
            yield "    <unitgradingtype>0</unitgradingtype>\n    <showunits>3</showunits>\n"
    yield "  </question>\n"


def _moodle_answer(text: str, answer: QuizAnswer, *, right: bool, after: str = "", html: bool = False) -> str:
    form = "html" if html else "moodle_auto_format"
    feedback = f'<feedback format="html">{_moodle_text(_moodle_quoted(answer.feedback))}</feedback>'
    start = f'    <answer fraction="{100 if right else 0}" format="{form}">'
    return f"{start}{_moodle_text(text)}{feedback}{after}</answer>\n"


def _moodle_text(text: str) -> str:
    """Return an element with text in it, which may itself be HTML."""
    return f"<text>{_moodle_quoted(text)}</text>"


def _moodle_quoted(text: str) -> str:
    return quoted(escape(text, LONGEST), quote=False).encode("ascii", "xmlcharrefreplace").decode()


# Text for text2qti, which makes a Canvas quiz: a group of variants, one for each student


def write_canvas(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write one quiz with a group for each thing that is asked."""
    quizzes = [report.quiz() for report in reports]
    file.write(f"Quiz title: {_canvas_text(quizzes[0].title)}\n\n")
    for quiz in quizzes:
        for questions in quiz.groups().values():
            file.write("GROUP\npick: 1\npoints per question: 1\n\n")
            for question in questions:
                file.writelines(_canvas_question(question))
            file.write("END_GROUP\n\n")


def _canvas_question(question: QuizQuestion) -> Iterator[str]:
    yield f"Title: {_canvas_text(question.heading)}\n"
    yield f"1. {_canvas_text(question.network)}\n\n"
    yield from (f"   - {_canvas_text(line)}\n" for line in (*question.layers, *question.numbers))
    yield f"\n   {_canvas_text(question.convention)}\n\n   **{_canvas_text(question.question)}**\n"
    if question.choices:
        for number, each in enumerate(question.choices):
            mark = "*" if each is question.right else ""
            yield f"{mark}{chr(ord('a') + number)}) {_canvas_text(each.text)}\n... {_canvas_text(each.feedback)}\n"
    else:
        beside = [f"{each.text}: " * bool(question.numbers) + each.feedback for each in question.likeliest]
        feedback = " ".join(beside)  # it cannot depend on what is written
        yield f"+ {_canvas_text(question.right.feedback)}\n- {_canvas_text(feedback or 'Wrong.')}\n"
        if question.numeric:
            within = f" +- {question.tolerance:g}" if question.tolerance else ""
            yield f"=   {_canvas_text(question.right.text)}{within}\n"
        else:
            yield from (f"*   {_canvas_text(text)}\n" for text in question.right.spellings)
    yield "\n"


def _canvas_text(text: str) -> str:
    r"""Return text with the special characters of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#$^~|])", r"\\\1", escape(text, LONGEST))


# Links to the playground


def write_link(reports: Iterable[LinkReport], file: TextIO) -> None:
    """Write each address: after `#1.` what the page shows, as JSON, deflated, in base64url (docs/playground)."""
    for report in reports:
        site, shown = report.link()
        packed = urlsafe_b64encode(zlib.compress(json.dumps(shown).encode(), wbits=-zlib.MAX_WBITS))
        file.write(f"{escape(site, LONGEST)}#1.{packed.decode().rstrip('=')}\n")
