"""What going back through the steps of a cell reads and multiplies: the reader that says what must be held.

This reads a step in letters of widths. Each operation says which forward values its backward equation reads, and which
products it does; going back from what is reached, these are noted, each vector once. Nothing here is known of any cell,
of how many steps there are, or of what stands beside the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

from rnncalc.layers.cell import Cell, Form, Habits
from rnncalc.step.equations import Application, Letters, Symbol, W
from rnncalc.step.equations import Formula as Node
from rnncalc.step.trace import ONE


class HeldVector(NamedTuple):
    """A forward value that a backward equation reads: what it is, and the letter of its width."""

    node: Node
    width: str


class Gradient(Enum):
    """What a product of going back is done for: the gradient of a matrix, or of the vector that it multiplied."""

    MATRIX = "matrix"
    VECTOR = "vector"


class BackwardProduct(NamedTuple):
    """A product of going back: what for, whose matrix it is, what that multiplied, and the letters of its axes.

    matrix: the letters of a gate, or of a matrix beside the gates; of: x, the letter of a state, or nothing.
    """

    gradient: Gradient
    matrix: str
    of: str
    axes: tuple[str, str]


class Tally(NamedTuple):
    """What going back reads and multiplies: each vector and each product, and how many times."""

    held: Mapping[HeldVector, int]
    work: Mapping[BackwardProduct, int]


class ForwardValue:
    """A vector of a step that is gone back through.

    node: what it is; width: the letter of its width. needs: whether its gradient is asked for, because something that
    it is made of is trained; reached: whether a loss depends on it. weights: whether it is itself a weight, which is
    kept anyway, and held by nobody. complements: what it is one minus, which is held in its place.
    """

    __slots__ = ("complements", "needs", "node", "reached", "weights", "width")

    def __init__(self, width: str, node: Node, *, needs: bool, weights: bool = False) -> None:
        self.width = width
        self.node = node
        self.needs = needs
        self.weights = weights
        self.complements: ForwardValue | None = None
        self.reached = False


NO_NAMES: Mapping[Node, Symbol] = {}

Reads = tuple[tuple[bool, tuple[ForwardValue, ...]], ...]
"""Whether a gradient is asked for, and the forward values that it takes."""


class HeldSteps:
    """Steps of a cell, of both its directions: `layers.operations.Operations` on letters of widths.

    names: symbols for what has one of its own, such as a state, once the step that makes it has been read.
    """

    def __init__(self, layer: Cell, inputs: int, habits: Habits, names: Mapping[Node, Symbol] = NO_NAMES) -> None:
        self.names = names
        self.layer = layer
        self.habits = habits
        self.trained = not layer.frozen
        self.gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.letters = Letters(W, next(iter(layer.states)), len(self.gates) == 1)
        self.backward: list[tuple[ForwardValue, Callable[[], None]]] = []
        self.held: dict[int, ForwardValue] = {}
        self.work: Counter[BackwardProduct] = Counter()
        self.begin()

    def begin(self) -> None:
        """Begin a step."""
        self.products: dict[object, tuple[ForwardValue, ForwardValue]] = {}

    def back(self) -> Tally:
        """Go back from what is reached, and return what that reads and multiplies."""
        for made, through in reversed(self.backward):
            if made.reached:
                through()
        return Tally(Counter(HeldVector(vector.node, vector.width) for vector in self.held.values()), self.work)

    def hold(self, *vectors: ForwardValue) -> None:
        """Note that forward values are read on the way back; one minus a value is had from that."""
        for vector in vectors:
            if vector.complements is not None:
                self.hold(vector.complements)
            elif not vector.weights:
                self.held[id(vector)] = vector

    def _made(self, width: str, node: Node, *parents: ForwardValue, reads: Reads = ()) -> ForwardValue:
        """Return what an operation makes; `reads` are, for each gradient that may be asked for, the values it takes."""
        made = ForwardValue(width, self.names.get(node, node), needs=any(parent.needs for parent in parents))

        def through() -> None:
            for parent in parents:
                parent.reached = parent.reached or parent.needs
            for wanted, vectors in reads:
                if wanted:
                    self.hold(*vectors)

        if made.needs:
            self.backward.append((made, through))
        return made

    def gate(self, letter: str, **reads: ForwardValue) -> ForwardValue:
        return self.through(letter, self.sum(letter, **reads))

    def sum(self, letter: str, **reads: ForwardValue) -> ForwardValue:
        parts = [self._product(letter, of, vector) for of, vector in reads.items()]
        if len(parts) == 1 and not (self.layer.bias and self.gates[letter].bias):
            return parts[0]
        return self._made("h", Application("plus", tuple(part.node for part in parts)), *parts)

    def _product(self, letter: str, of: str, vector: ForwardValue) -> ForwardValue:
        """Return a product; that of a matrix which gates share is made once a step."""
        (product,) = (each for each in self.gates[letter].products if each.of == of)
        letters = letter if product.matrix is None else product.matrix
        done = self.products.get((of, letters))
        if done is not None and done[0] is vector:
            return done[1]
        if product.form is Form.DIAGONAL:
            made = self._weighted(Symbol(*self.letters.product(of, letters, diagonal=True), axes=("h",)), vector)
        else:
            made = self._multiplied(letters, of, ("h", vector.width), vector)
        self.products[of, letters] = vector, made
        return made

    def _multiplied(self, letters: str, of: str, axes: tuple[str, str], vector: ForwardValue) -> ForwardValue:
        """Return a matrix times a vector."""
        matrix = Symbol(*(self.letters.product(of, letters) if of else ("W", f"h{letters}")), axes=axes)
        node = Application("matrix", (matrix, vector.node))
        made = ForwardValue(axes[0], self.names.get(node, node), needs=self.trained or vector.needs)

        def through() -> None:
            if self.trained:
                self.hold(vector)
                self.work[BackwardProduct(Gradient.MATRIX, letters, of, axes)] += 1
            if vector.needs:
                vector.reached = True
                self.work[BackwardProduct(Gradient.VECTOR, letters, of, axes)] += 1

        if made.needs:
            self.backward.append((made, through))
        return made

    def _weighted(self, weights: Symbol, vector: ForwardValue) -> ForwardValue:
        """Return weights ∘ a vector."""
        own = ForwardValue("h", weights, needs=self.trained, weights=True)
        return self.times(own, vector)

    def through(self, letter: str, total: ForwardValue) -> ForwardValue:
        made = self.activate(self.gates[letter].activation, total)
        made.node = Symbol(letter, time="t", axes=("h",))
        return made

    def has(self, letter: str) -> bool:
        return letter in self.gates

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: str, vector: ForwardValue) -> ForwardValue:
        if activation == "linear":
            return vector
        node = Application(activation, (vector.node,))
        made = ForwardValue(vector.width, self.names.get(node, node), needs=vector.needs)

        def through() -> None:
            vector.reached = True
            self.hold(made)  # the derivative is read off what it gave

        if made.needs:
            self.backward.append((made, through))
        return made

    def product(self, letter: str, vector: ForwardValue) -> ForwardValue:
        return self._multiplied(letter, "", (self.weights[letter].widths[0], vector.width), vector)

    def scalar(self, letter: str) -> ForwardValue:
        weight = ForwardValue(ONE, Symbol(letter), needs=self.trained, weights=True)
        return self.activate(self.weights[letter].activation, weight)

    def plus(self, left: ForwardValue, right: ForwardValue) -> ForwardValue:
        return self._made(left.width, Application("plus", (left.node, right.node)), left, right)

    def times(self, left: ForwardValue, right: ForwardValue) -> ForwardValue:
        reads = (left.needs, (right,)), (right.needs, (left,))
        return self._made(left.width, Application("times", (left.node, right.node)), left, right, reads=reads)

    def over(self, left: ForwardValue, right: ForwardValue) -> ForwardValue:
        reads = (left.needs, (right,)), (right.needs, (left, right))
        return self._made(left.width, Application("over", (left.node, right.node)), left, right, reads=reads)

    def blend(self, gate: ForwardValue, where_one: ForwardValue, where_zero: ForwardValue) -> ForwardValue:
        reads = (gate.needs, (where_one, where_zero)), (where_one.needs or where_zero.needs, (gate,))
        others = Application("complement", (gate.node,)), where_zero.node
        terms = (
            Application("times", (gate.node, where_one.node)),
            Application("times", others),
        )
        return self._made(gate.width, Application("plus", terms), gate, where_one, where_zero, reads=reads)

    def complement(self, vector: ForwardValue) -> ForwardValue:
        made = self._made(vector.width, Application("complement", (vector.node,)), vector)
        made.complements = vector
        return made

    def scale(self, scalar: ForwardValue, vector: ForwardValue) -> ForwardValue:
        reads = (scalar.needs, (vector,)), (vector.needs, (scalar,))
        return self._made(vector.width, Application("scale", (scalar.node, vector.node)), scalar, vector, reads=reads)

    def shift(self, vector: ForwardValue, scalar: ForwardValue) -> ForwardValue:
        return self._made(vector.width, Application("plus", (vector.node, scalar.node)), vector, scalar)
