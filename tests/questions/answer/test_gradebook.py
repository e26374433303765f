"""A class is graded as each of its students would be."""

import csv
import io
import json
from pathlib import Path

import pytest
from conftest import Call

from rnncalc import GRU, LSTM, Network, Output, answer
from rnncalc.questions.answer.answer_file import read_answer_file
from rnncalc.questions.answer.gradebook import grade_class
from rnncalc.questions.answer.grading import Grader
from rnncalc.questions.answer.reading import read_answer

NETWORK = Network(input=8, layers=(GRU(16),), output=Output(3))


def graded(call: Call, path: Path, text: str, *flags: str, spec: str = "specs/gru.yaml") -> tuple[str, str]:
    """Return what a graded file prints on both streams."""
    path.write_text(text, encoding="utf-8")
    result = call("answer", spec, "--from", str(path), *flags)
    assert result.code == 0
    return result.out, result.err


def test_each_is_judged_as_if_it_were_alone() -> None:
    """One grader for all answers finds what a new one finds for each."""
    grader = Grader(NETWORK)
    for number in (NETWORK.params + off for off in (-40, -16, 8, 99)):
        assert grader.judge([read_answer(str(number))]) == answer(NETWORK, number)


def test_every_student_has_a_network() -> None:
    """The one that the row asks for."""
    networks = {"a": NETWORK, "b": Network(input=2, layers=(LSTM(3),))}
    file = read_answer_file(b"name,answer,variant\nAnn,72,b\nBen,72,a\n", variant="variant")
    grades = grade_class(file, lambda variant: Grader(networks[variant])).grades
    assert [grade.right for grade in grades] == [True, False]


def test_what_cannot_be_read_does_not_stop_the_rest(call: Call, tmp_path: Path) -> None:
    """It is told with its line, and is neither right nor wrong; an empty answer is wrong."""
    path = tmp_path / "a.csv"
    out, err = graded(call, path, "name,answer\nAnn,many\nBen,1200\nCid,\nDan,-3\n", "-f", "json")
    grades = json.loads(out)["grades"]
    assert [(grade["row"], grade["right"]) for grade in grades] == [(2, None), (3, True), (4, False), (5, None)]
    assert [line.partition(": ")[0] for line in err.splitlines()] == [f"{path}:2", f"{path}:5"]


def test_a_name_that_stands_twice(call: Call, tmp_path: Path) -> None:
    """It is graded twice and told."""
    out, err = graded(call, tmp_path / "a.csv", "name,answer\nAnn,1200\nann ,5\n", "-f", "csv")
    assert len(out.splitlines()) == 3
    assert ":3: 'ann' stands in line 2 too; both are graded" in err


def test_the_object_for_programs(call: Call, tmp_path: Path) -> None:
    """Its keys, how many are right, and the mistakes by frequency."""
    text = "name,answer\nAnn,1200\nBen,1152\nCid,1152\nDan,800\n"
    whole = json.loads(graded(call, tmp_path / "a.csv", text, "-f", "json")[0])
    assert [*whole] == ["version", "grades", "number_right", "mistakes"]
    assert [*whole["grades"][0]] == ["row", "name", "answers", "right", "mistake", "feedback"]
    assert whole["number_right"] == 1
    assert [mistake["count"] for mistake in whole["mistakes"]] == [2, 1]
    assert whole["mistakes"][0]["text"] == whole["grades"][1]["mistake"] == "leaves out all biases"


def test_layer_by_layer(call: Call, tmp_path: Path) -> None:
    """Several columns; the mistake has the name of its layer."""
    text = "name;a;b;c;d\nAnn;2560000;49408;66048;129\nBen;2560000;98816;;129\n"
    flags = ("--answer", "a", "--answer", "b", "--answer", "c", "--answer", "d", "-f", "csv")
    out, err = graded(call, tmp_path / "a.csv", text, *flags, spec="specs/sentiment-classifier.yaml")
    rows = [*csv.DictReader(io.StringIO(out))]
    assert rows[0]["mistake"] == "lstm_1: forgets the second direction"
    assert ":3: some answers are empty" in err


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "x\n=1"])
def test_what_opens_in_a_spreadsheet_is_no_formula(call: Call, tmp_path: Path, name: str) -> None:
    """No cell begins as one."""
    text = io.StringIO()
    csv.writer(text).writerows([("name", "=answer"), (name, "1200"), ("Ann", "=1200")])
    out, _ = graded(call, tmp_path / "a.csv", text.getvalue(), "--answer", "=answer", "-f", "csv")
    cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\n")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--name", "x", "5"), "--name, --answer and --variant are columns of a file of answers"),
        (("5", "-f", "csv"), "-f csv is for a class"),
        (("5", "--from", "docs/class.csv"), "the answers stand in docs/class.csv; remove 5"),
        (("--from", "no.csv"), "'no.csv': no such file"),
        (("--from", "docs/class.csv", "--answer", "Totl"), "did you mean 'Total'?"),
    ],
)
def test_calls_that_are_refused(call: Call, words: tuple[str, ...], message: str) -> None:
    """Exit code 2, and one line."""
    result = call("answer", "specs/gru.yaml", *words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert len(result.err.splitlines()) == 1


def test_a_rounding_is_taken_for_itself_alone_if_that_is_asked(call: Call, tmp_path: Path) -> None:
    """1.2k is 1,200; 1k is not."""
    assert call("answer", "specs/gru.yaml", "1.2k", "--exact").code == 0
    assert call("answer", "specs/gru.yaml", "1k", "--exact").code == 1
    assert call("answer", "specs/gru.yaml", "1k").code == 0
    out, _ = graded(call, tmp_path / "a.csv", "name,answer\nAnn,1.2k\nBen,1k\n", "-f", "json", "--exact")
    assert [grade["right"] for grade in json.loads(out)["grades"]] == [True, False]
