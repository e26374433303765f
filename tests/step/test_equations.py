"""The equations that are written are those that are run: evaluated with numbers, they give every gate and state.

In every notation, from the printed text alone, with weights that are cut out and turned here by hand.
"""

import re
from collections.abc import Callable
from itertools import combinations
from math import exp, sqrt, tanh
from operator import add, mul, sub, truediv
from random import Random
from statistics import fmean, pvariance
from typing import Any

import pytest
from cells import CELLS, STEPS, M, cases, network

from rnncalc import GRU, LSTM, Cell, Network
from rnncalc.conventions import convention
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.forward.arrays import Arrays, Matrix, filled, floats
from rnncalc.forward.bindings import binding
from rnncalc.forward.network_pass import Pass
from rnncalc.reports.equations import Term, line_of, plain
from rnncalc.step.equations import Formula, equations, symbols
from rnncalc.step.trace import trace

Vector = list[float]

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "σ": lambda x: 1 / (1 + exp(-x)),
    "tanh": tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
}
TOKEN = re.compile(r"[A-Za-zγζνσ]+(?:_\([^)]*\)|_\w+)?\(?|[()1\[\]]| [+−∘·/] |, | ")


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
            if token == "norm(":
                mean = fmean(inside)
                return [(x - mean) / sqrt(pvariance(inside) + 0.001) for x in inside]
            return self.applied([FUNCTIONS[token[:-1]](number) for number in inside] if token != "(" else inside)
        return self.applied(self.stack() if token == "[" else self.names[token])

    def stack(self) -> Vector:
        """Return vectors one after the other."""
        whole = self.sum()
        while (token := self.tokens.pop(0)) == ", ":
            whole = [*whole, *self.sum()]
        assert token == "]"
        return whole

    def applied(self, value: Any) -> Vector:
        """Return a matrix times the column behind it, a row times the matrix behind it, or the vector alone."""
        if self.peek() != " ":
            return value  # type: ignore[no-any-return]  # a vector, or a matrix that the row before it uses
        self.tokens.pop(0)
        behind: Any = self.factor()
        if isinstance(value[0], list):
            return [sum(w * x for w, x in zip(row, behind, strict=True)) for row in value]
        assert isinstance(behind[0], list)
        return [sum(w * x for w, x in zip(column, value, strict=True)) for column in zip(*behind, strict=True)]


@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_the_written_equations_give_what_the_pass_gives(name: str, notation: str) -> None:
    """Every gate and every state at every step, for each cell, option, convention and notation."""
    only = NOTATION_BY_NAME[notation].only
    mine = [case for case in cases() if case[0] == name and only in ("", case[3]) and (case[1] > M or not case[2])]
    assert only or len(mine) > 4
    for _, units, options, convention_name in mine:
        check(network(name, units, options, convention_name), notation)


def check(net: Network, notation: str) -> None:
    (placed,) = net.stack
    layer = placed.layer
    assert isinstance(layer, Cell)
    number = Random(0).random
    weights = {tensor.name: filled(tensor, 1.0, number) for tensor in placed.tensors}
    inputs = [[2 * number() - 1 for _ in range(M)] for _ in range(STEPS)]
    (ran,) = Pass(net, floats, weights={placed.name: weights}, inputs={None: inputs}, traced=True).run()
    assert ran.agrees
    names = bound(net, weights)
    names |= SPELLED[notation](layer, names)
    written_in = NOTATION_BY_NAME[notation]
    step = trace(layer, M, convention(net.convention))
    lines = [line_of(each, placed.sizes, written_in.rows) for each in equations(step, written_in)]
    for x, seen, handed in zip(inputs, ran.traces[0].steps, ran.output, strict=True):
        names["x_t"] = x
        for line in map(plain, lines):
            left, _, right = line.partition(" = ")
            names[left] = Evaluator(right, names).sum()
            if left.startswith("a_"):
                names |= parts(layer, left, names[left])
        shown = {piece.name: piece.shape for line in lines for piece in line if isinstance(piece, Term) and piece.shape}
        assert shown == {name: shape(names[name], written_in.rows) for name in shown}
        assert names["h_t"] == pytest.approx(handed, abs=1e-12)
        for letter, values in seen.items():
            assert names[f"{letter}_t"] == pytest.approx(values, abs=1e-12), lines
        for state in layer.states:
            names[f"{state}_(t−1)"] = names[f"{state}_t"]


def shape(value: Any, rows: bool) -> tuple[int, ...]:
    if isinstance(value[0], list):
        return len(value), len(value[0])
    return (1, len(value)) if rows else (len(value),)


def turned(matrix: Any) -> Any:
    return [[*column] for column in zip(*matrix, strict=True)] if isinstance(matrix[0], list) else matrix


def u_and_w(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return U_z for W_xz and W_z for W_hz, or W_cz where c is the memory; of one gate alone, U, W and b."""
    past = next(iter(layer.states))
    found = {f"U_{name[3:]}": value for name, value in names.items() if name.startswith("W_x")}
    found |= {f"W_{name[3:]}": value for name, value in names.items() if name.startswith(f"W_{past}")}
    found |= {f"W_h{each.letter}": names[f"W_h{each.letter}"] for each in layer.weights if len(each.widths) == 2}
    if len(layer.gates(M)) == 1:
        found = {name[0]: value for name, value in found.items()}
        found |= {"b": names["b_h"]} if "b_h" in names else {}
        found |= {"b_x": names["b_xh"], "b_h": names["b_hh"]} if "b_xh" in names else {}
        found |= {"γ": names["γ_h"]} if "γ_h" in names else {}
    return {name.rstrip("_"): value for name, value in found.items()}


def rows(_: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return every matrix with its columns for rows."""
    return {name: turned(value) for name, value in names.items() if name[0] in "wW"}


def stacked(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return beside those the matrix of h above that of x for each gate, or for those that share it."""
    matrices = rows(layer, names)
    both = [name[3:] for name in matrices if name.startswith("W_x") and f"W_h{name[3:]}" in matrices]
    one = {f"W_{gates}".rstrip("_"): matrices[f"W_h{gates}"] + matrices[f"W_x{gates}"] for gates in both}
    return matrices | one


def stacked_gates(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return beside those the matrices and biases of several gates side by side."""
    matrices = stacked(layer, names)
    gates = [gate.letter for gate in layer.gates(M)]
    found: dict[str, Any] = {}
    for group in (group for size in range(2, len(gates) + 1) for group in combinations(gates, size)):
        below = f"_{''.join(group)}" if len(group) < len(gates) else ""
        for stem in ("W_", "W_x"):
            of_gates = [matrices.get(f"{stem}{gate}", [0.0]) for gate in group]
            if all(isinstance(row, list) for rows in of_gates for row in rows):
                of_rows = zip(*of_gates, strict=True)
                found.setdefault(f"W{below}", [[number for row in rows for number in row] for rows in of_rows])
        for of in ("", "x", "h"):
            if {f"b_{of}{gate}" for gate in group} <= {*names}:
                name = f"b{below}" if not of else f"b_{of}{below[1:]}"
                found[name] = [number for gate in group for number in names[f"b_{of}{gate}"]]
    return matrices | found


def parts(layer: Cell, name: str, numbers: Vector) -> dict[str, Any]:
    """Return of the sums of several gates those of each."""
    gates = [gate.letter for gate in layer.gates(M)] if name == "a_t" else [*name[2:]]
    size = len(numbers) // len(gates)
    return {f"a_{gate}": numbers[size * place : size * (place + 1)] for place, gate in enumerate(gates)}


def pytorch(_: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return W_iz for W_xz and b_iz for b_xz, and W_hr for the projection."""
    inputs = {f"{name[:2]}i{name[3:]}": value for name, value in names.items() if name[:3] in ("W_x", "b_x")}
    return inputs | ({"W_hr": names["W_hp"]} if "W_hp" in names else {})


SPELLED = {
    "w": lambda layer, names: {},
    "uvw": u_and_w,
    "rows": rows,
    "stacked": stacked,
    "stacked-gates": stacked_gates,
    "pytorch": pytorch,
}


def bound(net: Network, weights: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of each letter, by the binding that is written by hand."""
    (placed,) = net.stack
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
        if gate.normalised:
            names[f"γ_{gate.letter}"] = of.gain(gate.letter).numbers
    for weight in layer.weights:
        if len(weight.widths) == 2:
            names[f"W_h{weight.letter}"] = of.matrix(weight.letter).rows
        else:
            letter = {"zeta": "ζ", "nu": "ν", "gamma_c": "γ_c", "b_c": "b_c"}[weight.letter]
            names[letter] = of.vector(weight.letter).numbers
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
            "lstm",
            {"coupled": True},
            "textbook",
            [
                "f_t = σ(W_xf x_t + W_hf h_(t−1) + b_f)",
                "g_t = tanh(W_xg x_t + W_hg h_(t−1) + b_g)",
                "o_t = σ(W_xo x_t + W_ho h_(t−1) + b_o)",
                "c_t = f_t ∘ c_(t−1) + (1 − f_t) ∘ g_t",
                "h_t = o_t ∘ tanh(c_t)",
            ],
        ),
        ("rnn", {"layer_norm": True}, "textbook", ["h_t = tanh(γ_h ∘ norm(W_xh x_t + W_hh h_(t−1)) + b_h)"]),
        (
            "gru",
            {"layer_norm": True, "reset_gate": False, "bias": False},
            "textbook",
            [
                "z_t = σ(γ_z ∘ norm(W_xz x_t + W_hz h_(t−1)))",
                "n_t = tanh(γ_n ∘ norm(W_xn x_t + W_hn h_(t−1)))",
                "h_t = z_t ∘ h_(t−1) + (1 − z_t) ∘ n_t",
            ],
        ),
        (
            "lstm",
            {"layer_norm": True, "output_gate": False, "coupled": True},
            "textbook",
            [
                "f_t = σ(γ_f ∘ norm(W_xf x_t + W_hf h_(t−1)) + b_f)",
                "g_t = tanh(γ_g ∘ norm(W_xg x_t + W_hg h_(t−1)) + b_g)",
                "c_t = f_t ∘ c_(t−1) + (1 − f_t) ∘ g_t",
                "h_t = tanh(γ_c ∘ norm(c_t) + b_c)",
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
    (placed,) = network(name, 4, options, convention_name).stack
    assert isinstance(placed.layer, Cell)
    step = trace(placed.layer, M, convention(convention_name))
    assert [plain(line_of(each, placed.sizes)) for each in equations(step)] == lines


@pytest.mark.parametrize(
    ("notation", "name", "options", "convention_name", "lines"),
    [
        ("uvw", "rnn", {}, "textbook", ["h_t = tanh(U x_t + W h_(t−1) + b)"]),
        ("uvw", "rnn", {}, "pytorch", ["h_t = tanh(U x_t + b_x + W h_(t−1) + b_h)"]),
        ("uvw", "mgu", {"bias": False}, "textbook", ["f_t = σ(U_f x_t + W_f h_(t−1))"]),
        ("pytorch", "rnn", {}, "pytorch", ["h_t = tanh(W_ih x_t + b_ih + W_hh h_(t−1) + b_hh)"]),
        ("rows", "rnn", {}, "keras", ["h_t = tanh(x_t W_xh + h_(t−1) W_hh + b_h)"]),
        ("stacked", "rnn", {}, "textbook", ["h_t = tanh([h_(t−1), x_t] W_h + b_h)"]),
        (
            "stacked",
            "gru",
            {},
            "textbook",
            [
                "z_t = σ([h_(t−1), x_t] W_z + b_z)",
                "r_t = σ([h_(t−1), x_t] W_r + b_r)",
                "n_t = tanh([r_t ∘ h_(t−1), x_t] W_n + b_n)",
            ],
        ),
        ("stacked", "gru", {}, "pytorch", ["z_t = σ([h_(t−1), x_t] W_z + b_xz + b_hz)"]),
        ("stacked", "rnn", {"recurrence": "diagonal"}, "textbook", ["h_t = tanh(x_t W_xh + W_hh ∘ h_(t−1) + b_h)"]),
        ("stacked", "fastgrnn", {}, "textbook", ["z_t = σ([h_(t−1), x_t] W + b_z)"]),
        ("stacked", "lstm", {"peepholes": True}, "textbook", ["i_t = σ([h_(t−1), x_t] W_i + w_ci ∘ c_(t−1) + b_i)"]),
        (
            *("stacked-gates", "lstm", {}, "pytorch"),
            [
                "a_t = [h_(t−1), x_t] W + b_x + b_h",
                *("i_t = σ(a_i)", "f_t = σ(a_f)", "g_t = tanh(a_g)", "o_t = σ(a_o)"),
                "c_t = f_t ∘ c_(t−1) + i_t ∘ g_t",
                "h_t = o_t ∘ tanh(c_t)",
            ],
        ),
        (
            *("stacked-gates", "lstm", {"peepholes": True, "layer_norm": True, "projection": 2}, "textbook"),
            [
                "a_t = [h_(t−1), x_t] W",
                "i_t = σ(γ_i ∘ norm(a_i + w_ci ∘ c_(t−1)) + b_i)",
                "f_t = σ(γ_f ∘ norm(a_f + w_cf ∘ c_(t−1)) + b_f)",
                "g_t = tanh(γ_g ∘ norm(a_g) + b_g)",
                "c_t = f_t ∘ c_(t−1) + i_t ∘ g_t",
                "o_t = σ(γ_o ∘ norm(a_o + w_co ∘ c_t) + b_o)",
                "h_t = (o_t ∘ tanh(γ_c ∘ norm(c_t) + b_c)) W_hp",
            ],
        ),
        (
            *("stacked-gates", "gru", {}, "keras"),
            [
                "a_zr = [h_(t−1), x_t] W_zr + b_xzr + b_hzr",
                *("z_t = σ(a_z)", "r_t = σ(a_r)"),
                "n_t = tanh(x_t W_xn + b_xn + r_t ∘ (h_(t−1) W_hn + b_hn))",
            ],
        ),
        (
            *("stacked-gates", "gru", {}, "textbook"),
            [
                "a_zr = [h_(t−1), x_t] W_zr + b_zr",
                *("z_t = σ(a_z)", "r_t = σ(a_r)"),
                "n_t = tanh([r_t ∘ h_(t−1), x_t] W_n + b_n)",
            ],
        ),
        (
            *("stacked-gates", "sru", {}, "textbook"),
            [
                *("a_t = x_t W", "n_t = a_n"),
                *(f"{gate}_t = σ(a_{gate} + W_c{gate} ∘ c_(t−1) + b_{gate})" for gate in "fr"),
                *("s_t = a_s", "c_t = f_t ∘ c_(t−1) + (1 − f_t) ∘ n_t", "h_t = r_t ∘ c_t + (1 − r_t) ∘ s_t"),
            ],
        ),
        (
            *("stacked-gates", "fastgrnn", {}, "textbook"),
            [
                *("z_t = σ([h_(t−1), x_t] W + b_z)", "n_t = tanh([h_(t−1), x_t] W + b_n)"),
                "h_t = (σ(ζ) · (1 − z_t) + σ(ν)) ∘ n_t + z_t ∘ h_(t−1)",
            ],
        ),
        (
            *("stacked", "gru", {}, "keras"),
            [
                *(f"{gate}_t = σ([h_(t−1), x_t] W_{gate} + b_x{gate} + b_h{gate})" for gate in "zr"),
                "n_t = tanh(x_t W_xn + b_xn + r_t ∘ (h_(t−1) W_hn + b_hn))",
            ],
        ),
    ],
)
def test_notations_as_books_have_them(
    notation: str, name: str, options: dict[str, Any], convention_name: str, lines: list[str]
) -> None:
    """U, W and V as in Goodfellow et al., rows as in Zhang et al., [h, x] as in Olah; the first lines of each."""
    (placed,) = network(name, 4, options, convention_name).stack
    assert isinstance(placed.layer, Cell)
    of = NOTATION_BY_NAME[notation]
    step = trace(placed.layer, M, convention(convention_name))
    found = [plain(line_of(each, placed.sizes, of.rows)) for each in equations(step, of)]
    assert found[: len(lines)] == lines


def test_the_axes_of_what_is_written() -> None:
    """Gates side by side are as wide as all of them, and one part of them is as wide as one gate."""
    step = trace(GRU(3), M, convention("keras"))
    sums, z, *_ = equations(step, NOTATION_BY_NAME["stacked-gates"])

    def axes(formula: Formula) -> dict[str, tuple[Any, ...]]:
        return {f"{each.letter}_{each.subscript}": each.axes for each in symbols(formula)}

    assert axes(sums.left) == {"a_zr": ("h+h",)}
    assert axes(sums.right) == {
        "h_": ("h",),
        "x_": ("m",),
        "W_zr": ("h+h", "h+m"),
        "W_hz": ("h", "h"),  # beside the products that it replaces
        "W_xz": ("h", "m"),
        "b_xzr": ("h+h",),
        "b_hzr": ("h+h",),
    }
    assert (axes(z.left), axes(z.right)) == ({"z_": ("h",)}, {"a_z": ("h",)})


def test_nothing_stands_for_an_activation_that_does_nothing() -> None:
    """A cell state that goes through none is written as it is."""
    step = trace(LSTM(2, activation="linear"), M, convention("textbook"))
    lines = [plain(line_of(each, {"h": 2, "m": M})) for each in equations(step)]
    assert lines[2:] == ["g_t = W_xg x_t + W_hg h_(t−1) + b_g", "o_t = σ(W_xo x_t + W_ho h_(t−1) + b_o)", *LINEAR]


def test_a_value_of_two_names_is_spelled_out_once() -> None:
    """An LSTM that outputs its cell state as it is."""
    step = trace(LSTM(2, activation="linear", output_gate=False), M, convention("textbook"))
    lines = [plain(line_of(each, {"h": 2, "m": M})) for each in equations(step)]
    assert lines[3:] == ["c_t = f_t ∘ c_(t−1) + i_t ∘ g_t", "h_t = c_t"]


LINEAR = ["c_t = f_t ∘ c_(t−1) + i_t ∘ g_t", "h_t = o_t ∘ c_t"]
