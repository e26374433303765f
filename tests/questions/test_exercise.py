"""Exercises: sizes that vary by a seed, right answers, wrong ones with the feedback of `answer`."""

import pytest
import yaml
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder
from strategies import network as whole

from rnncalc import GRU, LSTM, CallError, Network, SpecError, answer, exercise, training
from rnncalc.questions.answer.grading import Grader, Judgement
from rnncalc.questions.answer.reading import GivenNumber, Shape
from rnncalc.questions.exercise import ASKS, Answered, answered, items_of
from rnncalc.reports.exercise import of_exercises
from rnncalc.spec import parse

GRU_16 = Network(input=8, layers=(GRU(16),), steps=10)
LETTERS = parse(b"{input: m, layers: [lstm: h], output: p}", "letters.yaml").network


def test_the_feedback_is_that_of_answer() -> None:
    """Word for word, the likeliest mistake first."""
    (found,) = exercise(GRU_16).exercises
    for mistake in found.mistakes[:20]:
        assert mistake["feedback"] in answer(GRU_16, mistake["answer"]).sentences
    assert [mistake["answer"] for mistake in found.mistakes[:4]] == [12_000, 4_656, 1_152, 1_248]


@given(st.one_of(whole(), encoder_decoder()), st.sampled_from(["total", "layers", "tensors"]))
def test_every_exercise_is_graded(spec: Spec, ask: str) -> None:
    """The right answer is right, and each wrong one is diagnosed with the mistake that it was made from."""
    network = parse(yaml.safe_dump(spec).encode(), "spec.yaml").network
    try:
        items = [*items_of(network, ask)]
    except CallError:  # nothing has parameters
        return
    grader = Grader(network)
    rights = [given_of(item.right) for item in items]
    assert grader.judge(rights).right
    for place, item in enumerate(items[:4]):
        for wrong in item.wrong:
            judged = grader.judge([*rights[:place], wrong.given, *rights[place + 1 :]]).judged[place]
            assert not judged.right
            assert first_of(judged) == first_of(wrong)


def first_of(judged: Judgement) -> object:
    """Return the mistake that is named first, or else the quantity."""
    return judged.diagnoses[0].mistakes if judged.diagnoses else judged.meant[0]


def given_of(right: Answered) -> GivenNumber | Shape:
    assert not isinstance(right, str)
    return GivenNumber(right) if isinstance(right, int) else Shape(right)


@pytest.mark.parametrize("ask", ASKS)
def test_the_right_answer_is_no_wrong_one(ask: str) -> None:
    """And no number stands twice."""
    for item in items_of(LETTERS if ask == "formula" else GRU_16, ask):
        numbers = [item.right, *map(answered, item.wrong)]
        assert len({*numbers}) == len(numbers) > 1


def test_other_quantities_are_those_of_their_commands() -> None:
    (work,), (saved,) = items_of(GRU_16, "multiply-adds"), items_of(GRU_16, "saved")
    assert work.right == 10 * 3 * 16 * (8 + 16)
    assert saved.right == training(GRU_16).saved


def test_the_same_seed_gives_the_same_exercise() -> None:
    """The same in every version of Python, so the sizes and the order of the choices stand here."""
    found = exercise(GRU_16, vary={"gru_1": range(8, 65, 8), "steps": [5, 7]}, variants=4, seed=3, choices=4)
    assert found == exercise(GRU_16, vary={"gru_1": range(8, 65, 8), "steps": [5, 7]}, variants=4, seed=3, choices=4)


def test_variants_differ_and_are_as_many_as_there_can_be() -> None:
    found = exercise(GRU_16, vary={"gru_1": range(1, 11)}, variants=10)
    assert sorted(each.right_answer for each in found.exercises) == [3 * h * (8 + h + 1) for h in range(1, 11)]
    with pytest.raises(CallError, match=r"^the sizes allow 10 different variants, not 11; vary more sizes"):
        exercise(GRU_16, vary={"gru_1": range(1, 11)}, variants=11)
    with pytest.raises(CallError, match=r"^the sizes allow 1 different variant, not 2"):
        exercise(GRU_16, variants=2)


def test_what_makes_no_network_is_left_out() -> None:
    """A projection that is wider than its layer, say; if nothing else is left, it is refused."""
    net = Network(input=4, layers=(LSTM(8, projection=3),))
    with pytest.raises(SpecError):
        exercise(net, vary={"lstm_1": [0]})
    found = exercise(net, vary={"lstm_1.projection": [0, 2, 5]}, variants=2)
    assert {each.right_answer for each in found.exercises} == {4 * 8 * (4 + p + 1) + 8 * p for p in (2, 5)}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"vary": {"gru_2": [1]}}, "vary: expected input, steps, gru_1"),
        ({"vary": {"gru_1": []}}, "vary: gru_1: expected the values"),
        ({"ask": "formulas"}, "ask: expected total, layers"),
        ({"ask": "formula"}, "ask: formula is not asked of a network in numbers; give the sizes as letters"),
        ({"choices": 1}, "choices: expected 2 to 26"),
        ({"choices": 27}, "choices: expected 2 to 26"),
        ({"variants": 2_000}, "variants: expected at most 1,000"),
        ({"seed": -1}, "seed: expected a whole number"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(CallError) as refused:
        exercise(GRU_16, **asked)  # type: ignore[arg-type]  # it is wrong on purpose
    assert str(refused.value).startswith(message)


def test_a_formula_is_asked_of_a_network_in_letters() -> None:
    """Multiplied out. Each wrong one is a known mistake, and every spelling of the right one is right."""
    (found,) = exercise(LETTERS, ask="formula", choices=4).exercises
    assert found.right_answer == "4h·m + 4h² + 4h + h·p + p"
    assert found.right_answer in found.items[0].choices
    for mistake in found.mistakes:
        judged = answer(LETTERS, mistake["answer"])
        assert not judged.right
        assert mistake["feedback"] in judged.sentences
    for spelling in of_exercises(exercise(LETTERS, ask="formula")).quiz().questions[0].right.spellings:
        assert answer(LETTERS, spelling).right
    with pytest.raises(CallError, match=r"^ask: total is not asked of a network in letters; ask for the formula$"):
        exercise(LETTERS)


def test_steps_are_needed_for_what_depends_on_them() -> None:
    for ask in ("multiply-adds", "saved"):
        with pytest.raises(CallError, match=r"depends on the number of steps; give steps$"):
            exercise(Network(input=8, layers=(GRU(16),)), ask=ask)


def test_a_spec_in_json_is_what_a_spec_file_holds() -> None:
    """Read again, it is the network that was asked about."""
    found = exercise(GRU_16, vary={"gru_1": range(8, 65)}, variants=3)
    found = found._replace(exercises=(*found.exercises, *exercise(LETTERS, ask="formula").exercises))
    for each, data in zip(found.exercises, of_exercises(found).data(), strict=True):
        assert parse(yaml.safe_dump(data["spec"]).encode(), "spec.yaml").network == each.network


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("lstm:2,initial_state=5", "LSTM, 2 units, initial state from a vector of 5\n"),
        ("conv_lstm:2,space=4", "ConvLSTM, 2 filters, kernel 3, space 4\n"),
    ],
)
def test_a_question_has_all_that_its_answer_needs(call: Call, layer: str, words: str) -> None:
    """A width that a count depends on is said to be one, in the words of its kind."""
    done = call("exercise", "-i", 3, "-T", 4, "-l", layer, "--sheet")
    assert (done.code, words in done.out) == (0, True)


def test_numbers_are_not_asked_of_a_network_in_letters() -> None:
    """Nor a formula of one in numbers; each with what to do instead."""
    for network, ask, message in (
        (LETTERS, "total", "total is not asked of a network in letters; ask for the formula"),
        (
            GRU_16,
            "formula",
            "formula is not asked of a network in numbers; give the sizes as letters, such as m and h",
        ),
    ):
        with pytest.raises(CallError) as refused:
            exercise(network, ask=ask)
        assert str(refused.value) == f"ask: {message}"
