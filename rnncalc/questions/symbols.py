"""The symbols of a step: the reader that writes a cell's equations, as a framework computes them.

A step that is read in symbols gives a graph; each gate and each state that comes out of it is one equation. Letters
are the textbook's under every convention: W_xz multiplies x in the gate z, b_xz and b_hz are the biases on either side
of a gate that has two, b_z the one of a gate that has one. Says nothing of how an equation is written down.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from rnncalc.conventions.arrays import CellArrays, Side
from rnncalc.conventions.cell_tensors import role_of, sides_of_biases, width_of
from rnncalc.conventions.tensor import Role
from rnncalc.layers.cell import Activation, Cell, Form


class Symbol(NamedTuple):
    """A letter with what stands below it, and the letters of its axes; time is `t`, `t−1` or nothing."""

    letter: str
    subscript: str = ""
    time: str = ""
    axes: tuple[str, ...] = ()


class Product(NamedTuple):
    """A matrix times a vector."""

    matrix: Symbol
    vector: Node


class Sum(NamedTuple):
    """A sum of vectors."""

    terms: tuple[Node, ...]


class Elementwise(NamedTuple):
    """The element-wise product of two vectors, or a trained number times a vector."""

    left: Node
    right: Node


class Quotient(NamedTuple):
    """The element-wise quotient of two vectors."""

    left: Node
    right: Node


class Complement(NamedTuple):
    """One minus a vector."""

    vector: Node


class Applied(NamedTuple):
    """An activation of a vector."""

    activation: str
    vector: Node


Node = Union[Symbol, Product, Sum, Elementwise, Quotient, Complement, Applied]  # noqa: UP007  refers to itself


class Equation(NamedTuple):
    """What one gate, one state or an output comes to."""

    left: Symbol
    right: Node


def equations(layer: Cell, inputs: int, arrays: CellArrays) -> tuple[Equation, ...]:
    """Return the equations of one step of a cell that reads `inputs` features, each after those it refers to."""
    symbols = _Symbols(layer, inputs, arrays)
    before = tuple(Symbol(letter, time="t−1", axes=(width,)) for letter, width in layer.states.items())
    output, after = layer.step(symbols, Symbol("x", time="t", axes=("m",)), before)
    named: dict[Symbol, Node] = {}
    for (letter, width), node in zip(layer.states.items(), after, strict=True):
        named[Symbol(letter, time="t", axes=(width,))] = node
    named.setdefault(Symbol("h", time="t", axes=(layer.output,)), output)
    symbols_of = {node: symbol for symbol, node in named.items() if node != symbol}
    lines = [Equation(left, _named(right, symbols_of)) for left, right in symbols.gates]
    ended = {each.left for each in lines}
    lines += [
        Equation(symbol, _named(node, {n: s for n, s in symbols_of.items() if n is not node}))
        for symbol, node in named.items()
        if symbol not in ended
    ]
    return tuple(_in_order(lines))


class _Symbols:
    """The operations of a step on nodes; `gates` are the gates that were made, in order."""

    def __init__(self, layer: Cell, inputs: int, arrays: CellArrays) -> None:
        self.layer = layer
        self.habits = arrays.habits
        self.declared = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.sides = sides_of_biases(layer, self.declared.values(), arrays)
        self.gates: list[tuple[Symbol, Node]] = []

    def gate(self, letter: str, **reads: Node) -> Node:
        total = self._terms(letter, reads)
        told = {_side(of) for of in reads}
        total += [self._bias(letter, side) for side in (Side.INPUT, Side.RECURRENT) if side not in told]
        return self.through(letter, _sum(total))

    def sum(self, letter: str, **reads: Node) -> Node:
        return _sum(self._terms(letter, reads))

    def _terms(self, letter: str, reads: dict[str, Node]) -> list[Node | None]:
        """Return the products of a gate with the biases on their sides; one bias alone stands last, as in textbooks."""
        terms: list[Node | None] = []
        biases: list[Node | None] = []
        told: set[Side] = set()
        both = self.sides.get(letter) is Side.BOTH
        for of, vector in reads.items():
            terms.append(self._product(letter, of, vector))
            if _side(of) not in told:
                told.add(_side(of))
                (terms if both else biases).append(self._bias(letter, _side(of)))
        return terms + biases

    def _product(self, letter: str, of: str, vector: Node) -> Node:
        (product,) = (each for each in self.declared[letter].products if each.of == of)
        index = f"{of}{letter if product.matrix is None else product.matrix}"
        if product.form is Form.DIAGONAL:
            letter = "W" if role_of(self.layer, product) is Role.RECURRENT else "w"
            return Elementwise(Symbol(letter, index, axes=("h",)), vector)
        return Product(Symbol("W", index, axes=("h", width_of(self.layer, of))), vector)

    def _bias(self, letter: str, side: Side) -> Node | None:
        here = self.sides.get(letter)
        if here is Side.BOTH:
            return Symbol("b", f"{'x' if side is Side.INPUT else 'h'}{letter}", axes=("h",))
        return Symbol("b", letter, axes=("h",)) if here is side else None

    def through(self, letter: str, total: Node) -> Node:
        symbol = Symbol(letter, time="t", axes=("h",))
        self.gates.append((symbol, self.activate(self.declared[letter].activation, total)))
        return symbol

    def has(self, letter: str) -> bool:
        return letter in self.declared

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: Activation | str, vector: Node) -> Node:
        return vector if activation == "linear" else Applied(activation, vector)

    def product(self, letter: str, vector: Node) -> Node:
        return Product(Symbol("W", f"h{letter}", axes=self.weights[letter].widths), vector)

    def scalar(self, letter: str) -> Node:
        return self.activate(self.weights[letter].activation, Symbol(letter))

    def plus(self, left: Node, right: Node) -> Node:
        return _sum([left, right])

    def times(self, left: Node, right: Node) -> Node:
        return Elementwise(left, right)

    def over(self, left: Node, right: Node) -> Node:
        return Quotient(left, right)

    def blend(self, gate: Node, where_one: Node, where_zero: Node) -> Node:
        return _sum([Elementwise(gate, where_one), Elementwise(Complement(gate), where_zero)])

    def complement(self, vector: Node) -> Node:
        return Complement(vector)

    def scale(self, scalar: Node, vector: Node) -> Node:
        return Elementwise(scalar, vector)

    def shift(self, vector: Node, scalar: Node) -> Node:
        return _sum([vector, scalar])


def _side(of: str) -> Side:
    return Side.INPUT if of == "x" else Side.RECURRENT


def _sum(terms: list[Node | None]) -> Node:
    flat: list[Node] = []
    for term in terms:
        if isinstance(term, Sum):
            flat += term.terms
        elif term is not None:
            flat.append(term)
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def _named(node: Node, symbols: dict[Node, Symbol]) -> Node:
    """Return the node with each part that has a symbol of its own replaced by it."""
    if node in symbols:
        return symbols[node]
    match node:
        case Symbol():
            return node
        case Sum():
            return Sum(tuple(_named(term, symbols) for term in node.terms))
        case Product():
            return Product(node.matrix, _named(node.vector, symbols))
        case Complement():
            return Complement(_named(node.vector, symbols))
        case Applied():
            return Applied(node.activation, _named(node.vector, symbols))
        case _:
            return type(node)(_named(node.left, symbols), _named(node.right, symbols))


def _in_order(lines: list[Equation]) -> list[Equation]:
    """Return the lines so that each stands after those it refers to, and otherwise as they are."""
    left = [*lines]
    ordered: list[Equation] = []
    while left:
        open_ = {line.left for line in left}
        line = next(line for line in left if not open_ & parts(line.right))
        left.remove(line)
        ordered.append(line)
    return ordered


def parts(node: Node) -> set[Symbol]:
    """Return every symbol in a node."""
    match node:
        case Symbol():
            return {node}
        case Sum():
            return set().union(*map(parts, node.terms))
        case Product():
            return {node.matrix} | parts(node.vector)
        case Complement() | Applied():
            return parts(node.vector)
        case _:
            return parts(node.left) | parts(node.right)
