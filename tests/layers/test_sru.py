"""The SRU in both directions: its skip is the input itself where that is as wide as both, as in the package sru."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Call, declaration
from verified import backward

from rnncalc import SRU, Cell, Gate, Network, Product
from rnncalc.layers import KINDS
from rnncalc.programs import SPELLINGS


@pytest.mark.broad
@pytest.mark.parametrize("topology", ["many-to-many", "many-to-one", "one-to-many"])
@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(("frozen", "merge", "chunk"), [(False, None, None), (True, "mul", 2)])
def test_its_backward_pass_agrees(topology: Any, below: bool, frozen: bool, merge: Any, chunk: int | None) -> None:
    """Gradients are those of differences, and a half of x is saved as x is, once."""
    layers = [*([SRU(2, bidirectional=True)] if below else []), SRU(2, bidirectional=True, frozen=frozen, merge=merge)]
    network = Network(input=4, layers=layers, steps=3, topology=topology)
    assert backward(network, chunk=chunk, states=True).agrees


def test_its_programs_say_which_half(call: Call) -> None:
    """A program's cell of the backward direction is told that it reads the second."""
    for target in SPELLINGS:
        program = call("export", "-i", 4, "-l", "sru:2,bidirectional", "--to", target).out
        assert "h = r * c + (1 - r) * x_half" in program
        assert program.count("second=True") == 1
        assert "64 parameters" in program  # 2(3·2·4 + 4·2)
        program = call("export", "-i", 2, "-l", "sru:2,bidirectional", "--to", target).out
        assert "48 parameters" in program  # 2(4·2·2 + 4·2)
        assert "W_xs" in program
        assert "W_xs" not in call("export", "-i", 2, "-l", "sru:2", "--to", target).out


def halved(of: Callable[[Any, Any, Any], Any]) -> type[Cell]:
    """Return the class of a cell whose step adds half of something to its gate."""

    class Own(Cell):
        kind = "own"

        def gates(self, inputs: int) -> tuple[Gate, ...]:
            return (Gate("n", "tanh", (Product("x"), Product("h")), "candidate", "the new state"),)

        def step(self, ops: Any, x: Any, state: Any) -> Any:
            (h,) = state
            h = ops.plus(ops.gate("n", x=x, h=h), of(ops, x, h))
            return h, (h,)

    return Own


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return what makes `own` the kind of such a cell."""
    return lambda of: monkeypatch.setitem(KINDS, "own", halved(of))


def test_half_of_what_has_no_half_is_refused(call: Call, own: Callable[[Any], None]) -> None:
    """Of an x that is not as wide as both directions, or of anything else; one direction has all of an x of h."""
    own(lambda ops, x, h: ops.half(x))
    wrong = "own: the step takes half of what is not x, or of an x that is not as wide as both directions"
    assert call("-i", 6, "-l", "own:3,bidirectional").code == 0
    assert call("-i", 3, "-l", "own:3").code == 0
    for flags in (["-i", 6], ["-i", 6, "-l", "own:3,bidirectional,merge=sum"]):
        assert declaration(call("count", *flags, "-l", "own:2,bidirectional")) == f"rnncalc: {wrong}"
    narrow = "own: what stands for a whole input has the width m, and h is declared"
    assert declaration(call("-i", 4, "-l", "own:3")) == f"rnncalc: {narrow}"
    own(lambda ops, x, h: ops.half(h))
    assert declaration(call("-i", 6, "-l", "own:3,bidirectional")) == f"rnncalc: {wrong}"
