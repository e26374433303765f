"""Holds what a cell declares against what its step does, before any number is read off either.

This reads a step in the widths of its vectors. A product that is declared and never summed, a sum of what is not
declared, vectors of two widths where one is needed, a state that comes back in another width: each is a
DeclarationError that names the cell and the part.
"""

from rnncalc.errors import DeclarationError
from rnncalc.layers.cell import Cell, Form, Habits, Product
from rnncalc.layers.options import OPTIONS, Choice
from rnncalc.text import one_of

NO_HABITS = Habits()
_ALLOWED = OPTIONS["activation"].allowed
ACTIVATIONS = [*_ALLOWED.words] if isinstance(_ALLOWED, Choice) else []


def check(layer: Cell, inputs: int, habits: Habits = NO_HABITS) -> None:
    """Raise DeclarationError where the step of a cell, reading `inputs` features, is not what its gates declare."""
    widths = _Widths(layer, inputs, habits)
    state = tuple(layer.states.values())
    handed, after = layer.step(widths, widths.width_of("x"), state)
    widths.expect("what the step hands on", handed, layer.output)
    if len(after) != len(state):
        raise widths.error(f"the step returns {len(after)} states, and {', '.join(layer.states)} are declared")
    for letter, width, declared in zip(layer.states, after, state, strict=True):
        widths.expect(f"the state {letter}", width, declared)
    for what in sorted(widths.declared - widths.used):
        raise widths.error(f"{_said(what)} is declared, and the step does not use it")


class _Widths:
    """The operations of a step on letters of widths; `1` is a vector of one number."""

    def __init__(self, layer: Cell, inputs: int, habits: Habits) -> None:
        self.layer = layer
        self.inputs = "h" if inputs == layer.units else "m"
        self.habits = habits
        self.gates = {gate.letter: gate for gate in layer.gates(inputs)}
        self.weights = {weight.letter: weight for weight in layer.weights}
        self.declared = {(gate.letter, product.of) for gate in self.gates.values() for product in gate.products}
        self.declared |= {(letter, "") for letter in (*self.gates, *self.weights)}
        self.used: set[tuple[str, str]] = set()
        self._check_gates()
        sizes = layer.sizes(inputs)
        widths = (*layer.states.values(), layer.output, *(width for each in layer.weights for width in each.widths))
        for width in widths:
            if width not in sizes:
                raise self.error(f"the width {width} has no number; sizes() gives {', '.join(sizes)}")

    def _check_gates(self) -> None:
        """Refuse gates that no tensor, formula or equation could be read off."""
        for gate in self.gates.values():
            if len(gate.letter) != 1:
                raise self.error(f"the gate {gate.letter!r} is not called by one letter")
            if gate.activation not in ACTIVATIONS:
                raise self.error(f"gate {gate.letter}: expected {one_of(ACTIVATIONS)}, got {gate.activation!r}")
            reads = [product.of for product in gate.products]
            for of in reads:
                if of not in ("x", *self.layer.states):
                    states = ", ".join(self.layer.states)
                    raise self.error(f"gate {gate.letter} reads {of}, and the states are {states}")
                if reads.count(of) > 1:
                    raise self.error(f"gate {gate.letter} has two products of {of}; one matrix says as much")
            if Product("x", Form.DIAGONAL) in gate.products and self.inputs != "h":
                raise self.error(f"gate {gate.letter} reads x unit by unit, and x has not one number for each unit")

    def error(self, message: str) -> DeclarationError:
        return DeclarationError(f"{self.layer.kind}: {message}")

    def width_of(self, of: str) -> str:
        return self.inputs if of == "x" else self.layer.states[of]

    def expect(self, what: str, width: str, wanted: str) -> None:
        if width != wanted:
            raise self.error(f"{what} has the width {width}, and {wanted} is declared")

    def gate(self, letter: str, **reads: str) -> str:
        self.sum(letter, **reads)
        missing = {(letter, product.of) for product in self.gates[letter].products} - self.used
        for _, of in missing:
            raise self.error(f"gate {letter} declares a product of {of}, and the step gives it none")
        return self.through(letter, "h")

    def sum(self, letter: str, **reads: str) -> str:
        if letter not in self.gates:
            raise self.error(f"the step asks for the gate {letter}, and {', '.join(self.gates)} are declared")
        for of, width in reads.items():
            if (letter, of) not in self.declared:
                raise self.error(f"the step gives gate {letter} {of}, and no product of it is declared")
            if (letter, of) in self.used:
                raise self.error(f"the step sums gate {letter}'s product of {of} twice")
            self.expect(f"what gate {letter} reads as {of}", width, self.width_of(of))
            self.used.add((letter, of))
        return "h"

    def through(self, letter: str, total: str) -> str:
        self.expect(f"the sum of gate {letter}", total, "h")
        if (letter, "") in self.used:
            raise self.error(f"the step makes gate {letter} twice")
        self.used.add((letter, ""))
        return total

    def has(self, letter: str) -> bool:
        return letter in self.gates

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: str, vector: str) -> str:
        return vector

    def product(self, letter: str, vector: str) -> str:
        rows, columns = self._weight(letter, 2)
        self.expect(f"what the matrix {letter} reads", vector, columns)
        return rows

    def scalar(self, letter: str) -> str:
        self._weight(letter, 0)
        return "1"

    def _weight(self, letter: str, axes: int) -> tuple[str, ...]:
        weight = self.weights.get(letter)
        if weight is None or len(weight.widths) != axes:
            raise self.error(f"the step asks for the {'matrix' if axes else 'number'} {letter}, which is not declared")
        self.used.add((letter, ""))
        return weight.widths

    def plus(self, left: str, right: str) -> str:
        if left != right:
            raise self.error(f"vectors of the widths {left} and {right} meet, where one width is needed")
        return left

    times = over = plus

    def blend(self, gate: str, where_one: str, where_zero: str) -> str:
        return self.plus(self.plus(gate, where_one), where_zero)

    def complement(self, vector: str) -> str:
        return vector

    def scale(self, scalar: str, vector: str) -> str:
        self.expect("what scales or shifts a vector", scalar, "1")
        return vector

    def shift(self, vector: str, scalar: str) -> str:
        return self.scale(scalar, vector)


def _said(what: tuple[str, str]) -> str:
    letter, of = what
    return f"gate {letter}'s product of {of}" if of else letter
