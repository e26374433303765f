"""Exercises for learning platforms: read back by the rules of each, with answers and feedback."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from conftest import written

from rnncalc import LSTM, RNN, Network, Output, exercise
from rnncalc.reports.exercise import ExerciseReport, of_exercises
from rnncalc.typeset.sheet import Quiz

NETWORK = Network(
    input=4, layers=(LSTM(6, bidirectional=True), RNN(3)), output=Output(2), steps=5, name="A {b}: ~c=#/d & <e>"
)
ASKED = [("total", 0), ("total", 4), ("layers", 0), ("tensors", 0), ("tensors", 3)]


@cache
def report_on(ask: str, choices: int) -> ExerciseReport:
    return of_exercises(exercise(NETWORK, vary={"rnn_1": range(2, 9)}, variants=2, ask=ask, choices=choices))


def quiz_in(ask: str, choices: int, form: str) -> tuple[Quiz, str]:
    report = report_on(ask, choices)
    return report.quiz(), written(report, form)


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


@pytest.mark.broad
@pytest.mark.parametrize(("ask", "choices"), ASKED)
def test_gift(ask: str, choices: int) -> None:
    """Each question once in its category: title, text, and in braces an answer a line with its feedback."""
    quiz, text = quiz_in(ask, choices, "gift")
    questions_read = re.findall(r"^::(.+?)(?<!\\)::(.+?)(?<!\\)\{(#?)\n(.+?)^\}$", text, re.MULTILINE | re.DOTALL)
    questions = [question for group in quiz.groups().values() for question in group]
    assert text.count("$CATEGORY: ") == len(quiz.groups())
    assert len(questions_read) == len(questions)
    for (title, words, numeric, answers), question in zip(questions_read, questions, strict=True):
        assert plain(title) == question.heading
        assert plain(words).strip().endswith(question.question)
        assert bool(numeric) == (question.numeric and not choices)
        lines = re.findall(r"^(=%0%|=|~)((?:\\.|[^\\#])*)#(.*)$", answers, re.MULTILINE)
        assert len(lines) == len(answers.splitlines())
        assert {plain(each) for mark, each, _ in lines if mark == "="} == {
            *question.right.spellings[: 1 if choices else None]
        }
        feedbacks = {plain(each): plain(feedback) for _, each, feedback in lines}
        for wrong in question.choices or question.wrong:
            assert feedbacks[wrong.text] == wrong.feedback
        assert not choices or len(lines) == len(question.choices) <= choices


@pytest.mark.parametrize(("ask", "choices"), ASKED)
def test_moodle(ask: str, choices: int) -> None:
    """The right answer first, each mistake without a mark, and a last one for all else; ids are unique."""
    quiz, text = quiz_in(ask, choices, "moodle")
    root = ET.fromstring(text)
    questions = [question for group in quiz.groups().values() for question in group]
    questions_read = [each for each in root if each.get("type") != "category"]
    ids = [each.findtext("idnumber") for each in questions_read]
    assert len({*ids}) == len(ids) == len(questions)
    for each, question in zip(questions_read, questions, strict=True):
        assert each.get("type") == ("multichoice" if choices else "numerical" if question.numeric else "shortanswer")
        assert each.findtext("name/text") == question.heading
        answers = [(a.get("fraction"), a.findtext("text"), a.findtext("feedback/text")) for a in each.iter("answer")]
        assert {text for fraction, text, _ in answers if fraction == "100"} >= {question.right.text}
        if not choices:
            assert answers[0][:2] == ("100", question.right.text)
            assert answers[-1][:2] == ("0", "*")
            assert {wrong.text for wrong in question.wrong} <= {
                text for fraction, text, _ in answers if fraction == "0"
            }
        assert {a.findtext("tolerance") for a in each.iter("answer")} == (
            {"0"} if each.get("type") == "numerical" else {None}
        )


@pytest.mark.parametrize(("ask", "choices"), ASKED)
def test_canvas(ask: str, choices: int) -> None:
    """A group for each thing that is asked; one variant of it is picked."""
    quiz, text = quiz_in(ask, choices, "canvas")
    assert text.count("GROUP\npick: 1\n") == text.count("END_GROUP") == len(quiz.groups())
    assert len(re.findall("^1\\. ", text, re.MULTILINE)) == len(quiz.questions)
    right = r"^\*[a-z]\) " if choices else r"^=   \d+$|^\*   "
    assert len(re.findall(right, text, re.MULTILINE)) >= len(quiz.questions)


@pytest.mark.parametrize("form", ["moodle", "gift", "canvas", "json"])
def test_a_question_on_a_pass_says_how_it_begins_and_what_its_loss_is(form: str) -> None:
    """As the sheet does; without both, its numbers are not determined."""
    report = of_exercises(exercise(Network(input=1, steps=2, layers=[RNN(1)]), ask="gradients:L"))
    assert re.search("States before the first step are 0. The loss L is half the sum of", written(report, form))


def test_a_sheet_in_latex_says_once_what_a_pass_begins_with() -> None:
    text = written(of_exercises(exercise(Network(input=1, steps=2, layers=[RNN(1)]), ask="gradients:L")), "latex")
    sheet, _, _ = text.partition("Answers")
    assert [sheet.count(each) for each in ("States before", "The loss L is", "Give 4 decimals")] == [1, 1, 1]


def test_a_sheet_in_latex_asks_for_values_as_its_equations_have_them() -> None:
    network = Network(input=1, steps=2, layers=[RNN(1)], output=1)
    text = written(of_exercises(exercise(network, ask="gradients:L,dL/dW_xh,h_2,dL/dy")), "latex")
    names = re.findall(r"\\textbf\{What is (.+)\?\}", text)
    assert names == ["L", r"$\partial L / \partial W_{xh}$", "$h_{2}$", r"$\partial L / \partial y$"]


@pytest.mark.parametrize(("ask", "choices"), ASKED)
def test_latex(ask: str, choices: int) -> None:
    """A sheet a variant, then a key; braces pair."""
    quiz, text = quiz_in(ask, choices, "latex")
    assert text.count("\\newpage") == 2
    assert text.isascii()
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\textbf{") >= 2 * len(quiz.questions)
