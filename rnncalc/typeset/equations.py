"""A written equation: terms with their shapes, and the signs between them. Knows no format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from rnncalc.conventions.notation import Notation, W
from rnncalc.letters import GREEK as LETTERS
from rnncalc.letters import superscript
from rnncalc.step.equations import NUMBERS_OF, ROOT, STACKED, Application, Equation, Formula, Symbol, sizes_of
from rnncalc.step.gradients import EQUAL, OVER_TIME
from rnncalc.step.operations import ATOM, EPSILON, OPERATIONS, OUTER, WRITTEN


class Term(NamedTuple):
    """A letter with its subscript, time and shape in numbers; the shape of a number is empty.

    above: what is written above it for the number of its layer.
    """

    letter: str
    subscript: str = ""
    time: str = ""
    shape: tuple[int, ...] = ()
    above: str = ""

    @property
    def symbol(self) -> str:
        """Its letter and its index, without the time."""
        return "_".join(filter(None, (self.letter, self.subscript.partition(",")[0])))

    @property
    def sizes(self) -> list[str]:
        """The sizes of its shape in plain text; if there are several, a sum of letters is in brackets."""
        several = len(self.shape) > 1
        return [f"({size})" if several and " " in str(size) else str(size) for size in self.shape]

    @property
    def name(self) -> str:
        """The term in plain text: `W_xz`, `x_t`, `h_(t−1)`, `h^(1)_t`."""
        letter = f"{GREEK.get(self.letter, self.letter)}{superscript(self.above)}"
        if self.subscript:
            return f"{letter}_({self.subscript})" if {"+", "−"} & {*self.subscript} else f"{letter}_{self.subscript}"
        return f"{letter}_({self.time})" if len(self.time) > 1 else f"{letter}_{self.time}" if self.time else letter


class Function(NamedTuple):
    """A function, by its letter or name in equations; its argument follows in brackets."""

    name: str


class Derivative(NamedTuple):
    """The partial derivative of a letter with respect to another."""

    function: Term
    variable: Term

    @property
    def name(self) -> str:
        """The derivative in plain text: `∂L/∂h_(t−1)`."""
        return f"∂{self.function.name}/∂{self.variable.name}"


class Root(NamedTuple):
    """The square root of a size, which is a number, a letter or an expression of letters."""

    size: str

    @property
    def name(self) -> str:
        """The root in plain text: `√k`, `√(k/8)`."""
        return f"√{self.size}" if self.size.isidentifier() or self.size.isdecimal() else f"√({self.size})"


class Sign(StrEnum):
    """A sign between terms, as in plain text."""

    EQUALS = " = "
    PLUS = " + "
    MINUS = " − "
    ELEMENTWISE = " ∘ "
    TIMES = " · "
    OVER = " / "
    CONVOLVED = " ∗ "
    APPLIED = " "
    COMMA = ", "
    SEMICOLON = "; "
    ONE = "1"
    TRANSPOSED = "ᵀ"
    OPEN = "("
    CLOSE = ")"
    OPEN_STACK = "["
    CLOSE_STACK = "]"


GREEK = {**LETTERS, "sum": "Σ"}

LOSS = Term("L")

ON_DELTA = "δ of a value is the gradient of the loss with respect to the argument of its function."

_NORM = "(a − mean(a)) / √(variance(a) + ε)"
_THROUGH_NORM = "(g − mean(g) − norm(a) ∘ mean(g ∘ norm(a))) / √(variance(a) + ε)"
_ON_FUNCTIONS = {
    "relu′": "relu′ is 1 where its argument is above 0, and 0 elsewhere.",
    "gelu′": "gelu′(a) is Φ(a) + a φ(a), with the distribution and the density of a standard normal number.",
    "hard_sigmoid": "hard_sigmoid(a) is a/6 + 1/2, cut at 0 and 1.",
    "hard_sigmoid_0.2": "hard_sigmoid_0.2(a) is a/5 + 1/2, cut at 0 and 1.",
    "hard_sigmoid′": "hard_sigmoid′ is 1/6 where its function is between 0 and 1, and 0 elsewhere.",
    "hard_sigmoid_0.2′": "hard_sigmoid_0.2′ is 1/5 where its function is between 0 and 1, and 0 elsewhere.",
    "norm′": f"norm(a) is {_NORM}, and norm′(g, a) is {_THROUGH_NORM}; ε is {EPSILON} in a cell, else the framework's.",
}
"""What the functions are that few books have, or gradients alone."""

IN_GRADIENTS = {row.name: row for row in WRITTEN.values()}
"""The operations in the gradients of others, by name."""

Piece = Term | Function | Derivative | Root | str
Line = tuple[Piece, ...]
"""An equation, piece by piece; a string is text."""


class Block(NamedTuple):
    """Numbers in rows: a matrix, or a vector as a column."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> str:
        """The rows in plain text: `[1 2; 3 4]`."""
        return f"[{'; '.join(map(' '.join, self.rows))}]"


class EquationText(NamedTuple):
    """Text within an equation with numbers."""

    name: str


WorkPiece = Piece | Block | EquationText
WorkLine = tuple[WorkPiece, ...]
"""An equation with numbers; a string is a number, a sign or a bracket."""

Part = TypeVar("Part")


def line_of(equation: Equation, sizes: Mapping[str, int], notation: Notation = W) -> Line:
    """Return an equation with numbers for the letters of its shapes; in rows, vectors are left of matrices."""
    writer = _EquationWriter(sizes, notation)
    return (*writer.line(equation.left), Sign.EQUALS, *writer.line(equation.right))


def timed(letter: str, time: str, notation: Notation = W, shape: tuple[int, ...] = ()) -> Term:
    """Return a gate, a state or another value at a time, in the letters of a notation: `z_t`, `Γ_u,t`."""
    letter, _, index = notation.letter(letter).partition("_")
    term = Term(letter, f"{index},{time}", shape=shape) if index and time else Term(letter, index, time, shape)
    return raised(term, notation)


def in_letters(line: Line, notation: Notation) -> Line:
    """Return mathematics with a course's letters for values at a time."""

    def written(piece: Piece) -> Piece:
        if isinstance(piece, Derivative):
            return Derivative(*[timed(each.letter, each.time, notation) if each.time else each for each in piece])
        return timed(piece.letter, piece.time, notation) if isinstance(piece, Term) and piece.time else piece

    return tuple(map(written, line))


def raised(term: Term, notation: Notation) -> Term:
    """Return a term with the number of its layer above it, if the notation has that."""
    if not notation.level:
        return term
    above = notation.raised
    return term._replace(above=above.get(term.symbol, above.get("", "")))


def vector(formula: Formula, sizes: Mapping[str, int], notation: Notation = W) -> Line:
    """Return a vector without its shapes: `r_t ∘ h_(t−1)`."""
    return without_shapes(_EquationWriter(sizes, notation).line(formula))


def without_shapes(line: Line) -> Line:
    """Return an equation, or a part of one, without its shapes."""
    return tuple(piece._replace(shape=()) if isinstance(piece, Term) else piece for piece in line)


def plain(line: Line) -> str:
    """Return an equation on one line: `z_t = σ(W_xz x_t + W_hz h_(t−1) + b_z)`."""
    return "".join(map(plain_piece, line))


def plain_piece(piece: Piece | WorkPiece) -> str:
    """Return a piece of an equation, in letters or with numbers, in plain text."""
    return piece if isinstance(piece, str) else piece.name


def on_functions(lines: Iterable[WorkLine]) -> Iterator[str]:
    """Yield what the functions that need it are, each once."""
    names = (piece.name for line in lines for piece in line if isinstance(piece, Function))
    for name in dict.fromkeys(name for name in names if name.endswith("′") or name in _ON_FUNCTIONS):
        yield (
            _ON_FUNCTIONS.get(name) or f"{name}: the gradient by the rule of the function, from the values in brackets."
        )


def spelled(line: Line, signs: Mapping[int, str]) -> Line:
    """Return an equation with words instead of letters and signs: `sigmoid(zeta)` for `σ(ζ)`."""
    return tuple(plain_piece(piece).translate(signs) for piece in line) if signs else line


def plain_words(parts: Iterable[str | Line]) -> str:
    """Return words with mathematics among them in plain text."""
    return "".join(part if isinstance(part, str) else plain(part) for part in parts)


def enumeration(lines: Sequence[Line]) -> tuple[str | Line, ...]:
    """Return words and mathematics: `a, b and c`."""
    signs = ["", *[", "] * (len(lines) - 2), " and "][: len(lines)]
    return tuple(part for sign, line in zip(signs, lines, strict=True) for part in (sign, line) if part)


def parts(line: Sequence[Part], signs: Collection[str]) -> list[tuple[Part, ...]]:
    """Return the parts of an equation between places where it may be broken, each from a sign to the next."""
    groups: list[list[Part]] = [[]]
    for piece in line:
        if piece in signs and groups[-1]:
            groups.append([])
        groups[-1].append(piece)
    return [tuple(part) for part in groups]


def filled(groups: Iterable[Sequence[Part]], fits: Callable[[Sequence[Part], bool], bool]) -> list[tuple[Part, ...]]:
    """Return the parts of an equation in rows, as few as fit. fits: of a row, and of whether it is the first."""
    rows: list[tuple[Part, ...]] = [()]
    for group in groups:
        if rows[-1] and not fits((*rows[-1], *group), len(rows) == 1):
            rows.append(())
        rows[-1] = (*rows[-1], *group)
    return rows


class _EquationWriter(NamedTuple):
    """The sizes and the notation that the parts of an equation are written with."""

    sizes: Mapping[str, int]
    notation: Notation

    def line(self, formula: Formula, least: int = 0) -> Line:
        """Return a formula, in brackets if it binds less tightly than its context requires."""
        if isinstance(formula, Symbol):
            if formula.letter == "delta" and not formula.gradient:
                gate, comma, time = formula.subscript.partition(",")
                return (Term("delta", f"{self.notation.letter(gate)}{comma}{time}"),)
            shape = () if formula.gradient else sizes_of(formula.axes, self.sizes)
            if shape and self.notation.rows:  # a row vector has an axis of one before its own
                shape = (1, *shape) if len(shape) == 1 else shape[::-1]
            if formula.time and not formula.subscript:
                term = timed(formula.letter, formula.time, self.notation, shape)
            else:
                term = raised(Term(formula.letter, formula.subscript, formula.time, shape), self.notation)
            return (Derivative(LOSS, term) if formula.gradient else term,)
        line, strength = self._written(formula)
        return (Sign.OPEN, *line, Sign.CLOSE) if strength < least else line

    def _written(self, formula: Application) -> tuple[Line, int]:
        """Return a formula, written as its operation's row declares, and how tightly it binds."""
        if formula.operation == STACKED:
            return self._stacked(formula), OPERATIONS["matrix"].strength
        if formula.operation == ROOT:
            return (Root(plain(self.line(formula.operands[0]))),), ATOM
        if formula.operation == NUMBERS_OF:
            numbers, operand = formula.operands
            return (Function(plain(self.line(numbers))), *self.line(operand, ATOM)), 0
        if formula.operation == "join":
            return self._joined(formula.operands), ATOM
        if formula.operation == OVER_TIME:
            term, over = formula.operands
            return (*self.line(over), Sign.APPLIED, *self.line(term, 2)), 2
        if formula.operation == EQUAL:
            one, other = map(self.line, formula.operands)
            return (Sign.OPEN_STACK, *one, "=", *other, Sign.CLOSE_STACK), ATOM
        row = OPERATIONS.get(formula.operation) or IN_GRADIENTS.get(formula.operation)
        if row is None or row.function:
            first, *others = map(self.line, formula.operands)
            arguments = (*first, *(piece for other in others for piece in (Sign.COMMA, *other)))
            return (Function(row.function if row else formula.operation), Sign.OPEN, *arguments, Sign.CLOSE), ATOM
        if row.before:
            (operand,) = formula.operands
            return (*row.before, *self.line(operand, row.strength + 1)), row.strength
        operands = formula.operands
        if row.name in ("through", "inner", "outer"):  # Wᵀ g, yᵀ g and g xᵀ; as rows, g Wᵀ, g yᵀ and xᵀ g
            sides = [self.line(operand, ATOM) for operand in operands]
            sides[row is OUTER] = (*sides[row is OUTER], Sign.TRANSPOSED)
            first, second = sides[::-1] if self.notation.rows else sides
            return (*first, Sign.APPLIED, *second), row.strength
        if row.name == "matrix" and self.notation.rows:
            operands = operands[::-1]
        is_sum, left = row.strength == 1, operands[0]
        alike = is_sum or (row.name == "times" and isinstance(left, Application) and left.operation == "times")
        line = self.line(left, row.strength if alike else ATOM if row.name == "matrix" else row.strength + 1)
        for operand in operands[1:]:
            if row.name == "plus" and isinstance(operand, Application) and operand.operation == "negative":
                line = (*line, Sign.MINUS, *self.line(operand.operands[0], 2))
            else:
                line = (*line, row.sign, *self.line(operand, 2 if is_sum else ATOM))
        return line, row.strength

    def _stacked(self, formula: Application) -> Line:
        """Return the stacked matrix times its vectors: `W [h; x]`, or as rows `[h, x] W`."""
        matrix, *products = formula.operands
        operands = [product.operands[1] for product in products if isinstance(product, Application)]
        stacked = self._joined(operands) if len(operands) > 1 else self.line(operands[0], ATOM)
        if self.notation.rows:
            return (*stacked, Sign.APPLIED, *self.line(matrix))
        return (*self.line(matrix), Sign.APPLIED, *stacked)

    def _joined(self, operands: Iterable[Formula]) -> Line:
        first, *others = map(self.line, operands)
        sign = Sign.COMMA if self.notation.rows else Sign.SEMICOLON
        return (Sign.OPEN_STACK, *first, *(piece for other in others for piece in (sign, *other)), Sign.CLOSE_STACK)
