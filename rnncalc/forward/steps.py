"""The operations of a cell's step on the weights that are bound to one direction of a layer.

What a vector is, floats or floats on a tape, is not known here: that is the `Vectors` the operations are handed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol

from rnncalc.forward.arrays import Matrix, WeightVector
from rnncalc.forward.bindings.binding import Bound
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.operations import Value


class Vectors(Protocol[Value]):
    """What a pass computes with: vectors, and the weights that they meet.

    chunk: the number of the chunk that is being taken, 0 where nothing is gone back through.
    """

    @property
    def chunk(self) -> int: ...
    def constant(self, numbers: list[float]) -> Value: ...
    def numbers(self, vector: Value) -> list[float]: ...
    def matrix_product(self, matrix: Matrix, vector: Value) -> Value: ...
    def weighted(self, weights: WeightVector, vector: Value) -> Value: ...
    def weight(self, weights: WeightVector) -> Value: ...
    def number(self, weights: WeightVector) -> Value: ...
    def row(self, matrix: Matrix, number: int) -> Value: ...
    def activate(self, activation: str, vector: Value) -> Value: ...
    def plus(self, left: Value, right: Value) -> Value: ...
    def times(self, left: Value, right: Value) -> Value: ...
    def over(self, left: Value, right: Value) -> Value: ...
    def blend(self, gate: Value, where_one: Value, where_zero: Value) -> Value: ...
    def complement(self, vector: Value) -> Value: ...
    def scale(self, scalar: Value, vector: Value) -> Value: ...
    def shift(self, vector: Value, scalar: Value) -> Value: ...
    def mean(self, left: Value, right: Value) -> Value: ...
    def join(self, left: Value, right: Value) -> Value: ...
    def part(self, vector: Value, start: int, stop: int) -> Value: ...
    def half(self, vector: Value, number: int) -> Value: ...
    def at(self, step: int) -> None: ...
    def carry(self, vector: Value, border: int) -> Value: ...


class Steps(Generic[Value]):
    """`layers.operations.Operations` on the weights of one direction; `seen` are the step's gates so far, by letter."""

    def __init__(
        self, layer: Cell, inputs: int, bound: Bound, vectors: Vectors[Value], habits: Habits, direction: int
    ) -> None:
        self.half: Callable[[Value], Value] = lambda vector: vector
        if layer.bidirectional:
            self.half = lambda vector: vectors.half(vector, direction)
        self.bound = bound
        self.vectors = vectors
        self.habits = habits
        self.gates = {gate.letter: gate.activation for gate in layer.gates(inputs)}
        self.scalars = {weight.letter: weight.activation for weight in layer.weights}
        self.activate = vectors.activate
        self.plus = vectors.plus
        self.times = vectors.times
        self.over = vectors.over
        self.blend = vectors.blend
        self.complement = vectors.complement
        self.scale = vectors.scale
        self.shift = vectors.shift
        self._scalars: dict[tuple[str, int], Value] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a step."""
        self.seen: dict[str, Value] = {}
        self._done: dict[object, tuple[Value, Value]] = {}

    def gate(self, letter: str, **reads: Value) -> Value:
        total = self.sum(letter, **reads)
        absent = {"input", "recurrent"} - {_side(of) for of in reads}
        for side in absent:  # a gate has all its biases, whatever it reads
            total = self._biased(letter, side, total)
        return self.through(letter, total)

    def sum(self, letter: str, **reads: Value) -> Value:
        parts: list[Value] = []
        sides: set[str] = set()
        for of, vector in reads.items():
            part = self._product(self.bound.product(letter, of), vector)
            if _side(of) not in sides:
                part = self._biased(letter, _side(of), part)
                sides.add(_side(of))
            parts.append(part)
        total = parts[0]
        for part in parts[1:]:
            total = self.plus(total, part)
        return total

    def _biased(self, letter: str, side: str, total: Value) -> Value:
        bias = self.bound.bias(letter, side)
        return total if bias is None else self.plus(total, self.vectors.weight(bias))

    def _product(self, weights: Matrix | WeightVector, vector: Value) -> Value:
        """Return a product; that of a matrix which gates share is made once a step."""
        if isinstance(weights, WeightVector):
            return self.vectors.weighted(weights, vector)
        done = self._done.get(weights.key)
        if done is not None and done[0] is vector:
            return done[1]
        product = self.vectors.matrix_product(weights, vector)
        self._done[weights.key] = vector, product
        return product

    def through(self, letter: str, total: Value) -> Value:
        self.seen[letter] = done = self.activate(self.gates[letter], total)
        return done

    def has(self, letter: str) -> bool:
        return letter in self.gates

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def product(self, letter: str, vector: Value) -> Value:
        return self.vectors.matrix_product(self.bound.matrix(letter), vector)

    def scalar(self, letter: str) -> Value:
        """Return a trained number, which is the same at every step: it is made once a chunk."""
        key = letter, self.vectors.chunk
        if key not in self._scalars:
            number = self.vectors.number(self.bound.scalar(letter))
            self._scalars[key] = self.activate(self.scalars[letter], number)
        return self._scalars[key]


def _side(of: str) -> str:
    """Return the side of a gate that what it reads stands on."""
    return "input" if of == "x" else "recurrent"
