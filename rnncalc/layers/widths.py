"""A step in the widths of its vectors: the reader that holds each operation to what it can be done with.

Which parts of the cell a vector is made of is noted with its width. What a cell may declare is not known here.
"""

from __future__ import annotations

from typing import NoReturn

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.typed import ACTIVATIONS
from rnncalc.text import all_of, did_you_mean, one_of

Part = tuple[str, str]
"""A gate or what stands beside the gates, by its letter; or a gate's product, by the letters of both.

Without a gate: x, or a state before the step, by its letter.
"""

ONE = "1"
"""The letter of a width of one."""


class Vector:
    """What stands for a vector: the letter of its width, and the parts of the cell that it is made of."""

    __slots__ = ("parts", "width")

    def __init__(self, width: str, parts: frozenset[Part] = frozenset()) -> None:
        self.width = width
        self.parts = parts

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a step adds and multiplies with ops.plus(a, b), ops.times(a, b) and their like, for any value")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = __neg__ = __pow__ = __iter__ = _refuse
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Widths:
    """`layers.operations.Operations` on the widths of vectors.

    declared: the parts that the cell declares; used: those that the step has made so far; made: the gates among them.
    read: what each product reads. asked: the habits that the step has asked for.
    """

    def __init__(self, layer: Cell, inputs: int, habits: Habits) -> None:
        self._layer = layer
        self._inputs_number = inputs
        self._inputs = "h" if inputs == layer.units else "m"
        self._habits = habits
        self._gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self._weights = {weight.letter: weight for weight in layer.weights}
        self.declared = {(gate.letter, product.of) for gate in self._gates.values() for product in gate.products}
        self.declared |= {(letter, "") for letter in (*self._gates, *self._weights)}
        self.used: set[Part] = set()
        self.made: dict[str, Vector] = {}
        self.read: dict[Part, Vector] = {}
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> NoReturn:
        from rnncalc.layers.operations import Operations  # which no right step needs

        known = [each for each in vars(Operations) if not each.startswith("_")]
        near = did_you_mean(name, known)
        raise self._error(f"the step uses ops.{name}, and there is none{near}; there are {all_of(known)}")

    def _error(self, message: str) -> DeclarationError:
        return DeclarationError(f"{self._layer.kind}: {message}")

    def width_of(self, of: str) -> str:
        """Return the width of what a gate reads."""
        return self._inputs if of == "x" else self._layer.states[of]

    def expect(self, what: str, vector: Vector, wanted: str) -> Vector:
        """Return a vector that has the width that is wanted."""
        width = self._vector(vector, what).width
        if width != self._width(wanted):
            raise self._error(f"{what} has the width {width}, and {wanted} is declared")
        return vector

    def _width(self, letter: str) -> str:
        """Return a width by its letter; where the layer is as wide as its input, both widths are one."""
        return self._inputs if letter == "m" else letter

    def _vector(self, given: object, what: str = "what an operation is done with") -> Vector:
        if not isinstance(given, Vector):
            raise self._error(f"{what} is {given!r}, which is no vector")
        return given

    def gate(self, letter: str, *given: Vector, **reads: Vector) -> Vector:
        total = self.sum(letter, *given, **reads)
        for _, of in {(letter, product.of) for product in self._gates[letter].products} - self.used:
            raise self._error(f"gate {letter} declares a product of {of}, and the step gives it none")
        return self.through(letter, total)

    def sum(self, letter: str, *given: Vector, **reads: Vector) -> Vector:
        self._know(letter)
        if given:
            raise self._error(f"the step does not say what gate {letter} reads; write x=x, h=h and their like")
        parts: frozenset[Part] = frozenset()
        for of, vector in reads.items():
            if (letter, of) not in self.declared:
                raise self._error(f"the step gives gate {letter} {of}, and no product of it is declared")
            if (letter, of) in self.used:
                raise self._error(f"the step sums gate {letter}'s product of {of} twice")
            parts |= self.expect(f"what gate {letter} reads as {of}", vector, self.width_of(of)).parts | {(letter, of)}
            self.used.add((letter, of))
            self.read[letter, of] = vector
        return Vector("h", parts)

    def through(self, letter: str, total: Vector) -> Vector:
        self._know(letter)
        self.expect(f"the sum of gate {letter}", total, "h")
        if (letter, "") in self.used:
            raise self._error(f"the step makes gate {letter} twice")
        self.used.add((letter, ""))
        self.made[letter] = Vector("h", total.parts | {(letter, "")})
        return self.made[letter]

    def _know(self, letter: str) -> None:
        if letter not in self._gates:
            raise self._error(f"the step asks for the gate {letter}, and {', '.join(self._gates)} are declared")

    def has(self, letter: str) -> bool:
        return letter in self._gates

    def habit(self, name: str) -> bool:
        if name not in Habits.fields:
            raise self._error(f"the step asks for the habit {name}, and there are {all_of(Habits.fields)}")
        self.asked.add(name)
        return bool(getattr(self._habits, name))

    def activate(self, activation: str, vector: Vector) -> Vector:
        if activation not in ACTIVATIONS:
            raise self._error(f"the step's activation: expected {one_of(ACTIVATIONS)}, got {activation!r}")
        return self._vector(vector)

    def product(self, letter: str, vector: Vector) -> Vector:
        if (letter, "") in self.used:
            raise self._error(f"the step multiplies by the matrix {letter} twice")
        rows, columns = self._weight(letter, 2)
        read = self.expect(f"what the matrix {letter} reads", vector, columns)
        return Vector(self._width(rows), read.parts | {(letter, "")})

    def scalar(self, letter: str) -> Vector:
        self._weight(letter, 0)
        return Vector(ONE, frozenset({(letter, "")}))

    def _weight(self, letter: str, axes: int) -> tuple[str, ...]:
        weight = self._weights.get(letter)
        if weight is None or len(weight.widths) != axes:
            raise self._error(f"the step asks for the {'matrix' if axes else 'number'} {letter}, which is not declared")
        self.used.add((letter, ""))
        return weight.widths

    def plus(self, left: Vector, right: Vector) -> Vector:
        if self._vector(left).width != self._vector(right).width:
            widths = f"{left.width} and {right.width}"
            raise self._error(f"vectors of the widths {widths} meet, where one width is needed")
        return Vector(left.width, left.parts | right.parts)

    times = over = plus

    def blend(self, gate: Vector, where_one: Vector, where_zero: Vector) -> Vector:
        return self.plus(self.plus(gate, where_one), where_zero)

    def complement(self, vector: Vector) -> Vector:
        return self._vector(vector)

    def scale(self, scalar: Vector, vector: Vector) -> Vector:
        self.expect("what scales or shifts a vector", scalar, ONE)
        return Vector(self._vector(vector).width, scalar.parts | vector.parts)

    def half(self, vector: Vector) -> Vector:
        if self._layer.directions == 1:
            return self.expect("what stands for a whole input", vector, "h")
        if vector.width != "m" or vector.parts != {("", "x")} or self._inputs_number != 2 * self._layer.units:
            raise self._error("the step takes half of what is not x, or of an x that is not as wide as both directions")
        return Vector("h", vector.parts)

    def shift(self, vector: Vector, scalar: Vector) -> Vector:
        return self.scale(scalar, vector)
