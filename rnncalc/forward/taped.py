"""Vectors on a tape: what a pass computes with when it will be gone back through.

Each operation computes as `floats.py` does and notes on the tape what its backward equation is: which forward values
that reads, and which of the vectors below get a gradient. Knows no network and no cell.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import mul

from rnncalc.forward import vectors
from rnncalc.forward.arrays import Matrix, Meter, WeightVector
from rnncalc.forward.tape import LayerTape, Node, Tape, Through
from rnncalc.forward.vectors import ACTIVATIONS, DERIVATIVES, Vector


class Taped:
    """The vectors of one layer on a tape; weights come in through the meter, as they do in a pass of floats."""

    def __init__(self, meter: Meter, tape: Tape, layer: LayerTape) -> None:
        self.meter = meter
        self.tape = tape
        self.layer = layer

    def _made(self, numbers: Vector, through: Through, *parents: Node, trained: bool = False) -> Node:
        node = Node(numbers, needs=trained or any(parent.needs for parent in parents))
        if node.needs:
            self.tape.note(node, through)
        return node

    def _hold(self, node: Node) -> Callable[[], Vector]:
        """Return what reads a forward value on the way back, and is seen to."""
        layer, chunk = self.layer, self.tape.now

        def read(of: Node = node) -> Vector:
            if of.complements is not None:
                return [1.0 - number for number in read(of.complements)]
            whole = of if of.whole is None else of.whole
            if not of.weights:
                layer.hold(whole.numbers, len(whole.numbers), chunk)
            return of.numbers

        return read

    def constant(self, numbers: Vector) -> Node:
        """Return a vector of data; one that is handed in twice is two, as those of two steps are."""
        return Node([*numbers], needs=self.tape.every)

    def numbers(self, vector: Node) -> Vector:
        """Return the numbers of a vector."""
        return vector.numbers

    @property
    def chunk(self) -> int:
        """The number of the chunk that is being taken."""
        return self.tape.now

    def at(self, step: int) -> None:
        """Say which step is being taken, counted from 0."""
        self.tape.at(step)

    def carry(self, vector: Node, border: int) -> Node:
        """Return a state on its way to the next step: at a chunk's border its numbers go on, its gradient does not.

        What goes on is a vector of its own, so that its gradient is that of the later steps alone.
        """
        if self.tape.stops(border):
            made = Node(vector.numbers, needs=self.tape.every)
        else:
            made = self._made(vector.numbers, vector.add, vector)
            vector.complements = None  # it is kept as it is
        self.tape.carried.append((border, made))
        return made

    def matrix_product(self, matrix: Matrix, vector: Node) -> Node:
        """Return the matrix times a vector; back go the outer product for the weights and the transposed product."""
        held, layer = self._hold(vector), self.layer
        owner = self.tape.owners[id(matrix.origin)] if matrix.shared else layer

        def through(gradient: Vector) -> None:
            if owner.trained:
                layer.use(matrix, owner, gradient, held())
            if vector.needs:
                vector.add(vectors.product(matrix.columns, gradient))
                layer.multiplications += len(matrix.columns) * len(gradient)

        return self._made(self.meter.product(matrix, vector.numbers), through, vector, trained=owner.trained)

    def weight(self, weights: WeightVector) -> Node:
        """Return a bias, or a learned state."""
        layer = self.layer
        numbers = self.meter.vector(weights)
        return self._made(numbers, lambda gradient: layer.add(weights.piece, [gradient]), trained=layer.trained)

    def number(self, weights: WeightVector) -> Node:
        """Return a trained number beside the gates, which is no held value either."""
        made = self.weight(weights)
        made.weights = True
        return made

    def weighted(self, weights: WeightVector, vector: Node) -> Node:
        """Return weights ∘ vector; the weights themselves are no held value."""
        held, layer = self._hold(vector), self.layer
        numbers = self.meter.vector(weights)

        def through(gradient: Vector) -> None:
            if layer.trained:
                layer.add(weights.piece, [vectors.times(gradient, held())])
            if vector.needs:
                vector.add(vectors.times(gradient, numbers))

        return self._made(vectors.times(numbers, vector.numbers), through, vector, trained=layer.trained)

    def row(self, matrix: Matrix, number: int) -> Node:
        """Return a row of a table, looked up; its number is what the way back must know."""
        layer, chunk = self.layer, self.tape.now
        self.tape.owners[id(matrix)] = layer
        numbers = [*matrix.rows[number]]

        def through(gradient: Vector) -> None:
            if layer.trained:
                layer.hold(numbers, 1, chunk)
                layer.add(matrix.piece._replace(start=matrix.piece.start + number), [gradient])

        self.meter.read(number, len(numbers))
        return self._made(numbers, through, trained=layer.trained or self.tape.every)

    def activate(self, activation: str, vector: Node) -> Node:
        """Return a vector through an activation, whose derivative is read off what it gave."""
        if activation == "linear":
            return vector
        made = Node(ACTIVATIONS[activation](vector.numbers), needs=vector.needs)
        held, derivative = self._hold(made), DERIVATIVES[activation]
        if made.needs:
            self.tape.note(made, lambda gradient: vector.add(derivative(held(), gradient)))
        return made

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
                divisor = hold_right()
                ratio = vectors.over(vectors.over(vectors.times(gradient, hold_left()), divisor), divisor)
                right.add([-number for number in ratio])

        return self._made(vectors.over(left.numbers, right.numbers), through, left, right)

    def blend(self, gate: Node, where_one: Node, where_zero: Node) -> Node:
        """Return gate ∘ where_one + (1 − gate) ∘ where_zero."""
        hold_gate, hold_one, hold_zero = map(self._hold, (gate, where_one, where_zero))

        def through(gradient: Vector) -> None:
            if gate.needs:
                gate.add([g * (a - b) for g, a, b in zip(gradient, hold_one(), hold_zero(), strict=True)])
            if where_one.needs:
                where_one.add(vectors.times(gradient, hold_gate()))
            if where_zero.needs:
                where_zero.add([g * (1.0 - z) for g, z in zip(gradient, hold_gate(), strict=True)])

        numbers = vectors.blend(gate.numbers, where_one.numbers, where_zero.numbers)
        return self._made(numbers, through, gate, where_one, where_zero)

    def complement(self, vector: Node) -> Node:
        """Return 1 − vector."""
        numbers = [1.0 - number for number in vector.numbers]
        made = self._made(numbers, lambda gradient: vector.add([-g for g in gradient]), vector)
        made.complements = vector
        return made

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

        def through(gradient: Vector) -> None:
            if left.needs:
                left.add(gradient[: len(left.numbers)])
            if right.needs:
                right.add(gradient[len(left.numbers) :])

        return self._made(left.numbers + right.numbers, through, left, right)

    def part(self, vector: Node, start: int, stop: int) -> Node:
        """Return some numbers of a vector, from `start` up to `stop`."""

        def through(gradient: Vector) -> None:
            vector.add([0.0] * start + gradient + [0.0] * (len(vector.numbers) - stop))

        return self._made(vector.numbers[start:stop], through, vector)

    def half(self, vector: Node, number: int) -> Node:
        """Return the first half of a vector, or the second; where it is read on the way back, the vector is held."""
        width = len(vector.numbers) // 2
        made = self.part(vector, number * width, (number + 1) * width)
        made.whole = vector
        return made
