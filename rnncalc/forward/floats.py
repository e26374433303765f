"""The operations of a step on floats, under a meter: the reader that `run` is made of."""

from __future__ import annotations

from rnncalc.forward.arrays import Matrix, Meter, Weight
from rnncalc.forward.bindings.binding import Bound
from rnncalc.forward.vectors import ACTIVATIONS, Vector, blend, over, plus, times
from rnncalc.layers.cell import Cell, Habits


class Floats:
    """The operations of one direction of a layer, on the weights that are bound to it.

    seen: the gates of the step that is being taken, by letter.
    """

    def __init__(self, layer: Cell, inputs: int, bound: Bound, meter: Meter, habits: Habits) -> None:
        self.bound = bound
        self.meter = meter
        self.habits = habits
        self.through_activation = {gate.letter: ACTIVATIONS[gate.activation] for gate in layer.gates(inputs)}
        self.scalars = {weight.letter: ACTIVATIONS[weight.activation] for weight in layer.weights}
        self.seen: dict[str, Vector] = {}
        self.done: dict[object, tuple[Vector, Vector]] = {}

    def begin(self) -> None:
        """Begin a step."""
        self.seen = {}
        self.done = {}

    def gate(self, letter: str, **reads: Vector) -> Vector:
        total = self.sum(letter, **reads)
        absent = {"input", "recurrent"} - {_side(of) for of in reads}
        for side in absent:  # a gate has all its biases, whatever it reads
            total = self._biased(letter, side, total)
        return self.through(letter, total)

    def sum(self, letter: str, **reads: Vector) -> Vector:
        total: Vector = []
        sides: set[str] = set()
        for of, vector in reads.items():
            part = self._product(self.bound.product(letter, of), vector)
            if _side(of) not in sides:
                part = self._biased(letter, _side(of), part)
                sides.add(_side(of))
            total = plus(total, part) if total else part
        return total

    def _biased(self, letter: str, side: str, total: Vector) -> Vector:
        bias = self.bound.bias(letter, side)
        return total if bias is None else plus(total, self.meter.vector(bias))

    def _product(self, weights: Matrix | Weight, vector: Vector) -> Vector:
        """Return a product; that of a matrix which gates share is made once a step."""
        if isinstance(weights, Weight):
            return self.meter.element_wise(weights, vector)
        read, product = self.done.get(weights.key, (None, None))
        if read is not vector or product is None:
            product = self.meter.product(weights, vector)
            self.done[weights.key] = vector, product
        return product

    def through(self, letter: str, total: Vector) -> Vector:
        self.seen[letter] = done = self.through_activation[letter](total)
        return done

    def has(self, letter: str) -> bool:
        return letter in self.through_activation

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: str, vector: Vector) -> Vector:
        return ACTIVATIONS[activation](vector)

    def product(self, letter: str, vector: Vector) -> Vector:
        return self.meter.product(self.bound.matrix(letter), vector)

    def scalar(self, letter: str) -> Vector:
        return self.scalars[letter](self.meter.vector(self.bound.scalar(letter)))

    def plus(self, left: Vector, right: Vector) -> Vector:
        return plus(left, right)

    def times(self, left: Vector, right: Vector) -> Vector:
        return times(left, right)

    def over(self, left: Vector, right: Vector) -> Vector:
        return over(left, right)

    def blend(self, gate: Vector, where_one: Vector, where_zero: Vector) -> Vector:
        return blend(gate, where_one, where_zero)

    def complement(self, vector: Vector) -> Vector:
        return [1.0 - number for number in vector]

    def scale(self, scalar: Vector, vector: Vector) -> Vector:
        (factor,) = scalar
        return [factor * number for number in vector]

    def shift(self, vector: Vector, scalar: Vector) -> Vector:
        (term,) = scalar
        return [number + term for number in vector]


def _side(of: str) -> str:
    """Return the side of a gate that what it reads stands on."""
    return "input" if of == "x" else "recurrent"
