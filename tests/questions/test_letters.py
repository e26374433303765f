"""Weights have the same letters wherever they are named: in equations, in a drawing, in what training takes."""

import re
from collections.abc import Mapping

import pytest

from rnncalc import Cell, Network, training
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Form, Gate, Operations, Product, Value
from rnncalc.pictures.circuit import graph
from rnncalc.questions.explain_training import explain_training
from rnncalc.reports.explain_training import TrainingExplanationReport
from rnncalc.step.trace import traced

X, H, S = (Product(of, Form.DIAGONAL) for of in "xhs")


class Apart(Cell):
    """Two gates that read x unit by unit, and between them the past and the other state in both ways.

    Each product is multiplied with a state before it is summed, so that the backward pass reads each by itself.
    """

    kind = "apart"

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (
            Gate("q", "tanh", (X, Product("h"), S), "new", "what is new", bias=False),
            Gate("l", "sigmoid", (X, H, Product("s")), "leak", "how much stays", bias=False),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> tuple[Value, tuple[Value, ...]]:
        h, s = state
        made = []
        for letter in "ql":
            total = ops.times(s, ops.sum(letter, x=x))
            total = ops.plus(total, ops.times(s, ops.sum(letter, h=h)))
            made.append(ops.through(letter, ops.plus(total, ops.times(s, ops.sum(letter, s=s)))))
        after = ops.blend(made[1], h, made[0])
        return after, (after, made[0])


W_LETTERS = {"W_xq", "W_hq", "w_sq", "W_xl", "W_hl", "W_sl"}
LETTERS = {
    "w": W_LETTERS,
    "uvw": {"U_q", "W_q", "w_sq", "U_l", "W_l", "W_sl"},
    "rows": W_LETTERS,
    "stacked": W_LETTERS,  # nothing is, each product being summed by itself
}


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    monkeypatch.setitem(KINDS, Apart.kind, Apart)
    return Network(input=3, layers=[Apart(units=3)], steps=4)


def weights_in(*texts: str) -> set[str]:
    return {found for text in texts for found in re.findall(r"\b[UWw]_\w+", text)}


@pytest.mark.parametrize("notation", LETTERS)
def test_what_training_takes_has_the_letters_of_the_equations(network: Network, notation: str) -> None:
    """A small w for what multiplies another state unit by unit, W for the past; matrices as the notation says."""
    trained = training(network.replace(notation=notation))
    (layer,) = TrainingExplanationReport(trained, explain_training(trained)).data()["layers"]
    assert weights_in(*layer["equations"]) == LETTERS[notation]
    assert weights_in(*(row["label"] for row in layer["saved"])) == LETTERS[notation]


@pytest.mark.parametrize("notation", LETTERS)
def test_a_drawing_has_the_letters_of_the_equations(network: Network, notation: str) -> None:
    """In every notation."""
    (placed,) = network.stack
    assert isinstance(placed.layer, Cell)
    nodes = graph(traced(placed.layer, placed.inputs), NOTATION_BY_NAME[notation]).values()
    assert {f"{letter}_{below}" for node in nodes for letter, below in node.weights} == LETTERS[notation]
