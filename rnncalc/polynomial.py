"""Polynomials in sizes that are letters: `4h·m + 4h² + 4h`; half of the pairs of T steps is `(T² + T)/2`.

A polynomial is added, subtracted and multiplied like a number, with numbers and with other polynomials. A result that
has no letters is a plain int. Knows nothing of networks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import gcd, lcm, prod
from typing import Any, Union

from rnncalc.errors import CallError
from rnncalc.letters import LETTER, RAISED
from rnncalc.printable import escape

Number = Union[int, "Polynomial"]

Monomial = tuple[str, ...]
"""The letters of a product in alphabetical order, repeated for powers; empty for a plain number."""


class Polynomial:
    """A sum of monomials with coefficients, in the order in which they were added, the plain number last.

    Its letters are unknown whole numbers from 1. A comparison is true only if it is certain for all of them: neither
    `m < h` nor `m >= h` is true.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms

    @property
    def letters(self) -> tuple[str, ...]:
        """Its letters in alphabetical order."""
        return tuple(sorted({letter for monomial in self.terms for letter in monomial}))

    def at(self, sizes: Mapping[str, Number]) -> Number:
        """Return its value with a number or a polynomial for each letter."""
        return sum(factor * prod([sizes[letter] for letter in monomial]) for monomial, factor in self.terms.items())

    def __add__(self, other: object) -> Number:
        return NotImplemented if (terms := _terms(other)) is None else self._with(terms, 1)

    def __sub__(self, other: object) -> Number:
        return NotImplemented if (terms := _terms(other)) is None else self._with(terms, -1)

    def __rsub__(self, other: int) -> Number:
        return -self + other

    def __mul__(self, other: object) -> Number:
        if type(other) is int:  # the usual case
            if other == 1:
                return self
            return _number({monomial: factor * other for monomial, factor in self.terms.items()}) if other else 0
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

    def __ceil__(self) -> Polynomial:
        return self

    def __abs__(self) -> Number:
        return self if next(iter(self.terms.values())) > 0 else -self

    def __pow__(self, power: int) -> Number:
        return prod([self] * power)

    def __divmod__(self, other: Number) -> tuple[Number, Number]:
        """Return quotient and rest: divide while the highest term of the rest has a whole quotient."""
        if not other:
            raise ZeroDivisionError("a polynomial by 0")
        highest, divisor = max((_terms(other) or {}).items(), key=_height)
        quotient: Number = 0
        rest: Number = self
        while isinstance(rest, Polynomial):
            monomial, factor = max(rest.terms.items(), key=_height)
            letters = [*monomial]
            if any(letters.count(letter) < highest.count(letter) for letter in highest) or not factor // divisor:
                break
            for letter in highest:
                letters.remove(letter)
            times = _number({tuple(letters): factor // divisor})
            quotient, rest = quotient + times, rest - times * other
        if isinstance(rest, int) and isinstance(other, int):
            more, rest = divmod(rest, other)
            quotient += more
        return quotient, rest

    def __rdivmod__(self, other: int) -> tuple[Number, Number]:
        return 0, other

    def __floordiv__(self, other: Number) -> Number:
        return divmod(self, other)[0]

    def __rfloordiv__(self, other: int) -> Number:
        return 0

    def __rmod__(self, other: int) -> Number:
        return other

    def __mod__(self, other: Number) -> Number:
        return divmod(self, other)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: Number) -> bool:
        return _is_positive(other - self)

    def __gt__(self, other: Number) -> bool:
        return _is_positive(self - other)

    def __le__(self, other: Number) -> bool:
        return _is_positive(other - self + 1)

    def __ge__(self, other: Number) -> bool:
        return _is_positive(self - other + 1)

    def __str__(self) -> str:
        """Return the expanded sum, negative terms last: `4h·m + 4h² − h`."""
        if (below := lcm(*[factor.denominator for factor in self.terms.values()])) > 1:
            return f"{self * below}/{below}" if len(self.terms) == 1 else f"({self * below})/{below}"
        text = ""
        for monomial, factor in sorted(self.terms.items(), key=lambda term: term[1] < 0):
            sign = ("−" if factor < 0 else "") if not text else " − " if factor < 0 else " + "
            number = "" if abs(factor) == 1 and monomial else str(abs(factor))
            powers = {name: monomial.count(name) for name in monomial}
            letters = [name if power == 1 else name + str(power).translate(RAISED) for name, power in powers.items()]
            text += f"{sign}{number}{'·'.join(letters)}"
        return text

    @property
    def whole(self) -> bool:
        """Whether all coefficients are whole numbers."""
        return all(factor.denominator == 1 for factor in self.terms.values())

    def __repr__(self) -> str:
        return f"<{self}>"

    def __format__(self, spec: str) -> str:
        """Return the same text as `str`, whatever the format."""
        return str(self)

    def factored(self) -> tuple[int, Monomial, Number]:
        """Return the common factor of all terms, as a number and letters, and the rest for the bracket."""
        number = gcd(*self.terms.values())
        common = []
        for letter in dict.fromkeys(next(iter(self.terms))):
            common += [letter] * min(monomial.count(letter) for monomial in self.terms)
        rest: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            letters = [*monomial]
            for letter in common:
                letters.remove(letter)
            rest[tuple(letters)] = factor // number
        return number, tuple(common), _number(rest)

    def _with(self, terms: Mapping[Monomial, int], times: int) -> Number:
        if not terms:
            return self
        added = {**self.terms}  # a copy, not a pass over all terms: a sum of a thousand layers adds as often
        plain = added.pop((), 0) + times * terms.get((), 0)
        for monomial, factor in terms.items():
            if number := added.get(monomial, 0) + times * factor:
                added[monomial] = _whole(number)
            else:
                del added[monomial]
        added.pop((), None)
        if plain and added:
            added[()] = plain
        return Polynomial(added) if added else plain


def letter(name: str) -> Any:
    """Return a letter as a size; a type checker accepts it for any size.

    Raises CallError if it is not a letter with or without a subscript.
    """
    if not isinstance(name, str) or not re.fullmatch(LETTER, name):
        raise CallError(f"expected a letter, such as 'm' or 'h_1', got {escape(repr(name))}")
    return Polynomial({(name,): 1})


def in_order(number: Number) -> Number:
    """Return a number with its terms in one order, however it was made: the products of most letters first."""
    if isinstance(number, int):
        return number
    return Polynomial(dict(sorted(number.terms.items(), key=lambda term: (-len(term[0]), term[0]))))


def _terms(number: object) -> Mapping[Monomial, int] | None:
    if isinstance(number, Polynomial):
        return number.terms
    if hasattr(number, "denominator"):  # a whole number, or a fraction of a quotient
        return {(): number} if number else {}  # type: ignore[dict-item]
    return None


def _number(terms: Mapping[Monomial, int]) -> Number:
    """Return the polynomial of these terms without zero coefficients; an int if no letters remain."""
    kept = {monomial: _whole(factor) for monomial, factor in terms.items() if factor and monomial}
    plain = terms.get((), 0)
    if not kept:
        return plain
    return Polynomial(kept | {(): plain} if plain else kept)


def _whole(factor: int) -> int:
    """Return a coefficient, a fraction of the denominator 1 as a whole number."""
    return factor.numerator if factor.denominator == 1 else factor


def _is_positive(number: Number) -> bool:
    """Return whether it is certainly above 0: its value with all letters 1 is, and it only grows with them."""
    if isinstance(number, int):
        return number > 0
    return sum(number.terms.values()) > 0 and all(factor > 0 for monomial, factor in number.terms.items() if monomial)


def _height(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    """Return the sort key of terms in a division: the number of factors, then the letters."""
    return len(term[0]), term[0]
