"""A cell's equations as expressions of Python, in the functions of a framework.

The equations are those of `questions/symbols.py`, which reads the cell's own step; no cell has a rule here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from rnncalc.questions.nodes import parts as symbols_in
from rnncalc.questions.program import OwnCell
from rnncalc.sources.layout import Call, Chain, Code, flat

BEFORE = "t−1"


class Spelling(NamedTuple):
    """How a framework spells what equations are made of.

    activations: each function with what stands behind its argument; none for `linear`, which is no function.
    half: a direction's half of x. transposed: how a matrix lies the other way round, {} being the matrix. number: how a
    trained number is read.
    """

    activations: Mapping[str, tuple[str, ...]]
    half: str
    transposed: str = "{}.T"
    number: str = "{}"

    def activated(self, activation: str, code: Code) -> Code:
        """Return code through an activation."""
        if activation == "linear":
            return code
        function, *others = self.activations[activation]
        return Call(function, (code, *others))


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
    for node in _made_first(cell.equations):
        name = f"w{node.matrix.subscript}" if isinstance(node, MatrixProduct) else _letter(node)
        lines.append(Line(name, writer.code(node)))
        writer.names[node] = name
    states = {letter for letter, _ in cell.states}
    for number, (left, right) in enumerate(cell.equations):
        code = writer.code(right)
        needed = set().union(*(symbols_in(later.right) for later in cell.equations[number + 1 :]))
        still_needed = left.letter in states and any(
            each.letter == left.letter and each.time == BEFORE for each in needed
        )
        writer.names[left] = name = f"new_{left.letter}" if still_needed else left.letter
        lines.append(Line(name, code))
    after = tuple(writer.names[Symbol(letter, time="t", axes=(width,))] for letter, width in cell.states)
    return Step(tuple(lines), after, writer.names[Symbol("h", time="t", axes=(cell.output,))])


def _made_first(equations: tuple[Equation, ...]) -> list[MatrixProduct | Applied]:
    """Return what is made before the equations: products that stand in several, and trained numbers."""
    counts: dict[MatrixProduct | Applied, int] = {}
    for equation in equations:
        for node in _nodes(equation.right):
            match node:
                case MatrixProduct(vector=Symbol(letter=letter, time=time)) if time == BEFORE or letter == "x":
                    counts[node] = counts.get(node, 0) + 1
                case Applied(vector=Symbol(axes=(), time="")):
                    counts[node] = 2
    return [node for node, count in counts.items() if count > 1]


def _letter(node: Applied) -> str:
    assert isinstance(node.vector, Symbol)
    return node.vector.letter


def _nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    yield node
    match node:
        case Symbol():
            return
        case Sum():
            below = node.terms
        case Stacked():
            below = node.products
        case MatrixProduct() | Complement() | Applied():
            below = (node.vector,)
        case _:
            below = (node.left, node.right)
    for each in below:
        yield from _nodes(each)


class _Writer:
    """Nodes as code; `names` are those that have a variable."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.names: dict[Node, str] = {}

    def code(self, node: Node) -> Code:
        if node in self.names:
            return self.names[node]
        match node:
            case Symbol():
                return self._symbol(node)
            case Sum(terms=(first, *others)):
                later = (f"+ {self._tight(term, Complement)}" for term in others)
                return Chain((flat(self.code(first)), *later))
            case Elementwise():
                return f"{self._tight(node.left, Sum, Complement, MatrixProduct)} * {self._factor(node.right)}"
            case Quotient():
                return f"{self._tight(node.left, Sum, Complement, MatrixProduct)} / {self._factor(node.right)}"
            case Complement():
                return f"1 - {self._tight(node.vector, Sum, Complement)}"
            case MatrixProduct():
                matrix = self.spelling.transposed.format(self._symbol(node.matrix))
                return f"{self._factor(node.vector)} @ {matrix}"
            case Applied():
                return self.spelling.activated(node.activation, self.code(node.vector))
            case _:
                raise TypeError(node)

    def _symbol(self, symbol: Symbol) -> str:
        if symbol.time:
            return f"{symbol.letter}_{symbol.subscript}" if symbol.subscript else symbol.letter
        name = f"self.{symbol.letter}{'_' if symbol.subscript else ''}{symbol.subscript}"
        return name if symbol.axes else self.spelling.number.format(name)

    def _factor(self, node: Node) -> str:
        """Return what stands behind an operator that binds as tightly as any in it."""
        return self._tight(node, Sum, Complement, Elementwise, Quotient, MatrixProduct)

    def _tight(self, node: Node, *loose: type) -> str:
        code = flat(self.code(node))
        return f"({code})" if isinstance(node, loose) and node not in self.names else code
