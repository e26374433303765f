"""An equation as it is written down: terms with their shapes, and the signs between them. Knows no format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from rnncalc.questions.nodes import (
    Applied,
    Complement,
    Elementwise,
    Equation,
    MatrixProduct,
    Node,
    Quotient,
    Stacked,
    Sum,
    Symbol,
)
from rnncalc.text import GREEK as LETTERS


class Term(NamedTuple):
    """A letter with what stands below it, a time, and its shape in numbers, empty for a number."""

    letter: str
    subscript: str = ""
    time: str = ""
    shape: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The term in plain text: `W_xz`, `x_t`, `h_(t−1)`."""
        letter = GREEK.get(self.letter, self.letter)
        if self.subscript:
            return f"{letter}_{self.subscript}"
        return f"{letter}_({self.time})" if len(self.time) > 1 else f"{letter}_{self.time}" if self.time else letter


class Function(NamedTuple):
    """The name of a function; what it is of follows in brackets."""

    name: str

    @property
    def symbol(self) -> str:
        """How it is written in an equation: with a letter, or by its name."""
        return FUNCTIONS.get(self.name, self.name)


class Derivative(NamedTuple):
    """The partial derivative of a letter with respect to another."""

    of: Term
    by: Term

    @property
    def name(self) -> str:
        """The derivative in plain text: `∂L/∂h_(t−1)`."""
        return f"∂{self.of.name}/∂{self.by.name}"


class Sign(StrEnum):
    """What stands between terms, as it is in plain text."""

    EQUALS = " = "
    PLUS = " + "
    MINUS = " − "
    ELEMENTWISE = " ∘ "
    TIMES = " · "
    OVER = " / "
    APPLIED = " "
    COMMA = ", "
    ONE = "1"
    OPEN = "("
    CLOSE = ")"
    OPEN_STACK = "["
    CLOSE_STACK = "]"


GREEK = {**LETTERS, "sum": "Σ"}

Piece = Term | Function | Derivative | str
Line = tuple[Piece, ...]
"""An equation, piece by piece; a string is a sign, or else text."""

FUNCTIONS = {"sigmoid": "σ"}
"""The functions that are written with a letter; others are by their names."""


def written(equation: Equation, sizes: Mapping[str, int], rows: bool = False) -> Line:
    """Return an equation with numbers for the letters of its shapes; `rows`: vectors are rows, before matrices."""
    writer = _Writer(sizes, rows)
    return (*writer.line(equation.left), Sign.EQUALS, *writer.line(equation.right))


def vector(node: Node, sizes: Mapping[str, int], rows: bool = False) -> Line:
    """Return a vector without its shapes: `r_t ∘ h_(t−1)`."""
    line = _Writer(sizes, rows).line(node)
    return tuple(piece._replace(shape=()) if isinstance(piece, Term) else piece for piece in line)


def plain(line: Line) -> str:
    """Return an equation on one line: `z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)`."""
    return "".join(map(plain_piece, line))


def plain_piece(piece: Piece) -> str:
    """Return a piece of an equation in plain text."""
    match piece:
        case Term() | Derivative():
            return piece.name
        case Function():
            return piece.symbol
        case _:
            return piece


def spelled(line: Line, signs: Mapping[int, str]) -> Line:
    """Return an equation with words in place of letters and signs: `sigmoid(zeta)`, where none has `σ(ζ)`."""
    return tuple(plain_piece(piece).translate(signs) for piece in line) if signs else line


def plain_words(parts: Iterable[str | Line]) -> str:
    """Return words with mathematics among them in plain text."""
    return "".join(part if isinstance(part, str) else plain(part) for part in parts)


_STRENGTH: dict[type[Node], int] = {
    Sum: 1,
    Complement: 1,
    Elementwise: 2,
    Quotient: 2,
    MatrixProduct: 3,
    Stacked: 3,
}
"""How tightly each kind of node holds together; what is missing needs no brackets."""


class _Writer(NamedTuple):
    """What every part of an equation is written with."""

    sizes: Mapping[str, int]
    rows: bool

    def line(self, node: Node, least: int = 0) -> Line:
        """Return a node, in brackets where it holds together less than what it stands in asks for."""
        line = self._bare(node)
        return (Sign.OPEN, *line, Sign.CLOSE) if _STRENGTH.get(type(node), 4) < least else line

    def _bare(self, node: Node) -> Line:
        match node:
            case Symbol():
                return (self._term(node, self._shape(node.axes)),)
            case MatrixProduct():
                matrix, vector = self.line(node.matrix), self.line(node.vector, 4)
                return (*vector, Sign.APPLIED, *matrix) if self.rows else (*matrix, Sign.APPLIED, *vector)
            case Stacked():
                return self._stacked(node)
            case Sum():
                line = self.line(node.terms[0], 1)
                for term in node.terms[1:]:
                    line = (*line, Sign.PLUS, *self.line(term, 2))
                return line
            case Complement():
                return (Sign.ONE, Sign.MINUS, *self.line(node.vector, 2))
            case Applied():
                return (Function(node.activation), Sign.OPEN, *self.line(node.vector), Sign.CLOSE)
            case Quotient():
                return (*self.line(node.left, 3), Sign.OVER, *self.line(node.right, 3))
            case Elementwise():
                sign = Sign.TIMES if _is_number(node.left) else Sign.ELEMENTWISE
                return (*self.line(node.left, 3), sign, *self.line(node.right, 4))

    def _stacked(self, node: Stacked) -> Line:
        """Return the vectors in a list, and the one matrix."""
        first, *others = (self.line(each.vector) for each in node.products)
        vectors = [piece for other in others for piece in (Sign.COMMA, *other)]
        stacked = (Sign.OPEN_STACK, *first, *vectors, Sign.CLOSE_STACK)
        read = sum(self.sizes[each.matrix.axes[1]] for each in node.products)
        units = self.sizes[node.products[0].matrix.axes[0]]
        if self.rows:
            return (*stacked, Sign.APPLIED, self._term(node.matrix, (read, units)))
        return (self._term(node.matrix, (units, read)), Sign.APPLIED, *stacked)

    def _shape(self, axes: tuple[str, ...]) -> tuple[int, ...]:
        """Return the numbers; a vector that is a row has an axis of one before its own."""
        shape = tuple(self.sizes[axis] for axis in axes)
        if not self.rows:
            return shape
        return (1, *shape) if len(shape) == 1 else shape[::-1]

    @staticmethod
    def _term(symbol: Symbol, shape: tuple[int, ...]) -> Term:
        return Term(symbol.letter, symbol.subscript, symbol.time, shape)


def _is_number(node: Node) -> bool:
    """Return whether a node is a trained number, not a vector."""
    match node:
        case Symbol():
            return not node.axes
        case Applied():
            return _is_number(node.vector)
        case _:
            return False
