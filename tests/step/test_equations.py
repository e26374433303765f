"""The equations that are written are those that are run: evaluated with numbers, they give every gate and state.

In every notation, from the printed text alone, with weights that are cut out and turned here by hand.
"""

import re
from collections.abc import Callable
from itertools import combinations
from math import exp, sqrt, tanh
from operator import add, mul, sub, truediv
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Any

import pytest
import yaml
from cells import CELLS, STEPS, M, network, spelled

from rnncalc import GRU, Cell, Network
from rnncalc.conventions import convention
from rnncalc.conventions.notation import NOTATION_BY_NAME
from rnncalc.forward.arrays import Arrays, Matrix, filled, floats
from rnncalc.forward.bindings import binding
from rnncalc.forward.network_pass import Pass
from rnncalc.layers.cell import Form
from rnncalc.step.equations import Formula, equations, symbols
from rnncalc.step.trace import trace
from rnncalc.typeset.equations import Term, line_of, plain

Vector = list[float]

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "σ": lambda x: 1 / (1 + exp(-x)),
    "tanh": tanh,
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * NormalDist().cdf(x),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "hard_sigmoid": lambda x: min(1.0, max(0.0, x / 6 + 1 / 2)),
    "hard_sigmoid_0.2": lambda x: min(1.0, max(0.0, x / 5 + 1 / 2)),
}
TOKEN = re.compile(r"hard_sigmoid(?:_0\.2)?\(|[A-Za-zγζνσ]+(?:_\([^)]*\)|_\w+)?\(?|[()1\[\]]| [+−∘·/] |[,;] | ")


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
        while (token := self.tokens.pop(0)) in (", ", "; "):
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


@pytest.mark.broad
@pytest.mark.parametrize("notation", NOTATION_BY_NAME)
@pytest.mark.parametrize("name", CELLS)
def test_the_written_equations_give_what_the_pass_gives(name: str, notation: str) -> None:
    """Every gate and every state at every step, for each cell, option, convention and notation."""
    mine = spelled(name, notation)
    assert len(mine) > 2 or NOTATION_BY_NAME[notation].only
    for _, units, options, convention_name in mine + [(name, M, *case[2:]) for case in mine if not case[2]]:
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
    lines = [line_of(each, placed.sizes, written_in) for each in equations(step, written_in)]
    for x, seen, handed in zip(inputs, ran.traces[0].steps, ran.output, strict=True):
        names["x_t"] = x
        for line in map(plain, lines):
            left, _, right = line.partition(" = ")
            names[left] = Evaluator(right, names).sum()
            if left.startswith("a_"):
                names |= parts(layer, left, names[left], "ifog" * (notation == "stacked-columns"))
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
    found |= {f"{name[0]}_{name[3:]}": value for name, value in names.items() if name[0] in "AB"}
    found |= {f"W_h{each.letter}": names[f"W_h{each.letter}"] for each in layer.weights if len(each.widths) == 2}
    if len(layer.gates(M)) == 1:
        found = {name[0]: value for name, value in found.items()}
        found |= {"b": names["b_h"]} if "b_h" in names else {}
        found |= {"b_x": names["b_xh"], "b_h": names["b_hh"]} if "b_xh" in names else {}
        found |= {"γ": names["γ_h"]} if "γ_h" in names else {}
    return {name.rstrip("_"): value for name, value in found.items()}


def rows(_: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return every matrix with its columns for rows."""
    return {name: turned(value) for name, value in names.items() if name[0] in "wWAB"}


def whole(layer: Cell) -> bool:
    """Return whether no recurrent matrix is in blocks, which are beside no other matrix."""
    return all(product.blocks == 1 for gate in layer.gates(M) for product in gate.products)


def columns(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return the matrix of h left of that of x for each gate, or for those that share it."""
    both = [name[3:] for name in names if name.startswith("W_x") and f"W_h{name[3:]}" in names and whole(layer)]
    return {
        f"W_{gates}".rstrip("_"): [[*h, *x] for h, x in zip(names[f"W_h{gates}"], names[f"W_x{gates}"], strict=True)]
        for gates in both
        if isinstance(names[f"W_h{gates}"][0], list)
    }


def stacked(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return beside those the matrix of h above that of x for each gate, or for those that share it."""
    matrices = rows(layer, names)
    both = [name[3:] for name in matrices if name.startswith("W_x") and f"W_h{name[3:]}" in matrices and whole(layer)]
    one = {f"W_{gates}".rstrip("_"): matrices[f"W_h{gates}"] + matrices[f"W_x{gates}"] for gates in both}
    return matrices | one


def stacked_gates(layer: Cell, names: dict[str, Any], order: str = "") -> dict[str, Any]:
    """Return beside those the matrices and biases of several gates side by side."""
    matrices = stacked(layer, names)
    gates = sorted([gate.letter for gate in layer.gates(M)], key=order.find)
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


def stacked_columns(layer: Cell, names: dict[str, Any]) -> dict[str, Any]:
    """Return those of `stacked_gates`, turned, with the gates of an LSTM in the order i, f, o, g."""
    return {name: turned(value) for name, value in stacked_gates(layer, names, "ifog").items()}


def parts(layer: Cell, name: str, numbers: Vector, order: str = "") -> dict[str, Any]:
    """Return of the sums of several gates those of each."""
    gates = [gate.letter for gate in layer.gates(M)] if name == "a_t" else [*name[2:]]
    gates.sort(key=order.find)
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
    "rows-in-cells": rows,
    "columns": columns,
    "stacked": stacked,
    "stacked-gates": stacked_gates,
    "stacked-columns": stacked_columns,
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
            letters = gate.letter if each.matrix is None else each.matrix
            if each.form is Form.RANK:
                for name, side in (("A", "left"), ("B", "right")):
                    names[f"{name}_h{letters}"] = of.factor(gate.letter, "h", side).rows
                continue
            held = of.product(gate.letter, each.vector)
            if isinstance(held, tuple):  # blocks along the diagonal, zeros elsewhere
                widths = [len(block.rows[0]) for block in held]
                before = [sum(widths[:number]) for number in range(len(held))]
                names[f"W_h{letters}"] = [
                    [0.0] * start + row + [0.0] * (sum(widths) - start - len(row))
                    for block, start in zip(held, before, strict=True)
                    for row in block.rows
                ]
                continue
            value = held.rows if isinstance(held, Matrix) else held.numbers
            for stem in ("W", "w"):
                names[f"{stem}_{each.vector}{letters}"] = value
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


def blocks() -> list[list[str]]:
    """Return the lines of each case of `equations.txt`: a cell, its options, a convention, a notation; equations."""
    text = Path(__file__).with_name("equations.txt").read_text(encoding="utf-8")
    return [block.splitlines() for block in text.strip().split("\n\n") if not block.startswith("#")]


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block[0])
def test_equations_as_books_and_frameworks_write_them(block: list[str]) -> None:
    """All of them, or the first ones if `...` follows."""
    (name, *words, convention_name, notation), *lines = block[0].split(), *block[1:]
    options = {key: yaml.safe_load(value) for key, _, value in (word.partition("=") for word in words)}
    (placed,) = network(name, 4, options, convention_name).stack
    assert isinstance(placed.layer, Cell)
    written_in = NOTATION_BY_NAME[notation]
    step = trace(placed.layer, M, convention(convention_name))
    shown = [plain(line_of(each, placed.sizes, written_in)) for each in equations(step, written_in)]
    assert ([*shown[: len(lines) - 1], "..."] if lines[-1] == "..." else shown) == lines


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
