"""A cell that is declared half right is refused, with the part's name, before a number follows from it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cells import cell

import rnncalc
from rnncalc import ConvLSTM, Dense
from rnncalc.conventions import convention
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell, Form, Gate, Operations, Product, Value, Weight
from rnncalc.step.trace import trace, traced

X, H = Product("x"), Product("h")
Step = tuple[Value, tuple[Value, ...]]


def gate(letter: str, *products: Product) -> Gate:
    return Gate(letter, "tanh", products, "a gate", "something")


class Candidate(Cell):
    """A cell whose step is right for h alone, with gates that a case declares."""

    kind = "candidate"
    declared: ClassVar[tuple[Gate, ...]] = (gate("n", X, H),)
    beside: ClassVar[tuple[Weight, ...]] = ()

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        return self.declared

    @property
    def weights(self) -> tuple[Weight, ...]:
        return self.beside

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
        (h,) = state
        n = ops.gate("n", x=x, h=h)
        return n, (n,)


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ((gate("n", X, H, Product("c")),), "candidate: gate n reads c, and the states are h"),
        ((gate("n", X),), "candidate: the step gives gate n h, and no product of it is declared"),
        ((gate("n", X, H), gate("q", X)), "candidate: q is declared, and the step does not use it"),
        ((gate("n", X, H, H),), "candidate: gate n has two products of h; one matrix says as much"),
        ((gate("nn", X, H),), "candidate: the gate 'nn' is not called by one letter"),
        (
            (gate("n", X, H)._replace(activation="tanhh"),),  # type: ignore[arg-type]  # that is what is tested
            "candidate: gate n: expected tanh, relu, gelu, sigmoid, linear or softmax, got 'tanhh'",
        ),
        (
            (gate("n", Product("x", Form.DIAGONAL), H),),
            "candidate: gate n reads x unit by unit, and x has not one number for each unit",
        ),
        ((gate("q", X, H),), "candidate: the step asks for the gate n, and q are declared"),
    ],
)
def test_gates_that_the_step_does_not_use_as_declared(gates: tuple[Gate, ...], message: str) -> None:
    """Too much and too little, each named."""
    wrong = type("Wrong", (Candidate,), {"declared": gates})
    with pytest.raises(DeclarationError) as caught:
        traced(wrong(3), 2)
    assert str(caught.value) == message


def test_a_product_that_the_step_forgets() -> None:
    """minGRU with a recurrent product declared: it would be counted, and multiply nothing."""

    class Forgetful(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.gate("n", x=x)
            return n, (n,)

    with pytest.raises(DeclarationError, match="gate n declares a product of h, and the step gives it none"):
        traced(Forgetful(3), 2)


def test_a_weight_beside_the_gates_that_nobody_uses() -> None:
    """A trained number would be counted in vain."""
    wrong = type("Wrong", (Candidate,), {"beside": (Weight("zeta", (), "a number"),)})
    with pytest.raises(DeclarationError, match="zeta is declared, and the step does not use it"):
        traced(wrong(3), 2)


def test_widths_that_do_not_meet() -> None:
    """x has m numbers, n has h: they cannot be added, but where m = h they can."""

    class Skip(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.plus(ops.gate("n", x=x, h=state[0]), x)
            return n, (n,)

    traced(Skip(3), 3)
    with pytest.raises(DeclarationError, match="vectors of the widths h and m meet"):
        traced(Skip(3), 2)


def test_a_state_that_is_lost() -> None:
    """As many states come back as are declared."""

    class Lossy(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            return ops.gate("n", x=x, h=state[0]), ()

    with pytest.raises(DeclarationError, match="the step returns 0 states, and h are declared"):
        traced(Lossy(3), 2)


def test_two_states_and_two_gates() -> None:
    """All of them are named; x unit by unit is read where it has a number for each unit."""

    class Two(Candidate):
        states: ClassVar[dict[str, str]] = {"h": "h", "c": "h"}
        declared = (gate("n", Product("x", Form.DIAGONAL), H), gate("q", X))

        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.gate("n", x=x, h=state[0])
            return n, (n, ops.gate("q", x=x))

    traced(Two(3), 3)
    for change, message in (
        ({"declared": (gate("n", Product("a")),)}, "gate n reads a, and the states are h, c"),
        ({"declared": (gate("r", X), gate("q", X))}, "the step asks for the gate n, and r, q are declared"),
        ({"declared": ()}, "the step asks for the gate n, and gates declares none"),
        (
            {"step": lambda self, ops, x, state: (state[0], state[:1])},
            "the step returns 1 states, and h, c are declared",
        ),
    ):
        with pytest.raises(DeclarationError) as caught:
            traced(type("Wrong", (Two,), change)(3), 3)
        assert str(caught.value) == f"candidate: {message}"


def test_a_product_summed_twice() -> None:
    """A sum by hand that repeats a product would multiply more than is counted."""

    class Twice(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.through("n", ops.plus(ops.sum("n", x=x, h=state[0]), ops.sum("n", h=state[0])))
            return n, (n,)

    with pytest.raises(DeclarationError, match="the step sums gate n's product of h twice"):
        traced(Twice(3), 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scale", "what scales or shifts a vector has the width h, and 1 is declared"),
        ("shift", "what scales or shifts a vector has the width h, and 1 is declared"),
        ("number", "the step asks for the number zeta, which is not declared"),
        ("matrix", "the step asks for the matrix zeta, which is not declared"),
        ("another", "the step asks for the number nu, which is not declared"),
        ("reads", "what the matrix V reads has the width m, and h is declared"),
        ("hands", "the step's output has the width m, and h is declared"),
        ("state", "the state h has the width m, and h is declared"),
        ("through", "the sum of gate n has the width m, and h is declared"),
        ("twice", "the step makes gate n twice"),
        ("given", "what gate n reads as x has the width h, and m is declared"),
        ("blend", "vectors of the widths h and m meet, where one width is needed"),
    ],
)
def test_operations_on_other_widths_than_they_take(name: str, message: str) -> None:
    """Each says what has which width, and which one is needed."""

    class Mixed(Candidate):
        beside = (
            Weight("zeta", () if name != "number" else ("h", "h"), "a number"),
            Weight("V", ("m", "h"), "a matrix"),
        )

        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.gate("n", x=x if name != "given" else state[0], h=state[0])
            done = {
                "scale": lambda: ops.scale(n, x),
                "shift": lambda: ops.shift(x, n),
                "number": lambda: ops.scalar("zeta"),
                "matrix": lambda: ops.product("zeta", x),
                "another": lambda: ops.scalar("nu"),
                "reads": lambda: ops.product("V", x),
                "through": lambda: ops.through("n", x),
                "twice": lambda: ops.through("n", n),
                "blend": lambda: ops.blend(n, n, x),
            }
            if name in done:
                done[name]()
            wide = ops.product("V", n)
            return wide if name == "hands" else n, (wide if name == "state" else n,)

    with pytest.raises(DeclarationError) as caught:
        traced(Mixed(3), 2)
    assert str(caught.value) == f"candidate: {message}"


def test_a_matrix_and_a_number_beside_the_gates() -> None:
    """As wide as declared they can be multiplied with; a width that is none is refused before a step is taken."""

    class Beside(Candidate):
        beside = (Weight("zeta", (), "a number"), Weight("V", ("h", "h"), "a matrix"))

        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.shift(ops.scale(ops.scalar("zeta"), ops.gate("n", x=x, h=state[0])), ops.scalar("zeta"))
            done = ops.product("V", ops.complement(ops.activate("tanh", n)))
            h = ops.blend(n, done, ops.times(n, ops.over(n, n)))
            return h, (h,)

    traced(Beside(3), 2)
    wrong = type("Wrong", (Beside,), {"beside": (Weight("V", ("h", "q"), "a matrix"),)})
    with pytest.raises(DeclarationError, match=r"^candidate: the width q has no number; sizes\(\) gives h, m$"):
        traced(wrong(3), 2)


def test_the_package_s_own_cells_hold() -> None:
    """Every kind, as wide as its input and not."""
    cells = [of for of in map(kind, KINDS) if issubclass(of, Cell)]
    assert len(cells) >= 8
    for of in cells:
        for inputs in (4, 16):
            traced(cell(of.kind, 4), inputs)
    assert Form("diagonal") is Form.DIAGONAL


Given = Callable[[Any, Any, Any, Any, Any], dict[str, Any]]
"""What a gate is given, from the operations, x, the states h and c, and another gate."""


def given(reads: Given) -> Cell:
    """Return a cell of two states, one of whose gates is given these."""

    class Two(Candidate):
        states: ClassVar[dict[str, str]] = {"h": "h", "c": "h"}
        declared = (gate("n", X, H, Product("c")), gate("q", X))

        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            h, c = state
            q = ops.gate("q", x=x)
            n = ops.gate("n", **({"x": x, "h": h, "c": c} | reads(ops, x, h, c, q)))
            return n, (n, q)

    return Two(3)


@pytest.mark.parametrize(
    "reads",
    [
        lambda ops, x, h, c, q: {"h": ops.times(x, h), "c": ops.complement(c)},
        lambda ops, x, h, c, q: {"c": ops.plus(ops.times(q, c), q)},
        lambda ops, x, h, c, q: {"h": ops.plus(q, h)},
    ],
)
def test_a_state_may_be_changed_on_its_way_to_a_gate(reads: Given) -> None:
    """By x, by itself and by gates."""
    traced(given(reads), 3)


ORDER = "; the states come, and are returned, in the order h, c"


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        (lambda ops, x, h, c, q: {"h": c, "c": h}, "gate n reads h, and the step gives it the state c"),
        (lambda ops, x, h, c, q: {"h": x}, "gate n reads h, and the step gives it x"),
        (lambda ops, x, h, c, q: {"x": h}, "gate n reads x, and the step gives it the state h"),
    ],
)
def test_states_that_are_mixed_up(reads: Given, message: str) -> None:
    """Of one width they would be counted as declared, and multiplied by the matrix of another."""
    with pytest.raises(DeclarationError) as caught:
        traced(given(reads), 3)
    assert str(caught.value) == f"candidate: {message}{ORDER}"


def noted(layer: Cell | Dense, inputs: int, name: str) -> list[str]:
    """Return a line for each node: its operation and operands, its width, its letter, and which weights it is."""
    return [
        " ".join(
            [
                node.operation,
                *map(str, node.operands),
                *filter(None, [node.width, node.letter]),
                *([f"{node.weights.role} {node.weights.letter}{node.weights.vector}"] if node.weights else []),
                *(["×".join(node.axes)] if len(node.axes) > 1 else []),
            ]
        )
        for node in trace(layer, inputs, convention(name)).nodes
    ]


NAMES = {name: getattr(rnncalc, name) for name in rnncalc.__all__}
NODES = Path(__file__).with_name("nodes.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", NODES, ids=lambda block: block.splitlines()[0])
def test_the_nodes_of_a_step(block: str) -> None:
    """In the order in which they are computed; each gate has its letter."""
    title, *lines = block.splitlines()
    ((layer, inputs, name),) = re.findall(r"(.*) on (\d+), ([\w-]+)", title)
    assert [line.strip() for line in noted(eval(layer, NAMES), int(inputs), name)] == lines


def test_the_first_nodes_of_a_convolution() -> None:
    """A kernel has its axes behind those of the filters and the features; its bias is added at every place."""
    assert noted(ConvLSTM(2, space=(4, 5)), 80, "keras")[:8] == [
        *("input r x", "state s h", "state s c"),
        *("weights input ix h×m×k×k", "convolve 3 0 s", "weights h bias i", "everywhere 4 5 s"),
        "weights recurrent ih h×h×k×k",
    ]
