"""An equation as it is written down: terms with their shapes, and the signs between them. Knows no format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rnncalc.questions.symbols import (
    Applied,
    Complement,
    Elementwise,
    Equation,
    Node,
    Product,
    Quotient,
    Sum,
    Symbol,
)


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


GREEK = {"zeta": "ζ", "nu": "ν"}

Line = tuple[Term | str, ...]
"""An equation, term by term; a string is a sign, a bracket or the name of a function."""

FUNCTIONS = {"sigmoid": "σ"}
"""The functions that are written with a letter; others are by their names."""


def written(equation: Equation, sizes: Mapping[str, int]) -> Line:
    """Return an equation with numbers for the letters of its shapes."""
    return (*_line(equation.left, sizes), " = ", *_line(equation.right, sizes))


def vector(node: Node, sizes: Mapping[str, int]) -> str:
    """Return a vector on one line: `r_t ∘ h_(t−1)`."""
    return plain(_line(node, sizes))


def plain(line: Line) -> str:
    """Return an equation on one line: `z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)`."""
    return "".join(piece if isinstance(piece, str) else piece.name for piece in line)


_STRENGTH: dict[type[Node], int] = {Sum: 1, Complement: 1, Elementwise: 2, Quotient: 2, Product: 3}
"""How tightly each kind of node holds together; what is missing needs no brackets."""


def _line(node: Node, sizes: Mapping[str, int], least: int = 0) -> Line:
    """Return a node, in brackets where it holds together less than what it stands in asks for."""
    line = _bare(node, sizes)
    return ("(", *line, ")") if _STRENGTH.get(type(node), 4) < least else line


def _bare(node: Node, sizes: Mapping[str, int]) -> Line:
    match node:
        case Symbol():
            return (Term(node.letter, node.subscript, node.time, tuple(sizes[axis] for axis in node.axes)),)
        case Product():
            return (*_line(node.matrix, sizes), " ", *_line(node.vector, sizes, 4))
        case Sum():
            line = _line(node.terms[0], sizes, 1)
            for term in node.terms[1:]:
                line = (*line, " + ", *_line(term, sizes, 2))
            return line
        case Complement():
            return ("1", " − ", *_line(node.vector, sizes, 2))
        case Applied():
            name = FUNCTIONS.get(node.activation, node.activation)
            return (f"{name}(", *_line(node.vector, sizes), ")")
        case Quotient():
            return (*_line(node.left, sizes, 3), " / ", *_line(node.right, sizes, 3))
        case Elementwise():
            sign = " · " if _is_number(node.left) else " ∘ "
            return (*_line(node.left, sizes, 3), sign, *_line(node.right, sizes, 4))


def _is_number(node: Node) -> bool:
    """Return whether a node is a trained number, not a vector."""
    match node:
        case Symbol():
            return not node.axes
        case Applied():
            return _is_number(node.vector)
        case _:
            return False
