"""A cell of a stranger's own that is half right ends in one line that names the part, before a number is printed."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from cells import OPTIONS
from cells import cell as cell_of_kind
from conftest import Call, refusal

from rnncalc import Network, run
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS, kind
from rnncalc.layers.cell import Cell, Form, Gate, Habits, Product, Weight
from rnncalc.layers.checks import wrong
from rnncalc.layers.options import Choice, Sizes, Switch
from rnncalc.step.trace import traced

X, H = Product("x"), Product("h")
GATES = (
    Gate("z", "sigmoid", (X, H), "update gate", "how much to replace"),
    Gate("n", "tanh", (X, H), "candidate", "the new state"),
)
Q = GATES[0]._replace(letter="q", products=(X,))
MATRIX = Weight("V", ("m", "h"), "a matrix")
UNTYPED: Any = Product
UNTYPED_WORD: Any = "sigmoyd"
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


OPS = (
    "gate, sum, through, has, habit, activate, product, vector, scalar, plus, times, over, blend, normalise, "
    "complement, scale, half and shift"
)
WRITE = "write return h, (h,): its output, and a tuple of all states"
NEITHER = "is made in the step, and reaches neither its output nor a state"
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
    "a number": (cell(lambda ops, x, h, z, n: (n, (0.5,))), "the state h is 0.5, which is no vector"),
    "a number in an operation": (
        cell(lambda ops, x, h, z, n: ops.plus(1, z)),
        "what an operation is done with is 1, which is no vector",
    ),
    "a dropped gate": (cell(lambda ops, x, h, z, n: (n, (n,))), f"z {NEITHER}"),
    "a dropped product": (
        cell(lambda ops, x, h, z, n: fine(ops, x, h, z, (ops.sum("q", x=x), ops.through("q", n))[1]), (*GATES, Q)),
        f"gate q's product of x {NEITHER}",
    ),
    "a dropped number": (
        cell(
            lambda ops, x, h, z, n: (ops.scalar("a"), fine(ops, x, h, z, n))[1], weights=(Weight("a", (), "a number"),)
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
        "the step's activation: expected tanh, relu, gelu, sigmoid, linear or softmax, got 'elu'",
    ),
    "no step": (cell(None), "its class has no step; write def step(...) as rnncalc/layers/gru.py does"),
    "no gates": (
        type("Own", (Cell,), {"kind": "own", "step": cell(fine).step}),
        "its class has no gates; write def gates(...) as rnncalc/layers/gru.py does",
    ),
    "no gate": (cell(fine, ("z", "n")), "gates() returns no tuple of gates; write (Gate(...),)"),
    "one product": (
        cell(fine, (GATES[0]._replace(products=UNTYPED("x")), GATES[1])),
        "gate z: its products are no tuple of products; write (Product(...),)",
    ),
    "a letter for a product": (
        cell(fine, gated("x", "h")),
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
    "no products": (cell(fine, gated()), "gate z has no product, and a gate is a sum of products"),
    "no states": (cell(fine, states={}), 'it has no state, and a recurrent layer carries one; write {"h": "h"}'),
    "a state called x": (
        cell(fine, states={"x": "h", "h": "h"}),
        "a part of it is called x, which is what the layer reads; give it another letter",
    ),
    "a gate called x": (
        cell(fine, (*GATES, GATES[0]._replace(letter="x"))),
        "a part of it is called x, which is what the layer reads; give it another letter",
    ),
    "a state that is not the gate of its letter": (
        cell(lambda ops, x, h, z, n: (h, (h, ops.plus(z, n))), states={"h": "h", "n": "h"}),
        "gate n is called as the state n, and is another value; give it another letter",
    ),
    "a matrix in two forms": (
        cell(fine, gated(X, Product("h", Form.DIAGONAL, "n"))),
        "two gates read h through the matrix n, as a full one and as a diagonal",
    ),
    "a list of gates": (cell(fine, [*GATES]), "gates() returns no tuple of gates; write (Gate(...),)"),
    "a weight by itself": (
        cell(fine, weights=Weight("a", (), "a number")),
        "weights is no tuple of weights; write @property, and return (Weight(...),)",
    ),
    "weights without @property": (
        cell(fine, weights=lambda self: ()),
        "weights is no tuple of weights; write @property, and return (Weight(...),)",
    ),
    "a tuple of states": (
        cell(fine, states=("h",)),
        'states is no mapping of letters to letters of widths; write @property, and return {"h": "h"}',
    ),
    "a number for a width": (
        cell(fine, states={"h": 3}),
        'states is no mapping of letters to letters of widths; write @property, and return {"h": "h"}',
    ),
    "a word for a form": (
        cell(fine, gated(X, UNTYPED("h", "diagonal"))),
        "gate z: its product of h: form: expected Form.FULL or Form.DIAGONAL, got 'diagonal'",
    ),
    "a bias that is neither": (cell(fine, gated(X, H, bias="no")), "gate z: bias: expected True or False, got 'no'"),
    "a gate without a name": (cell(fine, gated(X, H, name=None)), "gate z: name: expected text, got None"),
    "a weight with an activation that is none": (
        cell(fine, weights=(Weight("a", (), "a number", UNTYPED_WORD),)),
        "weight a: expected tanh, relu, gelu, sigmoid, linear or softmax, got 'sigmoyd'",
    ),
    "a weight of three widths": (
        cell(fine, weights=(Weight("a", ("h", "h", "h"), "a matrix"),)),
        "weight a: expected two widths, of rows and of columns, or one of a vector, or none, got ('h', 'h', 'h')",
    ),
    "a weight called by a word of Python's": (
        cell(fine, weights=(Weight("lambda", (), "a number"),)),
        "'lambda' is no letter that programs can be written with",
    ),
    "a gate called by a sign": (
        cell(fine, (*GATES, GATES[0]._replace(letter="1"))),
        "'1' is no letter that programs can be written with",
    ),
    "a weight called as the state": (
        cell(fine, weights=(Weight("h", (), "a number"),)),
        "a weight is called h, as the output or a state; give it another letter",
    ),
    "a number called as a bias": (
        cell(
            lambda ops, x, h, z, n: fine(ops, x, h, z, ops.scale(ops.scalar("b_n"), n)),
            weights=(Weight("b_n", (), "a number"),),
        ),
        "two of its tensors are called b_n under textbook; give one of its parts another letter",
    ),
    "a negative width": (
        cell(fine, weights=(Weight("q", ("h", "k"), "a matrix"),), sizes=lambda self, m: {"m": m, "h": 3, "k": -7}),
        "the width k is -7; sizes() gives whole numbers, 1 or more",
    ),
    "half a width": (
        cell(fine, weights=(Weight("q", ("h", "k"), "a matrix"),), sizes=lambda self, m: {"m": m, "h": 3, "k": 1.5}),
        "the width k is 1.5; sizes() gives whole numbers, 1 or more",
    ),
    "no width of the input": (cell(fine, sizes=lambda self, m: {"h": 3}), "the width m has no number; sizes() gives h"),
    "a default that is misspelt": (
        cell(fine, __annotations__={"activation": str}, activation="tahn"),
        "activation: its default is not allowed: expected tanh, relu, gelu, sigmoid, linear or softmax, "
        "got 'tahn'; did you mean 'tanh'?",
    ),
    "a gate that is called nothing": (
        cell(fine, gated(X, H, name="")),
        'gate z: it has no name; give it one, such as "update gate"',
    ),
    "no sizes": (cell(fine, sizes=lambda self, m: None), "the width h has no number; sizes() gives None"),
    "a state that is narrower than its diagonal": (
        cell(fine, gated(X, H, Product("s", Form.DIAGONAL)), states={"h": "h", "s": "m"}),
        "gate z reads s unit by unit, and that has not one number for each unit",
    ),
    "a gate called as a state": (
        cell(
            lambda ops, x, h, z, n: fine(ops, x, ops.gate("h", x=x), z, n),
            (*GATES, GATES[0]._replace(letter="h", products=(X,))),
        ),
        "gate h is called as the state h, and is another value; give it another letter",
    ),
    "another value than the state": (
        cell(lambda ops, x, h, z, n: (ops.activate("relu", ops.complement(n)), (ops.blend(z, n, h),))),
        "the step's output is called h, and is another value than the state h; "
        "return h, (h, ...), or call the state by another letter",
    ),
    "a matrix twice": (
        cell(
            lambda ops, x, h, z, n: fine(ops, x, h, z, ops.product("q", ops.product("q", n))),
            weights=(Weight("q", ("h", "h"), "a matrix"),),
        ),
        "the step multiplies by the matrix q twice",
    ),
    "a gate that is given x and h alone": (
        cell(lambda ops, x, h, z, n: ops.gate("z", x, h)),
        "the step does not say what gate z reads; write x=x, h=h and their like",
    ),
    "a sum of no product": (cell(lambda ops, x, h, z, n: ops.sum("z")), "the step sums no product of gate z"),
    "a habit that there is not": (
        cell(lambda ops, x, h, z, n: ops.habit("reset_affter")),
        "the step asks for the habit reset_affter, and there are reset_after and gate_keeps",
    ),
    "a product of no state": (cell(fine, gated(X, H, Product("c"))), "gate z reads c, and the states are h"),
    "a product that is not declared": (
        cell(fine, gated(X)),
        "the step gives gate z h, and no product of it is declared",
    ),
    "a gate too many": (cell(fine, (*GATES, Q)), "q is declared, and the step does not use it"),
    "a weight too many": (cell(fine, weights=(MATRIX,)), "V is declared, and the step does not use it"),
    "a product twice": (cell(fine, gated(X, H, H)), "gate z has two products of h; one matrix says as much"),
    "a gate of two letters": (
        cell(fine, (*GATES, Q._replace(letter="nn"))),
        "the gate 'nn' is not called by one letter",
    ),
    "a gate with an activation that is none": (
        cell(fine, gated(X, H, activation=UNTYPED_WORD)),
        "gate z: expected tanh, relu, gelu, sigmoid, linear or softmax, got 'sigmoyd'",
    ),
    "an input unit by unit": (
        cell(fine, gated(Product("x", Form.DIAGONAL), H)),
        "gate z reads x unit by unit, and x has not one number for each unit",
    ),
    "no gate at all": (cell(fine, ()), "the step asks for the gate z, and gates declares none"),
    "a product summed twice": (
        cell(lambda ops, x, h, z, n: ops.plus(ops.sum("q", x=x), ops.sum("q", x=x)), (*GATES, Q)),
        "the step sums gate q's product of x twice",
    ),
    "a scale that is a vector": (
        cell(lambda ops, x, h, z, n: ops.scale(n, x)),
        "what scales or shifts a vector has the width h, and 1 is declared",
    ),
    "a shift that is a vector": (
        cell(lambda ops, x, h, z, n: ops.shift(x, n)),
        "what scales or shifts a vector has the width h, and 1 is declared",
    ),
    "a matrix as a number": (
        cell(lambda ops, x, h, z, n: ops.scalar("V"), weights=(MATRIX,)),
        "the step asks for the number V, which is not declared",
    ),
    "no such matrix": (
        cell(lambda ops, x, h, z, n: ops.product("U", h), weights=(MATRIX,)),
        "the step asks for the matrix U, which is not declared",
    ),
    "a matrix of another vector": (
        cell(lambda ops, x, h, z, n: ops.product("V", x), weights=(MATRIX,)),
        "what the matrix V reads has the width m, and h is declared",
    ),
    "a wide output": (
        cell(lambda ops, x, h, z, n: (ops.product("V", n), (n,)), weights=(MATRIX,)),
        "the step's output has the width m, and h is declared",
    ),
    "a wide state": (
        cell(lambda ops, x, h, z, n: (n, (ops.product("V", n),)), weights=(MATRIX,)),
        "the state h has the width m, and h is declared",
    ),
    "a wide sum": (
        cell(lambda ops, x, h, z, n: ops.through("q", x), (*GATES, Q)),
        "the sum of gate q has the width m, and h is declared",
    ),
    "a gate made twice": (cell(lambda ops, x, h, z, n: ops.through("n", n)), "the step makes gate n twice"),
    "a state for the input": (
        cell(lambda ops, x, h, z, n: ops.gate("q", x=h), (*GATES, Q)),
        "what gate q reads as x has the width h, and m is declared",
    ),
    "a blend of two widths": (
        cell(lambda ops, x, h, z, n: ops.blend(n, n, x)),
        "vectors of the widths h and m meet, where one width is needed",
    ),
    "a width without a number": (cell(fine, output="p"), "the width p has no number; sizes() gives h, m"),
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
        (lambda ops, x, h, z, n: z * n, "TypeError: a step adds and multiplies with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: 1 - z, "TypeError: a step adds and multiplies with ops.plus(a, b), ops.times(a, b)"),
        (lambda ops, x, h, z, n: ops.times(z), "TypeError: "),
        (lambda ops, x, h, z, n: forgotten, "NameError: name 'forgotten' is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (lambda ops, x, h, z, n: n if z else x, "TypeError: a step adds and multiplies with ops.plus(a, b)"),
        (lambda ops, x, h, z, n: n if h > 0 else x, "TypeError: a step adds and multiplies with ops.plus(a, b)"),
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


@pytest.mark.parametrize("name", [name for name in KINDS if issubclass(kind(name), Cell)])
def test_no_cell_of_the_package_contradicts_itself(name: str) -> None:
    """What is refused of a stranger's cell, with each option; the package itself does not look."""
    plain = cell_of_kind(name, 4)
    layers = [plain, *(plain.replace(**{key: each}) for key in plain.fields for each in OPTIONS.get(key, ()))]
    for layer, inputs in itertools.product(layers, (4, 8, 12)):
        assert [*wrong(layer, inputs)] == []


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
        elif isinstance(allowed, Choice) and option not in ("merge", "activation"):
            values[option] = [*allowed.words] if option != "update_gate" else ["keeps", "replaces"]
        elif isinstance(allowed, Sizes):
            values[option] = [(2,)]
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
                traced(layer, 2, habits)
                traced(layer, 3, habits)
                done += 1
    assert done >= 4 * (2 * 2 + 2 * 2 * 2 * 2 * 2)  # an RNN's and more
