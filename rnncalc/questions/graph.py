"""The graph of a step: the reader that says what flows from where to where in a cell, once for each operation.

`symbols.py` writes a step as equations, in which a gate is spelled out and sums are flat; here a gate is one node, with
what it reads. Knows no rule of any cell, and says nothing of how a graph is drawn.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from rnncalc.layers.cell import Activation, Cell, Habits
from rnncalc.questions.notation import Letter, letters_of


class Does(Enum):
    """What a node is.

    INPUT: x. BEFORE: a state of the step before. GATE: the sum of a gate's products and biases, through its activation.
    PART: the part of a gate's sum that reads these. THROUGH: a gate whose sum was made by hand. MATRIX: a product with
    a matrix beside the gates. SCALAR: a trained number. APPLIED: an activation that is no gate's.
    """

    INPUT = "input"
    BEFORE = "before"
    GATE = "gate"
    PART = "part"
    THROUGH = "through"
    MATRIX = "matrix"
    SCALAR = "scalar"
    APPLIED = "applied"
    PLUS = "plus"
    TIMES = "times"
    OVER = "over"
    SCALED = "scaled"
    COMPLEMENT = "complement"


class Node(NamedTuple):
    """One operation of a step.

    operands: the places of the nodes it works on. weights: by which a gate, a part of one or a matrix multiplies each.
    letter: of a gate, of weights beside the gates, or of what is read. activation: what the outcome goes through.
    """

    does: Does
    operands: tuple[int, ...] = ()
    letter: str = ""
    weights: tuple[Letter, ...] = ()
    activation: str = "linear"


class Graph(NamedTuple):
    """The nodes of one step, each after those it works on; equal operations on equal operands are one node.

    before, after: the places of each state's nodes, of the step before and of this one. output: what is handed on.
    """

    nodes: tuple[Node, ...]
    before: dict[str, int]
    after: dict[str, int]
    output: int


def graph(layer: Cell, inputs: int, habits: Habits) -> Graph:
    """Return the graph of one step of a cell that reads `inputs` features, under a convention's habits."""
    nodes = _Nodes(layer, inputs, habits)
    x = nodes.place(Node(Does.INPUT, letter="x"))
    before = {letter: nodes.place(Node(Does.BEFORE, letter=letter)) for letter in layer.states}
    output, after = layer.step(nodes, x, tuple(before.values()))
    return Graph(tuple(nodes.places), before, dict(zip(layer.states, after, strict=True)), output)


class _Nodes:
    """The operations of a step on places of nodes; `places` are the nodes in the order they were made."""

    def __init__(self, layer: Cell, inputs: int, habits: Habits) -> None:
        self.layer = layer
        self.habits = habits
        self.gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.letters = letters_of(layer, inputs)
        self.places: dict[Node, int] = {}

    def place(self, node: Node) -> int:
        """Return where a node is, which is made where there is none like it."""
        return self.places.setdefault(node, len(self.places))

    def gate(self, letter: str, **reads: int) -> int:
        activation = self.gates[letter].activation
        return self.place(Node(Does.GATE, (*reads.values(),), letter, self._weights(letter, reads), activation))

    def sum(self, letter: str, **reads: int) -> int:
        return self.place(Node(Does.PART, (*reads.values(),), letter, self._weights(letter, reads)))

    def _weights(self, gate: str, reads: dict[str, int]) -> tuple[Letter, ...]:
        """Return what a gate multiplies each by, in the letters of equations."""
        found = {product.of: product for product in self.gates[gate].products}
        return tuple(self.letters.product(gate, found[of]) for of in reads)

    def through(self, letter: str, total: int) -> int:
        return self.place(Node(Does.THROUGH, (total,), letter, activation=self.gates[letter].activation))

    def has(self, letter: str) -> bool:
        return letter in self.gates

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: Activation | str, vector: int) -> int:
        return vector if activation == "linear" else self.place(Node(Does.APPLIED, (vector,), activation=activation))

    def product(self, letter: str, vector: int) -> int:
        return self.place(Node(Does.MATRIX, (vector,), letter, (self.letters.beside(letter),)))

    def scalar(self, letter: str) -> int:
        return self.place(Node(Does.SCALAR, letter=letter, activation=self.weights[letter].activation))

    def plus(self, left: int, right: int) -> int:
        return self.place(Node(Does.PLUS, (left, right)))

    def times(self, left: int, right: int) -> int:
        return self.place(Node(Does.TIMES, (left, right)))

    def over(self, left: int, right: int) -> int:
        return self.place(Node(Does.OVER, (left, right)))

    def blend(self, gate: int, where_one: int, where_zero: int) -> int:
        return self.plus(self.times(gate, where_one), self.times(self.complement(gate), where_zero))

    def complement(self, vector: int) -> int:
        return self.place(Node(Does.COMPLEMENT, (vector,)))

    def scale(self, scalar: int, vector: int) -> int:
        return self.place(Node(Does.SCALED, (scalar, vector)))

    def half(self, vector: int) -> int:
        return vector

    def shift(self, vector: int, scalar: int) -> int:
        return self.plus(vector, scalar)
