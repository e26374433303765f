"""A drawn cell read back as the circuit that it is: which value each arrow carries, and what comes out of each box."""

from collections.abc import Callable
from itertools import product
from math import sin
from typing import NamedTuple

import pytest
from pictured import ENDS, rooms, texts

from rnncalc.layers.cell import Cell, Form, Habits, Operations
from rnncalc.pictures.picture import Arrow, Box, Label, Picture, Style, cells_along, dots
from rnncalc.typeset.equations import plain

Place = tuple[int, int]


def number(*words: str) -> float:
    """Return a number that stands for a word's weights; another word has another."""
    return 0.5 + sum(ord(char) * (place + 1) for place, char in enumerate("/".join(words))) % 97 / 97


class Beside(float):
    """Stands for a vector of weights beside the gates."""


class Normalised(float):
    """A number that is normalised, and the number that it was before."""

    before: float

    @classmethod
    def out_of(cls, before: float, *matrices: str) -> "Normalised":
        normalised = cls(sin(number(*matrices) + before))
        normalised.before = before
        return normalised


class Numbers(Operations[float]):
    """The operations of a step on numbers, each with an outcome of its own, whatever the order of what a gate reads."""

    def __init__(self, layer: Cell, inputs: int, habits: Habits) -> None:
        self.letters = {gate.letter for gate in layer.gates(inputs)}
        self.activations = {gate.letter: gate.activation for gate in layer.gates(inputs)}
        self.habits = habits
        self.matrices = {
            (gate.letter, product.vector): product.vector + (gate.letter if product.matrix is None else product.matrix)
            for gate in layer.gates(inputs)
            for product in gate.products
        }
        self.narrow = {
            (gate.letter, product.vector): f"{product.vector}{gate.letter}"
            for gate in layer.gates(inputs)
            for product in gate.products
            if product.form is Form.RANK
        }

    def read(self, letter: str, reads: dict[str, float]) -> float:
        """Return the sum of what a gate reads; a matrix of low rank is a box of its own before it."""
        boxes = ((self.narrow.get((letter, vector)), value) for vector, value in reads.items())
        return sum(sin(number(box) + value) if box else value for box, value in boxes)

    def __getattr__(self, name: str) -> Callable[..., float]:
        return {"minimum": min}[name]

    def gate(self, letter: str, **reads: float) -> float:
        if letter in self.habits.plus_one:
            return self.through(letter, 1 + self.sum(letter, **reads))
        return sin(number("gate", self.activations[letter], letter) + self.read(letter, reads))

    def sum(self, letter: str, **reads: float) -> float:
        return sin(number(*sorted(self.matrices[letter, read] for read in reads)) + self.read(letter, reads))

    def through(self, letter: str, total: float) -> float:
        return sin(number("gate", self.activations[letter], letter) + total)

    def has(self, letter: str) -> bool:
        return letter in self.letters

    def habit(self, name: str) -> bool:
        return bool(getattr(self.habits, name))

    def activate(self, activation: str, vector: float) -> float:
        return vector if activation == "linear" else sin(number(activation) + vector)

    def product(self, letter: str, vector: float) -> float:
        return sin(number(f"h{letter}") + vector)

    def scalar(self, letter: str) -> float:
        return number("scalar", {"zeta": "ζ", "nu": "ν"}.get(letter, letter))

    def vector(self, letter: str) -> float:
        return Beside()

    def normalise(self, vector: float) -> float:
        return Normalised.out_of(vector)

    def plus(self, left: float, right: float) -> float:
        if isinstance(left, Normalised) and isinstance(right, Beside):
            return sin(number("c", "c") + left.before)
        return left + right

    def times(self, left: float, right: float) -> float:
        if isinstance(left, Beside) and isinstance(right, Normalised):
            return Normalised.out_of(right.before, "c")
        return left * right

    def over(self, left: float, right: float) -> float:
        return left / right

    def blend(self, gate: float, where_one: float, where_zero: float) -> float:
        return gate * where_one + (1 - gate) * where_zero

    def complement(self, vector: float) -> float:
        return 1 - vector

    def scale(self, scalar: float, vector: float) -> float:
        return scalar * vector

    def half(self, vector: float) -> float:
        return vector

    def shift(self, vector: float, scalar: float) -> float:
        return vector + scalar


class Piece(NamedTuple):
    """A shape at which an arrow may end, and the cells it covers."""

    text: tuple[str, ...]
    shape: Box | Label
    covered: frozenset[Place]


def pieces(picture: Picture) -> list[Piece]:
    """Return the boxes of a picture, and the letters at the ends of its lines."""
    return [
        Piece(tuple(map(plain, texts(shape))), shape, frozenset(product(range(left, right), range(top, bottom))))
        for shape in picture.shapes
        if isinstance(shape, Box) or (isinstance(shape, Label) and shape.style in ENDS)
        for left, top, right, bottom in rooms(shape)
    ]


class Circuit:
    """Which piece each arrow of a picture comes from, and which it points at."""

    def __init__(self, picture: Picture) -> None:
        self.pieces = pieces(picture)
        self.arrows = [shape for shape in picture.shapes if isinstance(shape, Arrow)]
        self.dots = dots(picture)
        self.ways = [[*cells_along(arrow.corners)] for arrow in self.arrows]
        self.sources = [self.source(way) for way in self.ways]
        self.targets = [self.at(way[-2], way[-1]) for way in self.ways]

    def at(self, before: Place, last: Place) -> int:
        """Return the piece that lies beyond the end of a way."""
        beyond = 2 * last[0] - before[0], 2 * last[1] - before[1]
        (place,) = (place for place, piece in enumerate(self.pieces) if beyond in piece.covered)
        return place

    def source(self, way: list[Place]) -> int:
        """Return the piece that a way comes from, through the dots at which it leaves others."""
        if way[0] not in self.dots:
            return self.at(way[1], way[0])
        (other,) = (each for each in self.ways if way[0] in each and each is not way and each[0] != way[0])
        return self.source(other)

    def values(self, inputs: dict[str, float]) -> dict[int, float]:
        """Return the value of each piece, from those of what comes in at the left and from below."""
        into: dict[int, list[tuple[int, bool]]] = {}
        for way, source, target in zip(self.ways, self.sources, self.targets, strict=True):
            into.setdefault(target, []).append((source, way[-1][1] == way[-2][1]))
        values: dict[int, float] = {}
        while len(values) < len(self.pieces):
            before = len(values)
            for place, piece in enumerate(self.pieces):
                reads = into.get(place, [])
                if place not in values and all(source in values for source, _ in reads):
                    values[place] = value(piece, [(values[source], aside) for source, aside in reads], inputs)
            assert len(values) > before, "the arrows run in a circle"
        return values

    def runs_clear(self) -> None:
        """Hold that arrows of two values share no cell but where one crosses the other, and that no dot is there."""
        ways: dict[Place, list[tuple[int, bool, bool]]] = {}
        for way, source in zip(self.ways, self.sources, strict=True):
            for place, cell in enumerate(way):
                around = [way[other] for other in (place - 1, place + 1) if 0 <= other < len(way)]
                across, upright = (any(each[axis] != cell[axis] for each in around) for axis in (0, 1))
                ways.setdefault(cell, []).append((source, across, upright))
        for cell, wires in ways.items():
            if len({source for source, _, _ in wires}) > 1:
                assert cell not in self.dots
                assert sorted(wires[0][1:]) == [False, True], cell
                assert [each[1:] for each in wires[1:]] == [wires[0][:0:-1]], cell

    def computes(self, layer: Cell, numbers: Numbers) -> None:
        """Hold that what comes out at the top and at the right is what the layer's step gives."""
        before = {letter: number("before", letter) for letter in layer.states}
        output, after = layer.step(numbers, number("x"), tuple(before.values()))
        inputs = {"x_t": number("x"), **{f"{letter}_(t−1)": value for letter, value in before.items()}}
        values = self.values(inputs)
        out = [(piece, values[place]) for place, piece in enumerate(self.pieces)]
        assert [value for piece, value in out if piece.shape.style is Style.OUTPUT] == [pytest.approx(output)]
        right = {
            letter: value
            for piece, value in out
            if piece.shape.style is Style.STATE and piece.text[0] not in inputs
            for letter in piece.text[0].split(", ")
        }
        assert right == {f"{letter}_t": pytest.approx(value) for letter, value in zip(layer.states, after, strict=True)}


SIGNS = {"+", "∘", "·", "÷", "1−", "1+"}
FUNCTIONS = {"σ": "sigmoid"}


def value(piece: Piece, reads: list[tuple[float, bool]], inputs: dict[str, float]) -> float:
    """Return what comes out of a piece; `reads` are the values that enter it, and whether from a side."""
    (name, *more), values = piece.text, [each for each, _ in reads]
    if isinstance(piece.shape, Label):
        assert len(values) <= 1
        return values[0] if values else inputs[name]
    match name, *more:
        case ["+"]:
            return values[0] + values[1]
        case ["min"]:
            return min(values)
        case ["∘"] | ["·"]:
            return values[0] * values[1]
        case ["÷"]:
            (above,), (below,) = ([each for each, aside in reads if aside is side] for side in (False, True))
            return above / below
        case ["1−"]:
            return 1 - values[0]
        case ["1+"]:
            return 1 + values[0]
    assert name not in SIGNS
    if piece.shape.style is Style.OPERATION and not more:
        (only,) = values
        return sin(number(FUNCTIONS.get(name, name)) + only)
    if piece.shape.height == 1:
        assert not values
        return number("scalar", name.removeprefix("σ(").removesuffix(")"))
    if more and more[-1].endswith("_t"):
        return sin(number("gate", FUNCTIONS.get(name, name), more[-1].removesuffix("_t")) + sum(values))
    matrices = sorted(each.partition("_")[2] for each in piece.text)
    return sin(number(*matrices) + sum(values))
