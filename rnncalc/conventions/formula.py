"""The one algebra of counts: values, letters, numbers.

An expression is made of whole numbers, letters, axes, sums and products. The formula of a layer, which follows from
its tensors, is one; so are the product of a tensor's axes and every other sum that is shown. Knows only tensors.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import pairwise, starmap
from math import gcd, prod
from operator import add, and_
from typing import TYPE_CHECKING, Any, Union

from rnncalc.conventions.tensor import STORED, Axis, Direction, Role, StackedAxis, Tensor
from rnncalc.letters import has_letters
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.polynomial import Polynomial

Sizes = Mapping[str, int]
"""The numbers that letters stand for, or polynomials (`polynomial.py`), where sizes are letters."""


class Plus(Frozen):
    """A sum."""

    terms: tuple[Expression, ...]


class Times(Frozen):
    """A product."""

    factors: tuple[Expression, ...]


Expression = Union[int, str, Axis, Plus, Times, "Polynomial"]


def value(expression: Expression, sizes: Sizes) -> int:
    """Return the value of an expression."""
    if isinstance(expression, int):  # not a match statement, which takes twice as long, and every layer needs this
        return expression
    if isinstance(expression, str):
        return sizes[expression]
    if isinstance(expression, Plus):
        return sum([value(term, sizes) for term in expression.terms])
    if isinstance(expression, Times):
        return prod([value(factor, sizes) for factor in expression.factors])
    if isinstance(expression, Axis):
        return expression.size(sizes)
    return expression  # type: ignore[return-value]  # a polynomial, where an int is elsewhere


def letters(expression: Expression) -> str:
    """Return an expression in letters: `4h(m + h + 1)`."""
    return _written(expression, _sign, " − ")


def plain(expression: Expression) -> str:
    """Return an expression of numbers and letters in plain arithmetic: `4*h*(m + h + 1)`."""
    return _written(expression, lambda *_: "*", " - ")


def _written(expression: Expression, sign: Callable[[Expression, Expression], str], minus: str) -> str:
    """Return an expression, with a sign between two factors, and before a term that is subtracted."""
    match expression:
        case Axis():
            number = str(expression.times) if expression.times > 1 or not expression.letter else ""
            return f"{number}{'·'.join(expression.letter)}"
        case Plus(terms):
            texts = sorted([_written(term, sign, minus) for term in terms], key=lambda text: text[0] == "-")
            return " + ".join(texts).replace(" + -", minus) or "0"
        case Times((first, str(letter), *others)) if first == -1:
            return f"-{_written(Times((letter, *others)), sign, minus)}"
        case Times():
            factors = [*_over(expression.factors)]
            signs = ("", *starmap(sign, pairwise(factors)))
            texts = [_bracketed(factor, _written(factor, sign, minus)) for factor in factors]
            return "".join(map(add, signs, texts)) or "1"
        case _:
            return str(expression)


def _over(factors: Iterable[Expression]) -> Iterator[Expression]:
    """Yield factors, a fraction and the letter behind it as one: `h/4`."""
    fraction: Any = None
    for factor in factors:
        if fraction is not None:
            times = "" if fraction.numerator == 1 else fraction.numerator
            yield from [f"{times}{factor}/{fraction.denominator}"] if isinstance(factor, str) else [fraction, factor]
            fraction = None
        elif getattr(factor, "denominator", 1) > 1:
            fraction = factor
        else:
            yield factor
    yield from () if fraction is None else [fraction]


def _sign(left: Expression, right: Expression) -> str:
    """Return the sign between two factors in letters: none in `4h(m + 1)`, a dot in `n·m`, else a cross."""
    if any(each.rpartition("/")[2].isdecimal() for each in (left, right) if isinstance(each, str)):  # h/4
        return " × "
    match left, right:
        case str(), str():
            return "·"
        case (int(), str()) | (str(), Plus()) if left != 1:
            return ""
        case _:
            return " × "


def numbers(expression: Expression, sizes: Sizes) -> str:
    """Return an expression with its sizes for its letters: `4 × 20 × (10 + 20 + 1)`, or `4h_1(m + h_1 + 1)`."""
    if any(map(has_letters, sizes.values())):
        return letters(substituted(expression, sizes))
    match expression:
        case Plus():
            return " + ".join([numbers(term, sizes) for term in expression.terms]) or "0"
        case Times():
            return " × ".join([_bracketed(factor, numbers(factor, sizes)) for factor in expression.factors]) or "1"
        case _:
            return str(value(expression, sizes))


def substituted(expression: Expression, sizes: Sizes, *, folded: bool = False) -> Expression:
    """Return an expression with its sizes for its letters.

    folded: whether the plain numbers of a sum or of a product become one.
    """
    match expression:
        case Plus():
            return _sum([substituted(term, sizes, folded=folded) for term in expression.terms], folded)
        case Times():
            return _product([substituted(factor, sizes, folded=folded) for factor in expression.factors], folded)
        case Axis(times=times) if isinstance(expression, StackedAxis):
            return substituted(Times((times, Plus(expression.letters))), sizes, folded=True)
        case Axis(times=times, letter=letter):
            return substituted(Times((times, letter)), sizes, folded=True) if letter else times
        case str():
            return _expression(sizes[expression])
        case _:
            return _expression(expression)


def folded_sum(terms: Iterable[Expression]) -> Expression:
    """Return a sum with its plain numbers as one, behind the others."""
    return _sum(terms, folded=True)


def _sum(terms: Iterable[Expression], folded: bool) -> Expression:
    flat = [inner for term in terms for inner in (term.terms if isinstance(term, Plus) else (term,))]
    if folded:
        number = sum([term for term in flat if isinstance(term, int)])
        others = [term for term in flat if not isinstance(term, int)]
        flat = [_product((times, term), folded) for term, times in Counter(others).items()]  # k + k is 2k
        flat += [number] if number else []
    return (flat[0] if flat else 0) if len(flat) < 2 else Plus(tuple(flat))


def _product(factors: Iterable[Expression], folded: bool) -> Expression:
    if folded:
        flat = [inner for factor in factors for inner in (factor.factors if isinstance(factor, Times) else (factor,))]
        coefficients: list[Any] = [factor for factor in flat if hasattr(factor, "denominator")]  # 1/8 is of m/8
        number = prod(coefficients)
        number = number if number.denominator > 1 else number.numerator
        factors = [number, *(factor for factor in flat if not hasattr(factor, "denominator"))] if number else [0]
    return product(*factors)


def product(*factors: Expression) -> Expression:
    """Return the product of factors, flattened, without factors of 1."""
    others = [factor for factor in factors if factor != 1]
    if len(others) == 1:
        return others[0]
    flat = [inner for factor in others for inner in (factor.factors if isinstance(factor, Times) else (factor,))]
    return Times(tuple(flat)) if len(flat) > 1 else flat[0] if flat else 1


def _expression(size: int | Polynomial) -> Expression:
    """Return a size as an expression: a polynomial as a sum of products of letters."""
    if isinstance(size, int):
        return size
    terms = size.terms.items()
    return _sum([_product((factor, *monomial), folded=True) for monomial, factor in terms], folded=True)


def factored(expression: int | Polynomial) -> Expression:
    """Return what a polynomial's terms have in common, times the rest in a bracket: `T·n(m + n)`."""
    if isinstance(expression, int) or not expression.whole:
        return expression
    number, common, rest = expression.factored()
    return _product((number, *common, _expression(rest)), folded=True)


def _bracketed(expression: Expression, text: str) -> str:
    if not getattr(expression, "whole", True):  # h/4, and (h + 1)/4 has its bracket
        return text
    return f"({text})" if len(getattr(expression, "terms", ())) > 1 else text  # a sum, or a polynomial that is one


_IN_BRACKET = {
    Role.INPUT: Role.INPUT,
    Role.RECURRENT: Role.RECURRENT,
    Role.LEFT: Role.RECURRENT,
    Role.BIAS: Role.BIAS,
    Role.RECURRENT_BIAS: Role.BIAS,
    Role.KERNEL: Role.KERNEL,
    **dict.fromkeys((Role.SCALE, *STORED), Role.BIAS),
}
"""The roles whose terms are in one bracket, `h(m + h + 1)`; both kinds of bias, and
what else has a number for each feature, are one term there."""

Term = tuple[int, str]
"""A whole number times letters, the letter that all gates share first."""


def formula(tensors: Iterable[Tensor]) -> Expression:
    """Return the formula of the tensors' count: one bracket for the gates, then the rest; two directions double it.

    In a layer around the cells each matrix with its bias has a bracket; equal brackets are one.
    """
    gates: dict[tuple[Role, str], Term] = {}
    matrices: list[dict[tuple[Role, str], Term]] = []
    others: dict[tuple[Role, str], Term] = {}
    doubled = False
    last: Role | None = None
    for tensor in tensors:
        doubled = doubled or tensor.direction in (Direction.BACKWARD, Direction.BOTH)
        if tensor.direction is Direction.BACKWARD:
            continue
        alone = tensor.direction is None
        if alone and tensor.role is Role.KERNEL:
            matrices.append({})
        beside = alone and (tensor.role is Role.KERNEL or (tensor.role is Role.BIAS and last is Role.KERNEL))
        last = tensor.role
        for number, word in _terms(tensor):
            bracket = tensor.role in _IN_BRACKET and word
            terms, role = (gates, _IN_BRACKET[tensor.role]) if bracket else (others, tensor.role)
            terms = matrices[-1] if bracket and beside else terms
            number //= 2 if tensor.direction is Direction.BOTH else 1  # an axis of 2 in front
            before, _ = terms.get((role, word), (0, word))
            terms[role, word] = (before + number, word)
    brackets = [part for each in (*matrices, gates) for part in _bracket([*each.values()])]
    parts = [*_alike(brackets), *(product(number, *word) for number, word in others.values())]
    whole = parts[0] if len(parts) == 1 else Plus(tuple(parts))
    return Times((2, whole)) if doubled else whole


def _alike(terms: Iterable[Expression]) -> Iterator[Expression]:
    """Yield terms, those that differ in their number alone as one."""
    numbers: dict[tuple[Expression, ...], int] = {}
    for term in terms:
        first, *others = term.factors if isinstance(term, Times) else (term,)
        number, rest = (first, tuple(others)) if isinstance(first, int) else (1, (first, *others))
        numbers[rest] = numbers.get(rest, 0) + number
    for rest, number in numbers.items():
        yield product(number, *rest)


def _bracket(terms: list[Term]) -> list[Expression]:
    """Return `4h(m + h + 1)` for the terms of the gates; each by itself if no letter is in all of them."""
    shared = reduce(and_, [Counter(word) for _, word in terms]) if len(terms) > 1 else Counter[str]()
    if not shared:
        return [product(number, *word) for number, word in terms]
    longest = terms[0][1]
    first = [letter for at, letter in enumerate(longest) if longest[:at].count(letter) < shared[letter]]
    common = gcd(*(number for number, _ in terms))
    if common != terms[0][0]:  # like terms together may have a better common factor
        like: dict[str, int] = {}
        for number, word in terms:
            like[word] = like.get(word, 0) + number
        terms = [(number, word) for word, number in like.items()]
        common = gcd(*like.values())
    inside = Plus(tuple(product(number // common, *_without(word, first)) for number, word in terms))
    return [Times((*first, inside) if common == 1 else (common, *first, inside))]


def _without(word: str, letters: Iterable[str]) -> str:
    for letter in letters:
        word = word.replace(letter, "", 1)
    return word


def _terms(tensor: Tensor) -> list[Term]:
    """Return the terms of a tensor's count: one for each of the widths that are one after the other on an axis."""
    number = prod([axis.times for axis in tensor.axes])
    words = map("".join, itertools.product(*[getattr(axis, "letters", (axis.letter,)) for axis in tensor.axes]))
    first = [sorted(word, key=lambda letter: (letter not in "hnfu", letter != "k")) for word in words]  # as gates share
    return [(number, "".join(word)) for word in first]


def arithmetic(axes: Iterable[Axis]) -> Times:
    """Return the product of axes, widths that are one after the other as a sum: `(h + m) × h`."""
    return Times(tuple([Plus(axis.letters) if isinstance(axis, StackedAxis) else axis for axis in axes]))
