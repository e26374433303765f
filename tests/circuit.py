"""A drawn cell read back as the circuit that it is: which value each arrow carries, and what comes out of each box."""

from collections.abc import Callable
from math import sin
from typing import NamedTuple

import pytest

from rnncalc.layers.cell import Cell, Habits, Operations
from rnncalc.pictures.picture import Arrow, Box, Dot, Label, Picture, Style, span
from rnncalc.reports.equations import plain

Place = tuple[int, int]
ENDS = (Style.INPUT, Style.OUTPUT, Style.STATE)


def number(*words: str) -> float:
    """Return a number that stands for a word's weights; another word has another."""
    return 0.5 + sum(ord(char) * (place + 1) for place, char in enumerate("/".join(words))) % 97 / 97


class Beside(float):
    """Stands for a vector of weights beside the gates."""


class Normalised(float):
    """A number that is normalised, and the number that it was before."""

    of: float

    @classmethod
    def out_of(cls, of: float, *matrices: str) -> "Normalised":
        found = cls(sin(number(*matrices) + of))
        found.of = of
        return found


class Numbers(Operations[float]):
    """The operations of a step on numbers, each with an outcome of its own, whatever the order of what a gate reads."""

    def __init__(self, layer: Cell, inputs: int, habits: Habits) -> None:
        self.letters = {gate.letter for gate in layer.gates(inputs)}
        self.activations = {gate.letter: gate.activation for gate in layer.gates(inputs)}
        self.habits = habits
        self.matrices = {
            (gate.letter, product.of): f"{product.of}{gate.letter if product.matrix is None else product.matrix}"
            for gate in layer.gates(inputs)
            for product in gate.products
        }

    def __getattr__(self, name: str) -> Callable[..., float]:
        return {"minimum": min}[name]

    def gate(self, letter: str, **reads: float) -> float:
        return sin(number("gate", self.activations[letter], letter) + sum(reads.values()))

    def sum(self, letter: str, **reads: float) -> float:
        return sin(number(*sorted(self.matrices[letter, of] for of in reads)) + sum(reads.values()))

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
            return sin(number("c", "c") + left.of)
        return left + right

    def times(self, left: float, right: float) -> float:
        if isinstance(left, Beside) and isinstance(right, Normalised):
            return Normalised.out_of(right.of, "c")
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
    found = []
    for shape in picture.shapes:
        if isinstance(shape, Box):
            area = ((shape.x + dx, shape.y + dy) for dx in range(shape.width) for dy in range(shape.height))
            found.append(Piece(tuple(map(plain, shape.lines)), shape, frozenset(area)))
        elif isinstance(shape, Label) and shape.style in ENDS:
            line = frozenset((shape.left + dx, shape.y) for dx in range(span(shape.text)))
            found.append(Piece((plain(shape.text),), shape, line))
    return found


def cells(arrow: Arrow) -> list[Place]:
    """Return every cell of an arrow; the line goes along the grid from corner to corner."""
    found = [arrow.corners[0]]
    for x, y in arrow.corners[1:]:
        at_x, at_y = found[-1]
        dx, dy = (x > at_x) - (x < at_x), (y > at_y) - (y < at_y)
        assert 0 in (dx, dy), "a piece of an arrow is not along the grid"
        while (at_x, at_y) != (x, y):
            at_x, at_y = at_x + dx, at_y + dy
            found.append((at_x, at_y))
    return found


class Circuit:
    """Which piece each arrow of a picture comes from, and which it points at."""

    def __init__(self, picture: Picture) -> None:
        self.pieces = pieces(picture)
        self.arrows = [shape for shape in picture.shapes if isinstance(shape, Arrow)]
        self.dots = {(shape.x, shape.y) for shape in picture.shapes if isinstance(shape, Dot)}
        self.ways = [cells(arrow) for arrow in self.arrows]
        self.sources = [self.source(way) for way in self.ways]
        self.targets = [self.at(way[-2], way[-1]) for way in self.ways]

    def at(self, before: Place, last: Place) -> int:
        """Return the piece that lies beyond the end of a way."""
        beyond = 2 * last[0] - before[0], 2 * last[1] - before[1]
        (found,) = (place for place, piece in enumerate(self.pieces) if beyond in piece.covered)
        return found

    def source(self, way: list[Place]) -> int:
        """Return the piece that a way comes from, through the dots at which it leaves others."""
        if way[0] not in self.dots:
            return self.at(way[1], way[0])
        (other,) = (each for each in self.ways if way[0] in each and each is not way and each[0] != way[0])
        return self.source(other)

    def values(self, given: dict[str, float]) -> dict[int, float]:
        """Return the value of each piece, from those of what comes in at the left and from below."""
        into: dict[int, list[tuple[int, bool]]] = {}
        for way, source, target in zip(self.ways, self.sources, self.targets, strict=True):
            into.setdefault(target, []).append((source, way[-1][1] == way[-2][1]))
        found: dict[int, float] = {}
        while len(found) < len(self.pieces):
            before = len(found)
            for place, piece in enumerate(self.pieces):
                reads = into.get(place, [])
                if place not in found and all(of in found for of, _ in reads):
                    found[place] = value(piece, [(found[of], aside) for of, aside in reads], given)
            assert len(found) > before, "the arrows run in a circle"
        return found

    def runs_clear(self) -> None:
        """Hold that arrows of two values share no cell but where one crosses the other, and that no dot is there."""
        ways: dict[Place, list[tuple[int, bool, bool]]] = {}
        for way, source in zip(self.ways, self.sources, strict=True):
            for place, cell in enumerate(way):
                around = [way[other] for other in (place - 1, place + 1) if 0 <= other < len(way)]
                across, upright = (any(each[axis] != cell[axis] for each in around) for axis in (0, 1))
                ways.setdefault(cell, []).append((source, across, upright))
        for cell, found in ways.items():
            if len({source for source, _, _ in found}) > 1:
                assert cell not in self.dots
                assert sorted(found[0][1:]) == [False, True], cell
                assert [each[1:] for each in found[1:]] == [found[0][:0:-1]], cell

    def computes(self, layer: Cell, numbers: Numbers) -> None:
        """Hold that what comes out at the top and at the right is what the layer's step gives."""
        before = {letter: number("before", letter) for letter in layer.states}
        handed, after = layer.step(numbers, number("x"), tuple(before.values()))
        given = {"x_t": number("x"), **{f"{letter}_(t−1)": value for letter, value in before.items()}}
        values = self.values(given)
        out = [(piece, values[place]) for place, piece in enumerate(self.pieces)]
        assert [value for piece, value in out if piece.shape.style is Style.OUTPUT] == [pytest.approx(handed)]
        right = {
            letter: value
            for piece, value in out
            if piece.shape.style is Style.STATE and piece.text[0] not in given
            for letter in piece.text[0].split(", ")
        }
        assert right == {f"{letter}_t": pytest.approx(value) for letter, value in zip(layer.states, after, strict=True)}


SIGNS = {"+", "∘", "·", "÷", "1−"}
FUNCTIONS = {"σ": "sigmoid"}


def value(piece: Piece, reads: list[tuple[float, bool]], given: dict[str, float]) -> float:
    """Return what comes out of a piece; `reads` are the values that enter it, and whether from a side."""
    (name, *more), values = piece.text, [each for each, _ in reads]
    if isinstance(piece.shape, Label):
        assert len(values) <= 1
        return values[0] if values else given[name]
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
