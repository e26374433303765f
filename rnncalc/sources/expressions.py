"""A cell's equations as expressions of Python, in the functions of a framework.

The equations are read off the trace of the cell's own step; neither cells nor operations have a rule here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rnncalc.questions.program import OwnCell
from rnncalc.sources.layout import Call, Chain, Code, flat
from rnncalc.step.equations import Application, Equation, Formula, Symbol, symbols, within
from rnncalc.step.operations import ATOM, OPERATIONS

BEFORE = "t−1"


class Spelling(NamedTuple):
    """How a framework spells what equations are made of.

    activations: each function with what stands behind its argument; none for `linear`, which is no function.
    half: a direction's half of x. library: the module that has all other functions.
    transposed: how a matrix lies the other way round, {} being the matrix. number: how a trained number is read.
    """

    activations: Mapping[str, tuple[str, ...]]
    half: str
    library: str
    transposed: str = "{}.T"
    number: str = "{}"

    def activated(self, activation: str, code: Code) -> Code:
        """Return code through an activation."""
        return code if activation == "linear" else self.applied(activation, (code,))

    def applied(self, name: str, arguments: tuple[Code, ...]) -> Code:
        """Return a function of its arguments."""
        function, *others = self.activations.get(name) or (f"{self.library}.{OPERATIONS[name].program or name}",)
        return Call(function, (*arguments, *others))


class Line(NamedTuple):
    """An assignment."""

    name: str
    code: Code


class Step(NamedTuple):
    """A step as assignments; x and the states before it have their letters.

    states: the names under which the states stand after it, in the cell's order; output: that of what it hands on.
    """

    lines: tuple[Line, ...]
    states: tuple[str, ...]
    output: str


def step_of(cell: OwnCell, spelling: Spelling) -> Step:
    """Return a cell's step in the functions of a framework."""
    writer = _Writer(spelling)
    lines = [Line("x_half", spelling.half)] if cell.half else []
    for formula in _made_first(cell.equations):
        (first, *_) = formula.operands
        assert isinstance(first, Symbol)
        name = f"w{first.subscript}" if formula.operation == "matrix" else first.letter
        lines.append(Line(name, writer.code(formula)))
        writer.names[formula] = name
    states = {letter for letter, _ in cell.states}
    for number, (left, right) in enumerate(cell.equations):
        code = writer.code(right)
        needed = set().union(*(symbols(later.right) for later in cell.equations[number + 1 :]))
        still_needed = left.letter in states and any(
            each.letter == left.letter and each.time == BEFORE for each in needed
        )
        writer.names[left] = name = f"new_{left.letter}" if still_needed else left.letter
        lines.append(Line(name, code))
    after = tuple(writer.names[Symbol(letter, time="t", axes=(width,))] for letter, width in cell.states)
    return Step(tuple(lines), after, writer.names[Symbol("h", time="t", axes=(cell.output,))])


def _made_first(equations: tuple[Equation, ...]) -> list[Application]:
    """Return what is made before the equations: products that stand in several, and trained numbers."""
    counts: dict[Application, int] = {}
    for equation in equations:
        for formula in within(equation.right):
            match formula:
                case Application("matrix", (_, Symbol(letter=letter, time=time))) if time == BEFORE or letter == "x":
                    counts[formula] = counts.get(formula, 0) + 1
                case Application(_, (Symbol(axes=(), time=""),)):
                    counts[formula] = 2
    return [formula for formula, count in counts.items() if count > 1]


class _Writer:
    """Formulas as code; `names` are those that have a variable."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.names: dict[Formula, str] = {}

    def code(self, formula: Formula) -> Code:
        if formula in self.names:
            return self.names[formula]
        if isinstance(formula, Symbol):
            return self._symbol(formula)
        row, operands = OPERATIONS[formula.operation], formula.operands
        if row.function:
            return self.spelling.applied(row.name, tuple(map(self.code, operands)))
        if row.before:
            return f"{row.program}{self._tight(operands[0], row.strength + 1)}"
        if row.name == "matrix":
            matrix, vector = operands
            return f"{self._tight(vector, ATOM)} @ {self.spelling.transposed.format(flat(self.code(matrix)))}"
        if row.strength == 1:
            first, *others = operands
            later = (f"{row.program} {self._tight(term, 2)}" for term in others)
            return Chain((flat(self.code(first)), *later))
        left, right = operands
        is_product = isinstance(left, Application) and left.operation == "matrix"
        return f"{self._tight(left, ATOM if is_product else row.strength)} {row.program} {self._tight(right, ATOM)}"

    def _symbol(self, symbol: Symbol) -> str:
        if symbol.time:
            return f"{symbol.letter}_{symbol.subscript}" if symbol.subscript else symbol.letter
        name = f"self.{symbol.letter}{'_' if symbol.subscript else ''}{symbol.subscript}"
        return name if symbol.axes else self.spelling.number.format(name)

    def _tight(self, formula: Formula, least: int) -> str:
        """Return code, in brackets where it binds less tightly than what it stands in asks for."""
        code = flat(self.code(formula))
        if isinstance(formula, Symbol) or formula in self.names:
            return code
        return f"({code})" if OPERATIONS[formula.operation].strength < least else code
