"""Sums and products of whole numbers, as they stand on paper: what they come to, and how they are written.

Knows numbers only. An expression is written as it was built: a factor 1 that nobody needs to see is not put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple


class Times(NamedTuple):
    """A product."""

    factors: tuple[Expression, ...]


class Plus(NamedTuple):
    """A sum; one of nothing is 0."""

    terms: tuple[Expression, ...]


Expression = int | Times | Plus


def value(expression: Expression) -> int:
    """Return what an expression comes to."""
    match expression:
        case Times(factors):
            return prod(map(value, factors))
        case Plus(terms):
            return sum(map(value, terms))
        case _:
            return expression


def write(expression: Expression) -> str:
    """Return an expression as it stands on paper, with brackets where they are needed: `4 × 16 × (8 + 16 + 1)`."""
    match expression:
        case Times(factors):
            return " × ".join(f"({write(factor)})" if isinstance(factor, Plus) else write(factor) for factor in factors)
        case Plus(terms):
            return " + ".join(map(write, terms)) or "0"
        case _:
            return str(expression)


def product(*factors: Expression) -> Expression:
    """Return a product without the factors that are 1, and without products or single terms in brackets in it."""
    flat: list[Expression] = []
    for factor in factors:
        match factor:
            case 1:
                pass
            case Times(inner):
                flat += inner
            case _:
                flat.append(factor)
    return Times(tuple(flat)) if len(flat) > 1 else flat[0] if flat else 1


def total(terms: Iterable[Expression]) -> Expression:
    """Return a sum without the terms that are nothing, and without sums within it."""
    flat = tuple(_terms(terms))
    return flat[0] if len(flat) == 1 else Plus(flat)


def _terms(terms: Iterable[Expression]) -> Iterator[Expression]:
    for term in terms:
        if isinstance(term, Plus):
            yield from _terms(term.terms)
        elif value(term):
            yield term
