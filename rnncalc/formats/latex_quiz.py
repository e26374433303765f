"""Questions as a LaTeX document: sheets for students, a page each, and a key. Needs no package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TextIO

from rnncalc.formats.latex import typeset
from rnncalc.reports.report import QuizReport
from rnncalc.reports.sheet import Quiz, QuizQuestion

_HEAD = r"""\documentclass{article}
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\setlength{\emergencystretch}{3em}
\newcommand{\answerline}{\par\vspace{3ex}\rule{0.5\linewidth}{0.4pt}\par}
\newcommand{\wrong}[2]{\par\hangindent=8em\hangafter=1\makebox[8em][l]{#1}#2}
\begin{document}
\raggedright
"""


def write_quizzes(reports: Iterable[QuizReport], file: TextIO) -> None:
    """Write the sheets of each quiz, each on a page, and after them the key, as far as they are asked for."""
    file.write(_HEAD)
    for quiz in [report.quiz() for report in reports]:
        if quiz.sheet:
            file.writelines(_sheets(quiz))
        if quiz.key:
            file.writelines(_key(quiz))
    file.write("\\end{document}\n")


def _variants(quiz: Quiz) -> Iterator[tuple[int, list[QuizQuestion]]]:
    """Yield the questions of each variant, with its number."""
    of_network = groupby(quiz.questions, key=lambda question: question.id.rpartition("-")[2])
    yield from ((int(number), [*questions]) for number, questions in of_network)


def _sheets(quiz: Quiz) -> Iterator[str]:
    for number, questions in _variants(quiz):
        first = questions[0]
        yield f"\\section*{{{typeset(quiz.title)}}}\n"
        yield f"\\textbf{{Variant {number}}}\\hfill Name: \\rule{{12em}}{{0.4pt}}\n\n"
        yield f"{typeset(first.network)}\n\\begin{{itemize}}\n"
        yield from (f"\\item[--] {typeset(line)}\n" for line in first.layers)
        yield f"\\end{{itemize}}\n{typeset(first.convention)}\n\n"
        for question in questions:
            yield f"\\textbf{{{typeset(question.question)}}}\n"
            yield from _choices(question) if question.choices else ("\\answerline\n",)
        yield "\\newpage\n"


def _choices(question: QuizQuestion) -> Iterator[str]:
    yield "\n"
    for number, each in enumerate(question.choices):
        yield f"({chr(ord('a') + number)})~{typeset(each.text)}\\qquad\n"
    yield "\n"


def _key(quiz: Quiz) -> Iterator[str]:
    yield f"\\section*{{{typeset(quiz.title)}: answers}}\n"
    for number, questions in _variants(quiz):
        yield f"\\subsection*{{Variant {number}}}\n"
        for question in questions:
            yield f"{typeset(question.question)} \\textbf{{{typeset(question.right.text)}}}\n\n"
            for each in question.wrong:
                yield f"\\wrong{{{typeset(each.text)}}}{{{typeset(each.feedback)}}}\n"
            yield "\\par\\medskip\n"
