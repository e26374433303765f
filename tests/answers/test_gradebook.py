"""A class is graded as each of its students would be."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from case_files import cases
from conftest import Call

from rnncalc import GRU, LSTM, CallError, Network, Output, answer
from rnncalc.answers.gradebook import grade_class, read_answer_file
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import GivenNumber, read_answer

NETWORK = Network(input=8, layers=(GRU(16),), output=Output(3))


def graded(call: Call, path: Path, text: str, *flags: str, spec: str = "specs/gru.yaml") -> tuple[str, str]:
    """Return what a graded file prints on both streams."""
    path.write_text(text, encoding="utf-8")
    result = call("answer", spec, "--from", str(path), *flags)
    assert result.code == 0
    return result.out, result.err


@pytest.mark.broad
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


def test_the_object_for_programs(call: Call, tmp_path: Path) -> None:
    """Its keys, how many are right, and the mistakes by frequency."""
    text = "name,answer\nAnn,1200\nBen,1152\nCid,1152\nDan,800\n"
    whole = json.loads(graded(call, tmp_path / "a.csv", text, "-f", "json")[0])
    assert [*whole] == ["version", "grades", "of", "number_right", "mistakes"]
    assert [*whole["grades"][0]] == [
        "row",
        "name",
        "answers",
        "right",
        "mistake",
        "by_chance",
        "variant_answered",
        "feedback",
        "variant",
        "right_answer",
    ]
    assert whole["number_right"] == 1
    assert [mistake["count"] for mistake in whole["mistakes"]] == [2, 1]
    assert whole["mistakes"][0]["text"] == whole["grades"][1]["mistake"] == "leaves out all biases"


def test_points_are_shared_over_the_claims(call: Call, tmp_path: Path) -> None:
    """Of 2 points for an LSTM of 4·24·37 = 3,552 and an output of 150; half a share for what follows from a mistake."""
    answers = {
        "LSTM: 3552, Dense: 150, total: 3702": 2,
        "LSTM: 3456, Dense: 144, total: 3600": 0.33,  # no biases, again none, and their sum: 2 · 1/2 / 3
        "3552 (LSTM) + 151 (Dense) = 3703": 1,  # 2 · (1 + 0 + 1/2) / 3
        "each gate: 864, LSTM: 3456, Dense: 150, total: 3606": 1,  # 2 · (0 + 1/2 + 1 + 1/2) / 4
        "3552, 151 -> 3702": 1.33,  # correct, but 151 is wrong
        "many": None,
        "": 0,
    }
    text = "name;answer\n" + "".join(f"Ann;{answer}\n" for answer in answers)
    flags, spec = ("-l", "lstm:24", "-o", "6", "--points", "2"), "-i12"
    out, _ = graded(call, tmp_path / "a.csv", text, *flags, "-f", "json", spec=spec)
    assert [grade["points"] for grade in json.loads(out)["grades"]] == [*answers.values()]
    out, _ = graded(call, tmp_path / "a.csv", text, *flags, "-f", "csv", spec=spec)
    assert [line.rpartition(";")[2] for line in out.splitlines()] == ["points", "2", "0,33", "1", "1", "1,33", "", "0"]
    (tmp_path / "a.csv").write_text("name;points;answer\nAnn;7;3702\n")  # points of a course
    assert read_answer_file((tmp_path / "a.csv").read_bytes()).columns == ("name", "points", "answer")
    assert read_answer_file(out.encode()).columns == ("name", "answer")


def test_messages_of_unread_cells_are_once_below_the_table(call: Call, tmp_path: Path) -> None:
    """With their lines, also those of names that are twice there; a page has the feedback in each row."""
    text = "name,answer\nAnn,many\nBen,1152\nAnn,1200\n"
    out, err = graded(call, tmp_path / "a.csv", text)
    assert (out.count("got 'many'"), out.count("Line 2: expected"), out.count("'Ann' is in line 2 too")) == (1, 1, 1)
    assert err == ""
    page, _ = graded(call, tmp_path / "a.csv", text, "-f", "html")
    assert page.count("Wrong: 1,152 is 48 less than the correct 1,200.") == 1


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1+1", "x\n=1"])
def test_what_opens_in_a_spreadsheet_is_no_formula(call: Call, tmp_path: Path, name: str) -> None:
    """No cell begins as one."""
    text = io.StringIO()
    csv.writer(text).writerows([("name", "=answer"), (name, "1200"), ("Ann", "=1200")])
    out, _ = graded(call, tmp_path / "a.csv", text.getvalue(), "--answer", "=answer", "-f", "csv")
    cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\n")]


def test_a_negative_number_is_no_formula(call: Call, tmp_path: Path) -> None:
    """Alone, or in a vector or matrix."""
    cells = ["-0.5", "-.5", "(0.1, -0.2)", "((0.1, -0.2), (-0.3, -0.4))", "0.1; -0.2"]
    text = io.StringIO()
    csv.writer(text).writerows([("name", "answer"), *((cell, "1200") for cell in cells)])
    out, _ = graded(call, tmp_path / "a.csv", text.getvalue(), "-f", "csv")
    assert [row[0] for row in csv.reader(io.StringIO(out))][1:] == cells


ROWS = [("Zoë", "1200"), ("Ann, B.", "1,152")]


def written(separator: str) -> str:
    """Return a file of two columns and ROWS, each cell in quotes."""
    rows = [("Name", "Answer"), *ROWS]
    return "\r\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separators_and_encodings(separator: str, encoding: str) -> None:
    """The same names and answers from each, and the separator, with a mark of UTF-8 for all but what is UTF-8 alone."""
    file = read_answer_file(written(separator).encode(encoding))
    assert [(row.name, *row.answers) for row in file.rows] == ROWS
    expected = ("Name", "Answer"), separator, "" if encoding == "utf-8" else "\ufeff"
    assert (file.columns, file.separator, file.beginning) == expected


@pytest.mark.parametrize("case", cases("answers/class_files.yaml"), ids=lambda case: str(case)[:80])
def test_what_is_read_of_a_file(case: dict[str, Any]) -> None:
    """Its rows, columns and variants."""
    file = read_answer_file(case["file"].encode(), **case.get("with", {}))
    read = {
        "rows": [[row.line, row.name, *row.answers] for row in file.rows],
        "columns": [*file.columns],
        "asked": [*file.asked],
        "variant": [row.variant for row in file.rows],
    }
    assert {key: value for key, value in case.items() if key in read} == {key: read[key] for key in read if key in case}
    assert all(len(row.cells) == len(file.columns) for row in file.rows)


@pytest.mark.parametrize(
    "cell",
    [
        "1200",
        '"1,200"',
        "1 200",
        "1\u00a0200",
        "1\u202f200",
        "1200.0",
        "1200.00",
        "1.2E+03",
        '"3*16*(8+16+1)"',
        "1200 parameters",
        "about 1200",
        '" 1200 "',
        "\t1200",
    ],
)
def test_an_answer_as_spreadsheets_and_students_write_it(cell: str) -> None:
    """The same number in each; line breaks are those of any system."""
    for end in ("\n", "\r\n", "\r"):
        file = read_answer_file(f"name;answer{end}Ann;{cell}{end};{end}Ben\x0b;5{end}{end}".encode())
        assert [row.name for row in file.rows] == ["Ann", "Ben"]
        given = read_answer(file.rows[0].answers[0])
        assert isinstance(given, GivenNumber)
        assert given.number == 1_200


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"name,answer\nZo\xeb\x81,5\n", "Zo\u00eb\ufffd"),
        ("name,answer\nZo\u00eb,5".encode("utf-16-le").join([b"\xff\xfe", b"\n"]), "Zo\u00eb"),
    ],
)
def test_bytes_that_no_encoding_has(data: bytes, name: str) -> None:
    """They are replaced; the rest is read."""
    assert [row.name for row in read_answer_file(data).rows] == [name]


def test_a_workbook_is_no_class_list() -> None:
    """Nor is any other file that is no text."""
    with pytest.raises(CallError, match=r"^not a text file; save it as CSV$"):
        read_answer_file(b"PK\x03\x04\x14\x00name,answer\nAnn,5\n")


def test_counts_are_no_answer_to_a_question_for_shapes(call: Call, tmp_path: Path) -> None:
    """The right ones neither; 3 is the shape of a vector."""
    exercise = tmp_path / "exercise.json"
    call("exercise", "-i", 8, "-l", "rnn:3", "--ask", "tensors", "--out", str(exercise))
    text, columns = "name,a,b,c\nAnn,24,9,3\nBen,3x8,3x3,3\n", ("--answer", "a", "--answer", "b", "--answer", "c")
    out, _ = graded(call, tmp_path / "a.csv", text, *columns, "-f", "json", spec=str(exercise))
    assert [grade["right"] for grade in json.loads(out)["grades"]] == [None, True]


def test_why_an_answer_has_no_grade() -> None:
    """Each student of the same words has the problem in a row of his own; a variant that there is not has one too."""
    file = read_answer_file(b"name,answer,variant\nAnn,many,1\nBen,many,1\nCid,5,2\n", variant="variant")

    def grader(variant: str) -> Grader:
        if variant == "2":
            raise CallError("there is no variant 2")
        return Grader(NETWORK)

    grades = grade_class(file, grader).grades
    assert [grade.row for grade in grades] == [*file.rows]
    unread = "expected a whole number, such as 1600 or 1.6k, got 'many'"
    assert [grade.problem for grade in grades] == [unread, unread, "there is no variant 2"]


@pytest.mark.parametrize(
    ("flags", "ask", "right"),
    [
        (("-i", "8", "-l", "gru:16"), "total", ["1200"]),  # 3 × 16 × (8 + 16 + 1)
        (("-i", "m", "-l", "gru:h"), "formula", ["3h(m+h+1)"]),
        (("-i", "8", "-l", "rnn:3,bias=false"), "tensors", ["(3,8)", "(3,3)"]),
    ],
)
def test_letters_are_answers_to_a_question_with_choices(
    call: Call, tmp_path: Path, flags: tuple[str, ...], ask: str, right: list[str]
) -> None:
    """Each is judged as what the exercise writes beside it; the first row is no header; d has no choice."""
    exercise = tmp_path / "exercise.json"
    call("exercise", *flags, "--ask", ask, "--choices", "3", "--out", str(exercise))
    (data,) = json.loads(exercise.read_text())["exercises"]
    items = data["choices"] if ask == "tensors" else [data["choices"]]
    key = data["right_answer"] if ask == "tensors" else [data["right_answer"]]
    for place, (choices, correct) in enumerate(zip(items, key, strict=True)):
        texts = [str(tuple(choice) if isinstance(choice, list) else choice) for choice in choices]
        letters = ("a", "(B)", "c)", "Option C", "[a]", f"(b) {texts[1]}", "d", f"a) {texts[1]}")
        rows = [["Ann", *right[:place], letter, *right[place + 1 :]] for letter in letters]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        columns = [word for number in range(len(items)) for word in ("--answer", str(number + 2))]
        out, _ = graded(call, tmp_path / "a.csv", text.getvalue(), *columns, "-f", "json", spec=str(exercise))
        grades = [grade["right"] for grade in json.loads(out)["grades"]]
        assert grades == [*(choices[number] == correct for number in (0, 1, 2, 2, 0, 1)), None, None]
        assert True in grades
