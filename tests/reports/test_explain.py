"""What is said of biases is what the layer's tensors are: how many a gate has, in which gates, and why."""

import re

import pytest
from cells import cell

from rnncalc import GRU, LSTM, MGU, SRU, FastGRNN, MinGRU, MinLSTM, Network
from rnncalc.conventions import CONVENTIONS
from rnncalc.conventions.tensor import Role
from rnncalc.errors import SpecError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell
from rnncalc.questions.explain import explain
from rnncalc.reports.explain import ExplanationReport


def said(layer: Cell, convention: str = "textbook", inputs: int = 4) -> str:
    """Return the remark on the biases of a layer."""
    network = Network(input=inputs, layers=[layer], convention=convention)
    remark: str = ExplanationReport(explain(network)).data()["layers"][0]["remarks"][0]
    return remark


ONE = "Biases: one bias vector per gate; "


@pytest.mark.parametrize("layer", [MinGRU(5), MinLSTM(5)])
def test_gates_with_one_product_sum_none(layer: Cell) -> None:
    """A gate that does not look at the past has nothing to sum."""
    assert said(layer) == f"{ONE}a gate has one product, and one bias goes with it."


def test_gates_without_a_bias_are_named() -> None:
    """An SRU's candidate and skip have none; where m = h there is no skip."""
    why = "the two products are summed, so one bias serves both."
    assert said(SRU(5)) == f"Biases: one bias vector each in f and r, none in n and s; {why}"
    assert said(SRU(4)) == f"Biases: one bias vector each in f and r, none in n; {why}"
    assert said(FastGRNN(5)) == ONE + why


def test_a_gate_that_resets_after_the_product_leaves_the_bias_outside() -> None:
    """Under the textbook the candidate's one bias is not what is multiplied by r; resetting before, it is one sum."""
    why = "the two products are summed, so one bias serves both"
    assert said(GRU(5)) == f"{ONE}{why}."
    assert said(GRU(5, reset_after=True)) == f"{ONE}{why}, and that of n is outside what is multiplied by a gate."


def test_peepholes_are_summed_too() -> None:
    """A gate with three products has one bias for all."""
    assert said(LSTM(5, peepholes=True)) == f"{ONE}the products of a gate are summed, so one bias serves all."


def test_a_convention_says_of_a_cell_what_that_cell_has() -> None:
    """Keras's and Flax's second bias is told where there is one, and not beside an LSTM."""
    one = "the two products are summed, so one bias serves both."
    assert said(LSTM(5), "keras") == ONE + one
    assert said(GRU(5, reset_after=False), "keras") == ONE + one
    assert said(LSTM(5), "flax-linen") == f"Biases: one bias vector per gate, on the recurrent side; {one}"
    second = "and a second one in n; what is multiplied by a gate has a bias of its own inside the product."
    assert said(MGU(5), "flax-linen") == f"Biases: one bias vector per gate, {second}"
    assert said(GRU(5), "keras").startswith("Biases: two bias vectors per gate, one after the other in one tensor; ")


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", KINDS)
def test_the_number_that_is_said_is_that_of_the_tensors(convention: str, name: str) -> None:
    """For every cell and convention, the vectors that are told of are as many as the biases' tensors hold."""
    if not issubclass(kind(name), Cell):
        return
    layer = cell(name, 5)
    try:
        network = Network(input=4, layers=[layer], convention=convention)
    except SpecError:
        return
    (placed,) = network.stack
    held = sum(tensor.params for tensor in placed.tensors if tensor.role in (Role.BIAS, Role.RECURRENT_BIAS)) // 5
    text = said(layer, convention)
    gates = len(layer.gates(4))
    if found := re.search(r"each in ([\w ,]+), none", text):
        gates = len(re.findall(r"\b[a-z]\b", found[1]))
    told = gates * (2 if "two bias vectors" in text else 1) + ("second one" in text)
    assert told == held
