"""A cell that does not come with the package is drawn as its step runs, whatever it does."""

from collections.abc import Mapping
from random import Random

import pytest
from circuit import Circuit, Numbers
from pictured import hold

from rnncalc import Cell, Network
from rnncalc.layers.cell import Activation, Form, Gate, Habits, Operations, Product, Value
from rnncalc.layers.kinds import KINDS
from rnncalc.pictures.circuit import figure
from rnncalc.pictures.graph import graph
from rnncalc.pictures.picture import Caption, Frame, framed
from rnncalc.reports.draw import Drawing
from rnncalc.step.trace import Tracer

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
