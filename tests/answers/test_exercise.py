"""Exercises: sizes that vary by a seed, right answers, wrong ones with the feedback of `answer`."""

import json
import re
from collections.abc import Callable
from itertools import chain, combinations
from math import tanh
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from case_files import cases, worked_out
from conftest import written
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network_of
from strategies import network as whole

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    CallError,
    Dropout,
    Embedding,
    Network,
    Output,
    Part,
    RefusedError,
    SpecError,
    answer,
    count,
    exercise,
    training,
)
from rnncalc.answers.asked import ASKED
from rnncalc.answers.exercise import ASKS, OF_PASS, Answered, Item, answered, items_of, with_choices
from rnncalc.answers.grading import Grader
from rnncalc.answers.judgement import Judgement
from rnncalc.answers.reading import GivenNumber, GivenShape, read_answer
from rnncalc.answers.values import ValueGrader
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.run import with_steps_to_run
from rnncalc.questions.solve import SizePlace, resized
from rnncalc.questions.stream import stream
from rnncalc.questions.vary import sizes_of
from rnncalc.reports.exercise import of_exercises
from rnncalc.spec import parse, parse_data

GRU_16 = Network(input=8, layers=(GRU(16),), steps=10)
SPECS = sorted(Path("specs").glob("*.yaml"))[::3]
NETWORKS = [with_steps_to_run(parse(path.read_bytes(), path.name).network) for path in SPECS]
WORKED = yaml.safe_load(Path("tests/reports/worked.yaml").read_text(encoding="utf-8"))
LETTERS = parse(b"{input: m, layers: [lstm: h], output: p}", "letters.yaml").network


def test_the_feedback_is_that_of_answer() -> None:
    """Word for word, the likeliest mistake first."""
    (question,) = exercise(GRU_16).exercises
    for mistake in question.mistakes[:20]:
        assert mistake["feedback"] in answer(GRU_16, mistake["answer"]).sentences
    assert [mistake["answer"] for mistake in question.mistakes[:4]] == [12_000, 4_656, 1_152, 1_248]


@pytest.mark.broad
@given(st.one_of(whole(), encoder_decoder()), st.sampled_from(["total", "layers", "tensors"]))
def test_every_exercise_is_graded(spec: Spec, ask: str) -> None:
    """The right answers are right, and each wrong one has a mistake or is another quantity."""
    network = network_of(spec)
    try:
        items = [*items_of(network, ask)]
    except CallError:  # nothing has parameters
        return
    assert Grader(network).judge([given_of(item.right) for item in items]).right
    assert all(first_of(wrong) for item in items for wrong in item.wrong)


def first_of(judged: Judgement) -> object:
    """Return the mistake that is named first, or else the quantity."""
    return judged.diagnoses[0].mistakes if judged.diagnoses else judged.meant[0]


def given_of(right: Answered) -> GivenNumber | GivenShape:
    assert not isinstance(right, str)
    return GivenNumber(right) if isinstance(right, int) else GivenShape(right)


@pytest.mark.parametrize("ask", ASKS)
def test_the_right_answer_is_no_wrong_one(ask: str) -> None:
    """And no number is given twice."""
    for item in items_of(LETTERS if ask == "formula" else GRU_16, ask):
        numbers = [item.right, *map(answered, item.wrong)]
        assert len({*numbers}) == len(numbers) > 1


@pytest.mark.parametrize("seed", range(4))
def test_the_values_of_a_pass_are_worked_by_hand(seed: int) -> None:
    """Of an RNN of one unit and an output: its equations and the chain rule, on the numbers of one decimal drawn."""
    network = Network(input=1, layers=[RNN(1)], output=1, steps=2)
    set_of = exercise(network, ask="gradients:h_1,y,L,dL/dW_hh,δ_h,2", seed=seed, variants=2)
    for data in of_exercises(set_of).data():
        spec = data["spec"]
        (((w,),), ((u,),), (b,)) = spec["weights"]["rnn_1"].values()
        (((v,),), (c,)) = spec["weights"]["output"].values()
        (x,), (later,) = spec["inputs"]
        (target,) = spec["targets"]
        assert all(number == round(number, 1) for number in (w, u, b, v, c, x, later, target))
        first = tanh(w * x + b)
        second = tanh(w * later + u * first + b)
        y = v * second + c
        delta = (y - target) * v * (1 - second**2)
        answers = [first, y, (y - target) ** 2 / 2, delta * first, delta]
        assert data["values"] == ["h_1", "y", "L", "∂L/∂W_hh", "δ_h,2"]
        assert data["right_answer"] == pytest.approx(answers)
    assert set_of == exercise(network, ask="gradients:h_1,y,L,dL/dW_hh,δ_h,2", seed=seed, variants=2)
    assert set_of.exercises[0].data != set_of.exercises[1].data


@pytest.mark.broad
@pytest.mark.parametrize("name", WORKED)
def test_the_answers_of_every_small_network_are_judged_correct(name: str) -> None:
    """Of values and gradients, from the numbers and the names in the JSON; or the question is refused in words."""
    network = parse(json.dumps(WORKED[name]).encode(), name).network
    for ask in OF_PASS:
        try:
            report = of_exercises(exercise(network, ask=ask))
        except (CallError, RefusedError):
            continue
        (data,), (question,) = report.data(), report.exercises
        spec = parse(json.dumps(data["spec"]).encode(), "exercise.json")
        grader = ValueGrader(spec.network, parse_data(spec), data["loss"], asked=data["values"])
        answers = [f"{name} = {item.right}" for name, item in zip(data["values"], question.items, strict=True)]
        assert grader.judge(grader.read("\n".join(answers))).right, ask


def test_a_platform_takes_each_number_of_a_value_within_a_tolerance() -> None:
    """Two units of the last decimal; a vector has a question for each number, and none of its wrong ones is correct."""
    report = of_exercises(exercise(Network(input=1, layers=[RNN(2)], steps=2), ask="values", variants=2))
    assert "<tolerance>0.0002</tolerance>" in written(report, "moodle")
    for name, questions in report.quiz().groups().items():
        for question, each in zip(questions, report.exercises, strict=True):
            number = each.items[0].numbers[int(name[-1]) - 1]
            assert abs(float(question.right.text) - number) <= 0.00005
            assert question.wrong
            assert all(abs(float(wrong.text) - number) > 0.0002 for wrong in question.wrong)


def test_the_same_seed_gives_the_same_sizes_whatever_is_asked() -> None:
    """And the same choices of the same question."""
    varied = {"gru_1": range(8, 65, 8), "steps": [5, 7]}
    same, again, *others = (
        exercise(GRU_16, vary=varied, variants=4, seed=3, ask=ask, choices=choices)
        for ask, choices in (("total", 4), ("total", 4), ("total", 0), ("state", 3))
    )
    assert same == again
    assert {tuple(each.network for each in result.exercises) for result in (same, *others)} == {
        tuple(each.network for each in same.exercises)
    }


@pytest.mark.broad
@pytest.mark.parametrize("ask", ASKS)
def test_neither_a_rank_nor_a_letter_tells_the_right_choice(ask: str) -> None:
    """Over seeds, if wrong ones of both sides are known; the rank of a formula is that of its length."""
    letters = set()
    networks = [LETTERS, TRANSLATOR] if ask == "formula" else NETWORKS
    for item in chain.from_iterable(items_if_known(network, ask) for network in networks):
        wrong = [size_of(answered(each)) > size_of(item.right) for each in item.wrong]
        drawn = [with_choices(item, 3, str(seed)).choices for seed in range(24)]
        places = [choices.index(item.right) for choices in drawn]
        assert len({*places}) == len(drawn[0])
        ranks = {sum(size_of(each) < size_of(item.right) for each in choices) for choices in drawn}
        assert len(ranks) > 1 or len({*wrong}) < 2 or len(wrong) < 3
        letters.add(places[0])
    assert len(letters) > 1


def size_of(choice: Answered) -> Any:
    return len(choice) if isinstance(choice, str) else choice


def items_if_known(network: Network, ask: str) -> list[Item]:
    try:
        return [*items_of(network, ask)]
    except (CallError, RefusedError):  # nothing has parameters; the state is unknown
        return []


def test_variants_differ_and_are_as_many_as_there_can_be() -> None:
    result = exercise(GRU_16, vary={"gru_1": range(1, 11)}, variants=10)
    assert sorted(each.right_answer for each in result.exercises) == [3 * h * (8 + h + 1) for h in range(1, 11)]


def test_what_makes_no_network_is_left_out() -> None:
    """A projection that is wider than its layer, say; if nothing else is left, it is refused."""
    net = Network(input=4, layers=(LSTM(8, projection=3),))
    with pytest.raises(SpecError):
        exercise(net, vary={"lstm_1": [0]})
    result = exercise(net, vary={"lstm_1.projection": [0, 2, 5]}, variants=2)
    assert {each.right_answer for each in result.exercises} == {4 * 8 * (4 + p + 1) + 8 * p for p in (2, 5)}


@pytest.mark.broad
def test_a_formula_is_asked_of_a_network_in_letters() -> None:
    """Multiplied out. Each wrong one is a known mistake, and every spelling of the right one is right."""
    (question,) = exercise(LETTERS, ask="formula", choices=4).exercises
    assert question.right_answer == "4h² + 4h·m + h·p + 4h + p"
    assert question.right_answer in question.items[0].choices
    for mistake in question.mistakes:
        judged = answer(LETTERS, mistake["answer"])
        assert not judged.right
        assert mistake["feedback"] in judged.sentences
    for spelling in of_exercises(exercise(LETTERS, ask="formula")).quiz().questions[0].right.spellings:
        assert answer(LETTERS, spelling).right


def test_a_spec_in_json_is_what_a_spec_file_holds() -> None:
    """Read again, it is the network that was asked about."""
    found = exercise(GRU_16, vary={"gru_1": range(8, 65)}, variants=3)
    found = found._replace(exercises=(*found.exercises, *exercise(LETTERS, ask="formula").exercises))
    for each, data in zip(found.exercises, of_exercises(found).data(), strict=True):
        assert network_of(data["spec"]) == each.network


def test_the_sizes_that_may_vary() -> None:
    """Of each half, of each layer by its name as it is counted, a repeated one once for all, and of the output."""
    encoder = Part(9, (Embedding(4), LSTM(6, projection=3, repeat=2), LSTM(8, bidirectional=True)))
    takes = (LSTM(6, projection=3, repeat=2), LSTM(5, initial_state=16, extra_inputs=1), Dropout(0.5))
    network = Network(encoder=encoder, decoder=Part(2, takes, Output(7)))
    sizes = sizes_of(network)
    assert {
        name: size for name, size in sizes.items() if name.partition(".")[0] in ("encoder", "decoder", "output")
    } == {
        "encoder.input": SizePlace("encoder", None, "input"),
        "encoder.steps": SizePlace("encoder", None, "steps"),
        "decoder.input": SizePlace("decoder", None, "input"),
        "decoder.steps": SizePlace("decoder", None, "steps"),
        "output": SizePlace("decoder", None, "output"),
    }
    assert sizes["embedding_1"] == SizePlace("encoder", 0, "units")
    assert sizes["lstm_2"] == sizes["lstm_1"] == SizePlace("encoder", 1, "units")
    assert sizes["lstm_3"] == SizePlace("encoder", 2, "units")
    assert sizes["lstm_2.projection"] == SizePlace("encoder", 1, "projection")
    assert sizes["lstm_5.projection"] == SizePlace("decoder", 0, "projection")
    assert sizes["lstm_6.initial_state"] == SizePlace("decoder", 1, "initial_state")
    assert sizes["lstm_6.extra_inputs"] == SizePlace("decoder", 1, "extra_inputs")
    assert "dropout_1" not in sizes


def test_sizes_are_changed_where_they_stand() -> None:
    """Those of a half, of a layer, and of the output."""
    network = Network(encoder=Part(9, (GRU(4),), steps=3), decoder=Part(2, (GRU(4),), Output(7), steps=5))
    for name, half, change in (
        ("encoder.input", "encoder", {"input": 6}),
        ("decoder.steps", "decoder", {"steps": 6}),
        ("output", "decoder", {"output": Output(6)}),
    ):
        other = resized(network, [sizes_of(network)[name]], 6)
        assert other.parts == {**network.parts, half: network.parts[half]._replace(**change)}
    both = [sizes_of(network)[name] for name in ("gru_1", "gru_2")]
    assert [part.layers for part in resized(network, both, 6).parts.values()] == [(GRU(6),)] * 2


@pytest.mark.parametrize("case", cases("questions/confused.yaml"), ids=lambda case: str(case))
def test_what_another_quantity_is_confused_with(case: dict[str, Any]) -> None:
    """Each number with its reason, the likeliest first; its grader knows them too."""
    network, layers, wrong = network_of(case["network"]), case["layers"], case["wrong"]
    (ask,) = {*case} - {"network", "layers", "wrong"}
    right = worked_out(case[ask])
    (item,) = items_of(network, ask)
    assert item.right == right
    told = [(answered(each), each.diagnoses[0].id) for each in item.wrong]
    assert [each for each in told if each[0] in wrong] == [*wrong.items()]
    grader = Grader(network, ask)
    assert grader.judge([GivenNumber(right)]).right
    for number, reason in wrong.items():
        (judged,) = grader.judge([GivenNumber(number)]).judged
        assert (judged.right, judged.diagnoses[0].id) == (False, reason)
    assert grader.judge([GivenNumber(right + 2)]).judged[0].diagnoses == ()
    expected = f"1 number, the total, or {layers}, one for each layer, in order" if layers > 1 else "1 number"
    with pytest.raises(CallError) as refused:
        grader.judge([GivenNumber(right)] * 5)
    assert str(refused.value) == f"expected {expected}, got 5"


@pytest.mark.broad
@pytest.mark.parametrize("of", ASKED)
@given(st.one_of(whole(), encoder_decoder()))
def test_an_answer_about_a_quantity_is_what_the_commands_count(of: str, spec: Spec) -> None:
    """The total and each layer; the numbers that are told as mistakes are wrong, and each has one."""
    network = network_of(spec)
    try:
        grader = Grader(network, of)
    except RefusedError:  # the steps are unknown, say
        return
    quantity: dict[str, Callable[[], int | None]] = {
        "multiply-adds": lambda: count(network).multiply_adds,
        "flops": lambda: flops(network),
        "bytes": lambda: count(network).bytes,
        "saved": lambda: training(network).saved,
        "state": lambda: stream(network).state,
    }
    assert grader.judge([GivenNumber(quantity[of]())]).right
    assert grader.judge([*map(GivenNumber, grader.counts)]).right
    for number, reason in dict(reversed(grader.search.quantities)).items():
        (judged,) = grader.judge([GivenNumber(number)]).judged
        assert judged.right is (number == grader.total)
        assert judged.right or reason.id in {each.id for each in judged.diagnoses}


@pytest.mark.parametrize("of", ASKED)
def test_the_convention_is_named_where_its_biases_count(of: str) -> None:
    """PyTorch's second bias of each gate is in some quantities; a question of the others names no convention."""
    networks = (GRU_16.replace(convention=name) for name in ("textbook", "pytorch"))
    counts = {Grader(network, of).total for network in networks}
    assert (len(counts) > 1) is ("one bias vector per gate" in exercise(GRU_16, ask=of).exercises[0].text)


def test_wrong_numbers_of_layers_count_one_pass() -> None:
    """However many they are; a pass through hundreds of layers takes long."""
    grader = Grader(Network(input=3, layers=[GRU(2), GRU(4), GRU(5)], steps=2), "flops")
    with patch("rnncalc.questions.operations.pass_operations", wraps=pass_operations) as counted:
        assert not any(each.right for each in grader.judge([GivenNumber(1)] * 3).judged)
    assert counted.call_count == 1


def flops(network: Network) -> int | None:
    counts = pass_operations(network).total
    return counts and counts.flops


TRANSLATOR = parse(
    b"encoder: {steps: T, input: V, layers: [{embedding: m}, {rnn: k}]}\n"
    b"decoder: {steps: T, input: V, layers: [{embedding: m}, {rnn: k}], output: V}",
    "translator.yaml",
).network
"""The encoder-decoder of an assignment, https://github.com/MK-Sindhu/ed24s401_dl_Assignment_3, with its formulas."""


@pytest.mark.parametrize(
    ("of", "formula", "mistakes"),
    [
        ("multiply-adds", "2*T*k*m + 2*T*k^2 + T*V*k", []),
        ("multiply-adds", "T(4*m*k + 4*k^2 + k*V)", ["recurrent-twice"]),
        ("flops", "T(4*m*k + 4*k^2 + 2*k + 2*k*V) + 2*T*k + T*V", []),
        ("flops", "T(4*m*k + 4*k^2 + 2*k + 2*k*V)", ["no-biases"]),
        ("bytes", "8*V*m + 8*(m*k + k^2 + k) + 4*k*V + 4*V", []),
        ("state", "2*k", []),
    ],
)
def test_a_formula_of_a_quantity_is_judged(of: str, formula: str, mistakes: list[str]) -> None:
    (judged,) = Grader(TRANSLATOR, of).judge([read_answer(formula)]).judged
    assert judged.right is not bool(mistakes)
    assert [each.id for each in judged.diagnoses] == mistakes


def test_as_many_choices_as_there_are_letters() -> None:
    """All of them different; with fewer than two answers there is nothing to choose."""
    (question,) = exercise(GRU_16, choices=26).exercises
    assert len({*question.items[0].choices}) == 26
    assert question.right_answer in question.items[0].choices
    (written,) = exercise(GRU_16).exercises
    assert written.items[0].choices == ()
    (likeliest,) = exercise(GRU_16, wrong=3).exercises
    assert likeliest.items[0].wrong == written.items[0].wrong[:3]


@pytest.mark.broad
@pytest.mark.parametrize(("layers", "most"), [(24, 200), (249, 20)])
def test_the_wrong_answers_of_deep_networks_are_fewer(layers: int, most: int) -> None:
    """The likeliest, as many as keep the layers that all of them count at 5,000; every number is different there."""
    net = Network(
        input=3, layers=[LSTM(2 * place + 5, bidirectional=True) for place in range(layers)], output=Output(2)
    )
    (item,) = exercise(net).exercises[0].items
    assert min(most, 20) <= len(item.wrong) <= most


def test_the_order_of_terms_does_not_tell_the_right_formula() -> None:
    """No two choices have the same products in another order."""
    (question,) = exercise(LETTERS, ask="formula", choices=9).exercises
    (item,) = question.items
    choices = item.choices
    assert len(choices) == 9
    products = [[re.sub(r"^\d+", "", term) for term in str(choice).split(" + ")] for choice in choices]
    pairs = {pair for each in products for pair in combinations(each, 2)}
    assert not {pair[::-1] for pair in pairs} & pairs
