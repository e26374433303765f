"""A cell that does not come with the package is drawn as its step runs, whatever it does."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from circuit import Circuit, Numbers
from pictured import hold

from rnncalc import GRU, LSTM, RNN, Cell, FastGRNN
from rnncalc.layers.cell import Activation, Gate, Habits, Operations, Product, Value
from rnncalc.pictures.circuit import NodeKind, figure, graph
from rnncalc.pictures.picture import Caption, Frame, Picture, framed
from rnncalc.step.trace import Tracer, traced

Step = tuple[Value, tuple[Value, ...]]
ACTIVATIONS: tuple[Activation, ...] = ("sigmoid", "tanh", "relu", "linear")


def runs_as_its_step(picture: Picture, layer: Cell) -> None:
    """Hold that a picture is clear, and that its circuit gives the numbers of a step."""
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
        every = [Product("x"), *(Product(letter) for letter in self.states)]
        return tuple(
            Gate(letter, draw.choice(ACTIVATIONS), tuple(draw.sample(every, draw.randint(1, len(every)))), "gate", "")
            for letter in letters
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        draw = Random(self.seed + 2)
        before = dict(zip(self.states, state, strict=True))
        values, gates = [*state], [*self.gates(4)]
        while gates or draw.random() < 0.7:
            if gates and draw.random() < 0.5:
                values.append(self.gate(ops, gates.pop(0), {"x": x, **before}, values, draw))
            else:
                values.append(self.operation(ops, [*values[-5:], x], draw))
        return draw.choice(values[-3:]), tuple(draw.choice(values[-4:]) for _ in state)

    def gate(
        self, ops: Operations[Value], gate: Gate, before: dict[str, Value], values: list[Value], draw: Random
    ) -> Value:
        """Return a gate of what it reads, some of it something else of the same width, or of sums made by hand."""
        letters = [product.vector for product in gate.products]
        reads = {each: before[each] if each == "x" or draw.random() < 0.7 else draw.choice(values) for each in letters}
        if draw.random() < 0.8:
            return ops.gate(gate.letter, **reads)
        total, *more = (ops.times(draw.choice(values), ops.sum(gate.letter, **{each: reads[each]})) for each in letters)
        for part in more:
            total = ops.plus(total, part)
        return ops.through(gate.letter, total)

    def operation(self, ops: Operations[Value], values: list[Value], draw: Random) -> Value:
        one, two, three = (draw.choice(values) for _ in range(3))
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


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.broad) for seed in range(8, 40))])
def test_a_step_of_anything_is_drawn_as_it_runs(seed: int) -> None:
    """Of up to five gates and three states, in any order, values read often, once or never."""
    layer = Drawn(units=4)
    vars(layer)["seed"] = seed
    trace = Unchecked(layer, 4, Habits(), {})()
    shapes = figure(trace, graph(trace), 3, {})
    runs_as_its_step(framed(Caption("a cell", "", (), "one step"), shapes, Frame()), layer)


@pytest.mark.parametrize(
    ("layer", "kinds"),
    [
        (LSTM(3), ["input", *["before"] * 2, *["gate"] * 4, *["operation"] * 5]),
        (RNN(3), ["input", "before", "gate"]),
        (LSTM(3, projection=2), ["input", *["before"] * 2, *["gate"] * 4, *["operation"] * 5, "product"]),
    ],
    ids=repr,
)
def test_the_nodes_of_a_cell(layer: Cell, kinds: list[str]) -> None:
    """Those of its equations: what is done twice to the same values is one node, and sums are in the gates' boxes."""
    assert sorted(node.kind for node in graph(traced(layer, 4)).values()) == sorted(kinds)


@pytest.mark.parametrize(
    ("layer", "weights"),
    [
        (GRU(3, reset_after=True), [(("W", "xn"),), (("W", "hn"),)]),
        (LSTM(3, projection=2), [(("W", "hp"),)]),
        (FastGRNN(3), [("zeta", "sigmoid"), ("nu", "sigmoid")]),
    ],
    ids=repr,
)
def test_weights_beside_the_gates_are_nodes_of_their_own(layer: Cell, weights: list[Any]) -> None:
    """Parts of a sum, a projection, and trained numbers, each through the sigmoid that keeps it between 0 and 1."""
    nodes = graph(traced(layer, 4)).values()
    numbers = [(node.letter, node.operation.name) for node in nodes if node.kind is NodeKind.NUMBER]
    assert [*(node.weights for node in nodes if node.kind is NodeKind.PRODUCT), *numbers] == weights
