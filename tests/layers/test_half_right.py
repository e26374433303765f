"""A cell of a stranger's own that is half right ends in one line that names the part, before a number is printed."""

import itertools
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
from conftest import Call

from rnncalc import Network
from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Gate, Habits, Product, Weight
from rnncalc.layers.declaration import check_declaration
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.layers.options import OPTIONS, Choice, Switch

X, H = Product("x"), Product("h")
GATES = (
    Gate("z", "sigmoid", (X, H), "update gate", "how much to replace"),
    Gate("n", "tanh", (X, H), "candidate", "the new state"),
)
ONE_PRODUCT: Any = X
LETTERS: Any = ("x", "h")
Steps = Callable[[Any, Any, Any, Any, Any], Any]
"""A step from its operations, x, h, and its two gates, already made."""


def cell(step: Steps | None, gates: Any = GATES, **others: Any) -> type[Cell]:
    """Return the class of a cell `own` with this step."""

    def whole(_: Cell, ops: Any, x: Any, state: Any) -> Any:
        (h,) = state
        assert step is not None
        return step(ops, x, h, ops.gate("z", x=x, h=h), ops.gate("n", x=x, h=h))

    methods = {"kind": "own", "gates": lambda self, inputs: gates, **({"step": whole} if step else {}), **others}
    return type("Own", (Cell,), methods)


def fine(ops: Any, _: Any, h: Any, z: Any, n: Any) -> Any:
    h = ops.blend(z, n, h)
    return h, (h,)


OPS = "gate, sum, through, has, habit, activate, product, scalar, plus, times, over, blend, complement, scale and shift"
WRITE = "write return h, (h,): what it hands on, and a tuple of all states"
NEITHER = "is made in the step, and reaches neither what that hands on nor a state"
CASES: dict[str, tuple[type[Cell], str]] = {
    "no operation": (
        cell(lambda ops, x, h, z, n: ops.minus(z, n)),
        f"the step uses ops.minus, and there is none; there are {OPS}",
    ),
    "a misspelt one": (
        cell(lambda ops, x, h, z, n: ops.gates("z", x=x)),
        f"the step uses ops.gates, and there is none; did you mean 'gate'?; there are {OPS}",
    ),
    "h alone": (cell(lambda ops, x, h, z, n: ops.blend(z, n, h)), f"the step returns one value; {WRITE}"),
    "nothing": (cell(lambda ops, x, h, z, n: None), f"the step returns nothing; {WRITE}"),
    "no tuple of states": (
        cell(lambda ops, x, h, z, n: (n, ops.times(z, n))),
        f"the step returns no such pair; {WRITE}",
    ),
    "three": (cell(lambda ops, x, h, z, n: (n, (n,), z)), f"the step returns no such pair; {WRITE}"),
    "two states": (cell(lambda ops, x, h, z, n: (n, (n, z))), "the step returns 2 states, and h are declared"),
    "no state": (cell(lambda ops, x, h, z, n: (n, ())), "the step returns 0 states, and h are declared"),
    "a number": (
        cell(lambda ops, x, h, z, n: (n, (0.5,))),
        "the state h is 0.5, which is no vector",
    ),
    "a number in an operation": (
        cell(lambda ops, x, h, z, n: ops.plus(1, z)),
        "what an operation is done with is 1, which is no vector",
    ),
    "a dropped gate": (cell(lambda ops, x, h, z, n: (n, (n,))), f"z {NEITHER}"),
    "a dropped product": (
        cell(
            lambda ops, x, h, z, n: fine(ops, x, h, z, (ops.sum("q", x=x), ops.through("q", n))[1]),
            (*GATES, GATES[0]._replace(letter="q", products=(X,))),
        ),
        f"gate q's product of x {NEITHER}",
    ),
    "a dropped number": (
        cell(
            lambda ops, x, h, z, n: (ops.scalar("a"), fine(ops, x, h, z, n))[1],
            weights=(Weight("a", (), "a number"),),
        ),
        f"a {NEITHER}",
    ),
    "a dropped matrix": (
        cell(
            lambda ops, x, h, z, n: (ops.product("V", z), fine(ops, x, h, z, n))[1],
            weights=(Weight("V", ("h", "h"), "a matrix"),),
        ),
        f"V {NEITHER}",
    ),
    "a gate made by hand that is none": (
        cell(lambda ops, x, h, z, n: ops.through("q", n)),
        "the step asks for the gate q, and z, n are declared",
    ),
    "an activation that is none": (
        cell(lambda ops, x, h, z, n: ops.activate("elu", n)),
        "the step's activation: expected tanh, relu, sigmoid, linear or softmax, got 'elu'",
    ),
    "no step": (cell(None), "its class has no step; write def step(...) as rnncalc/layers/gru.py does"),
    "no gates": (
        type("Own", (Cell,), {"kind": "own", "step": cell(fine).step}),
        "its class has no gates; write def gates(...) as rnncalc/layers/gru.py does",
    ),
    "one gate": (cell(fine, GATES[0]), "gates() returns no tuple of gates; write (Gate(...),)"),
    "no gate": (cell(fine, ("z", "n")), "gates() returns no tuple of gates; write (Gate(...),)"),
    "one product": (
        cell(fine, (GATES[0]._replace(products=ONE_PRODUCT), GATES[1])),
        "gate z: its products are no tuple of products; write (Product(...),)",
    ),
    "a letter for a product": (
        cell(fine, (GATES[0]._replace(products=LETTERS), GATES[1])),
        "gate z: its products are no tuple of products; write (Product(...),)",
    ),
    "a gate twice": (
        cell(fine, (*GATES, GATES[0]._replace(products=(X,)))),
        "two of its gates and weights are called z; give each a letter of its own",
    ),
    "a weight called as a gate": (
        cell(fine, weights=(Weight("n", ("h", "h"), "a matrix"),)),
        "two of its gates and weights are called n; give each a letter of its own",
    ),
    "a weight twice": (
        cell(fine, weights=(Weight("a", (), "a number"), Weight("a", ("h", "h"), "a matrix"))),
        "two of its gates and weights are called a; give each a letter of its own",
    ),
    "no products": (
        cell(fine, (GATES[0]._replace(products=()), GATES[1])),
        "gate z has no product, and a gate is a sum of products",
    ),
    "no states": (
        cell(fine, states={}),
        'it has no state, and a recurrent layer carries one; write {"h": "h"}',
    ),
    "a state called x": (
        cell(fine, states={"x": "h", "h": "h"}),
        "a state is called x, which is what the layer reads; give it another letter",
    ),
    "a width without a number": (
        cell(fine, output="p"),
        "the width p has no number; sizes() gives h, m",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line(case: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked of it, and however it is named."""
    of, message = CASES[case]
    monkeypatch.setitem(KINDS, "own", of)
    for command in ("count", "run", "explain"):
        done = call(command, "-i", 4, "-l", "own:3")
        assert (done.code, done.out, done.err) == (2, "", f"rnncalc: own: {message}\n")
    of_class: Any = of
    with pytest.raises(DeclarationError):
        _ = Network(input=4, layers=[of_class(3)]).params


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda ops, x, h, z, n: z * n, "TypeError: a step adds and multiplies with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: 1 - z, "TypeError: a step adds and multiplies with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: ops.times(z), "TypeError: "),
        (lambda ops, x, h, z, n: forgotten, "NameError: name 'forgotten' is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (lambda ops, x, h, z, n: ops.habit("reset_affter"), "AttributeError: "),
    ],
)
def test_whatever_else_a_step_raises_has_its_line(
    step: Steps, said: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind of error, what it says, and the file with the line."""
    monkeypatch.setitem(KINDS, "own", cell(step))
    done = call("-i", 4, "-l", "own:3")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rnncalc: own: {said}")
    assert f"(test_half_right.py, line {step.__code__.co_firstlineno})" in done.err
    assert done.err.count("\n") == 1


def test_gates_that_cannot_be_asked_for(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt option in gates(), or a gate that lacks a part."""

    def gates(self: Any, _: int) -> Any:
        return (Gate("z", self.activatoin, (X, H), "a", "b"),)

    monkeypatch.setitem(KINDS, "own", type("Own", (cell(fine),), {"gates": gates}))
    err = call("-i", 4, "-l", "own:3").err
    assert err.startswith(
        "rnncalc: own: AttributeError: 'Own' object has no attribute 'activatoin' (test_half_right.py"
    )


KINDS_PY = "own: in rnncalc/layers/kinds.py, "


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (
            "strangers.gone:Own",
            "'strangers.gone:Own' cannot be imported: ModuleNotFoundError: No module named 'strangers",
        ),
        ("strangers:Onw", "'strangers:Onw': no such class of a layer; there is Own\n"),
        ("strangers", "'strangers': no such class of a layer; there is Own\n"),
        ("strangers:NO_CLASS", "'strangers:NO_CLASS': no such class of a layer; there is Own\n"),
        ("strangers:Own", "'strangers:Own': the class has no kind; write kind = \"own\" in it\n"),
        ("strangers:Other", "'strangers:Other': the class has the kind 'gru'; write kind = \"own\" in it\n"),
    ],
)
def test_a_line_of_the_list_that_leads_nowhere(
    at: str, message: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong module, a wrong class, and one that does not say its kind."""
    module: Any = ModuleType("strangers")
    own = cell(fine, kind="", __module__="strangers")
    module.Own, module.Other, module.NO_CLASS = own, type("Other", (kind("gru"),), {}), 3
    monkeypatch.setitem(sys.modules, "strangers", module)
    monkeypatch.setitem(KINDS, "own", at)
    done = call("-i", 4, "-l", "own:3")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rnncalc: {KINDS_PY}{message}")
    assert done.err.count("\n") == 1
    assert call("-i", 4, "--rate", 3).err.startswith("rnncalc: No such option '--rate'")  # whose kind is looked for
    assert call("-i", 4, "--tie-weights").err.startswith("rnncalc: No such option '--tie-weights'.")
    monkeypatch.setenv("_RNNCALC_COMPLETE", "fish_complete")
    monkeypatch.setenv("_RNNCALC_WORDS", "rnncalc\n-l\nown:3,")
    monkeypatch.setenv("_RNNCALC_AT", "2")
    assert call() == (2, "", done.err)
    made: Any = own
    with pytest.raises(DeclarationError, match='the class Own has no kind; write kind = "own" in it'):
        made(3)


def every(of: type[Cell]) -> list[Mapping[str, Any]]:
    """Return all ways in which the switches, choices and projections of a cell can stand."""
    values: dict[str, list[Any]] = {"projection": [None, 2]} if "projection" in of.fields else {}
    for option in of.options():
        allowed = OPTIONS[option].allowed
        if isinstance(allowed, Switch) and option not in ("frozen", "bidirectional", "learned_state"):
            values[option] = [True, False]
        elif isinstance(allowed, Choice) and option not in ("merge", "activation"):
            values[option] = [*allowed.words] if option != "update_gate" else ["keeps", "replaces"]
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


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
                check_declaration(layer, 2, habits)
                check_declaration(layer, 3, habits)
                done += 1
    assert done >= 4 * (2 * 2 + 2 * 2 * 2 * 2 * 2)  # an RNN's and more
