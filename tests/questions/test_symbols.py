"""The equations that are written are those that are run: evaluated with numbers, they give every gate and state."""

import re
from collections.abc import Callable
from itertools import product
from math import exp, tanh
from operator import add, mul, sub, truediv
from random import Random
from typing import Any

import pytest

from rnncalc import Cell, Network, SpecError
from rnncalc.conventions.catalogue import CONVENTIONS, convention
from rnncalc.forward.arrays import Arrays, Matrix, filled
from rnncalc.forward.bindings import binding
from rnncalc.forward.floats import floats
from rnncalc.forward.network_pass import Pass
from rnncalc.layers.kinds import KINDS, kind
from rnncalc.questions.symbols import equations
from rnncalc.reports.equations import plain, written

Vector = list[float]
M, STEPS = 3, 3

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "σ": lambda x: 1 / (1 + exp(-x)),
    "tanh": tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
}
TOKEN = re.compile(r"[A-Za-zζνσ]+(?:_\([^)]*\)|_\w+)?\(?|[()1]| [+−∘·/] | ")


class Evaluator:
    """A reading of the printed text by a grammar of its own: sums of products of factors."""

    def __init__(self, text: str, names: dict[str, Any]) -> None:
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens) == text
        self.names = names

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def sum(self) -> Vector:
        total = self.product()
        while self.peek() in (" + ", " − "):
            of = add if self.tokens.pop(0) == " + " else sub
            total = self.each(of, total, self.product())
        return total

    def product(self) -> Vector:
        total = self.factor()
        while self.peek() in (" ∘ ", " · ", " / "):
            of = truediv if self.tokens.pop(0) == " / " else mul
            total = self.each(of, total, self.factor())
        return total

    @staticmethod
    def each(of: Callable[[float, float], float], left: Vector, right: Vector) -> Vector:
        """Return what comes of each pair; a number of its own meets every number of a vector."""
        width = max(len(left), len(right))
        assert {len(left), len(right)} <= {1, width}
        wide = (vector * width if len(vector) == 1 else vector for vector in (left, right))
        return [of(a, b) for a, b in zip(*wide, strict=True)]

    def factor(self) -> Vector:
        token = self.tokens.pop(0)
        if token == "1":
            return [1.0]
        if token.endswith("("):
            inside = self.sum()
            assert self.tokens.pop(0) == ")"
            return [FUNCTIONS[token[:-1]](number) for number in inside] if token != "(" else inside
        value: Any = self.names[token]
        if self.peek() == " ":
            self.tokens.pop(0)
            vector = self.factor()
            return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in value]
        return value  # type: ignore[no-any-return]  # a vector, or a matrix that the line above has used


OPTIONS: dict[str, tuple[Any, ...]] = {
    "bias": (False,),
    "activation": ("relu", "linear", "sigmoid"),
    "recurrence": ("diagonal",),
    "reset_after": (False, True),
    "reset_gate": (False,),
    "update_gate": ("replaces",),
    "projection": (2,),
    "peepholes": (True,),
    "output_gate": (False,),
    "learned_state": (True,),
}
CELLS = [name for name in KINDS if issubclass(kind(name), Cell)]


def cases() -> list[tuple[str, int, dict[str, Any], str]]:
    """Return every cell with each of its options alone, and two together, under every convention that has it."""
    found = []
    for name, units in product(CELLS, (3, 4)):
        fields = kind(name).fields
        single = [{option: value} for option, values in OPTIONS.items() if option in fields for value in values]
        pairs = [first | second for first in single for second in single if [*first] < [*second]]
        for options, convention_name in product([{}, *single, *pairs], CONVENTIONS):
            try:
                network(name, units, options, convention_name)
            except SpecError:
                continue
            found.append((name, units, options, convention_name))
    return found


def network(name: str, units: int, options: dict[str, Any], convention_name: str) -> Network:
    of = kind(name)
    layer = of(**{"units": units, **options})
    return Network(input=M, layers=[layer], steps=STEPS, topology="many-to-many", convention=convention_name)


@pytest.mark.parametrize("name", CELLS)
def test_the_written_equations_give_what_the_pass_gives(name: str) -> None:
    """Every gate and every state at every step, for each cell, option and convention, from the printed text."""
    mine = [case for case in cases() if case[0] == name]
    assert len(mine) > 5
    for _, units, options, convention_name in mine:
        check(network(name, units, options, convention_name))


def check(net: Network) -> None:
    (placed,) = net.placed
    layer = placed.layer
    assert isinstance(layer, Cell)
    number = Random(0).random
    weights = {tensor.name: filled(tensor, 1.0, number) for tensor in placed.tensors}
    inputs = [[2 * number() - 1 for _ in range(M)] for _ in range(STEPS)]
    (ran,) = Pass(net, floats, weights={placed.name: weights}, inputs={None: inputs}, traced=True).run()
    assert ran.agrees
    names = bound(net, weights)
    arrays = convention(net.convention).arrays(layer.kind)
    assert arrays is not None
    lines = [plain(written(each, placed.sizes)) for each in equations(layer, M, arrays)]
    for x, seen, handed in zip(inputs, ran.traces[0].steps, ran.output, strict=True):
        names["x_t"] = x
        for line in lines:
            left, _, right = line.partition(" = ")
            names[left] = Evaluator(right, names).sum()
        assert names["h_t"] == pytest.approx(handed, abs=1e-12)
        for letter, values in seen.items():
            assert names[f"{letter}_t"] == pytest.approx(values, abs=1e-12), lines
        for state in layer.states:
            names[f"{state}_(t−1)"] = names[f"{state}_t"]


def bound(net: Network, weights: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of each letter, by the binding that is written by hand."""
    (placed,) = net.placed
    layer = placed.layer
    assert isinstance(layer, Cell)
    of = binding(net.convention).cell(Arrays(weights, placed.tensors), layer, M, False)
    names: dict[str, Any] = {}
    for gate in layer.gates(M):
        for each in gate.products:
            held = of.product(gate.letter, each.of)
            letters = gate.letter if each.matrix is None else each.matrix
            value = held.rows if isinstance(held, Matrix) else held.numbers
            for stem in ("W", "w"):
                names[f"{stem}_{each.of}{letters}"] = value
        sides = {side: of.bias(gate.letter, side) for side in ("input", "recurrent")}
        there = {side: bias.numbers for side, bias in sides.items() if bias}
        if len(there) == 2:
            names |= {f"b_x{gate.letter}": there["input"], f"b_h{gate.letter}": there["recurrent"]}
        elif there:
            names[f"b_{gate.letter}"] = next(iter(there.values()))
    for weight in layer.weights:
        if weight.widths:
            names[f"W_h{weight.letter}"] = of.matrix(weight.letter).rows
        else:
            names[{"zeta": "ζ", "nu": "ν"}[weight.letter]] = of.scalar(weight.letter).numbers
    for state, width in layer.states.items():
        zeros = [0.0] * placed.sizes[width]
        names[f"{state}_(t−1)"] = of.state(state).numbers if layer.learned_state else zeros
    return names


@pytest.mark.parametrize(
    ("name", "options", "convention_name", "lines"),
    [
        ("rnn", {}, "textbook", ["h_t = tanh(W_xh x_t + W_hh h_(t−1) + b_h)"]),
        ("rnn", {}, "pytorch", ["h_t = tanh(W_xh x_t + b_xh + W_hh h_(t−1) + b_hh)"]),
        (
            "gru",
            {},
            "textbook",
            [
                "z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)",
                "r_t = σ(W_xr x_t + W_hr h_(t−1) + b_r)",
                "n_t = tanh(W_xn x_t + W_hn (r_t ∘ h_(t−1)) + b_n)",
                "h_t = z_t ∘ h_(t−1) + (1 − z_t) ∘ n_t",
            ],
        ),
        (
            "gru",
            {"update_gate": "replaces", "reset_after": True, "reset_gate": True},
            "textbook",
            [
                "z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)",
                "r_t = σ(W_xr x_t + W_hr h_(t−1) + b_r)",
                "n_t = tanh(W_xn x_t + b_n + r_t ∘ (W_hn h_(t−1)))",
                "h_t = z_t ∘ n_t + (1 − z_t) ∘ h_(t−1)",
            ],
        ),
        (
            "lstm",
            {"peepholes": True, "projection": 2},
            "textbook",
            [
                "i_t = σ(W_xi x_t + W_hi h_(t−1) + w_ci ∘ c_(t−1) + b_i)",
                "f_t = σ(W_xf x_t + W_hf h_(t−1) + w_cf ∘ c_(t−1) + b_f)",
                "g_t = tanh(W_xg x_t + W_hg h_(t−1) + b_g)",
                "c_t = f_t ∘ c_(t−1) + i_t ∘ g_t",
                "o_t = σ(W_xo x_t + W_ho h_(t−1) + w_co ∘ c_t + b_o)",
                "h_t = W_hp (o_t ∘ tanh(c_t))",
            ],
        ),
        (
            "fastgrnn",
            {},
            "textbook",
            [
                "z_t = σ(W_x x_t + W_h h_(t−1) + b_z)",
                "n_t = tanh(W_x x_t + W_h h_(t−1) + b_n)",
                "h_t = (σ(ζ) · (1 − z_t) + σ(ν)) ∘ n_t + z_t ∘ h_(t−1)",
            ],
        ),
    ],
)
def test_equations_as_textbooks_and_frameworks_write_them(
    name: str, options: dict[str, Any], convention_name: str, lines: list[str]
) -> None:
    """Against the papers, and the formulas in PyTorch's documentation."""
    (placed,) = network(name, 4, options, convention_name).placed
    assert isinstance(placed.layer, Cell)
    arrays = convention(convention_name).arrays(name)
    assert arrays is not None
    assert [plain(written(each, placed.sizes)) for each in equations(placed.layer, M, arrays)] == lines
