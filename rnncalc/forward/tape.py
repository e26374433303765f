"""Vectors on a tape: a pass that can be gone back through, for the gradient of every weight.

The second reader of a pass: it computes as `floats.py` does and notes for each operation what its backward equation
is. Going back it records which forward values are read and how many multiplications are done, as the meter does on the
way forward. Knows no network and no cell.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import mul
from typing import NamedTuple

from rnncalc.forward import vectors
from rnncalc.forward.arrays import Matrix, Meter, Weight
from rnncalc.forward.vectors import ACTIVATIONS, Vector


class Node:
    """A vector on the tape: its numbers, and what is known of the gradient of the loss with respect to it.

    needs: whether anything trained lies below it, so that its gradient is asked for.
    """

    __slots__ = ("gradient", "needs", "numbers")

    def __init__(self, numbers: Vector, *, needs: bool) -> None:
        self.numbers = numbers
        self.needs = needs
        self.gradient: Vector | None = None

    def add(self, gradient: Vector) -> None:
        """Add to the gradient."""
        self.gradient = gradient if self.gradient is None else vectors.plus(self.gradient, gradient)


class Held(NamedTuple):
    """A forward value that a backward equation read: itself, so that it stays, and the chunk it was read in."""

    numbers: Vector
    chunk: int


class LayerTape:
    """What going back through one layer was seen to do, and the gradients of its weights, piece by piece.

    held: the forward values that were read, by identity. multiplications: of the matrix products that were done.
    pairs: for each piece of a matrix the gradients of its products and the vectors it multiplied; sums: of a vector.
    """

    def __init__(self, *, trained: bool) -> None:
        self.trained = trained
        self.held: dict[tuple[int, int], Held] = {}
        self.multiplications = 0
        self.pairs: dict[int, tuple[Matrix, list[Vector], list[Vector]]] = {}
        self.rows: dict[int, tuple[Matrix, dict[int, Vector]]] = {}
        self.sums: dict[int, tuple[Weight, Vector]] = {}

    def hold(self, node: Node, chunk: int) -> Vector:
        """Record that a backward equation read a forward value, and return its numbers."""
        self.held[id(node.numbers), chunk] = Held(node.numbers, chunk)
        return node.numbers

    def held_at_once(self) -> int:
        """Return the most numbers that were held in one chunk."""
        chunks: dict[int, int] = {}
        for numbers, chunk in self.held.values():
            chunks[chunk] = chunks.get(chunk, 0) + len(numbers)
        return max(chunks.values(), default=0)


class Tape:
    """The operations of a pass in order, each as what goes back through it; `chunk` is the number of steps in one."""

    def __init__(self, chunk: int | None = None) -> None:
        self.chunk = chunk
        self.now = 0
        self.backward: list[tuple[Node, Callable[[Vector], None]]] = []

    def at(self, step: int) -> None:
        """Say which step is being taken, counted from 0."""
        self.now = step // self.chunk if self.chunk else 0

    def back(self) -> None:
        """Go back from the gradients that have been set."""
        for node, through in reversed(self.backward):
            if node.gradient is not None:
                through(node.gradient)


class Taped:
    """The vectors of one layer on a tape; weights come in through the meter, as they do in a pass of floats."""

    def __init__(self, meter: Meter, tape: Tape, layer: LayerTape, owner: LayerTape | None = None) -> None:
        self.meter = meter
        self.tape = tape
        self.layer = layer
        self.owner = owner or layer

    def _made(self, numbers: Vector, through: Callable[[Vector], None], *parents: Node, trained: bool = False) -> Node:
        node = Node(numbers, needs=trained or any(parent.needs for parent in parents))
        if node.needs:
            self.tape.backward.append((node, through))
        return node

    def _hold(self, node: Node) -> Callable[[], Vector]:
        """Return what reads a forward value on the way back, and is seen to."""
        chunk = self.tape.now
        return lambda: self.layer.hold(node, chunk)

    def constant(self, numbers: Vector) -> Node:
        """Return a vector of data."""
        return Node(numbers, needs=False)

    def numbers(self, vector: Node) -> Vector:
        """Return the numbers of a vector."""
        return vector.numbers

    def carry(self, vector: Node, border: int) -> Node:
        """Return a state on its way to the next step: at a chunk's border its numbers go on, its gradient does not."""
        if self.tape.chunk and border % self.tape.chunk == 0:
            return Node(vector.numbers, needs=False)
        return vector

    def at(self, step: int) -> None:
        """Say which step is being taken, counted from 0."""
        self.tape.at(step)

    def matrix_product(self, matrix: Matrix, vector: Node) -> Node:
        """Return the matrix times a vector; back go the outer product for the weights and the transposed product."""
        held = self._hold(vector)
        owner = self.owner if matrix.shared else self.layer
        work = len(matrix.rows) * len(vector.numbers)

        def through(gradient: Vector) -> None:
            if owner.trained:
                _, gradients, inputs = owner.pairs.setdefault(id(matrix.origin), (matrix.origin, [], []))
                gradients.append(gradient)
                inputs.append(held())
                self.layer.multiplications += work
            if vector.needs:
                vector.add([sum(map(mul, column, gradient)) for column in matrix.columns])
                self.layer.multiplications += work

        return self._made(self.meter.product(matrix, vector.numbers), through, vector, trained=owner.trained)

    def weight(self, weights: Weight) -> Node:
        """Return a bias, or a learned state."""

        def through(gradient: Vector) -> None:
            _, total = self.layer.sums.get(id(weights), (weights, None))
            self.layer.sums[id(weights)] = weights, gradient if total is None else vectors.plus(total, gradient)

        return self._made(self.meter.vector(weights), through, trained=self.layer.trained)

    def weighted(self, weights: Weight, vector: Node) -> Node:
        """Return weights ∘ vector; the weights themselves are no held value."""
        held = self._hold(vector)
        numbers = self.meter.vector(weights)
        of_weights = self.weight(weights)

        def through(gradient: Vector) -> None:
            if of_weights.needs:
                of_weights.add(vectors.times(gradient, held()))
            if vector.needs:
                vector.add(vectors.times(gradient, numbers))

        return self._made(vectors.times(numbers, vector.numbers), through, of_weights, vector)

    def row(self, matrix: Matrix, number: int) -> Node:
        """Return a row of a table; rows that are looked up twice add up."""

        def through(gradient: Vector) -> None:
            _, rows = self.layer.rows.setdefault(id(matrix), (matrix, {}))
            rows[number] = vectors.plus(rows[number], gradient) if number in rows else gradient

        self.meter.read(number, len(matrix.rows[number]))
        return self._made(matrix.rows[number], through, trained=self.layer.trained)

    def activate(self, activation: str, vector: Node) -> Node:
        """Return a vector through an activation, whose derivative is read off what it gave."""
        if activation == "linear":
            return vector
        node = Node(ACTIVATIONS[activation](vector.numbers), needs=vector.needs)
        held = self._hold(node)
        derivative = _DERIVATIVES[activation]
        if node.needs:
            self.tape.backward.append((node, lambda gradient: vector.add(derivative(held(), gradient))))
        return node

    def plus(self, left: Node, right: Node) -> Node:
        """Return the element-wise sum."""

        def through(gradient: Vector) -> None:
            for node in (left, right):
                if node.needs:
                    node.add(gradient)

        return self._made(vectors.plus(left.numbers, right.numbers), through, left, right)

    def times(self, left: Node, right: Node) -> Node:
        """Return the element-wise product."""
        hold_left, hold_right = self._hold(left), self._hold(right)

        def through(gradient: Vector) -> None:
            if left.needs:
                left.add(vectors.times(gradient, hold_right()))
            if right.needs:
                right.add(vectors.times(gradient, hold_left()))

        return self._made(vectors.times(left.numbers, right.numbers), through, left, right)

    def over(self, left: Node, right: Node) -> Node:
        """Return the element-wise quotient."""
        hold_left, hold_right = self._hold(left), self._hold(right)

        def through(gradient: Vector) -> None:
            if left.needs:
                left.add(vectors.over(gradient, hold_right()))
            if right.needs:
                pairs = zip(gradient, hold_left(), hold_right(), strict=True)
                right.add([-g * a / (b * b) for g, a, b in pairs])

        return self._made(vectors.over(left.numbers, right.numbers), through, left, right)

    def blend(self, gate: Node, where_one: Node, where_zero: Node) -> Node:
        """Return gate ∘ where_one + (1 − gate) ∘ where_zero."""
        hold_gate, hold_one, hold_zero = map(self._hold, (gate, where_one, where_zero))

        def through(gradient: Vector) -> None:
            if gate.needs:
                pairs = zip(gradient, hold_one(), hold_zero(), strict=True)
                gate.add([g * (a - b) for g, a, b in pairs])
            if where_one.needs:
                where_one.add(vectors.times(gradient, hold_gate()))
            if where_zero.needs:
                where_zero.add([g * (1.0 - z) for g, z in zip(gradient, hold_gate(), strict=True)])

        numbers = vectors.blend(gate.numbers, where_one.numbers, where_zero.numbers)
        return self._made(numbers, through, gate, where_one, where_zero)

    def complement(self, vector: Node) -> Node:
        """Return 1 − vector."""
        numbers = [1.0 - number for number in vector.numbers]
        return self._made(numbers, lambda gradient: vector.add([-g for g in gradient]), vector)

    def scale(self, scalar: Node, vector: Node) -> Node:
        """Return a vector times a vector of one."""
        hold_scalar, hold_vector = self._hold(scalar), self._hold(vector)

        def through(gradient: Vector) -> None:
            if scalar.needs:
                scalar.add([sum(map(mul, gradient, hold_vector()))])
            if vector.needs:
                (factor,) = hold_scalar()
                vector.add([factor * g for g in gradient])

        (factor,) = scalar.numbers
        return self._made([factor * number for number in vector.numbers], through, scalar, vector)

    def shift(self, vector: Node, scalar: Node) -> Node:
        """Return a vector plus a vector of one, added to each number."""

        def through(gradient: Vector) -> None:
            if vector.needs:
                vector.add(gradient)
            if scalar.needs:
                scalar.add([sum(gradient)])

        (term,) = scalar.numbers
        return self._made([number + term for number in vector.numbers], through, vector, scalar)

    def mean(self, left: Node, right: Node) -> Node:
        """Return half the sum of two vectors."""

        def through(gradient: Vector) -> None:
            half = [g / 2.0 for g in gradient]
            for node in (left, right):
                if node.needs:
                    node.add(half)

        numbers = [(a + b) / 2.0 for a, b in zip(left.numbers, right.numbers, strict=True)]
        return self._made(numbers, through, left, right)

    def join(self, left: Node, right: Node) -> Node:
        """Return two vectors, one behind the other."""
        width = len(left.numbers)

        def through(gradient: Vector) -> None:
            if left.needs:
                left.add(gradient[:width])
            if right.needs:
                right.add(gradient[width:])

        return self._made(left.numbers + right.numbers, through, left, right)

    def part(self, vector: Node, start: int, stop: int) -> Node:
        """Return some numbers of a vector, from `start` up to `stop`."""

        def through(gradient: Vector) -> None:
            behind = len(vector.numbers) - stop
            vector.add([0.0] * start + gradient + [0.0] * behind)

        return self._made(vector.numbers[start:stop], through, vector)


def _of_softmax(given: Vector, gradient: Vector) -> Vector:
    inner = sum(map(mul, given, gradient))
    return [y * (g - inner) for y, g in zip(given, gradient, strict=True)]


_DERIVATIVES: dict[str, Callable[[Vector, Vector], Vector]] = {
    "tanh": lambda given, gradient: [g * (1.0 - y * y) for y, g in zip(given, gradient, strict=True)],
    "sigmoid": lambda given, gradient: [g * y * (1.0 - y) for y, g in zip(given, gradient, strict=True)],
    "relu": lambda given, gradient: [g if y > 0 else 0.0 for y, g in zip(given, gradient, strict=True)],
    "softmax": _of_softmax,
}
"""For each activation what goes back through it: from what it gave and the gradient of that."""
