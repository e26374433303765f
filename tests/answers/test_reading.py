"""How a learner's numbers and shapes are read."""

import re
from pathlib import Path

import pytest
from case_files import cases
from finding import judge, read_number
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import RNN, CallError, External, Network, answer, letter, load
from rnncalc.answers.forms import unmarked
from rnncalc.answers.gradebook import grade_class, read_answer_file
from rnncalc.answers.grading import Grader
from rnncalc.answers.reading import GivenNumber, GivenShape, read_answer
from rnncalc.expressions import evaluate
from rnncalc.polynomial import Polynomial
from rnncalc.reports.answer import AnswerReport, GradebookReport

(READINGS,) = cases("answers/readings.yaml")


@pytest.mark.parametrize(("text", "number"), READINGS["numbers"].items())
def test_how_numbers_are_read(text: str, number: int | list[int]) -> None:
    """A number, and what its last digit counts."""
    value, unit = number if isinstance(number, list) else (number, 1)
    assert read_number(text) == GivenNumber(value, unit, " ".join(text.split()))
    assert read_answer(text) == read_number(text)


def test_how_shapes_and_sums_are_read() -> None:
    """As Python, NumPy and lectures write them; a shape without brackets may be a product, (20) a number."""
    for text, number in READINGS["sums"].items():
        assert read_answer(text) == GivenNumber(number, 1, text)
    for text, sizes in READINGS["shapes"].items():
        answer = read_answer(text)
        assert isinstance(answer, GivenShape)
        assert [*answer.sizes] == sizes
        assert (answer.calculation is None) == (text[0] in "([" and text != "(20)")


def test_a_vector_may_stand_as_a_row_or_a_column() -> None:
    """(20, 1) and (1, 20) for (20), and nothing else."""
    assert all(GivenShape(sizes).has_shape((20,)) for sizes in ((20,), (20, 1), (1, 20)))
    assert not any(GivenShape(sizes).has_shape((20, 1)) for sizes in ((20,), (1, 20)))


@pytest.mark.parametrize(("params", "answers"), READINGS["rounded"].items())
def test_a_number_may_be_rounded(params: int, answers: dict[str, list[str]]) -> None:
    """Also to fewer digits than it has zeros for, if it is within a twentieth, as two digits at least are."""
    net = Network(input=10, layers=(External(params),))
    assert not any(judge(net, [read_number(text)]).right for text in answers.get("wrong", ()))
    for text in answers.get("correct", ()):
        judged = judge(net, [read_number(text)])
        assert judged.right
        assert f"{text} is correct, rounded: the exact number is {params:,}." in AnswerReport(judged).data()["remarks"]


@pytest.mark.parametrize(
    ("text", "message", "sizes", "example"),
    [
        *((*each, {}, "4*16*(8+16+1)") for each in READINGS["refused"].items()),
        *((*each, {"m": letter("m"), "h": letter("h")}, "4h(m + h + 1)") for each in READINGS["formulas"].items()),
    ],
)
def test_what_is_refused(text: str, message: str, sizes: dict[str, Polynomial], example: str) -> None:
    """With what is expected, and the cure that the learner meant, or a caret under the place that cannot be read."""
    with pytest.raises(CallError) as refused:
        read_answer(text, sizes=sizes)
    _, at, character = message.partition(" at character ")
    if at:
        message += f" of '{text}', as in {example}\n    {text}\n    {' ' * (int(character) - 1)}^"
    assert str(refused.value) == message


@given(st.text("()[]{}mm+4", max_size=12).filter(lambda text: "m4" not in text))
def test_a_bracket_is_never_dropped(text: str) -> None:
    """What is read is what Python makes of it with round brackets; it reads nothing that is not balanced."""
    try:
        answer = read_answer(text)
    except CallError:
        return
    if isinstance(answer, GivenNumber):
        round_ones = re.sub(r"(^|\()\+", r"\1", text.translate(str.maketrans("[]{}", "()()")))
        assert eval(re.sub(r"(?<=[4)m])(?=[(m])|(?<=[)m])(?=4)", "*", round_ones), {"m": letter("m")}) == answer.number


def test_blanks_are_read_once() -> None:
    """However many there are."""
    assert read_answer(" 1600 ") == GivenNumber(1_600, 1, "1600")
    assert read_answer("1" + " " * 9_000 + "600") == GivenNumber(1_600, 1, "1 600")
    with pytest.raises(CallError, match="of '1 x'"):
        read_answer("1" + " " * 9_000 + "x")


def test_a_suffix_that_is_a_letter_too_is_refused_with_both_readings() -> None:
    """Where the network has no such letter it is a suffix, and in a longer formula it is the letter."""
    with pytest.raises(CallError) as refused:
        read_answer("20k", sizes={"k": letter("k")})
    assert str(refused.value) == "'20k' may be 20 times the letter k, or have a suffix; write 20*k, or 20e3"
    assert read_answer("20k", sizes={"h": letter("h")}) == GivenNumber(20_000, 1_000, "20k", 10_000)
    assert read_answer("20*k", sizes={"k": letter("k")}) == GivenNumber(20 * letter("k"), 1, "20*k")
    assert read_answer("20e3", sizes={"k": letter("k")}) == GivenNumber(20_000, 1_000, "20e3", 10_000)


def test_a_chain_names_the_sign_where_it_stops_being_true() -> None:
    """Sides in letters are compared with numbers where the letters have sizes."""
    for text, untrue in READINGS["chains"].items():
        answer = read_answer(text, sizes={"m": 8, "h": 16})
        assert isinstance(answer, GivenNumber)
        assert answer.untrue == untrue, text


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("h_n=(2, N, 16)", GivenShape((2, "N", 16), name="h_n")),
        ("y.shape == torch.Size([4, None, 16])", GivenShape((4, None, 16), name="y")),
        ("lstm_1.c_n: (4x3x16)", GivenShape((4, 3, 16), name="lstm_1.c_n")),
        ("(4h, m)", GivenShape((4 * letter("h"), letter("m")))),
        ("[h1, m]", GivenShape((letter("h_1"), letter("m")))),
        ("[h]", GivenShape((letter("h"),))),
        ("(3, h)", GivenShape((3, letter("h")))),
    ],
)
def test_shapes_with_names_and_letters(text: str, shape: GivenShape) -> None:
    """A letter or None for a size, and sizes that are formulas."""
    assert read_answer(text) == shape


def test_what_a_rounded_number_means() -> None:
    """Half a unit on either side, both ends with it."""
    rounded = read_answer("1.6k")
    assert rounded == GivenNumber(1_600, 100, "1.6k")
    assert isinstance(rounded, GivenNumber)
    assert [number for number in (1_549, 1_550, 1_650, 1_651) if rounded.means(number)] == [1_550, 1_650]
    assert rounded.meant == (1_550, 1_650)
    assert (rounded.one_digit, read_number("1k").one_digit, read_number("1").one_digit) == (False, True, False)
    assert read_answer("60k") == GivenNumber(60_000, 1_000, "60k", 10_000)
    assert read_number("1.60k") == GivenNumber(1_600, 10, "1.60k")


def test_each_row_of_the_table_in_the_manual_is_read() -> None:
    """Its answers are correct for the GRU of specs/gru.yaml, of 3·16·(8 + 16 + 1) = 1,200 parameters."""
    root = Path(__file__).parents[2]
    _, _, table = (root / "docs" / "answer.md").read_text(encoding="utf-8").partition("| you write |")
    rows = table.partition("\n\n")[0].splitlines()[2:]
    assert len(rows) > 5
    for row in rows:
        text = row.rpartition("| `")[2].removesuffix("` |")
        assert answer(load(root / "specs" / "gru.yaml"), text).right, text


@pytest.mark.parametrize(
    ("cells", "number", "unsure"),
    [
        (["1.600", "1600,0"], 1_600, False),
        (["1,600", "1.600.000"], 1_600, False),
        (["1.600", "1,600,000"], 1_600, False),
        (["1.600", "1.6k"], 1_600, False),
        (["1,600", "0,5·3200"], 1_600, False),
        (["1.600", "1600"], 1_600, False),
        (["1.600k", "1,5k"], 1_600_000, True),
        (["1.600k", "1.5k"], 1_600, True),
        (["1.600k", "1,5k", "1.5k", "2.5k"], 1_600, True),
        (["1.250*800", "1,5k"], 1_000_000, True),
    ],
)
def test_a_group_of_three_that_may_be_decimals_is_settled_by_the_column(
    cells: list[str], number: int, unsure: bool
) -> None:
    """Most answers that show a sign decide, and the class is told; 1.6 can be no count."""
    rows = "".join(f"{cell};\n" for cell in cells)
    book = grade_class(
        read_answer_file(f"answer;name\n{rows}".encode(), (), ["answer"]),
        lambda _: Grader(Network(input=8, layers=(External(number),))),
    )
    assert book.grades[0].right
    (sheet, *_) = GradebookReport(book, "", "").sheets()
    assert [f"{cells[0]} is read with the decimal sign of " in str(note) for note in sheet.notes][-1] is unsure


def test_an_expression_of_sizes_is_a_number_or_a_polynomial() -> None:
    """Quotients are whole or refused; a name that is no size is refused."""
    sizes = {"D": 64, "h": letter("h")}
    assert evaluate("2*D", sizes) == 128
    assert evaluate("(D + 2)/3", sizes) == 22
    assert evaluate("4h/2 + D", sizes) == 2 * letter("h") + 64
    assert evaluate("2*D", {"D": letter("k")}) == 2 * letter("k")
    for text, message in (
        ("D/3", "64 / 3 is not whole"),
        ("2*E", "E is not a size; the sizes are D, h"),
        ("D = 64", "expected \\+, -, a factor or the end at character 3"),
        ("D(", "a number, a letter or a bracket"),
    ):
        with pytest.raises(CallError, match=message):
            evaluate(text, sizes)


@pytest.mark.parametrize("text", READINGS["named"])
def test_how_the_shape_of_a_tensor_is_written(text: str) -> None:
    """As lectures and LaTeX write it."""
    shape = read_answer(text)
    assert isinstance(shape, GivenShape)
    assert (shape.name, shape.sizes) == ("W_xh", (3, 4))


@pytest.mark.parametrize("part", ["abc + ", "1 (abc) + "])
def test_a_long_sum_of_names_is_refused_at_once(part: str) -> None:
    """Each blank before a sign belongs to one part alone, so that there are not 2⁶⁰ ways to read it."""
    with pytest.raises(CallError):
        read_answer(60 * part + "7(")


def test_answers_lose_the_marks_of_a_list_if_each_has_its_own() -> None:
    """A list in one text keeps them, because they are between its answers."""
    assert unmarked(["a) 3552", "b) 150"]) == unmarked(["(i) 3552", "(ii) 150"]) == ["3552", "150"]
    assert unmarked(["a) 3552 b) 150"]) == ["a) 3552 b) 150"]


@pytest.mark.parametrize("text", ["a 1" + " +" * 2_000 + " =", "without the output " * 400 + "layer: 1", "<p>" * 3_000])
def test_a_long_answer_of_the_same_signs_is_refused_at_once(text: str) -> None:
    """No pattern tries all ways to read them, and no label is read within itself without end."""
    with pytest.raises(CallError):
        answer(Network(input=2, layers=(RNN(3),), output=4), text)
