"""A cell that does not come with the package is drawn as its step runs, whatever it does.

What is drawn of a step is the step: one node for each operation, and run node by node it gives the same numbers.
"""

from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Any

import cells
import pytest
from circuit import Circuit, Numbers, number
from pictured import hold

from rnncalc import GRU, LSTM, RNN, Cell, FastGRNN, Network
from rnncalc.layers import KINDS
from rnncalc.layers import kind as kind_of
from rnncalc.layers.cell import Activation, Form, Gate, Habits, Operations, Product, Value
from rnncalc.pictures.circuit import Graph, NodeKind, figure, graph
from rnncalc.pictures.picture import Caption, Frame, framed
from rnncalc.reports.draw import Drawing
from rnncalc.step.trace import Tracer, traced

X, H, S = Product("x"), Product("h"), Product("s", Form.DIAGONAL)
Step = tuple[Value, tuple[Value, ...]]
ACTIVATIONS: tuple[Activation, ...] = ("sigmoid", "tanh", "relu", "linear")


class Pair(Cell):
    """Two states that are no LSTM's; the fast one is output, and one gate reads all there is."""

    kind = "pair"

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return Gate("q", "tanh", (X, H, S), "fast", "what is new"), Gate(
            "l", "sigmoid", (X, H), "leak", "how much stays"
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        h, s = state
        q = ops.gate("q", x=x, h=h, s=s)
        return q, (q, ops.blend(ops.gate("l", x=x, h=h), s, q))


class Shift(Cell):
    """States that only move on: the one of the step before is kept, the one before that is output."""

    kind = "shift"

    @property
    def states(self) -> Mapping[str, str]:
        return {"u": "h", "s": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("q", "tanh", (X,), "new", "what is new"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        u, s = state
        return ops.times(s, s), (ops.gate("q", x=x), u)


class Skip(Cell):
    """A state that meets its own past again further along, and is its own output three times."""

    kind = "skip"

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "h", "c": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("q", "tanh", (X, S), "new", "what is new"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        h, s, c = state
        once = ops.times(ops.gate("q", x=x, s=s), h)
        twice = ops.plus(ops.over(once, ops.plus(once, c)), once)
        return twice, (twice, twice, twice)


class Cross(Cell):
    """States that cannot both run straight from left to right: each goes on from where the other has been."""

    kind = "cross"

    @property
    def states(self) -> Mapping[str, str]:
        return {"u": "h", "s": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return Gate("q", "tanh", (X,), "new", "what is new"), Gate("l", "sigmoid", (X,), "leak", "how much stays")

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        u, s = state
        first = ops.plus(u, ops.gate("q", x=x))
        second = ops.times(first, ops.gate("l", x=x))
        last = ops.times(ops.plus(s, second), first)
        return last, (second, last)


class Idle(Cell):
    """States that nothing reads."""

    kind = "idle"

    @property
    def states(self) -> Mapping[str, str]:
        return {"h": "h", "s": "h", "c": "h"}

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return (Gate("q", "tanh", (X, H), "new", "what is new"),)

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        q = ops.gate("q", x=x, h=state[0])
        return q, (q, q, q)


@pytest.mark.parametrize("kind", [Pair, Shift, Skip, Cross, Idle])
def test_strangers_with_states_of_their_own(kind: type[Cell], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same command as any other cell."""
    monkeypatch.setitem(KINDS, kind.kind, kind)
    layer = kind(units=3)
    (picture,) = Drawing(Network(input=4, layers=[layer]), "cell").pictures()
    hold(picture)
    circuit = Circuit(picture)
    circuit.runs_clear()
    circuit.computes(layer, Numbers(layer, 4, Habits()))


class Drawn(Cell):
    """A cell of which a seed says what gates and states it has, and what its step does with them."""

    kind = "drawn"
    seed: int = 0

    @property
    def states(self) -> Mapping[str, str]:
        return dict.fromkeys("hsc"[: Random(self.seed).randint(1, 3)], "h")

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        draw = Random(self.seed + 1)
        letters = "abdef"[: draw.randint(1, 5)]
        every = [X, *(Product(letter) for letter in self.states)]
        return tuple(
            Gate(letter, draw.choice(ACTIVATIONS), tuple(draw.sample(every, draw.randint(1, len(every)))), "gate", "")
            for letter in letters
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        draw = Random(self.seed + 2)
        before = dict(zip(self.states, state, strict=True))
        made, gates = [*state], [*self.gates(4)]
        while gates or draw.random() < 0.7:
            if gates and draw.random() < 0.5:
                made.append(self.gate(ops, gates.pop(0), {"x": x, **before}, made, draw))
            else:
                made.append(self.operation(ops, [*made[-5:], x], draw))
        return draw.choice(made[-3:]), tuple(draw.choice(made[-4:]) for _ in state)

    def gate(
        self, ops: Operations[Value], gate: Gate, before: dict[str, Value], made: list[Value], draw: Random
    ) -> Value:
        """Return a gate of what it reads, some of it something else of the same width, or of sums made by hand."""
        of = [product.of for product in gate.products]
        reads = {each: before[each] if each == "x" or draw.random() < 0.7 else draw.choice(made) for each in of}
        if draw.random() < 0.8:
            return ops.gate(gate.letter, **reads)
        total, *more = (ops.times(draw.choice(made), ops.sum(gate.letter, **{each: reads[each]})) for each in of)
        for part in more:
            total = ops.plus(total, part)
        return ops.through(gate.letter, total)

    def operation(self, ops: Operations[Value], made: list[Value], draw: Random) -> Value:
        one, two, three = (draw.choice(made) for _ in range(3))
        match draw.randrange(6):
            case 0:
                return ops.plus(one, two)
            case 1:
                return ops.times(one, two)
            case 2:
                return ops.blend(one, two, three)
            case 3:
                return ops.complement(one)
            case 4:
                return ops.activate("tanh", one)
            case _:
                return ops.over(one, two)


class Unchecked(Tracer):
    """What traces a step that does another thing than the cell declares."""

    def _check_states(self, *_: object) -> None: ...
    def _check_names(self, *_: object) -> None: ...
    def _check_uses(self, *_: object) -> None: ...


@pytest.mark.parametrize("seed", range(0, 120, 3))
def test_a_step_of_anything_is_drawn_as_it_runs(seed: int) -> None:
    """Of up to five gates and three states, in any order, values read often, once or never."""
    layer = Drawn(units=4)
    vars(layer)["seed"] = seed
    shapes = figure(graph(Unchecked(layer, 4, Habits(), {})()), 3, {})
    picture = framed(Caption("a cell", "", (), "one step"), shapes, Frame())
    hold(picture)
    circuit = Circuit(picture)
    circuit.runs_clear()
    circuit.computes(layer, Numbers(layer, 4, Habits()))


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
        layer = kind_of(name)(**options)
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
    """An LSTM's projection of its unprojected output."""
    of = graph(traced(LSTM(3, projection=2), 4))
    (node,) = [node for node in of.nodes if node.kind is NodeKind.PRODUCT]
    assert node.weights == (("W", "hp"),)
    assert of.nodes[of.output] is node


def test_a_value_that_nothing_reads_is_not_drawn() -> None:
    """Nor are the sums of a gate, which are in its box."""
    step = traced(LSTM(3), 4)
    assert len(graph(step).nodes) == 12 < len(step.nodes)
