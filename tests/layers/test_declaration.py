"""A cell that is declared half right is refused, with the part's name, before a number is read off it."""

from typing import ClassVar

import pytest

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form, Gate, Product, Weight
from rnncalc.layers.declaration import check
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.layers.operations import Operations, Value

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
            "candidate: gate n: expected tanh, relu, sigmoid, linear or softmax, got 'tanhh'",
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
        check(wrong(3), 2)
    assert str(caught.value) == message


def test_a_product_that_the_step_forgets() -> None:
    """minGRU with a recurrent product declared: it would be counted, and multiply nothing."""

    class Forgetful(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.gate("n", x=x)
            return n, (n,)

    with pytest.raises(DeclarationError, match="gate n declares a product of h, and the step gives it none"):
        check(Forgetful(3), 2)


def test_a_weight_beside_the_gates_that_nobody_uses() -> None:
    """A trained number would be counted in vain."""
    wrong = type("Wrong", (Candidate,), {"beside": (Weight("zeta", (), "a number"),)})
    with pytest.raises(DeclarationError, match="zeta is declared, and the step does not use it"):
        check(wrong(3), 2)


def test_widths_that_do_not_meet() -> None:
    """x has m numbers, n has h: they cannot be added, but where m = h they can."""

    class Skip(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.plus(ops.gate("n", x=x, h=state[0]), x)
            return n, (n,)

    check(Skip(3), 3)
    with pytest.raises(DeclarationError, match="vectors of the widths h and m meet"):
        check(Skip(3), 2)


def test_a_state_that_is_lost() -> None:
    """As many states come back as are declared."""

    class Lossy(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            return ops.gate("n", x=x, h=state[0]), ()

    with pytest.raises(DeclarationError, match="the step returns 0 states, and h are declared"):
        check(Lossy(3), 2)


def test_a_product_summed_twice() -> None:
    """A sum by hand that repeats a product would multiply more than is counted."""

    class Twice(Candidate):
        def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> Step[Value]:
            n = ops.through("n", ops.plus(ops.sum("n", x=x, h=state[0]), ops.sum("n", h=state[0])))
            return n, (n,)

    with pytest.raises(DeclarationError, match="the step sums gate n's product of h twice"):
        check(Twice(3), 2)


def test_the_package_s_own_cells_hold() -> None:
    """Every kind, as wide as its input and not."""
    cells = [of for of in map(kind, KINDS) if issubclass(of, Cell)]
    assert len(cells) >= 8
    for of in cells:
        for inputs in (2, 3):
            check(of(3), inputs)
    assert Form("diagonal") is Form.DIAGONAL
