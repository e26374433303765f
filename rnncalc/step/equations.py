"""The equations of a step: one for each gate and each state, read off its trace, in any notation.

Letters are the textbook's under every convention, spelled as a notation has them: by default W_xz multiplies x in the
gate z, b_xz and b_hz are the biases on either side of a gate that has two, b_z the one of a gate that has one. Says
nothing of how an equation is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Union

from rnncalc.conventions.tensor import Role
from rnncalc.layers.frozen import Frozen
from rnncalc.step.operations import OPERATIONS
from rnncalc.step.trace import INPUT, STATE, WEIGHTS, Trace, Weights


class Notation(NamedTuple):
    """A way to spell equations; the numbers are the same in all of them.

    rows: vectors are rows, and stand before matrices, which are the transposes of those that stand before columns.
    stacked: what a gate reads is one vector, and its matrices are one.
    by_letter: what a matrix multiplies is said by its letter, not below it.
    """

    name: str
    rows: bool = False
    stacked: bool = False
    by_letter: bool = False


NOTATIONS = {
    each.name: each
    for each in (
        Notation("w"),
        Notation("uvw", by_letter=True),
        Notation("rows", rows=True),
        Notation("stacked", rows=True, stacked=True),
    )
}
"""Every notation by its name; the first is meant where none is named."""

W = NOTATIONS["w"]

Letter = tuple[str, str]
"""A letter, and what stands below it."""


class Letters(NamedTuple):
    """The letters of the weights of one cell in a notation.

    past: the letter of the state that is the cell's memory; alone: whether the cell has one gate, which then need not
    be told from others by name where the notation's letters tell its weights apart.
    """

    notation: Notation
    past: str
    alone: bool

    def weights(self, of: Weights, axes: int = 2) -> Letter:
        """Return the letters of weights, which have so many axes."""
        match of.role:
            case Role.SCALAR:
                return of.letter, ""
            case Role.MATRIX:
                return "W", f"h{of.letter}"
            case Role.BIAS | Role.RECURRENT_BIAS:
                return "b", f"{of.of}{self._below(of.letter)}"
            case _:
                return self.product(of.of, of.letter if of.shared is None else of.shared, diagonal=axes == 1)

    def product(self, of: str, gates: str, *, diagonal: bool = False) -> Letter:
        """Return the letters of what multiplies x or a state, in the gates of some letters, which may be none.

        What multiplies element by element is a small letter, as textbooks have peepholes; a diagonal recurrence keeps
        the W of the matrix that it stands for.
        """
        if self.notation.by_letter and of in ("x", self.past):
            return "U" if of == "x" else "W", self._below(gates)
        return "w" if diagonal and of != self.past else "W", f"{of}{gates}"

    def _below(self, gate: str) -> str:
        return "" if self.alone and self.notation.by_letter else gate


def letters_of(trace: Trace, notation: Notation = W) -> Letters:
    """Return the letters of the weights of a cell."""
    return Letters(notation, next(iter(trace.before)), len(trace.gates) == 1)


def output_matrix(notation: Notation) -> Letter:
    """Return the letters of the matrix of an output layer."""
    return ("V", "") if notation.by_letter else ("W", "hy")


class Symbol(Frozen):
    """A letter with what stands below it, and the letters of its axes; time is `t`, `t−1` or nothing.

    An axis of several vectors one behind the other has the letters of all, with + between them.
    """

    letter: str
    subscript: str = ""
    time: str = ""
    axes: tuple[str, ...] = ()


class Application(Frozen):
    """An operation of the table on symbols and other expressions; a sum has any number of terms.

    STACKED is none of the table: the symbol of several matrices as one, then the products that it comes to the sum of.
    """

    operation: str
    operands: tuple[Formula, ...]


Formula = Union[Symbol, Application]  # noqa: UP007  refers to itself

STACKED = "stacked"

HALF = "half"
"""What stands below the letter of a vector of which a direction takes its half."""


class Equation(NamedTuple):
    """What one gate, one state or an output comes to."""

    left: Symbol
    right: Formula


def equations(trace: Trace, notation: Notation = W) -> tuple[Equation, ...]:
    """Return the equations of a step, each after those it refers to."""
    writer = _Writer(trace, notation)
    lines = {symbol: writer.formula(place, named=False) for symbol, place in writer.gates.items()}
    for symbol, place in writer.results.items():
        lines.setdefault(symbol, writer.formula(place, named=writer.names.get(place) != symbol))
    return tuple(_in_order([Equation(*line) for line in lines.items()]))


def formulas(trace: Trace, notation: Notation = W) -> Callable[[int], Formula]:
    """Return what tells of a value of a step what it is called, or what it is made of if it has no letter."""
    return _Writer(trace, notation).formula


def within(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of."""
    yield formula
    for each in formula.operands if isinstance(formula, Application) else ():
        yield from within(each)


def symbols(formula: Formula) -> set[Symbol]:
    """Return every symbol in a formula."""
    return {each for each in within(formula) if isinstance(each, Symbol)}


class _Writer:
    """The formulas of the values of a step, in which those that have letters are symbols."""

    def __init__(self, trace: Trace, notation: Notation) -> None:
        self.nodes = trace.nodes
        self.letters = letters_of(trace, notation)
        self.gates = {Symbol(letter, time="t", axes=("h",)): place for letter, place in trace.gates.items()}
        ends = {**trace.after, "h": trace.output}
        self.results = {
            Symbol(letter, time="t", axes=(self.nodes[place].width,)): place for letter, place in ends.items()
        }
        self.names: dict[int, Symbol] = {}
        for symbol, place in (*self.gates.items(), *sorted(self.results.items(), key=_is_h)):
            if self.nodes[place].operation not in (INPUT, STATE):
                self.names.setdefault(place, symbol)
        for symbol, place in self.gates.items():
            node = self.nodes[place]
            if node.operation == "linear" and self.nodes[node.operands[0]].operation in OPERATIONS:
                self.names.setdefault(node.operands[0], symbol)

    def formula(self, place: int, *, named: bool = True) -> Formula:
        """Return the formula of a value; unless it is to be `named`, what it is made of even if it has a letter."""
        if named and place in self.names:
            return self.names[place]
        node = self.nodes[place]
        match node.operation:
            case "input":
                return Symbol(node.letter, time="t", axes=(node.width,))
            case "state":
                return Symbol(node.letter, time="t−1", axes=(node.width,))
            case "weights":
                assert node.weights
                return Symbol(*self.letters.weights(node.weights, len(node.axes)), axes=node.axes)
            case "half":
                whole = self.nodes[node.operands[0]]
                return Symbol(whole.letter, HALF, "t", (node.width,))
            case "linear":
                return self.formula(node.operands[0], named=False)
            case "plus" | "shift":
                terms = tuple(self._terms(place))
                return Application("plus", terms) if len(terms) > 1 else terms[0]
            case _:
                return Application(node.operation, tuple(map(self.formula, node.operands)))

    def _terms(self, place: int) -> Iterator[Formula]:
        """Yield the terms of a sum; the one bias of products stands last, as in textbooks."""
        terms = [*self._addends(place)]
        biases = [each for each in terms if self._is_bias(each)]
        others = [each for each in terms if each not in biases]
        if self.letters.notation.stacked and (stacks := self._stacks(others)):
            found = {each for _, products in stacks for each in products}
            yield from (Application(STACKED, (symbol, *map(self.formula, products))) for symbol, products in stacks)
            terms = [*(each for each in others if each not in found), *biases]
        elif len(biases) == 1 and all(map(self._weighted, others)):
            terms = others + biases
        yield from map(self.formula, terms)

    def _addends(self, place: int) -> Iterator[int]:
        """Yield the places of what a sum adds up, those of sums without a letter in their place."""
        for each in self.nodes[place].operands:
            if self.nodes[each].operation in ("plus", "shift") and each not in self.names:
                yield from self._addends(each)
            else:
                yield each

    def _is_bias(self, place: int) -> bool:
        weights = self.nodes[place].weights
        return weights is not None and weights.role in (Role.BIAS, Role.RECURRENT_BIAS)

    def _weighted(self, place: int) -> bool:
        """Return whether a value is weights times another."""
        operands = self.nodes[place].operands
        return bool(operands) and self.nodes[operands[0]].operation == WEIGHTS

    def _stacks(self, terms: Sequence[int]) -> list[tuple[Symbol, list[int]]]:
        """Return the products of a gate, or of the gates that share their matrices, as one each, states before x."""
        found: dict[str, list[tuple[str, int]]] = {}
        for place in terms:
            node = self.nodes[place]
            weights = self.nodes[node.operands[0]].weights if node.operation == "matrix" else None
            if weights and weights.role is not Role.MATRIX and place not in self.names:
                shared = weights.letter if weights.shared is None else weights.shared
                found.setdefault(shared, []).append((weights.of, place))
        stacks = []
        for gates, products in found.items():
            if len(products) > 1:
                places = [place for of, place in sorted(products, key=lambda each: each[0] == "x")]
                axes = [self.nodes[self.nodes[place].operands[0]].axes for place in places]
                stacks.append((Symbol("W", gates, axes=("h", "+".join(reads for _, reads in axes))), places))
        return stacks


def _is_h(result: tuple[Symbol, int]) -> bool:
    """Return whether a result is h: where another has the same value, that is what it is called by."""
    return result[0].letter == "h"


def _in_order(lines: list[Equation]) -> Iterator[Equation]:
    """Yield the lines so that each stands after those it refers to, and otherwise as they are."""
    left = [*lines]
    while left:
        open_ = {line.left for line in left}
        line = next(line for line in left if not open_ & symbols(line.right))
        left.remove(line)
        yield line


def sizes_of(axes: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape in numbers."""
    return tuple(sum(sizes[letter] for letter in axis.split("+")) for axis in axes)
