"""The graph of an equation: symbols, and what is done with them. Knows no cell and no notation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Union

from rnncalc.layers.frozen import equal_by_type


@equal_by_type
class Symbol(NamedTuple):
    """A letter with what stands below it, and the letters of its axes; time is `t`, `t−1` or nothing."""

    letter: str
    subscript: str = ""
    time: str = ""
    axes: tuple[str, ...] = ()


@equal_by_type
class MatrixProduct(NamedTuple):
    """A matrix times a vector; the matrix has an axis for what comes out, then one for what goes in."""

    matrix: Symbol
    vector: Node


@equal_by_type
class Stacked(NamedTuple):
    """Several matrices as one, times their vectors as one: it comes to the sum of the products.

    matrix: the letter of the one matrix; its axes are those of the products' matrices.
    """

    matrix: Symbol
    products: tuple[MatrixProduct, ...]


@equal_by_type
class Sum(NamedTuple):
    """A sum of vectors."""

    terms: tuple[Node, ...]


@equal_by_type
class Elementwise(NamedTuple):
    """The element-wise product of two vectors, or a trained number times a vector."""

    left: Node
    right: Node


@equal_by_type
class Quotient(NamedTuple):
    """The element-wise quotient of two vectors."""

    left: Node
    right: Node


@equal_by_type
class Complement(NamedTuple):
    """One minus a vector."""

    vector: Node


@equal_by_type
class Applied(NamedTuple):
    """An activation of a vector."""

    activation: str
    vector: Node


Node = Union[  # noqa: UP007  refers to itself
    Symbol, MatrixProduct, Stacked, Sum, Elementwise, Quotient, Complement, Applied
]


HALF = "half"
"""What stands below the letter of a vector of which a direction takes its half."""


def half_of(vector: Node) -> Symbol:
    """Return a direction's half of what the layer reads."""
    assert isinstance(vector, Symbol)  # of nothing else is there a half
    return Symbol(vector.letter, HALF, vector.time, ("h",))


class Equation(NamedTuple):
    """What one gate, one state or an output comes to."""

    left: Symbol
    right: Node


def sum_of(terms: Iterable[Node | None]) -> Node:
    """Return the sum of those terms that there are, sums among them as their own terms; of one term the term."""
    flat: list[Node] = []
    for term in terms:
        if isinstance(term, Sum):
            flat += term.terms
        elif term is not None:
            flat.append(term)
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def named(node: Node, symbols: dict[Node, Symbol]) -> Node:
    """Return the node with each part, and each matrix alone, that has a symbol of its own replaced by it."""
    if node in symbols:
        return symbols[node]
    match node:
        case Symbol():
            return node
        case Sum():
            return Sum(tuple(named(term, symbols) for term in node.terms))
        case MatrixProduct():
            return MatrixProduct(symbols.get(node.matrix, node.matrix), named(node.vector, symbols))
        case Stacked():
            products = (MatrixProduct(each.matrix, named(each.vector, symbols)) for each in node.products)
            return Stacked(node.matrix, tuple(products))
        case Complement():
            return Complement(named(node.vector, symbols))
        case Applied():
            return Applied(node.activation, named(node.vector, symbols))
        case _:
            return type(node)(named(node.left, symbols), named(node.right, symbols))


def stacks(node: Node) -> Iterator[Stacked]:
    """Yield every matrix of several in a node."""
    match node:
        case Symbol():
            return
        case Stacked():
            yield node
            below: tuple[Node, ...] = tuple(each.vector for each in node.products)
        case Sum():
            below = node.terms
        case MatrixProduct() | Complement() | Applied():
            below = (node.vector,)
        case _:
            below = node.left, node.right
    for each in below:
        yield from stacks(each)


def parts(node: Node) -> set[Symbol]:
    """Return every symbol in a node."""
    match node:
        case Symbol():
            return {node}
        case Sum():
            return set().union(*map(parts, node.terms))
        case MatrixProduct():
            return {node.matrix} | parts(node.vector)
        case Stacked():
            return {node.matrix}.union(*(parts(each.vector) for each in node.products))
        case Complement() | Applied():
            return parts(node.vector)
        case _:
            return parts(node.left) | parts(node.right)
