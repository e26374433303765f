"""Sums and products of whole numbers, put together as they stand on paper: expressions without letters.

A factor 1 that nobody needs to see is left out, and so are terms that are nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rnncalc.conventions.formula import Expression, Plus, Times, numbers, value


def amount(expression: Expression) -> int:
    """Return what an expression comes to."""
    return value(expression, {})


def write(expression: Expression) -> str:
    """Return an expression as it stands on paper: `4 × 16 × (8 + 16 + 1)`."""
    return numbers(expression, {})


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
        elif amount(term):
            yield term
