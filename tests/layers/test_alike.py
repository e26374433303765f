"""Values of a step that look alike and are not, or are and do not look it: each equation that is printed is true."""

import json
import re
from collections.abc import Callable, Mapping
from math import exp, isclose, tanh
from typing import Any

import pytest
from case_files import cases
from conftest import Call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from verified import backward

from rnncalc import Cell, Network
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Gate, Product
from rnncalc.programs import SPELLINGS

READ = ("c", "d")
Steps = Callable[[Any, Any, Any, Any, Any], Any]
"""What a step returns, from its operations, its two gates and its two states."""


def cell(made: Steps) -> type[Cell]:
    """Return the class of a cell of two gates, z and n, and two states, c and d, that makes this of them."""

    class Own(Cell):
        kind = "own"

        @property
        def states(self) -> Mapping[str, str]:
            return {"c": "h", "d": "h"}

        def gates(self, inputs: int) -> tuple[Gate, ...]:
            reads = (Product("x"), *map(Product, READ))
            return Gate("z", "sigmoid", reads, "gate", "a share"), Gate("n", "tanh", reads, "candidate", "what is new")

        def step(self, ops: Any, x: Any, state: Any) -> Any:
            c, d = state
            return made(ops, ops.gate("z", x=x, c=c, d=d), ops.gate("n", x=x, c=c, d=d), c, d)

    return Own


CASES = cases("layers/alike.yaml")
GATES = (("z", "σ"), ("n", "tanh"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["case"]))
def test_what_is_printed_is_what_is_computed(case: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The equations by hand; the pass forward, and back, of the same step; and a program for every target."""
    own: Any = cell(eval(f"lambda ops, z, n, c, d: ({case['step']})"))
    monkeypatch.setitem(KINDS, "own", own)
    done = call("explain", "-i", 2, "-l", "own:3")
    assert (done.code, done.err) == (0, "")
    lines = [line.strip() for line in done.out.splitlines()]
    gates = [f"{gate}_t = {of}(W_x{gate} x_t + W_c{gate} c_(t−1) + W_d{gate} d_(t−1) + b_{gate})" for gate, of in GATES]
    assert {line for line in lines if "_t = " in line} == {*gates, *case["equations"]}
    assert backward(Network(input=2, layers=[own(3)], steps=3)).agrees
    for target in SPELLINGS:
        program = call("export", "-i", 2, "-l", "own:3", "--to", target)
        assert program.code == 0
        if case == CASES[0]:  # what is divided is not taken for what is multiplied
            assert {"c = z / n + c", "h = z * n"} <= {line.strip() for line in program.out.splitlines()}


OPERATIONS: dict[str, int] = {"plus": 2, "times": 2, "over": 2, "blend": 3, "complement": 1, "tanh": 1, "sigmoid": 1}


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Draw what a step makes of its gates and states, each value of any two or three before it."""
    drawn = draw(st.lists(st.sampled_from([*OPERATIONS]), min_size=1, max_size=6))
    plan = [(name, [draw(st.integers(0, 3 + at)) for _ in range(OPERATIONS[name])]) for at, name in enumerate(drawn)]
    ends = [draw(st.integers(0, 3 + len(plan))) for _ in range(3)]

    def made(ops: Any, z: Any, n: Any, c: Any, d: Any) -> Any:
        values = [z, n, c, d]
        for name, places in plan:
            operands = [values[place] for place in places]
            activates = name in ("tanh", "sigmoid")
            values.append(ops.activate(name, *operands) if activates else getattr(ops, name)(*operands))
        output, *state = [values[place] for place in ends]
        return output, (*state,)

    return made


def sigmoid(number: float) -> float:
    """Return σ of a number."""
    return 1 / (1 + exp(-number))


@given(made=steps())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_equation_that_is_printed_holds_in_the_numbers_of_a_pass(
    call: Call, monkeypatch: pytest.MonkeyPatch, made: Steps
) -> None:
    """Whatever a step does with its gates and states: each line is evaluated on the values before it."""
    monkeypatch.setitem(KINDS, "own", cell(made))
    flags = ("-i", 2, "-l", "own:1", "-T", 2)
    told = call("explain", *flags)
    if "reaches neither its output nor a state" in told.err or "the states come, and are returned" in told.err:
        return  # a step that is refused: a gate is used nowhere, or states are mixed up
    assert told.err == ""
    done = call("run", *flags, "--states", "-f", "json")
    (layer,) = json.loads(done.out)["reports"][0]["layers"]
    lines = [line.strip() for line in told.out.splitlines() if re.match(r" *[cdh]_t = ", line)]
    assert sorted(line[0] for line in lines) == ["c", "d", "h"]
    before = layer["start"]["forward"]
    for step in layer["states"]["forward"]:
        values = {letter: number for letter, (number, *_) in step.items()}
        values |= {f"{letter}_before": before[letter][0] for letter in "cd"}
        if None in values.values():
            return  # divided by zero
        for line in lines:
            left, right = line.replace("_(t−1)", "_before").replace("_t", "").split(" = ")
            code = right.replace("∘", "*").replace("−", "-").replace("σ", "sigmoid")
            try:
                found = eval(code, {"tanh": tanh, "sigmoid": sigmoid}, values)
            except (ZeroDivisionError, OverflowError):
                continue
            assert isclose(found, values[left], rel_tol=1e-9, abs_tol=1e-12), line
        before = step
