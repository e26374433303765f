"""Each mistake is found by its id; wrong answers of lectures and forums are explained by the reason they have."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

import pytest
from case_files import cases
from conftest import Call
from finding import PLACES, ids, ids_of, judged, variants_made
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import network_of
from wrong_counts import WRONG

from rnncalc import (
    GRU,
    LSTM,
    BatchNorm,
    Cell,
    Conv1D,
    Dense,
    Flatten,
    MinGRU,
    MinLSTM,
    Network,
    Pool1D,
    RepeatVector,
    answer,
)
from rnncalc.questions.answer.changes import in_cells, number_of_gates
from rnncalc.questions.answer.mistake import Family, Mistake
from rnncalc.questions.answer.table import TABLE

SIZE = st.integers(2, 40)


@pytest.mark.broad
@pytest.mark.parametrize("id_", PLACES)
@given(m=SIZE, h=SIZE, k=SIZE, n=SIZE)
@settings(max_examples=5)
def test_each_mistake_is_found(id_: str, m: int, h: int, k: int, n: int) -> None:
    """A number that the mistake gives, at any sizes, is traced to it, or to one before it that gives the same sum.

    Each mistake that is named has its numbers and names in it.
    """
    net, number = WRONG[id_](m, h, k, n)
    found = judged(net, number)
    assert found.right == (number == net.params)
    if not found.right:
        first, *others = ids_of(found)
        assert id_ in (first, *others) or ("+" not in first and PLACES[first] < PLACES[id_]), (id_, first)
    for diagnosis in found.diagnoses:
        for mistake in diagnosis.mistakes:
            assert not {*"{}"} & {*mistake.id, *mistake.text}


def test_the_table_and_the_counts_by_hand_have_the_same_ids() -> None:
    """A new mistake needs a computation by hand, and one that is gone leaves none behind."""
    assert {*WRONG} == {*PLACES}
    assert len(PLACES) == len(TABLE)


def check(rows: Sequence[Mistake | Family]) -> None:
    """Fail if a row of a table is half right; that its variants have values, each mistake that is found shows."""
    assert len({row.id for row in rows}) == len(rows), "two rows have one id"
    for row in rows:
        assert len(row.id.split()) == 1, "an id is a word with hyphens"
        assert row.text
        assert isinstance(row, Family) or not {*"{}"} & {*row.id, *row.text}, "only a family has values for {braces}"


RIGHT = Mistake("own", "counts recurrent matrices", in_cells(number_of_gates(3)))


@pytest.mark.parametrize(
    "row",
    [
        RIGHT._replace(id=""),
        RIGHT._replace(id=TABLE[0].id),
        RIGHT._replace(id=RIGHT.text, text=RIGHT.id),
        RIGHT._replace(text=""),
        RIGHT._replace(text="adds {width}"),
    ],
)
def test_a_half_right_row_fails(row: Mistake) -> None:
    """Without an id or a text, with those of another, with both swapped, or with braces that nothing fills."""
    check((*TABLE, RIGHT))
    with pytest.raises(AssertionError):
        check((*TABLE, row))


def test_the_steps_of_a_flatten() -> None:
    """Those before a convolution or a pooling, in a count of each layer too; a sequence begun again has its own."""
    net = Network(input=6, layers=[Conv1D(64, kernel=5), Pool1D(2), Flatten(), Dense(12)], steps=98)
    said = "flattens the {} that reach {}, instead of those that leave it"
    for number, steps, layer in ((75_276, 98, "conv1d_1"), (72_204, 94, "pool1d_1")):
        _, dense = answer(net, 1984, number).judged
        assert [each.mistakes[0].text for each in dense.diagnoses] == [said.format(f"{steps} steps", layer)]
    assert ids(net, 1984 + 12 * 65) == ["not-flattened"]
    assert not variants_made("steps-before-{layer}", net.replace(layers=net.layers[:2], steps=None), 7)
    again = net.replace(layers=(Flatten(), RepeatVector(9), Pool1D(3), Flatten(), Dense(2)))
    assert ids(again, 2 * (9 * 588 + 1)) == ["steps-before-{layer}"]


def test_the_layers_that_make_a_state() -> None:
    """Both of an LSTM forgotten are one mistake; one of them is a layer left out."""
    net = Network(input=10, layers=[LSTM(20, initial_state=5)], output=3)
    assert ids(net, 2480 + 63) == ["no-initial-state"]
    assert ids(net, 2480 + 63 + 120)[0] == "no-layer"
    two = Network(input=10, layers=[GRU(20, initial_state=5), LSTM(8, initial_state=4)])
    assert ids(two, 3 * 20 * 31 + 4 * 8 * 29)[0] == "no-initial-state"


def test_the_biases_of_filters_that_have_none() -> None:
    """Whether the cells above have biases or not."""
    filters = Conv1D(16, kernel=5, bias=False)
    for bias in (True, False):
        net = Network(input=6, layers=[filters, LSTM(4, bias=bias)], convention="pytorch")
        assert "biases-counted" in ids(net, net.params + 16 + (0 if bias else 16))


def test_every_layer_counts_as_a_layer() -> None:
    """Convolutions and normalisations are left out with what is not recurrent, and multiplied with all."""
    layers = [Conv1D(6, kernel=1), GRU(4), GRU(4)]
    assert ids(Network(input=6, layers=layers, output=2), 132 + 108)[0] == "only-recurrent"
    normal = Network(input=6, layers=[Conv1D(6, kernel=3), BatchNorm(), GRU(4)], steps=7)
    assert ids(normal, 7 * normal.params) == ["copy-a-step"]
    assert ids(normal.replace(steps=None), 7 * normal.params) == ["whole-times-{times}"]


def test_a_mistake_of_another_convention_is_named() -> None:
    """1,248 of a GRU has two biases in each gate: 3·16·(8 + 16 + 2)."""
    first = answer(Network(input=8, layers=[GRU(16)]), 3 * 16 * (8 + 16 + 2)).judged[0].diagnoses[0].mistakes[0]
    assert tuple(first) == ("convention-pytorch", "uses the convention of pytorch, keras and onnx instead of textbook")


def test_forgotten_peepholes_are_told_first() -> None:
    """208 is 4·4·(8 + 4 + 1) without the 3·4 of the peepholes; one bias vector for all gates is 12 less by chance."""
    texts = said(Network(input=8, layers=[LSTM(4, peepholes=True)]), 4 * 4 * (8 + 4 + 1))
    assert texts[:2] == ["ignores the peepholes", "counts one bias vector for all gates"]


def said(network: Network, number: int) -> list[str]:
    """Return the explanations of a number, in order."""
    found = answer(network, number).judged[0].diagnoses
    return [mistake.text for each in found for mistake in each.mistakes]


@pytest.mark.parametrize(("layer", "number"), [(MinGRU(5), 100), (MinLSTM(5), 150)])
def test_the_mistake_that_a_cell_invites_is_told_first(layer: Cell, number: int) -> None:
    """Matrices of a past that the gates do not see come before all that happens to give the same number."""
    first, *others = said(Network(input=4, layers=[layer]), number)
    assert first == "counts recurrent matrices, and no gate of this cell looks at the past"
    assert others


def test_conventions_that_count_alike_are_one_mistake() -> None:
    """One row for all of them, and none beside it for the bias in which they differ."""
    network = Network(input=3, layers=[LSTM(5)], convention="pytorch")
    assert said(network, 4 * 5 * (3 + 5 + 1)) == [
        "uses the convention of textbook, keras, flax-linen and flax-nnx instead of pytorch"
    ]
    assert said(Network(input=4, layers=[GRU(5)]), 155)[0] == "uses the convention of flax-linen instead of textbook"


def test_one_of_two_learned_states_may_be_forgotten() -> None:
    """With a projection the two widths tell which."""
    assert said(Network(input=4, layers=[LSTM(5, learned_state=True)]), 205) == [
        "counts h_0 alone of the learned initial states"
    ]
    projected = Network(input=4, layers=[LSTM(5, projection=3, learned_state=True)])
    assert "counts c_0 alone of the learned initial states" in said(projected, projected.params - 3)


ANSWERS = cases("questions/answer/wrong_answers.yaml")
"""Those of lectures, which are of a `network`, and published ones, which are of `flags`."""


@pytest.mark.broad
def test_a_wrong_answer_has_its_reason() -> None:
    """Nine of ten are told first; before the others is what gives the same number and is as likely."""
    reasons, later = 0, []
    for case in (each for each in ANSWERS if "network" in each):
        net = network_of(case["network"])
        assert net.params == case["right"]
        for number, expected in case["wrong"].items():
            found = ["+".join(sorted(each.split("+"))) for each in ids(net, number)]
            for reason in expected.split(", or "):
                assert reason in found, (net, number)
                reasons += 1
                later += [(net, number, reason)] if found[0] != reason else []
    assert len(later) <= 0.1 * reasons, later


@pytest.mark.parametrize("number", [2_583, 2_587, 3_003, 10_007])
def test_what_has_no_reason_gets_none(number: int) -> None:
    """Nothing is made up for a number that no mistake gives."""
    assert not judged(Network(input=10, layers=[LSTM(20)], output=5), number).diagnoses


PUBLISHED = [pytest.param(each, id=each["flags"]) for each in ANSWERS if "flags" in each]


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_mistake_of_a_published_answer_is_told_first(case: dict[str, Any], call: Call) -> None:
    """The first of the report is the one that its author made; and the right answer ends as one."""
    network = shlex.split(case["flags"])
    for answers, mistake in case.get("first", {}).items():
        done = call("answer", *network, *str(answers).split(), "-f", "json")
        (report,) = json.loads(done.out)["reports"]
        assert report["mistakes"][0]["id"] == mistake
    if "right" in case:
        assert call("answer", *network, *str(case["right"]).split()).code == 0
