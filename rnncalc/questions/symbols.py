"""The symbols of a step: the reader that writes a cell's equations, as a framework computes them.

A step that is read in symbols gives a graph; each gate and each state that comes out of it is one equation. Letters
are the textbook's under every convention, spelled as a notation has them: by default W_xz multiplies x in the gate z,
b_xz and b_hz are the biases on either side of a gate that has two, b_z the one of a gate that has one. Says nothing of
how an equation is written down.
"""

from __future__ import annotations

from rnncalc.conventions.convention import CellArrays, Side
from rnncalc.conventions.layout import sides_of_biases, width_of
from rnncalc.layers.cell import Activation, Cell, Form, Product
from rnncalc.questions.nodes import (
    Applied,
    Complement,
    Elementwise,
    Equation,
    MatrixProduct,
    Node,
    Quotient,
    Stacked,
    Symbol,
    half_of,
    named,
    parts,
    sum_of,
)
from rnncalc.questions.notation import Notation, W, letters_of


def equations(layer: Cell, inputs: int, arrays: CellArrays, notation: Notation = W) -> tuple[Equation, ...]:
    """Return the equations of one step of a cell that reads `inputs` features, each after those it refers to."""
    symbols = _Symbols(layer, inputs, arrays, notation)
    before = tuple(Symbol(letter, time="t−1", axes=(width,)) for letter, width in layer.states.items())
    read = Symbol("x", time="t", axes=("m",))
    output, after = layer.step(symbols, read, before)
    results: dict[Symbol, Node] = {}
    for (letter, width), node in zip(layer.states.items(), after, strict=True):
        results[Symbol(letter, time="t", axes=(width,))] = node
    results.setdefault(Symbol("h", time="t", axes=(layer.output,)), output)
    symbols_of = {node: symbol for symbol, node in results.items() if node not in (symbol, read, *before)}
    lines = [Equation(left, named(right, symbols_of)) for left, right in symbols.gates]
    ended = {each.left for each in lines}
    lines += [
        Equation(symbol, named(node, {n: s for n, s in symbols_of.items() if n != node}))
        for symbol, node in results.items()
        if symbol not in ended
    ]
    return tuple(_in_order(lines))


class _Symbols:
    """The operations of a step on nodes; `gates` are the gates that were made, in order."""

    def __init__(self, layer: Cell, inputs: int, arrays: CellArrays, notation: Notation) -> None:
        self.layer = layer
        self.stacked = notation.stacked
        self.habits = arrays.habits
        self.declared = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.sides = sides_of_biases(layer, self.declared.values(), arrays)
        self.letters = letters_of(layer, inputs, notation)
        self.gates: list[tuple[Symbol, Node]] = []

    def gate(self, letter: str, **reads: Node) -> Node:
        total = self._terms(letter, reads)
        told = {_side(of) for of in reads}
        total += [self._bias(letter, side) for side in (Side.INPUT, Side.RECURRENT) if side not in told]
        return self.through(letter, sum_of(total))

    def sum(self, letter: str, **reads: Node) -> Node:
        return sum_of(self._terms(letter, reads))

    def _terms(self, letter: str, reads: dict[str, Node]) -> list[Node | None]:
        """Return the products of a gate with the biases on their sides; one bias alone stands last, as in textbooks.

        Where products are one, its biases stand behind it, on whichever side they are.
        """
        terms: list[Node | None] = []
        biases: list[Node | None] = []
        told: set[Side] = set()
        one = self._stacked(letter, reads) if self.stacked else None
        both = one is None and self.sides.get(letter) is Side.BOTH
        for of, vector in reads.items():
            if one is None or self._declared(letter, of).form is Form.DIAGONAL:
                terms.append(self._product(letter, of, vector))
            if _side(of) not in told:
                told.add(_side(of))
                (terms if both else biases).append(self._bias(letter, _side(of)))
        return [one, *terms, *biases]

    def _declared(self, letter: str, of: str) -> Product:
        (product,) = (each for each in self.declared[letter].products if each.of == of)
        return product

    def _product(self, letter: str, of: str, vector: Node) -> MatrixProduct | Elementwise:
        product = self._declared(letter, of)
        spelled = self.letters.product(letter, product)
        if product.form is Form.DIAGONAL:
            return Elementwise(Symbol(*spelled, axes=("h",)), vector)
        return MatrixProduct(Symbol(*spelled, axes=("h", width_of(self.layer, of))), vector)

    def _stacked(self, letter: str, reads: dict[str, Node]) -> Stacked | None:
        """Return the full matrices of a gate as one, states before x; None where one is alone, or shared apart."""
        full = [of for of in reads if self._declared(letter, of).form is Form.FULL]
        matrices = {self._declared(letter, of).matrix for of in full}
        if len(full) < 2 or len(matrices) > 1:
            return None
        products = (self._product(letter, of, reads[of]) for of in sorted(full, key="x".__eq__))
        (shared,) = matrices
        one = Symbol("W", letter if shared is None else shared)
        return Stacked(one, tuple(each for each in products if isinstance(each, MatrixProduct)))

    def _bias(self, letter: str, side: Side) -> Node | None:
        here = self.sides.get(letter)
        if here is Side.BOTH:
            return Symbol(*self.letters.bias(letter, "x" if side is Side.INPUT else "h"), axes=("h",))
        return Symbol(*self.letters.bias(letter), axes=("h",)) if here is side else None

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
        return MatrixProduct(Symbol(*self.letters.beside(letter), axes=self.weights[letter].widths), vector)

    def scalar(self, letter: str) -> Node:
        return self.activate(self.weights[letter].activation, Symbol(letter))

    def plus(self, left: Node, right: Node) -> Node:
        return sum_of([left, right])

    def times(self, left: Node, right: Node) -> Node:
        return Elementwise(left, right)

    def over(self, left: Node, right: Node) -> Node:
        return Quotient(left, right)

    def blend(self, gate: Node, where_one: Node, where_zero: Node) -> Node:
        return sum_of([Elementwise(gate, where_one), Elementwise(Complement(gate), where_zero)])

    def complement(self, vector: Node) -> Node:
        return Complement(vector)

    def scale(self, scalar: Node, vector: Node) -> Node:
        return Elementwise(scalar, vector)

    def half(self, vector: Node) -> Node:
        return half_of(vector) if self.layer.bidirectional else vector

    def shift(self, vector: Node, scalar: Node) -> Node:
        return sum_of([vector, scalar])


def _side(of: str) -> Side:
    return Side.INPUT if of == "x" else Side.RECURRENT


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
