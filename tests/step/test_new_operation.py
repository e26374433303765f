"""A stranger adds an operation as one row, here a minimum, and every reader of a step follows."""

from typing import Any

import pytest
from circuit import Circuit, Numbers
from conftest import Call, report_of
from verified import backward

from rnncalc import Cell, Network, run
from rnncalc.errors import DeclarationError
from rnncalc.layers import KINDS
from rnncalc.layers.cell import Gate, Habits, Operations, Product, Value
from rnncalc.reports.draw import Drawing
from rnncalc.step.operations import GRADIENT, OPERATIONS, GradientRule, Operation, Vector
from rnncalc.step.trace import traced


def least(left: Vector, right: Vector) -> Vector:
    return list(map(min, left, right))


def to_the_lesser(gradient: Vector, operand: Vector, other: Vector) -> Vector:
    """Return the gradient of one of the operands: it goes to the lesser of both."""
    return [each if mine < its else 0.0 for each, mine, its in zip(gradient, operand, other, strict=True)]


RULES = GradientRule(to_the_lesser, GRADIENT, 0, 1), GradientRule(to_the_lesser, GRADIENT, 1, 0)
MINIMUM = Operation("minimum", 2, least, RULES, function="min", activations=1)


class Least(Cell):
    """A state that is never more than what its gates propose: h_t = min(z ∘ n, h), 2·h(m + h + 1)."""

    kind = "least"

    def gates(self, inputs: int) -> tuple[Gate, ...]:
        reads = Product("x"), Product("h")
        return (
            Gate("z", "sigmoid", reads, "gate", "how much of it counts"),
            Gate("n", "tanh", reads, "candidate", "what is proposed"),
        )

    def step(self, ops: Operations[Value], x: Value, state: tuple[Value, ...]) -> tuple[Value, tuple[Value, ...]]:
        (h,) = state
        h = ops.minimum(ops.times(ops.gate("z", x=x, h=h), ops.gate("n", x=x, h=h)), h)
        return h, (h,)


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the row, and the line in the list of kinds, do."""
    monkeypatch.setitem(OPERATIONS, "minimum", MINIMUM)
    monkeypatch.setitem(KINDS, "least", Least)


NETWORK = Network(input=4, layers=[Least(3)], steps=5, topology="many-to-many")
FLAGS = ("-i", 4, "-l", "least:3", "-T", 5, "--topology", "many-to-many")


def test_its_widths_are_checked() -> None:
    """As those of any operation of two vectors; and it must be given two."""

    def wrong(step: Any) -> Cell:
        return type("Wrong", (Least,), {"step": step})(3)  # type: ignore[no-any-return]

    with pytest.raises(DeclarationError, match="least: vectors of the widths h and m meet"):
        traced(wrong(lambda self, ops, x, state: ops.minimum(state[0], x)), 4)
    with pytest.raises(DeclarationError, match=r"least: TypeError: ops.minimum takes 2 vectors, got 1 \(test_new_op"):
        traced(wrong(lambda self, ops, x, state: ops.minimum(x)), 4)
    with pytest.raises(DeclarationError, match=r"ops.minimun, and there is none; did you mean 'minimum'\?"):
        traced(wrong(lambda self, ops, x, state: ops.minimun(x, x)), 4)


def test_it_is_written(call: Call) -> None:
    """In text, LaTeX and MathML, in the words that they have for it."""
    assert "h_t = min(z_t ∘ n_t, h_(t−1))" in call("explain", *FLAGS).out
    latex = call("explain", *FLAGS, "-f", "latex").out
    assert r"&= \min(\underset{3}{z_{t}} \circ \underset{3}{n_{t}},\, \underset{3}{h_{t-1}})" in latex
    assert "<mi>min</mi>" in call("explain", *FLAGS, "-f", "html").out


def test_it_is_worked_by_hand(call: Call) -> None:
    """With the numbers in, the arguments worked out, then what it comes to; in mathematics too."""
    flags = ("-i", 1, "-l", "least:1", "-T", 1, "--seed", 3, "--work")
    lines = [line for line in call("run", *flags).out.splitlines() if line.startswith("h_1 = ")]
    assert lines == ["h_1 = min(0.6857·(−0.2729), 0) = min(−0.1871, 0) = −0.1871"]
    assert r"\min\left(-0.1871,\, 0\right)" in call("run", *flags, "-f", "latex").out
    assert "<mi>min</mi>" in call("run", *flags, "-f", "html").out


def test_it_is_run_forward_and_backward() -> None:
    """The numbers by hand; gradients are those of differences; what is saved and multiplied is counted from the row."""
    weights = {"least_1": {"W_xz": [[0.0]], "W_hz": [[0.0]], "b_z": [0.0], "W_xn": [[1.0]], "W_hn": [[0.0]]}}
    weights["least_1"]["b_n"] = [0.0]
    one = Network(input=1, layers=[Least(1)], steps=2, topology="many-to-many")
    done = run(one, weights=weights, inputs=[[0.5], [-20.0]])
    assert done.agrees
    assert done.layers[0].output == [[0.0], [-0.5]]
    assert run(NETWORK).agrees
    start = {"least_1": {"h": [0.3, -0.2, 0.1]}}
    back = backward(NETWORK, chunk=2, start=start)
    assert back.agrees
    # x, h before, z, n and z ∘ n at each of two steps
    assert back.layers[0].declared.saved == back.layers[0].seen.saved_read == 2 * (4 + 4 * 3)


def test_it_multiplies_no_matrix(call: Call) -> None:
    """What its gates multiply is counted as ever."""
    report = report_of(call, "count", *FLAGS)
    assert report["layers"][0]["multiply_adds"] == 5 * 2 * 3 * (4 + 3)


def test_it_is_drawn() -> None:
    """As a circle of its own, into which both values go."""
    (picture,) = Drawing(NETWORK, "cell").pictures()
    circuit = Circuit(picture)
    circuit.runs_clear()
    circuit.computes(Least(3), Numbers(Least(3), 4, Habits()))


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("pytorch", "h = torch.minimum(z * n, h)"),
        ("keras", "h = ops.minimum(z * n, h)"),
        ("flax-linen", "h = jnp.minimum(z * n, h)"),
        ("flax-nnx", "h = jnp.minimum(z * n, h)"),
    ],
)
def test_it_is_exported(target: str, line: str, call: Call) -> None:
    """By the name that all frameworks have for it."""
    program = call("export", *FLAGS, "--to", target).out
    assert line in [each.strip() for each in program.splitlines()]
    assert target == "pytorch" or line.split("= ")[1].split(".")[0] in program.split("class ")[0]


def test_half_a_row_is_refused_or_objected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a gradient it is none; half a gradient is seen to be wrong."""
    with pytest.raises(DeclarationError, match="operation minimum: gradients: expected one for each operand, 2, got 1"):
        MINIMUM.replace(gradients=MINIMUM.gradients[:1])
    with pytest.raises(DeclarationError, match=r"2, got 0 \(test_new_operation.py, line [0-9]+\)$"):
        MINIMUM.replace(gradients=(None, None))
    (layer,) = backward(NETWORK).layers
    assert layer.seen.saved_read == layer.declared.saved == 5 * (4 + 4 * 3)
    halved = tuple([GradientRule(lambda slope: [each / 2 for each in slope], rule) for rule in RULES])
    monkeypatch.setitem(OPERATIONS, "minimum", MINIMUM.replace(gradients=halved))
    assert not backward(NETWORK).agrees
