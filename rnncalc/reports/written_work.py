"""A value as it is written down when a pass is done by hand: its operation with the numbers in, then what it comes to.

Knows operations and numbers; where a vector stands as a column is for formats to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.forward.worked import (
    Applied,
    Complement,
    Elementwise,
    Joined,
    LookedUp,
    MatrixProduct,
    Mean,
    Quotient,
    Sum,
    Worked,
)
from rnncalc.questions.work import Name, WorkedLine
from rnncalc.reports.equations import Term
from rnncalc.step.operations import OPERATIONS

DIGITS = 4
"""How many digits that count a fraction has at most."""

MOST_WHOLE = 2.0**53
"""From there on a float does not tell each whole number from the next."""


class Block(NamedTuple):
    """Numbers in rows: a matrix, or a vector as a column."""

    rows: tuple[tuple[str, ...], ...]


class Words(NamedTuple):
    """Text within an equation."""

    text: str


Piece = Term | Block | Words | str
"""What an equation is written in; a string is a number, a sign, a bracket or a function with its bracket."""

WorkLine = tuple[Piece, ...]


def written(line: WorkedLine, names: Mapping[int, object]) -> WorkLine:
    """Return `z_1 = σ(0.1·1 + 0.4·0 + 0.01) = σ(0.11) = 0.5275`; what has a name of its own stands as its numbers."""
    sides: list[WorkLine] = [(term(line.name),)]
    if line.same_as is not None:
        other = line.same_as
        sides.append((term(other), *(() if other.layer == line.name.layer else (Words(f" of {other.layer}"),))))
        sides.append(numbers(line.value.numbers))
    else:
        writers = (_Writer(names), _Writer(names, arguments=True), _Writer(names, applied=True))
        sides += [writer.bare(line.value) for writer in writers]
        sides.append(numbers(line.value.numbers))
    different = [side for number, side in enumerate(sides) if not number or side != sides[number - 1]]
    return (*different[0], *(piece for side in different[1:] for piece in (" = ", *side)))


def term(name: Name) -> Term:
    """Return a name as a term: `h_(12)`."""
    return Term(name.letter, time="" if name.step is None else str(name.step))


def numbers(vector: list[float]) -> WorkLine:
    """Return a vector of one as a number, any other as a column."""
    texts = [number(each) for each in vector]
    return (texts[0],) if len(texts) == 1 else (Block(tuple((text,) for text in texts)),)


def matrix(rows: list[list[float]]) -> WorkLine:
    """Return a matrix of one number as that, any other in its rows."""
    texts = tuple(tuple(number(each) for each in row) for row in rows)
    return (texts[0][0],) if len(texts) == len(texts[0]) == 1 else (Block(texts),)


def number(value: float) -> str:
    """Return a whole number as it is, a fraction in four digits that count; a true minus before it."""
    text = str(int(value)) if abs(value) < MOST_WHOLE and value == int(value) else f"{value:.{DIGITS}g}"
    return text.replace("-", "−")


_STRENGTH = {Sum: 1, Complement: 1, Elementwise: 2, Quotient: 2, Mean: 2, MatrixProduct: 3}
"""How tightly each operation holds together; what is missing needs no brackets."""

_NEGATIVE = 3
"""A number with a minus stands alone on the left of a sign, and in brackets on its right."""


class _Writer:
    """Writes what a value is made of, down to the values that have names.

    arguments: activations are of numbers that are worked out. applied: activations are worked out themselves.
    """

    def __init__(self, names: Mapping[int, object], *, arguments: bool = False, applied: bool = False) -> None:
        self.names = names
        self.arguments = arguments
        self.applied = applied

    def bare(self, value: Worked) -> WorkLine:
        """Return what a value is made of, whether or not it has a name."""
        match value.made:
            case Applied(activation, of) if not self.applied:
                inner = numbers(of.numbers) if self.arguments else self.line(of)
                return (f"{OPERATIONS[activation].function}(", *inner, ")")
            case MatrixProduct():
                return _sum([*self._product(value.made)])
            case Sum():
                return _sum(self.terms(value))
            case Complement(of):
                return ("1", " − ", *self.line(of, 4))
            case Elementwise(left, right):
                sign = "·" if 1 in (len(left.numbers), len(right.numbers)) else " ∘ "
                return (*self.line(left, 3), sign, *self.line(right, 4))
            case Quotient(left, right):
                return (*self.line(left, 3), " / ", *self.line(right, 4))
            case Mean(left, right):
                return ("(", *_sum([self.line(left, 2), self.line(right, 2)]), ")", " / ", "2")
            case Joined(left, right):
                return ("(", *self.line(left), "; ", *self.line(right), ")")
            case LookedUp(row):
                return (Term("E", str(row)),)
            case _:
                return numbers(value.numbers)

    def line(self, value: Worked, least: int = 0) -> WorkLine:
        """Return a value, one with a name as its numbers; in brackets where it holds together less than asked for."""
        if id(value) in self.names or value.made is None or (self.applied and isinstance(value.made, Applied)):
            line = numbers(value.numbers)
            strength = _NEGATIVE if isinstance(line[0], str) and line[0].startswith("−") else 4
        else:
            line = self.bare(value)
            flat = isinstance(value.made, MatrixProduct) and len(value.made.rows) == 1 and len(value.made.rows[0]) > 1
            strength = 1 if flat else _STRENGTH.get(type(value.made), 4)
        return ("(", *line, ")") if strength < least else line

    def terms(self, value: Worked) -> list[WorkLine]:
        """Return the terms of a sum, the one bias of a gate last, as the textbook has it."""
        parts = [*self._parts(value)]
        biases = [each for each in parts if each.made is None and id(each) not in self.names]
        if len(biases) == 1 and all(self._weighted(each) for each in parts if each is not biases[0]):
            parts.remove(biases[0])
            parts += biases
        return [term for each in parts for term in self._term(each)]

    def _weighted(self, value: Worked) -> bool:
        """Return whether a value is a product of weights, of a matrix or of one for each unit."""
        made = value.made
        if isinstance(made, Elementwise):
            return made.left.made is None and id(made.left) not in self.names
        return isinstance(made, MatrixProduct)

    def _parts(self, value: Worked) -> Iterator[Worked]:
        """Yield what a sum adds up, sums within it taken apart."""
        if not isinstance(value.made, Sum):
            yield value
            return
        for each in (value.made.left, value.made.right):
            yield from [each] if id(each) in self.names else self._parts(each)

    def _term(self, value: Worked) -> list[WorkLine]:
        """Return the term of a sum that a value is, or its terms."""
        if id(value) in self.names or not isinstance(value.made, MatrixProduct):
            return [self.line(value, 2)]
        return [*self._product(value.made)]

    def _product(self, made: MatrixProduct) -> Iterator[WorkLine]:
        """Yield a matrix times a vector; one row, times what has a name, is as many terms as it has numbers."""
        known = made.vector.made is None or id(made.vector) in self.names
        if len(made.rows) == 1 and known:
            for weight, of in zip(made.rows[0], made.vector.numbers, strict=True):
                yield (number(weight), "·", *_in_brackets(number(of)))
            return
        vector, rows = self.line(made.vector, 4), matrix(made.rows)
        by_number = isinstance(rows[0], str) or (isinstance(vector[0], str) and vector[0] != "(")
        yield (*rows, "·" if by_number else " ", *vector)


def _in_brackets(text: str) -> WorkLine:
    return ("(", text, ")") if text.startswith("−") else (text,)


def _sum(terms: list[WorkLine]) -> WorkLine:
    """Return terms with the signs between them; one that begins with a minus is subtracted."""
    line = terms[0]
    for term in terms[1:]:
        first, *rest = term
        if isinstance(first, str) and first.startswith("−"):
            line = (*line, " − ", first[1:], *rest)
        else:
            line = (*line, " + ", *term)
    return line
