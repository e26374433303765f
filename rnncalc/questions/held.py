"""What going back through a layer holds and multiplies, read off its step: exact, for any widths and any steps.

This reads a step in widths: each vector is its width, and each operation says which forward values its backward
equation reads and which products it does. Going back from what the steps hand on, those that are reached are summed.
A few steps say all: what the first and the last add, and what every other one does. Nothing here is known of any cell.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from rnncalc.layers.cell import Cell, Form, Habits

ENOUGH = 4
"""Steps after which every further one adds the same: the first has no past, the last no future."""


class Vector:
    """A vector of a step that is gone back through.

    needs: whether anything trained lies below it; reached: whether the loss depends on it.
    """

    __slots__ = ("needs", "reached", "width")

    def __init__(self, width: int, *, needs: bool) -> None:
        self.width = width
        self.needs = needs
        self.reached = False


class Work(NamedTuple):
    """What going back takes: the numbers held, those of inputs apart, and the multiplications of matrix products."""

    held: int = 0
    inputs: int = 0
    multiply_adds: int = 0

    def plus(self, other: Work, times: int = 1) -> Work:
        """Return the sum with another, taken so many times."""
        return Work(*(mine + times * its for mine, its in zip(self, other, strict=True)))


class Steps:
    """Some steps of one direction of a cell, one after the other: `layers.operations.Operations` on widths."""

    def __init__(self, layer: Cell, inputs: int, habits: Habits, *, trained: bool) -> None:
        self.layer = layer
        self.sizes = layer.sizes(inputs)
        self.habits = habits
        self.trained = trained
        self.gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.backward: list[tuple[Vector, Callable[[], None]]] = []
        self.read: dict[int, Vector] = {}
        self.multiply_adds = 0
        self.products: dict[object, tuple[Vector, Vector]] = {}

    def take(self, count: int, chunk: Chunk) -> Work:
        """Return what so many steps of a chunk take."""
        state = tuple(Vector(self.sizes[width], needs=chunk.start_needs) for width in self.layer.states.values())
        inputs, outputs = [], []
        for step in range(count):
            self.products = {}
            x = Vector(self.sizes["m"], needs=chunk.first_input_needs if step == 0 else chunk.inputs_need)
            inputs.append(x)
            output, state = self.layer.step(self, x, state)
            outputs.append(output)
        handed = {Outputs.ALL: outputs, Outputs.LAST: outputs[-1:], Outputs.NONE: []}[chunk.outputs]
        for vector in (*handed, *(state if chunk.final_state else ())):
            vector.reached = True
        if chunk.multiplied:
            self.read.update((id(output), output) for output in handed if output.needs)
        for made, back in reversed(self.backward):
            if made.reached:
                back()
        of_inputs = sum(x.width for x in inputs if id(x) in self.read)
        held = sum(vector.width for vector in self.read.values())
        return Work(held - of_inputs, of_inputs, self.multiply_adds)

    def _made(self, width: int, reads: Reads, *parents: Vector, trained: bool = False, work: int = 0) -> Vector:
        """Return the vector that an operation makes.

        reads: for each parent that needs a gradient, the forward values that it takes; work: the multiplications of
        the product for each gradient that goes back through it.
        """
        made = Vector(width, needs=trained or any(parent.needs for parent in parents))

        def back() -> None:
            for parent in parents:
                if parent.needs:
                    parent.reached = True
                    self.multiply_adds += work
            for wanted, vectors in reads:
                if wanted:
                    self.read.update((id(vector), vector) for vector in vectors)
            if trained:
                self.multiply_adds += work

        if made.needs:
            self.backward.append((made, back))
        return made

    def gate(self, letter: str, **reads: Vector) -> Vector:
        return self.through(letter, self.sum(letter, **reads))

    def sum(self, letter: str, **reads: Vector) -> Vector:
        parts = [self._product(letter, of, vector) for of, vector in reads.items()]
        return self._made(self.sizes["h"], (), *parts, trained=self.trained and self.layer.bias)

    def _product(self, letter: str, of: str, vector: Vector) -> Vector:
        """Return a product; that of a matrix which gates share is made once a step."""
        (product,) = (each for each in self.gates[letter].products if each.of == of)
        key = of, letter if product.matrix is None else product.matrix
        done = self.products.get(key)
        if done is not None and done[0] is vector:
            return done[1]
        work = self.sizes["h"] * vector.width if product.form is Form.FULL else 0
        reads = ((self.trained, (vector,)),)
        made = self._made(self.sizes["h"], reads, vector, trained=self.trained, work=work)
        self.products[key] = vector, made
        return made

    def through(self, letter: str, total: Vector) -> Vector:
        return self.activate(self.gates[letter].activation, total)

    def has(self, letter: str) -> bool:
        return letter in self.gates

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: str, vector: Vector) -> Vector:
        if activation == "linear":
            return vector
        made = Vector(vector.width, needs=vector.needs)

        def back() -> None:
            vector.reached = True
            self.read[id(made)] = made  # the derivative is read off what it gave

        if made.needs:
            self.backward.append((made, back))
        return made

    def product(self, letter: str, vector: Vector) -> Vector:
        rows, _ = self.weights[letter].widths
        work = self.sizes[rows] * vector.width
        return self._made(self.sizes[rows], ((self.trained, (vector,)),), vector, trained=self.trained, work=work)

    def scalar(self, letter: str) -> Vector:
        return self.activate(self.weights[letter].activation, Vector(1, needs=self.trained))

    def plus(self, left: Vector, right: Vector) -> Vector:
        return self._made(left.width, (), left, right)

    def times(self, left: Vector, right: Vector) -> Vector:
        return self._made(left.width, ((left.needs, (right,)), (right.needs, (left,))), left, right)

    def over(self, left: Vector, right: Vector) -> Vector:
        reads = ((left.needs, (right,)), (right.needs, (left, right)))
        return self._made(left.width, reads, left, right)

    def blend(self, gate: Vector, where_one: Vector, where_zero: Vector) -> Vector:
        reads = ((gate.needs, (where_one, where_zero)), (where_one.needs or where_zero.needs, (gate,)))
        return self._made(gate.width, reads, gate, where_one, where_zero)

    def complement(self, vector: Vector) -> Vector:
        return self._made(vector.width, (), vector)

    def scale(self, scalar: Vector, vector: Vector) -> Vector:
        return self._made(vector.width, ((scalar.needs, (vector,)), (vector.needs, (scalar,))), scalar, vector)

    def shift(self, vector: Vector, scalar: Vector) -> Vector:
        return self._made(vector.width, (), vector, scalar)


Reads = tuple[tuple[bool, tuple[Vector, ...]], ...]
"""Whether a gradient is asked for, and the forward values that it takes."""


class Outputs(Enum):
    """Through which steps of a chunk the loss depends on what a layer hands on."""

    ALL = "all"
    LAST = "last"
    NONE = "none"


class Chunk(NamedTuple):
    """Some steps of one direction that are gone back through together, in the order in which they are read.

    outputs: what the loss depends on; final_state: whether it depends on the states after the last step too.
    start_needs: whether gradients flow on into the state before the first step.
    first_input_needs, inputs_need: whether they flow into the input of the first step, and of the others.
    multiplied: whether what is handed on is multiplied with what the other direction hands on.
    """

    steps: int
    outputs: Outputs = Outputs.ALL
    final_state: bool = False
    start_needs: bool = False
    first_input_needs: bool = False
    inputs_need: bool = False
    multiplied: bool = False


def of_direction(layer: Cell, inputs: int, habits: Habits, chunk: Chunk, *, trained: bool) -> Work:
    """Return what going back through one chunk of one direction of a cell takes."""

    def take(count: int) -> Work:
        return Steps(layer, inputs, habits, trained=trained).take(count, chunk)

    if chunk.steps <= ENOUGH:
        return take(chunk.steps)
    few, more = take(ENOUGH - 1), take(ENOUGH)
    return more.plus(more.plus(few, -1), chunk.steps - ENOUGH)
