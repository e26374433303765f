"""A cell of a stranger's own that is half right ends in one line that names the part, before a number is printed."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from case_files import cases
from conftest import Call, declaration, refusal
from lists import listed
from verified import backward

from rnncalc import Network, run
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS, kind
from rnncalc.layers import cell as declared
from rnncalc.layers.cell import Cell, Gate, Habits, Product, Weight
from rnncalc.layers.options import Choice, Sizes, Switch
from rnncalc.step.trace import traced

X, H = Product("x"), Product("h")
GATES = (
    Gate("z", "sigmoid", (X, H), "update gate", "how much to replace"),
    Gate("n", "tanh", (X, H), "candidate", "the new state"),
)
Q = GATES[0]._replace(letter="q", products=(X,))
MATRIX = Weight("V", ("m", "h"), "a matrix")
Steps = Callable[[Any, Any, Any, Any, Any], Any]
"""A step from its operations, x, h, and its two gates, already made."""


def cell(step: Steps | None, gates: Any = GATES, **others: Any) -> type[Cell]:
    """Return the class of a cell `own` with this step."""

    def whole(_: Cell, ops: Any, x: Any, state: Any) -> Any:
        h, *_ = state
        assert step is not None
        return step(ops, x, h, ops.gate("z", x=x, h=h), ops.gate("n", x=x, h=h))

    methods = {"kind": "own", "gates": lambda self, inputs: gates, **({"step": whole} if step else {}), **others}
    return type("Own", (Cell,), methods)


def gated(*products: Any, **parts: Any) -> tuple[Gate, ...]:
    """Return the gates, the first of them with other products and parts."""
    return GATES[0]._replace(products=products, **parts), GATES[1]


def fine(ops: Any, _: Any, h: Any, z: Any, n: Any) -> Any:
    h = ops.blend(z, n, h)
    return h, (h,)


def lstm_step(ops: Any, x: Any, h: Any, c: Any, read: Any = None) -> Any:
    """Return h and the states of an LSTM; read: what its output gate reads as h, of the candidate and the new c."""
    i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
    new = ops.plus(ops.times(f, c), ops.times(i, g))
    h = ops.times(ops.gate("o", x=x, h=read(g, new) if read else h), ops.activate("tanh", new))
    return h, (h, new)


def swapped(h: Any, states: Any) -> Any:
    return h, states[::-1]


def exchanged(ops: Any, x: Any, h: Any, d: Any, c: Any) -> Any:
    i, f, g, o = (ops.gate(letter, x=x, h=h) for letter in "ifgo")
    h = ops.times(o, ops.plus(c, d))
    return h, (h, ops.blend(f, c, g), ops.times(i, d))


def lstm(step: Any, states: str = "hc", reads: tuple[Product, ...] = (X, H), last: tuple[Product, ...] = ()) -> Any:
    """Return the class of an LSTM, `step` of its operations, x and its states; last: what its output gate reads."""
    gates = [Gate(letter, "sigmoid", reads, f"gate {letter}", "a share") for letter in "ifg"]
    gates.append(Gate("o", "sigmoid", last or reads, "output gate", "a share"))
    parts = {"gates": lambda self, inputs: tuple(gates), "states": dict.fromkeys(states, "h")}
    return type("Own", (Cell,), parts | {"kind": "own", "step": lambda self, ops, x, state: step(ops, x, *state)})


def built(part: str, source: str | None) -> Any:
    """Return a part of the class of a case from its Python."""
    text = f"lambda ops, x, h, z, n: {source}" if part == "step" and source else str(source)
    return eval(text, {**vars(declared), **globals()})


@pytest.mark.parametrize("case", cases("layers/half_right.yaml"), ids=lambda case: str(case["case"]))
def test_it_is_refused_in_one_line(case: dict[str, Any], call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked of it, and however it is named."""
    parts = {part: built(part, source) for part, source in case.items() if part not in ("case", "message", "inputs")}
    own: Any = parts.get("class") or cell(**{"step": fine, **parts})
    monkeypatch.setitem(KINDS, "own", own)
    for command in ("count", "run", "explain"):
        done = call(command, "-i", case.get("inputs", 4), "-l", "own:3")
        expected, cut, _ = listed(f"rnncalc: own: {case['message']}").partition(" …")
        assert declaration(done)[: len(expected) if cut else None] == expected
    with pytest.raises(DeclarationError):
        _ = Network(input=case.get("inputs", 4), layers=[own(3)]).params


def dilated(ops: Any, x: Any, h: Any, d: Any) -> Any:
    i, f, g, o = (ops.gate(letter, x=x, d=d) for letter in "ifgo")
    new = ops.times(ops.plus(i, f), ops.times(g, o))
    return new, (new, h)


def new_state(ops: Any, x: Any, h: Any, c: Any) -> Any:
    i, f, g = (ops.gate(letter, x=x, h=h) for letter in "ifg")
    c = ops.plus(ops.times(i, g), f)
    h = ops.times(ops.gate("o", x=x, c=c), ops.activate("tanh", c))
    return h, (h, c)


def bent(ops: Any, x: Any, h: Any, c: Any) -> Any:
    i = ops.gate("i", x=x, h=h)
    h, x = ops.activate("tanh", ops.blend(i, h, x)), ops.times(i, x)
    c = ops.plus(ops.times(ops.gate("f", x=x, h=h), c), ops.gate("g", x=x, h=ops.times(h, h)))
    h = ops.times(ops.gate("o", x=x, h=ops.times(i, h)), c)
    return h, (h, c)


def slow(ops: Any, x: Any, h: Any, c: Any, d: Any) -> Any:
    i, f, g, o = (ops.gate(letter, x=x, h=h) for letter in "ifgo")
    new, d = ops.blend(f, c, g), ops.blend(i, d, c)
    h = ops.times(o, d)
    return h, (h, new, d)


RIGHT: dict[str, Any] = {
    "an LSTM": lstm(lstm_step),
    "a state that is the other, two steps before": lstm(dilated, "hd", (X, Product("d"))),
    "a gate that reads a state as this step has made it": lstm(
        new_state, last=(X, Product("c", declared.Form.DIAGONAL))
    ),
    "an input and a state that gates and activations have bent": lstm(bent),
    "two states that no gate reads": lstm(slow, "hcd"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_states_that_only_look_mixed_up_are_right(case: str) -> None:
    """They are counted, and go forward and back as declared."""
    assert backward(Network(input=3, layers=[RIGHT[case](3)], steps=4), chunk=2).agrees


def test_a_width_that_only_some_layers_lack() -> None:
    """k = h − 3 is 1 in the first layer, and none in the second, though their gates are the same."""
    weights = (Weight("q", ("h", "k"), "a matrix"), Weight("v", ("k", "h"), "another"))

    def step(ops: Any, x: Any, h: Any, z: Any, n: Any) -> Any:
        return fine(ops, x, h, z, ops.product("q", ops.product("v", n)))

    own: Any = cell(step, weights=weights, sizes=lambda self, m: {"m": m, "h": self.units, "k": self.units - 3})
    assert Network(input=4, layers=[own(4)]).params == 2 * 4 * (4 + 4 + 1) + 2 * 4 * 1
    with pytest.raises(DeclarationError, match=r"own: the width k is -1; sizes\(\) gives whole numbers, 1 or more"):
        _ = Network(input=4, layers=[own(4), own(2)]).params


def test_a_matrix_of_the_input_where_the_layer_is_as_wide() -> None:
    """h = m makes both letters one width: a skip that a matrix h × m makes is as right as elsewhere."""
    skip = (Weight("v", ("h", "m"), "a skip"),)
    own: Any = cell(lambda ops, x, h, z, n: fine(ops, x, h, z, ops.plus(n, ops.product("v", x))), weights=skip)
    for units in (3, 4):
        network = Network(input=4, layers=[own(units)], steps=2)
        assert network.params == 2 * units * (4 + units + 1) + units * 4
        assert run(network).agrees


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda ops, x, h, z, n: z * n, "TypeError: add and multiply with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: 1 - z, "TypeError: add and multiply with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: ops.times(z), "TypeError: "),
        (lambda ops, x, h, z, n: forgotten, "NameError: name 'forgotten' is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (lambda ops, x, h, z, n: n if z else x, "TypeError: add and multiply with ops.plus(a, b)"),
        (lambda ops, x, h, z, n: n if h > 0 else x, "TypeError: add and multiply with ops.plus(a, b)"),
    ],
)
def test_whatever_else_a_step_raises_has_its_line(
    step: Steps, said: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind of error, what it says, and the file with the line."""
    monkeypatch.setitem(KINDS, "own", cell(step))
    err = refusal(call, "-i", 4, "-l", "own:3")
    assert err.startswith(f"rnncalc: own: {said}")
    assert f"(test_half_right.py, line {step.__code__.co_firstlineno})" in err
    assert err.count("\n") == 1


def test_gates_that_cannot_be_asked_for(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt option in gates(), or a gate that lacks a part."""

    def gates(self: Any, _: int) -> Any:
        return (Gate("z", self.activatoin, (X, H), "a", "b"),)

    monkeypatch.setitem(KINDS, "own", type("Own", (cell(fine),), {"gates": gates}))
    err = call("-i", 4, "-l", "own:3").err
    assert err.startswith(
        "rnncalc: own: AttributeError: 'Own' object has no attribute 'activatoin' (test_half_right.py"
    )


def test_a_class_without_a_kind_is_refused() -> None:
    """When a layer of it is made."""
    own: Any = cell(fine, kind="")
    with pytest.raises(DeclarationError, match='the class Own has no kind; write kind = "own" in it'):
        own(3)


def test_the_list_leads_to_the_class_of_each_kind() -> None:
    """As its class calls it."""
    assert [kind(name).kind for name in KINDS] == [*KINDS]


def every(of: type[Cell]) -> list[Mapping[str, Any]]:
    """Return all ways in which the switches, choices and projections of a cell can be."""
    values: dict[str, list[Any]] = {"projection": [None, 2]} if "projection" in of.fields else {}
    for option in of.options():
        allowed = of.option(option).allowed
        if isinstance(allowed, Switch) and option not in ("frozen", "bidirectional", "learned_state"):
            values[option] = [True, False]
        elif isinstance(allowed, Choice) and option not in ("merge", "activation", "dtype"):
            values[option] = [*allowed.words] if option != "update_gate" else ["keeps", "replaces"]
        elif isinstance(allowed, Sizes):
            values[option] = [(2,)]
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


@pytest.mark.broad
def test_no_gate_of_the_package_s_own_cells_is_dropped() -> None:
    """With all options, under every habit, as wide as the input and not."""
    cells: list[Any] = [of for of in map(kind, KINDS) if issubclass(of, Cell)]
    done = 0
    for of in cells:
        for options in every(of):
            layer = of(3, **options)
            if any(layer.option_problems()):
                continue
            for habits in itertools.starmap(Habits, itertools.product([True, False], repeat=2)):
                traced(layer, 2, habits)
                traced(layer, 3, habits)
                done += 1
    assert done >= 4 * (2 * 2 + 2 * 2 * 2 * 2 * 2)  # an RNN's and more
