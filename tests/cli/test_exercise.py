"""A class graded, each student on a variant of an exercise."""

import json
import re
import zlib
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from conftest import Call, refusal

from rnncalc.answers.exercise import ASKS

NETWORK = ("-i", "4", "-l", "lstm:8", "-o", "3", "-T", "6")
LETTERS = ("-i", "m", "-l", "lstm:8", "-o", "p")
MADE = ("--vary", "lstm_1=4..20", "--variants", "3", "-f", "json")


def made(call: Call, path: Path, ask: str = "total") -> list[dict[str, Any]]:
    """Write an exercise, and return its variants."""
    path.write_text(call("exercise", *(LETTERS if ask == "formula" else NETWORK), *MADE, "--ask", ask).out)
    exercises: list[dict[str, Any]] = json.loads(path.read_text())["exercises"]
    return exercises


def cells(answer: Any) -> str:
    answers = answer if isinstance(answer, list) else [answer]
    return ";".join("x".join(map(str, each)) if isinstance(each, list) else str(each) for each in answers)


@pytest.mark.broad
@pytest.mark.parametrize("ask", ASKS)
def test_each_variant_is_graded_by_itself(ask: str, call: Call, tmp_path: Path) -> None:
    """The right answers are right, and a wrong one has the feedback of the exercise, whatever is asked."""
    exercises = made(call, tmp_path / "a.json", ask)
    columns = len(cells(exercises[0]["right_answer"]).split(";"))
    rows = []
    for each in reversed(exercises):
        wrong = json.loads(json.dumps(each["right_answer"]))
        first = each["mistakes"][0]
        if isinstance(wrong, list):
            wrong[0] = first["answer"]
        else:
            wrong = first["answer"]
        rows += [f"Ann;{each['variant']};{cells(each['right_answer'])}", f"Ben;{each['variant']};{cells(wrong)}"]
    header = ";".join(["name", "variant", *(f"answer {place}" for place in range(columns))])
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]))
    done = call("answer", str(tmp_path / "a.json"), "--from", str(tmp_path / "a.csv"), "-f", "json")
    grades = json.loads(done.out)["grades"]
    assert [grade["right"] for grade in grades] == [True, False] * 3
    for each, grade in zip(reversed(exercises), grades[1::2], strict=True):
        assert each["mistakes"][0]["feedback"] in grade["feedback"]


def test_values_of_a_pass_are_graded(call: Call, tmp_path: Path) -> None:
    """Rounded to the decimals that are asked for, in columns or with names in one cell; a mistake is the exercise's."""
    made = call("exercise", "-i", 1, "-l", "rnn:2", "-o", 1, "-T", 2, "--variants", 2, "--ask", "values", "-f", "json")
    (tmp_path / "a.json").write_text(made.out)
    rows = ["name,variant,state,output"]
    exercises = json.loads(made.out)["exercises"]
    for each in exercises:
        state, output = each["right_answer"]
        wrong = next(mistake for mistake in each["mistakes"] if mistake["tensor"] == "y")
        correct = f'"({state[0]:.4f}, {state[1]:.4f})",'
        rows += [
            f"Ann,{each['variant']},{correct}{output:.4f}",
            f"Ben,{each['variant']},{correct}{wrong['answer']:.4f}",
        ]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    columns = ("--answer", "state", "--answer", "output")
    done = call("answer", tmp_path / "a.json", "--from", tmp_path / "a.csv", *columns, "-f", "json")
    grades = json.loads(done.out)["grades"]
    assert [grade["right"] for grade in grades] == [True, False] * 2
    for each, grade in zip(exercises, grades[1::2], strict=True):
        wrong = next(mistake for mistake in each["mistakes"] if mistake["tensor"] == "y")
        assert wrong["feedback"].removeprefix("This ") in grade["feedback"]


def test_without_a_column_the_rows_are_in_order(call: Call, tmp_path: Path) -> None:
    """A number of a layer is told if the total is asked for; more rows than variants have no order."""
    exercises = made(call, tmp_path / "a.json")
    first, second = exercises[:2]
    output = 3 * (second["spec"]["layers"][0]["lstm"] + 1)
    parts = f"output: {output}; lstm_1: {second['right_answer'] - output}"  # all, which are the total
    answers = [f"{first['right_answer']}", parts, "output: 27"]
    (tmp_path / "a.csv").write_text("\n".join(["name,answer", *(f"x,{answer}" for answer in answers)]))
    done = call("answer", str(tmp_path / "a.json"), "--from", str(tmp_path / "a.csv"), "-f", "json")
    assert [grade["right"] for grade in json.loads(done.out)["grades"]] == [True, True, None]
    assert "a.csv:4: expected the total, got a number or a shape of a part of the network" in done.err
    more = graded(call, tmp_path, ["name,answer", *(f"x,{answer}" for answer in [*answers, "5"])])
    cure = "name the column of the variants with --variant"
    message = f"4 rows, 3 variants, and no column with the numbers of the variants; {cure}"
    assert (more.code, more.err) == (2, f"{tmp_path / 'a.csv'}: {message}\n")


def test_lists_to_no_end_are_no_exercise(call: Call, tmp_path: Path) -> None:
    """One line; on some systems Python reads them, and then they are no variants."""
    (tmp_path / "a.json").write_text('{"exercises": ' + "[" * 9_000)
    (tmp_path / "a.csv").write_text("name,answer\nAnn,5\n")
    done = call("answer", str(tmp_path / "a.json"), "--from", str(tmp_path / "a.csv"))
    assert (done.code, done.out, done.err.count("\n"), "JSON" in done.err) == (2, "", 1, True)


@pytest.mark.broad
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.json", "5"), "is an exercise: grade the answers to it with --from FILE"),
        (("a.json", "-T", "5", "--from", "a.csv"), "--steps: each variant of"),
        (("specs/gru.yaml", "--from", "a.csv", "--variant", "name"), "--variant is for the JSON of rnncalc exercise"),
        (("specs/gru.yaml", "5", "--variant", "name"), "needs --from"),
        (("a.json", "--from", "a.csv", "--variant", "nam"), "did you mean 'name'?"),
    ],
)
def test_calls_that_are_refused(words: tuple[str, ...], message: str, call: Call, tmp_path: Path) -> None:
    """Exit code 2 and the cure."""
    made(call, tmp_path / "a.json")
    (tmp_path / "a.csv").write_text("name,answer\nAnn,5\n")
    err = refusal(call, "answer", *(str(tmp_path / word) if word.startswith("a.") else word for word in words))
    assert message in err


@pytest.mark.broad
@pytest.mark.parametrize("form", ["table", "json", "markdown", "html", "csv"])
def test_a_hint_on_a_class_has_no_correct_number(form: str, call: Call, tmp_path: Path) -> None:
    """Of the network or a layer, for a mistake, a squared count, and gradients for each step."""
    network = ("-i", "11", "-l", "lstm:13", "-o", "17", "-T", "6")
    correct = {"1,300", "238", "1,538", "1300", "1538"}
    (tmp_path / "a.csv").write_text(f"name,answer\nA,{1_538 - 17}\nB,{1_538**2}\nC,{6 * 1_538}\nD,{4 * 1_538}\nE,1\n")
    written = {
        bool(hint): call("answer", *network, "--from", str(tmp_path / "a.csv"), "-f", form, *hint).out
        for hint in ((), ("--hint",))
    }
    shown = {hint: correct & {*re.findall(r"(?<![\d,])\d[\d,]*\d", text)} for hint, text in written.items()}
    assert not shown[True]
    assert shown[False] or form in ("table", "markdown", "html")
    assert "Look at the biases:" in written[True]


def test_a_link_holds_the_network_the_ranges_the_seed_and_the_question_and_no_answer(
    call: Call, tmp_path: Path
) -> None:
    spec = tmp_path / "a.yaml"
    spec.write_text("source: 440 in all\ninput: 4\nlayers:\n  - lstm: 8\nexpect: 416\nbudget: {max_params: 424}\n")
    vary = ("--vary", "lstm_1=4..20", "--vary", "input=2..8:2")
    link = call("exercise", str(spec), *vary, "--ask", "layers", "--seed", "7", "-f", "link").out
    packed = urlsafe_b64decode(link.strip().partition("#1.")[2] + "===")
    shown = json.loads(zlib.decompress(packed, wbits=-15))
    network = {"name": "a", "input": 4, "layers": [{"lstm": 8}]}
    assert json.loads(shown.pop("network")) == network
    assert shown == {"form": "yaml", "ask": "layers", "vary": "lstm_1=4..20\ninput=2..8:2", "seed": "7"}


def test_the_sheets_come_before_the_keys_with_the_answers_and_the_letters_of_choices(call: Call) -> None:
    out = call("exercise", *NETWORK, *MADE[:4], "--choices", "4").out
    titles = re.findall(r"^(?:Variant \d+|Answers)", out, re.MULTILINE)
    assert titles == ["Variant 1", "Variant 2", "Variant 3", "Answers", "Variant 1", "Variant 2", "Variant 3"]
    parts = re.split("^Variant .*", out, flags=re.MULTILINE)[1:]
    for sheet, key in zip(parts[:3], parts[3:], strict=True):
        choices = re.findall(r"^\([a-d]\) \d+", sheet, re.MULTILINE)
        assert len(choices) == 4
        right, *wrong = re.findall(r"(?:\? |^)(\([a-d]\) \d+)", key, re.MULTILINE)
        assert sorted([right, *wrong]) == choices
        assert wrong == sorted(wrong)


@pytest.mark.parametrize("form", ["table", "markdown", "html"])
def test_no_feedback_is_cut(form: str, call: Call) -> None:
    """However long the sums that it compares: 200 + 216 + 392 + 384 + 648 + 30 parameters."""
    kinds = ("lstm:5", "gru:6", "lstm:7", "gru:8", "lstm:9")
    out = call("exercise", "-i", "4", *(word for kind in kinds for word in ("-l", kind)), "-o", "3", "-f", form).out
    assert out.count("instead of 4 ×") == out.count(" = 1,870") > 10


def graded(call: Call, folder: Path, rows: list[str], *flags: str) -> Any:
    """Return what a call says of a class with a title above its rows."""
    (folder / "a.csv").write_text("\n".join(rows), encoding="utf-8")
    return call("answer", str(folder / "a.json"), "--from", str(folder / "a.csv"), *flags)


def test_variants_are_found_or_told_or_refused(call: Call, tmp_path: Path) -> None:
    """A column of their numbers alone; the order of the rows, unless most are correct for others; never one of two."""
    right = [each["right_answer"] for each in made(call, tmp_path / "a.json")]
    shuffled = [f"S,Variant {place + 1},{right[place]}" for place in (2, 0, 1)]
    found = graded(call, tmp_path, ["who,Sheet,Total", *shuffled])
    assert "3 of 3 answers correct.\nVariants are those of the column Sheet." in found.out
    (*_, data) = json.loads(graded(call, tmp_path, ["who,Sheet,Total", *shuffled], "-f", "json").out)["grades"]
    assert (data["variant"], data["right_answer"], data["right"]) == ("Variant 2", right[1], True)
    in_order = graded(call, tmp_path, ["who,Total", *(f"S,{each}" for each in right)])
    assert "The first row is graded as variant 1, the second as variant 2, and so on." in in_order.out
    again = graded(call, tmp_path, ["who,Total", *(f"S,{each}" for each in right)], "-f", "csv").out
    assert again.splitlines()[:2] == [
        "who,Total,variant,correct,mistake,feedback,correct_answer",
        f"S,{right[0]},1,true,,Correct.,{right[0]}",
    ]
    assert graded(call, tmp_path, again.splitlines(), "-f", "csv").out == again
    others = graded(call, tmp_path, ["who,Total", *(f"S,{right[place]}" for place in (2, 0, 1))])
    assert (others.code, others.err) == (
        2,
        f"{tmp_path / 'a.csv'}: if the variants are in the order of rows, 3 would be correct for another "
        "variant, and 0 for their own; name the column of the variants with --variant\n",
    )
    odd = ["who,Sheet,Total", *3 * shuffled, f"S,9,{right[0]}", f"S,,{right[0]}"]
    nearly = graded(call, tmp_path, odd, "-f", "csv")
    assert nearly.err.count("expected a variant of") == 2
    assert nearly.out.splitlines()[-2].endswith("got '9'.\",")  # no correct answer of a variant that there is not
    twice = graded(call, tmp_path, ["Sheet,Group,Total", *(f"{place},{4 - place},{right[0]}" for place in (1, 2, 3))])
    assert "the variant may be in the column Sheet or Group; name the column of the variants" in twice.err


def test_one_number_is_no_answer_to_a_question_for_two(call: Call, tmp_path: Path) -> None:
    """Nor is the total; the number of one layer by its name leaves the other out."""
    (first, *_) = made(call, tmp_path / "a.json", "layers")
    cell, output = first["right_answer"]
    answers = [f"{cell}", f"{cell + output}", f"lstm_1: {cell}", f"{cell}; {output}", f"lstm: {cell}; {cell + output}"]
    rows = ["name,variant,answer", *(f"S,1,{each}" for each in answers)]
    grades = json.loads(graded(call, tmp_path, rows, "-f", "json").out)["grades"]
    assert [grade["right"] for grade in grades] == [None, None, False, True, None]
    assert grades[0]["feedback"] == "Not judged: expected 2 numbers, one for each layer, in order, got 1."
    assert grades[2]["feedback"] == "No answer in output. The rest is correct."
