"""One minus a value that is saved is had from it: it is counted, and read in the backward pass, as that value."""

from typing import Any

import pytest
from verified import backward

from rnncalc import Cell, Network
from rnncalc.layers.cell import Gate, Product

READS = Product("x"), Product("h")
GATES = (
    Gate("z", "sigmoid", READS, "update gate", "how much to replace"),
    Gate("n", "tanh", READS, "candidate", "the new state"),
)


def cell(step: Any) -> Any:
    """Return the class of a cell of two gates whose step makes h of z, n and h."""

    def whole(_: Cell, ops: Any, x: Any, state: Any) -> Any:
        (h,) = state
        h = step(ops, ops.gate("z", x=x, h=h), ops.gate("n", x=x, h=h), h)
        return h, (h,)

    return type("Own", (Cell,), {"kind": "gru", "gates": lambda self, inputs: GATES, "step": whole})


BLENDED = cell(lambda ops, z, n, h: ops.blend(z, n, h))
WRITTEN_OUT = cell(lambda ops, z, n, h: ops.plus(ops.times(z, n), ops.times(ops.complement(z), h)))
TWICE = cell(lambda ops, z, n, h: ops.times(ops.complement(ops.complement(z)), n))
FLIPPED = cell(lambda ops, z, n, h: ops.complement(ops.times(z, n)))
READ_WITHIN = cell(lambda ops, z, n, h: ops.complement(ops.times(n, ops.times(z, ops.complement(n)))))


@pytest.mark.parametrize(
    ("of", "a_step"),
    [
        (BLENDED, 3 + 3 * 5),  # x, h, z, n
        (WRITTEN_OUT, 3 + 3 * 5),  # the same equation
        (TWICE, 3 + 3 * 5),
        (FLIPPED, 3 + 3 * 5),  # a state goes on as it is
        (READ_WITHIN, 3 + 4 * 5),  # x, h, z, n and z∘(1 − n)
    ],
)
@pytest.mark.parametrize("chunk", [None, 3])
def test_it_is_held_once(of: Any, a_step: int, chunk: int | None) -> None:
    """Counted by hand for 3 inputs and 5 units, and by the values that the backward pass was seen to read."""
    network = Network(input=3, layers=[of(5)], steps=7, topology="many-to-many")
    done = backward(network, chunk=chunk)
    (layer,) = done.layers
    assert layer.declared.saved == (chunk or 7) * a_step
    assert layer.seen.saved_read == layer.declared.saved
    assert done.agrees


@pytest.mark.broad
@pytest.mark.parametrize("of", [FLIPPED, READ_WITHIN, TWICE])
@pytest.mark.parametrize("merge", [None, "mul"])
def test_it_is_held_alike_wherever_it_goes(of: Any, merge: Any) -> None:
    """Into the layer above, the other direction, and the steps of other chunks."""
    layers = [of(2, bidirectional=True, merge=merge), of(1, learned_state=True)]
    cases: list[tuple[Any, int | None]] = [("many-to-many", None), ("many-to-many", 2), ("many-to-one", 2)]
    for topology, chunk in cases:
        assert backward(Network(input=2, layers=layers, steps=3, topology=topology), chunk=chunk).agrees
    one = Network(input=2, layers=[of(2)], steps=3, topology="one-to-many", feedback=True)
    assert backward(one).agrees
