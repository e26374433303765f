"""What is drawn of a step is the step: one node for each operation, and run node by node it gives the same numbers."""

from itertools import product
from typing import Any

import cells
import pytest
from circuit import Numbers, number

from rnncalc import GRU, LSTM, RNN, Cell, FastGRNN
from rnncalc.layers.cell import Habits
from rnncalc.layers.kinds import kind
from rnncalc.pictures.graph import Graph, NodeKind, graph
from rnncalc.step.trace import traced

M = 4
HABITS = [Habits(*each) for each in product((False, True), repeat=2)]


def run(found: Graph, numbers: Numbers, before: dict[str, float]) -> list[float]:
    """Return the value of each node."""
    values: list[float] = []
    for node in found.nodes:
        given = [values[place] for place in node.operands]
        reads = {subscript[0]: value for (_, subscript), value in zip(node.weights, given, strict=False)}
        name = node.operation.name
        match node.kind:
            case NodeKind.INPUT:
                values.append(number("x"))
            case NodeKind.BEFORE:
                values.append(before[node.letter])
            case NodeKind.GATE:
                values.append(numbers.gate(node.letter, **reads))
            case NodeKind.THROUGH:
                values.append(numbers.through(node.letter, *given))
            case NodeKind.PRODUCT if len(given) == 1 and node.weights[0][1] == "hp":
                values.append(numbers.product("p", *given))
            case NodeKind.PRODUCT:
                values.append(numbers.sum(node.weights[0][1][1], **reads))
            case NodeKind.NUMBER:
                values.append(numbers.scalar(node.letter))
            case NodeKind.OPERATION if name in ("tanh", "relu"):
                values.append(numbers.activate(name, *given))
            case _:
                values.append(getattr(numbers, name)(*given))
    return values


@pytest.mark.parametrize("name", cells.CELLS)
def test_run_node_by_node_it_is_the_step(name: str) -> None:
    """Whatever frameworks do differently, and whether the cell is as wide as its input."""
    for units, habits in product((3, M), HABITS):
        options: dict[str, Any] = {"units": units}
        layer = kind(name)(**options)
        assert isinstance(layer, Cell)
        found, numbers = graph(traced(layer, M, habits)), Numbers(layer, M, habits)
        before = {letter: number("before", letter) for letter in layer.states}
        values = run(found, numbers, before)
        handed, after = layer.step(numbers, number("x"), tuple(before.values()))
        assert values[found.output] == pytest.approx(handed)
        assert [values[place] for place in found.after.values()] == pytest.approx([*after])


def test_the_nodes_of_a_cell() -> None:
    """An LSTM's, as its equations have them; what is done twice to the same values is one node."""
    does = [node.kind.value for node in graph(traced(LSTM(3), M)).nodes]
    assert sorted(does) == sorted(["input", *["before"] * 2, *["gate"] * 4, *["operation"] * 5])
    assert len(graph(traced(RNN(3), M)).nodes) == 3
    nodes = graph(traced(GRU(3, reset_after=True), M)).nodes
    assert [node.weights for node in nodes if node.kind is NodeKind.PRODUCT] == [(("W", "xn"),), (("W", "hn"),)]


def test_trained_numbers_are_nodes_of_their_own() -> None:
    """ζ and ν of a FastGRNN, each once, through the sigmoid that keeps it between 0 and 1."""
    found = [node for node in graph(traced(FastGRNN(3), 2)).nodes if node.kind is NodeKind.NUMBER]
    assert [(node.letter, node.operation.name) for node in found] == [("zeta", "sigmoid"), ("nu", "sigmoid")]


def test_a_matrix_beside_the_gates_is_a_node_of_its_own() -> None:
    """An LSTM's projection, of what it would output without it."""
    of = graph(traced(LSTM(3, projection=2), 4))
    (node,) = [node for node in of.nodes if node.kind is NodeKind.PRODUCT]
    assert node.weights == (("W", "hp"),)
    assert of.nodes[of.output] is node


def test_a_value_that_nothing_reads_is_not_drawn() -> None:
    """Nor are the sums of a gate, which are in its box."""
    step = traced(LSTM(3), 4)
    assert len(graph(step).nodes) == 12 < len(step.nodes)
