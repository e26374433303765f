"""A shape, or a number, for each tensor: judged in the convention's order, each mistake by its id."""

from collections.abc import Sequence

import pytest
from finding import judge
from hypothesis import given
from hypothesis import strategies as st
from strategies import Spec, encoder_decoder, network, network_of

from rnncalc import GRU, LSTM, RNN, Conv1D, Dense, Network, Output
from rnncalc.answers.grading import answer, number_of_tensors
from rnncalc.answers.reading import GivenNumber, GivenShape
from rnncalc.answers.tensors import TENSOR_MISTAKES, tensors_of
from rnncalc.reports.answer import AnswerReport

LECTURE = Network(input=10, layers=(RNN(20, bias=False),), output=Output(5, bias=False))
GATED = Network(input=8, layers=(GRU(20),))
FUSED = Network(input=8, layers=(LSTM(16),), convention="keras")
TALL = Network(input=4, layers=(Dense(7, bias=False), Dense(3, bias=False)))


@given(st.one_of(network(), encoder_decoder()))
def test_what_is_right_is_never_wrong(spec: Spec) -> None:
    """The tensors' own shapes and numbers are right, whatever the network."""
    net = network_of(spec)
    tensors = tensors_of(net)
    assert len(tensors) == number_of_tensors(net)
    if tensors:
        assert judge(net, [GivenShape(tensor.plain_shape) for _, tensor in tensors]).right
        if len(tensors) != len(net.stack):
            numbers = judge(net, [GivenNumber(tensor.params) for _, tensor in tensors])
            assert numbers.right


def test_a_class_that_writes_rows_is_judged_in_rows() -> None:
    """x W has the shapes (10, 20), (20, 20), (20, 5); the textbook's are transposed, and their notation is named."""
    rows = LECTURE.replace(notation="rows")
    assert answer(rows, (10, 20), (20, 20), (20, 5)).right
    wrong = answer(rows, (20, 10), (20, 20), (5, 20))
    assert [each.diagnoses[0].id for each in wrong.judged if not each.right] == ["transposed"] * 2
    assert wrong.right_in == "w"
    assert answer(LECTURE, (10, 20), (20, 20), (20, 5)).right_in == "rows"
    assert answer(rows, (10, 20), (20, 10), (20, 5)).right_in is None


MISTAKES: dict[str, tuple[Network, Sequence[int | tuple[int, ...]], str]] = {
    "transposed": (LECTURE, [(10, 20), (20, 20), (5, 20)], "W_xh"),
    "swapped-tensors": (LECTURE, [(20, 20), (20, 10), (5, 20)], "W_xh"),
    "other-tensor": (LECTURE, [(20, 10), (20, 10), (5, 20)], "W_hh"),
    "bias-in-matrix": (LECTURE, [(20, 11), (20, 20), (5, 20)], "W_xh"),
    "stacked": (LECTURE, [(20, 30), (20, 20), (5, 20)], "W_xh"),
    "all-gates": (GATED, [(60, 8), *[(20, 8)] * 2, *[(20, 20)] * 3, *[(20,)] * 3], "W_xz"),
    "one-gate": (FUSED, [(8, 16), (16, 64), (64,)], "kernel"),
    "gates-{count}": (FUSED, [(8, 48), (16, 64), (64,)], "kernel"),
    "size": (LECTURE, [(20, 10), (20, 20), (5, 7)], "W_hy"),
    "axes": (LECTURE, [(20, 10, 3), (20, 20), (5, 20)], "W_xh"),
}


SAID = {
    "swapped-tensors": "swapped with W_hh",
    "other-tensor": "that of W_xh",
    "stacked": "stacked with W_hh",
    "gates-{count}": "that of a cell with 3 blocks",
    "size": "wrong second size",
}


@pytest.mark.parametrize("id_", MISTAKES)
def test_each_mistake_about_a_tensor_is_found(id_: str) -> None:
    """By its id, in the tensor it was made in."""
    net, answers, name = MISTAKES[id_]
    found = answer(net, *answers)
    assert not found.right
    (wrong,) = (each for each in found.judged if each.tensor == name)
    (told,) = wrong.diagnoses
    assert told.id == id_.format(count=3)
    text = "".join(mistake.text for mistake in told.mistakes)
    assert "{" not in text
    assert SAID.get(id_, "") in text


BOTH = Network(input=5, layers=(GRU(6, bidirectional=True), GRU(3)), convention="pytorch")


@pytest.mark.parametrize(
    ("net", "given", "id_"),
    [
        (LECTURE, "W_hh=(10, 10)", "recurrent-among-inputs"),  # 20·10 + 10·10 + 5·20 are the numbers of this learner
        (LECTURE, "W_hy=50", "output-of-input"),
        (LECTURE, "W_hy=(5, 10)", "output-of-input"),
        (FUSED, "recurrent_kernel=(8, 32)", "recurrent-among-inputs"),
        (FUSED, "kernel=(16, 64)", "other-tensor"),  # a mistake about tensors is likelier than input-of-units
        (GATED, "b_z=(28,)", "bias-of-inputs"),
        (BOTH, "gru_2.weight_ih_l0=(9, 6)", "one-direction-deeper"),
        (BOTH.replace(layers=(Conv1D(4, 3), RNN(5))), "conv1d_1.weight=(4, 5)", "kernel-of-one-step"),
    ],
)
def test_a_mistake_in_a_count_is_known_of_a_tensor(net: Network, given: str, id_: str) -> None:
    """After those about tensors."""
    (told,) = answer(net, given).judged[0].diagnoses
    assert told.id == id_


def test_a_learner_has_one_mistake_in_a_count_and_in_a_tensor() -> None:
    """U as m × m, of 10 inputs and 20 units: 20·10 + 10·10 + 20, and a shape of (10, 10), with one hint."""
    net = Network(input=10, layers=(RNN(20),))
    total, shape = answer(net, 20 * 10 + 10 * 10 + 20), answer(net, "W_hh=(10, 10)")
    assert [each.id for each in total.judged[0].diagnoses] == [each.id for each in shape.judged[0].diagnoses]
    hints = [[*AnswerReport(each, hint=True).sentences()][1].removeprefix("rnn_1 W_hh: ") for each in (total, shape)]
    assert hints[0] == hints[1]


def test_the_table_and_the_examples_have_the_same_ids() -> None:
    """A new mistake about a tensor needs an example."""
    assert {*MISTAKES} == {row.id for row in TENSOR_MISTAKES} | {"size", "axes"}


def test_layers_before_tensors() -> None:
    """As many numbers as layers are the layers', though there are as many tensors."""
    assert [each.tensor for each in answer(TALL, 28, 21).judged] == [None, None]
    assert [each.tensor for each in answer(TALL, (7, 4), (3, 7)).judged] == ["W", "W"]
