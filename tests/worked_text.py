"""Reads a pass as work back from what a terminal shows, columns and all, and works it out again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import exp, sqrt, tanh
from statistics import NormalDist, fmean, pvariance
from typing import Any

Number = Any
"""A float, a vector of them, or a matrix of more than one column."""

OPENING, CLOSING = "⎡⎢⎣[", "⎤⎥⎦]"
_DOTTED = re.compile(r"hard_sigmoid_0\.2′?|(?:∂L/∂)?[0-9]\.cell\w*\.\w+")
"""A function, and tensors of PaddlePaddle, that have a point in their names."""
_WORD = re.compile(r"[A-Za-zαβγσζνδ∂](?:[\w/∂′](?<!ᵀ))*(?:\[\d\])?(?:(?<=_)\(\d+\)|(?<=\w)(?:,\d+)+)?")
_SLICE = re.compile(r"numbers? (\d+)(?: to (\d+))? of ")
_DIGITS = re.compile(r"\d+(?:\.\d+)?(?:e[−+]\d+)?")


def each(function: Callable[[float], float]) -> Callable[[Number], Number]:
    return lambda value: [function(x) for x in value] if isinstance(value, list) else function(value)


def softmax(value: Number) -> Number:
    vector = value if isinstance(value, list) else [value]
    shares = [exp(x) / sum(map(exp, vector)) for x in vector]
    return shares if isinstance(value, list) else shares[0]


def norm(vector: Number) -> Number:
    """Return a vector with mean 0 and variance 1."""
    assert isinstance(vector, list)
    mean, deviation = fmean(vector), sqrt(pvariance(vector) + 0.001)
    return [(x - mean) / deviation for x in vector]


def through_norm(gradient: Number, vector: Number) -> Number:
    """Return the gradient of `norm`, whose own mean and whose product with the normalised vector it takes out."""
    normal, deviation = norm(vector), sqrt(pvariance(vector) + 0.001)
    slope = fmean(g * x for g, x in zip(gradient, normal, strict=True))
    return [(g - fmean(gradient) - x * slope) / deviation for g, x in zip(gradient, normal, strict=True)]


SLOPES = {"": 1 / 6, "_0.2": 1 / 5}


def cut(slope: float) -> Callable[[float], float]:
    return lambda x: min(max(slope * x + 0.5, 0.0), 1.0)


def within_cut(slope: float) -> Callable[[float], float]:
    return lambda x: slope if 0 < slope * x + 0.5 < 1 else 0.0


FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "σ": each(lambda x: 1 / (1 + exp(-x))),
    "tanh": each(tanh),
    "relu": each(lambda x: max(x, 0.0)),
    "relu′": each(lambda x: float(x > 0)),
    **{f"hard_sigmoid{end}": each(cut(slope)) for end, slope in SLOPES.items()},
    **{f"hard_sigmoid{end}′": each(within_cut(slope)) for end, slope in SLOPES.items()},
    "gelu": each(lambda x: x * NormalDist().cdf(x)),
    "gelu′": each(lambda x: NormalDist().cdf(x) + x * NormalDist().pdf(x)),
    "sum": lambda value: sum(value) if isinstance(value, list) else value,
    "softmax": softmax,
    "norm": norm,
    "norm′": lambda both: through_norm(*both),
}


def paired(function: Callable[[float, float], float], left: Number, right: Number) -> Number:
    """Return a function of two vectors of one length, or of a number and a vector."""
    if isinstance(left, list) and isinstance(right, list):
        return [paired(function, a, b) for a, b in zip(left, right, strict=True)]
    if isinstance(left, list):
        return [paired(function, a, right) for a in left]
    return [paired(function, left, b) for b in right] if isinstance(right, list) else function(left, right)


def product(left: Number, right: Number) -> Number:
    if isinstance(left, list) and isinstance(right, list) and isinstance(right[0], list) and len(right) == 1:
        return [[a * b for b in right[0]] for a in left]  # a column times a row
    if isinstance(left, list) and isinstance(left[0], list):
        vector = right if isinstance(right, list) else [right]
        done = [sum(a * b for a, b in zip(row, vector, strict=True)) for row in left]
        return done if len(done) > 1 else done[0]
    return paired(lambda a, b: a * b, left, right)


def transposed(value: Number) -> Number:
    if not isinstance(value, list):
        return value
    return [[*column] for column in zip(*value, strict=True)] if isinstance(value[0], list) else [value]


Known = dict[tuple[str, str], Number]
"""The values that letters stand for, by the layer that they are of, with its direction, and their names."""


def equations(lines: list[str], known: Known | None, owner: str) -> Iterator[tuple[str, list[Number | None]]]:
    """Yield each equation of a paragraph: its name, and what its sides come to; None for letters without `known`."""
    for part in [[line] for line in lines] if all(" = " in line for line in lines) else [lines]:
        yield from _Reader(part, known, owner).equations()


class _Reader:
    """Reads along the base line, and up and down from it where a bracket is taller."""

    def __init__(self, lines: list[str], known: Known | None, owner: str) -> None:
        self.known, self.owner = known, owner
        width = max(map(len, lines))
        self.lines = [line.ljust(width) for line in lines]
        (self.base,) = (number for number, line in enumerate(lines) if " = " in line)
        self.tokens = [*self._tokens()]
        self.at = 0

    def _tokens(self) -> Iterator[Any]:
        line, place = self.lines[self.base], 0
        while place < len(line):
            char = line[place]
            if found := _SLICE.match(line, place):
                yield slice(int(found[1]) - 1, int(found[2] or found[1]))
                place = found.end()
            elif char in OPENING and not re.match(r"\[([A-Za-zα∂]|0; )", line[place:]):
                end = next(column for column in range(place, len(line)) if line[column] in CLOSING)
                yield self._block(place, end)
                place = end + 1
            elif found := _DOTTED.match(line, place):
                yield found[0]
                place = found.end()
            elif found := _DIGITS.match(line, place):
                yield float(found[0].replace("−", "-"))
                place = found.end()
            elif found := _WORD.match(line, place):
                yield found[0]
                place = found.end()
            else:
                if char != " ":
                    yield {"⎛": "(", "⎜": "(", "⎝": "(", "⎞": ")", "⎟": ")", "⎠": ")", "∘": "·"}.get(char, char)
                place += 1

    def _block(self, start: int, end: int) -> Number:
        top = bottom = self.base
        while self.lines[top][start] in "⎢⎣":
            top -= 1
        while self.lines[bottom][start] in "⎢⎡":
            bottom += 1
        rows = [
            [float(word.replace("−", "-")) for word in self.lines[row][start + 1 : end].split()]
            for row in range(top, bottom + 1)
        ]
        return rows if len(rows[0]) > 1 else [row[0] for row in rows]

    def equations(self) -> Iterator[tuple[str, list[Number | None]]]:
        while self.at < len(self.tokens):
            name = self._next()
            while self._peek() != "=":
                name += str(self._next())
            start, sides = self.at, list[Number | None]()
            if name.startswith("new") and self.known is not None:  # = W − 0.1·∂L/∂W = NUMBERS − …
                self.at = self.tokens.index("=", start + 1) + 1
                self.known[self.owner, name[3:]] = self._factor()
                self.at = start
            while self._peek() == "=":
                self._next()
                sides.append(self._side())
            if self.known is not None:
                self.known[self.owner, name] = sides[-1]
            yield name, sides

    def _side(self) -> Number | None:
        """Return what a side comes to; None for letters without `known`, or of another layer below."""
        try:
            return self._sum()
        except KeyError:
            while self._peek() != "=":
                self._next()
            return None

    def _peek(self) -> Any:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _next(self) -> Any:
        self.at += 1
        return self.tokens[self.at - 1]

    def _sum(self) -> Number:
        total = self._term()
        while self._peek() in ("+", "−"):
            sign = 1 if self._next() == "+" else -1
            total = paired(lambda a, b, sign=sign: a + sign * b, total, self._term())  # type: ignore[misc]
        return total

    def _term(self) -> Number:
        value = self._factor()
        while True:
            before = self.tokens[self.at - 1]
            match self._peek():
                case "·":
                    self._next()
                    value = product(value, self._factor())
                case "/":
                    self._next()
                    value = paired(lambda a, b: a / b, value, self._factor())
                case list() | "(" if isinstance(value, list) or isinstance(before, str):
                    value = product(value, self._factor())
                case str(word) if word in FUNCTIONS or (_WORD.fullmatch(word) and isinstance(before, str)):
                    value = product(value, self._factor())
                case _:
                    return value

    def _factor(self) -> Number:
        value = self._whole()
        while self._peek() == "ᵀ":
            self._next()
            value = transposed(value)
        return value

    def _whole(self) -> Number:
        match token := self._next():
            case "−":
                return product(-1.0, self._factor())
            case "√":
                return sqrt(self._factor())
            case slice():
                return numbers if len(numbers := self._whole()[token]) > 1 else numbers[0]
            case "(" | "[":
                parts = [self._sum()]
                while (sign := self._next()) in (";", ","):
                    parts.append(self._sum())
                    if sign == ",":  # the two vectors of a function
                        assert self._next() == ")"
                        return parts
                assert sign in (")", "]")
                joined = [x for part in parts for x in (part if isinstance(part, list) else [part])]
                return parts[0] if len(parts) == 1 else joined
            case str():
                return FUNCTIONS[token](self._whole()) if token in FUNCTIONS else self._letter(token)
            case _:
                return token

    def _letter(self, name: str) -> Number:
        """Return the value of a letter: that of the direction, else of the layer, else the only one there is."""
        if self.known is None:
            raise KeyError(name)
        if self._peek() == "of":  # which may be further below
            self._next()
            return self.known[self._next(), name]
        values = {of: value for (of, each), value in self.known.items() if each == name}
        if not values and (number := re.fullmatch(r"(.+)[,_](\d+)", name)):  # of a vector
            vector = self._letter(number[1])
            return vector[int(number[2]) - 1] if isinstance(vector, list) else vector
        within = {of: value for of, value in values.items() if of.partition(",")[0] == self.owner.partition(",")[0]}
        (value,) = [within[self.owner]] if self.owner in within else (within or values).values()
        return value
