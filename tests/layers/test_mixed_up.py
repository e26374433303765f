"""States of one width that a step mixes up are refused in one line; cells that only look as if they did are not."""

from collections.abc import Mapping
from typing import Any

import pytest
from conftest import Call, declaration
from verified import backward

from rnncalc import Cell, Network
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Form, Gate, Product, Weight

X, H, C = Product("x"), Product("h"), Product("c", Form.DIAGONAL)


def cell(
    step: Any, states: tuple[str, ...] = ("h", "c"), reads: tuple[Product, ...] = (X, H), last: tuple[Product, ...] = ()
) -> Any:
    """Return the class of an LSTM of a stranger's, whose step is given; `last` is what its output gate reads."""

    class Own(Cell):
        kind = "own"

        @property
        def states(self) -> Mapping[str, str]:
            return dict.fromkeys(states, "h")

        def gates(self, inputs: int) -> tuple[Gate, ...]:
            gates = [Gate(letter, "sigmoid", reads, f"gate {letter}", "a share") for letter in "ifg"]
            return (*gates, Gate("o", "sigmoid", last or reads, "output gate", "a share"))

    Own.step = step  # type: ignore[method-assign]
    return Own


def written(ops: Any, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """Return h and c as an LSTM has them."""
    c = ops.plus(ops.times(ops.gate("f", x=x, h=h), c), ops.times(ops.gate("i", x=x, h=h), ops.gate("g", x=x, h=h)))
    return ops.times(ops.gate("o", x=x, h=h), ops.activate("tanh", c)), c


def whole(unpacked: str = "hc", returned: str = "hc") -> Any:
    """Return the step of an LSTM whose states are unpacked, and returned, in these orders."""

    def step(_: Any, ops: Any, x: Any, state: Any) -> Any:
        of = dict(zip(unpacked, state, strict=True))
        of["h"], of["c"] = written(ops, x, of["h"], of["c"])
        return of["h"], tuple(of[letter] for letter in returned)

    return step


def in_one_gate(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
    new = ops.plus(ops.times(f, c), ops.times(i, g))
    h = ops.times(ops.gate("o", x=x, h=c), ops.activate("tanh", new))
    return h, (h, new)


def another_for_h(made: str) -> Any:
    """Return a step whose output gate is given another vector for h, made of all there is."""

    def step(_: Any, ops: Any, x: Any, state: Any) -> Any:
        h, c = state
        i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
        new = ops.plus(ops.times(f, c), ops.times(i, g))
        others = {"new c": new, "a gate": g, "tanh of c": ops.activate("tanh", new), "both": ops.times(h, new), "x": x}
        h = ops.times(ops.gate("o", x=x, h=others[made]), ops.activate("tanh", new))
        return h, (h, new)

    return step


def a_gate_for_x(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    i = ops.gate("i", x=x, h=h)
    f, g, o = (ops.gate(letter, x=i, h=h) for letter in "fgo")
    new = ops.plus(ops.times(f, c), g)
    h = ops.times(o, new)
    return h, (h, new)


def x_for_h(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    h, c = written(ops, h, x, c)
    return h, (h, c)


ORDER = "; the states come, and are returned, in the order h, c"
OTHER_THAN_H = "give it h, or a Weight and ops.product for the other vector"
ANOTHER = "the step's output is called h, and is another value than the state h; return h, (h, ...), or call the"
WRONG: dict[str, tuple[Any, str]] = {
    "unpacked the other way round": (cell(whole("ch")), f"gate f reads h, and the step gives it the state c{ORDER}"),
    "at both ends": (cell(whole("ch", "ch")), f"gate f reads h, and the step gives it the state c{ORDER}"),
    "returned the other way round": (cell(whole(returned="ch")), f"{ANOTHER} state by another letter"),
    "in one gate": (cell(in_one_gate), f"gate o reads h, and the step gives it the state c{ORDER}"),
    "declared the other way round": (
        cell(whole(), ("c", "h")),
        "gate f reads h, and the step gives it the state c; the states come, and are returned, in the order c, h",
    ),
    "the new state": (
        cell(another_for_h("new c")),
        f"gate o reads h, and the step gives it the new state c; {OTHER_THAN_H}",
    ),
    "a gate for a state": (
        cell(another_for_h("a gate")),
        f"gate o reads h, and the step gives it a vector that does not carry h; {OTHER_THAN_H}",
    ),
    "what comes of another state": (
        cell(another_for_h("tanh of c")),
        f"gate o reads h, and the step gives it a vector that does not carry h; {OTHER_THAN_H}",
    ),
    "one state mixed with another": (
        cell(another_for_h("both")),
        f"gate o reads h, and the step gives it h mixed with c{ORDER}",
    ),
    "the input": (cell(another_for_h("x")), f"gate o reads h, and the step gives it x{ORDER}"),
    "a gate for x": (
        cell(a_gate_for_x),
        "gate f reads x, and the step gives it a vector that does not carry x; "
        "give it x, or a Weight and ops.product for the other vector",
    ),
    "x for a state": (cell(x_for_h), f"gate f reads x, and the step gives it the state h{ORDER}"),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_is_refused_in_one_line(case: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked, and where the input is as wide as the cell, which makes all widths one."""
    own, message = WRONG[case]
    monkeypatch.setitem(KINDS, "own", own)
    for command in ("count", "run", "explain", "draw"):
        assert declaration(call(command, "-i", 3, "-l", "own:3")) == f"rnncalc: own: {message}"


def slow_and_fast(delay: bool) -> Any:
    """Return the class of a cell with two states that no gate reads, each kept in part by a gate."""

    def step(_: Any, ops: Any, x: Any, state: Any) -> Any:
        h, c, d = state
        i, f, g, o = (ops.gate(letter, x=x, h=h) for letter in "ifgo")
        new = ops.blend(f, c, g)
        d = c if delay else ops.blend(i, d, new)
        h = ops.times(o, ops.plus(i, d))
        return h, (h, new, d)

    return cell(step, ("h", "c", "d"))


def test_two_states_that_no_gate_reads(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that keeps its own past in part, or is the other a step later, is right."""
    for delay in (False, True):
        monkeypatch.setitem(KINDS, "own", slow_and_fast(delay))
        assert call("-i", 4, "-l", "own:3").code == 0


def exchanged(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, d, c = state
    i, f, g, o = (ops.gate(letter, x=x, h=h) for letter in "ifgo")
    h = ops.times(o, ops.plus(c, d))
    return h, (h, ops.blend(f, c, g), ops.times(i, d))


def test_two_states_that_are_each_made_of_the_other(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked the other way round and returned as declared, they would change places at each step."""
    monkeypatch.setitem(KINDS, "own", cell(exchanged, ("h", "c", "d")))
    message = "the state c is made of d, and not of c, and d of c, and not of d"
    order = "the states come, and are returned, in the order h, c, d"
    assert declaration(call("-i", 4, "-l", "own:3")) == f"rnncalc: own: {message}; {order}"


def dilated(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, d = state
    i, f, g, o = (ops.gate(letter, x=x, d=d) for letter in "ifgo")
    new = ops.times(ops.plus(i, f), ops.times(g, o))
    return new, (new, h)


def new_state(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
    c = ops.plus(ops.times(i, g), f)
    h = ops.times(ops.gate("o", x=x, c=c), ops.activate("tanh", c))
    return h, (h, c)


def gated_input(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    i = ops.gate("i", x=x, h=h)
    x = ops.times(i, x)
    c = ops.plus(ops.times(ops.gate("f", x=x, h=h), c), ops.gate("g", x=x, h=h))
    h = ops.times(ops.gate("o", x=x, h=ops.times(i, h)), c)
    return h, (h, c)


class Deep(cell(whole())):  # type: ignore[misc]  # the class of a cell is made by a function
    """The cure of a gate that is to read a vector of the step's own: a matrix beside the gates multiplies it."""

    kind = "deep"

    @property
    def weights(self) -> tuple[Weight, ...]:
        return (Weight("v", ("h", "h"), "matrix of the candidate"),)

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        *others, output = super().gates(inputs)
        return (*others, output._replace(products=(X,)))

    def step(self, ops: Any, x: Any, state: Any) -> Any:
        h, c = state
        i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
        c = ops.plus(ops.times(f, c), ops.times(i, g))
        o = ops.through("o", ops.plus(ops.sum("o", x=x), ops.product("v", g)))
        h = ops.times(o, c)
        return h, (h, c)


def bent_state(_: Any, ops: Any, x: Any, state: Any) -> Any:
    h, c = state
    h = ops.activate("tanh", ops.blend(ops.gate("i", x=x, h=h), h, x))
    c = ops.plus(ops.times(ops.gate("f", x=x, h=h), c), ops.gate("g", x=x, h=ops.times(h, h)))
    h = ops.times(ops.gate("o", x=x, h=h), c)
    return h, (h, c)


RIGHT: dict[str, Any] = {
    "a vector of the step's own, through a matrix of its own": Deep,
    "a state that gates, x and activations have bent": cell(bent_state),
    "an LSTM": cell(whole()),
    "a state of two steps before": cell(dilated, ("h", "d"), (X, Product("d"))),
    "a gate that reads a state as this step has made it": cell(new_state, last=(X, C)),
    "an input that a gate has been through": cell(gated_input),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_only_looks_mixed_up_is_right(case: str) -> None:
    """It is counted, and goes forward and back as declared."""
    assert backward(Network(input=3, layers=[RIGHT[case](3)], steps=4), chunk=2).agrees
