"""A mistake that explains a number is a fact only if few numbers near it are explained; in a class only facts count."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import Call
from finding import judged
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, network, network_of

from rnncalc import GRU, LSTM, Dense, Network, Output, answer
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import GivenNumber

MEASURED = [
    Network(input=8, layers=(LSTM(16),), steps=10),
    Network(input=8, layers=(LSTM(16), GRU(9)), output=Output(3)),
    Network(input=8, layers=(LSTM(16, bidirectional=True), GRU(9), Dense(5)), output=Output(3)),
]
GRU_16 = ("-i", 8, "-l", "gru:16")


@pytest.mark.broad
@pytest.mark.parametrize("net", MEASURED)
def test_few_random_numbers_have_a_fact(net: Network) -> None:
    """No mistake was made in them, and at most four in a hundred are told that one was, and one in four a guess."""
    grader, random = Grader(net), Random(1)
    numbers = [random.randint(net.params // 2, 2 * net.params) for _ in range(400)]
    found = [grader.judge([GivenNumber(number)]).judged[0] for number in numbers]
    explained = [each for each in found if not each.right and (each.diagnoses or each.meant or each.other_size)]
    assert sum(not each.by_chance for each in explained) <= 16
    assert len(explained) <= 100


@pytest.mark.broad
@given(network(), st.integers(-200, 200))
def test_two_mistakes_and_other_sizes_are_guesses(spec: Spec, off: int) -> None:
    """Facts come first; a number without one is a guess."""
    net = network_of(spec)
    found = judged(net, max(0, net.params + off))
    guesses = [each.by_chance for each in found.diagnoses]
    assert guesses == sorted(guesses)
    assert all(each.by_chance for each in found.diagnoses if len(each.mistakes) > 1)
    assert found.by_chance == bool((guesses and guesses[0]) or found.other_size or (not guesses and found.by_chance))


@pytest.mark.broad
def test_a_guess_is_told_as_one(call: Call) -> None:
    """4 × 16 × (8 + 16) = 1,536 may be two mistakes, or 3 × 16 × (15 + 16 + 1); 3 × 16 × (8 + 16) is one."""
    out = call("answer", *GRU_16, 1_536).out
    assert "How you could get 1,536\n" in out
    assert "A guess: no single known mistake gives 1,536; two together do, which may be a coincidence.\n" in out
    assert "How you get 1,152\n" in call("answer", *GRU_16, 1_152).out
    sentences = answer(Network(input=8, layers=(GRU(16),)), 1_536).sentences
    assert sentences[1].startswith(
        "1,536 may be the answer of someone who leaves out all biases, and counts the cell as an LSTM"
    )


def graded(call: Call, path: Path, text: str, *spec: Any) -> dict[str, Any]:
    path.write_text(text)
    result = call("answer", *spec, "--from", path, "-f", "json")
    assert result.code == 0
    whole: dict[str, Any] = json.loads(result.out)
    return whole


def test_a_class_counts_no_guess(call: Call, tmp_path: Path) -> None:
    """Of two mistakes, another size (of an input of 11, 3 × 16 × (11 + 16 + 1)), and a fact."""
    whole = graded(call, tmp_path / "a.csv", "name,answer\nAnn,1536\nBen,1344\nCid,1152\nDan,7\n", *GRU_16)
    assert [grade["by_chance"] for grade in whole["grades"]] == [True, True, False, False]
    assert whole["mistakes"] == [{"text": "leaves out all biases", "count": 1}]
    out = call("answer", *GRU_16, "--from", tmp_path / "a.csv").out
    assert "Guesses, which are not counted below: 2.\n" in out
    assert "could be: takes an input of 11 instead of 8\n" in out


@pytest.mark.broad
@pytest.mark.parametrize("ask", ["total", "layers", "tensors"])
def test_the_answer_to_another_variant(call: Call, tmp_path: Path, ask: str) -> None:
    """Its number is in the report, whatever was asked, and it is in no frequency."""
    exercise = tmp_path / "e.json"
    flags = ("-i", 8, "-l", "gru:16", "-o", 2, "--vary", "gru_1=8..64:8", "--variants", 3, "--ask", ask)
    call("exercise", *flags, "-f", "json", "--out", exercise)
    rights = [each["right_answer"] for each in json.loads(exercise.read_text())["exercises"]]
    cells = [[right] if ask == "total" else right for right in rights]
    columns = [f"answer {number}" for number in range(len(cells[0]))]
    header = ["name", "variant", *columns]
    rows = [header, ["Ann", 1, *cells[2]], ["Ben", 2, *cells[1]], ["Cid", 3, *cells[0]]]
    text = "\n".join(";".join(str(cell).replace("[", "(").replace("]", ")") for cell in row) for row in rows)
    whole = graded(call, tmp_path / "a.csv", text, exercise)
    assert [grade["right"] for grade in whole["grades"]] == [False, True, False]
    assert [grade["variant_answered"] for grade in whole["grades"]] == [3, None, 1]
    assert whole["grades"][0]["feedback"] == "Wrong: this answers variant 3."
    assert whole["mistakes"] == []
    assert "answers variant 3\n" in call("answer", exercise, "--from", tmp_path / "a.csv").out


@pytest.mark.parametrize("right", ["null", "{}", "[[[]]]", "[{}]", "1e400", '"x"'])
def test_a_right_answer_of_any_shape_in_the_file(call: Call, tmp_path: Path, right: str) -> None:
    """Whatever it holds, the class is graded by the network."""
    exercise = tmp_path / "e.json"
    call("exercise", *GRU_16, "-f", "json", "--out", exercise)
    exercise.write_text(exercise.read_text().replace('"right_answer": 1200', f'"right_answer": {right}'))
    grades = graded(call, tmp_path / "a.csv", "name,answer,variant\nAnn,1200,1\nBen,1152,1\n", exercise)["grades"]
    assert [grade["right"] for grade in grades] == [True, False]
