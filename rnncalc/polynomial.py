"""Polynomials with whole coefficients, which stand where a size is a letter: `4h·m + 4h² + 4h`.

A polynomial is added, subtracted and multiplied like a number, with numbers and with other polynomials. A result that
has no letters is a plain int. Knows nothing of networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod
from typing import Union

Number = Union[int, "Polynomial"]

Monomial = tuple[str, ...]
"""Letters in alphabetical order, each as often as it is a factor; none for a plain number."""

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Polynomial:
    """A sum of monomials, each with its coefficient, in the order in which they were written, a plain number last.

    Its letters stand for whole numbers that are not known. Two polynomials are compared by their difference: where that
    has letters, neither `<` nor `>` holds.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms

    @property
    def letters(self) -> tuple[str, ...]:
        """Its letters in alphabetical order."""
        return tuple(sorted({letter for monomial in self.terms for letter in monomial}))

    def at(self, sizes: Mapping[str, Number]) -> Number:
        """Return its value with other numbers, or polynomials, for its letters."""
        return sum(factor * prod([sizes[letter] for letter in monomial]) for monomial, factor in self.terms.items())

    def __add__(self, other: object) -> Number:
        return NotImplemented if (terms := _terms(other)) is None else self._with(terms, 1)

    def __sub__(self, other: object) -> Number:
        return NotImplemented if (terms := _terms(other)) is None else self._with(terms, -1)

    def __rsub__(self, other: int) -> Number:
        return -self + other

    def __mul__(self, other: object) -> Number:
        if (terms := _terms(other)) is None:
            return NotImplemented
        products: dict[Monomial, int] = {}
        for left, one in self.terms.items():
            for right, two in terms.items():
                monomial = tuple(sorted((*left, *right)))
                products[monomial] = products.get(monomial, 0) + one * two
        return _number(products)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Number:
        return -1 * self

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        return self if next(iter(self.terms.values())) > 0 else -self

    def __pow__(self, power: int) -> Number:
        return prod([self] * power)

    def __divmod__(self, number: int) -> tuple[Number, Number]:
        """Divide each coefficient by a whole number."""
        parts = {monomial: divmod(factor, number) for monomial, factor in self.terms.items()}
        whole, rest = ({monomial: part[place] for monomial, part in parts.items()} for place in (0, 1))
        return _number(whole), _number(rest)

    def __floordiv__(self, number: int) -> Number:
        return divmod(self, number)[0]

    def __mod__(self, number: int) -> Number:
        return divmod(self, number)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: object) -> bool:
        return isinstance(gap := self - other, int) and gap < 0

    def __gt__(self, other: object) -> bool:
        return isinstance(gap := self - other, int) and gap > 0

    def __le__(self, other: object) -> bool:
        return isinstance(gap := self - other, int) and gap <= 0

    def __ge__(self, other: object) -> bool:
        return isinstance(gap := self - other, int) and gap >= 0

    def __str__(self) -> str:
        """Return it expanded: `4h·m + 4h² + 4h`."""
        text = ""
        for monomial, factor in self.terms.items():
            sign = ("−" if factor < 0 else "") if not text else " − " if factor < 0 else " + "
            number = "" if abs(factor) == 1 and monomial else str(abs(factor))
            text += f"{sign}{number}{'·'.join(_powers(monomial))}"
        return text

    def __repr__(self) -> str:
        return f"<{self}>"

    def __format__(self, spec: str) -> str:
        """Return the same text however a number would be written."""
        return str(self)

    def factored(self) -> tuple[int, Monomial, Number]:
        """Return what all terms have in common, a number and letters, and what is left in the bracket."""
        number = gcd(*self.terms.values())
        common = []
        for letter in dict.fromkeys(letter for monomial in self.terms for letter in monomial):
            common += [letter] * min(monomial.count(letter) for monomial in self.terms)
        rest: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            left = [*monomial]
            for letter in common:
                left.remove(letter)
            rest[tuple(left)] = factor // number
        return number, tuple(common), _number(rest)

    def _with(self, terms: Mapping[Monomial, int], times: int) -> Number:
        added = {**self.terms}
        for monomial, factor in terms.items():
            added[monomial] = added.get(monomial, 0) + times * factor
        return _number(added)


def letter(name: str) -> Polynomial:
    """Return the size that a letter stands for."""
    return Polynomial({(name,): 1})


def _terms(of: object) -> Mapping[Monomial, int] | None:
    if isinstance(of, Polynomial):
        return of.terms
    return {(): of} if isinstance(of, int) else None


def _number(terms: Mapping[Monomial, int]) -> Number:
    """Return a polynomial of these terms, without those of coefficient 0; an int where there are no letters."""
    kept = {monomial: factor for monomial, factor in terms.items() if factor and monomial}
    plain = terms.get((), 0)
    if not kept:
        return plain
    return Polynomial(kept | {(): plain} if plain else kept)


def _powers(monomial: Monomial) -> list[str]:
    counts = {name: monomial.count(name) for name in monomial}
    return [name if count == 1 else f"{name}{str(count).translate(_RAISED)}" for name, count in counts.items()]
