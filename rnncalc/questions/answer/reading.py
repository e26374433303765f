"""Reads a learner's answer: a number, exact or rounded, a formula, or the shape of an array. Knows no network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import LONGEST_ANSWER, MOST_ANSWERS
from rnncalc.errors import CallError
from rnncalc.expressions import Chain, ChainSide, ExpressionError, TooLargeError, read_chain
from rnncalc.text import escape, has_letters

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

    Sizes = Mapping[str, Number | None] | None

_SIZE = "[1-9][0-9]{0,12}"
_SHAPE = re.compile(rf"[(\[]{_SIZE}(?:(?:[,x×]|\\times){_SIZE})*,?[)\]]|{_SIZE}(?:(?:[x×]|\\times){_SIZE})+")
_AXIS = f"(?:{_SIZE}|[A-Z]|None)"
_NAMED = re.compile(
    r"(?P<name>[A-Za-z][\w./-]*) ?(?:==?|:) ?"
    rf"(?P<shape>[(\[] ?(?:{_AXIS}(?: ?[,x×] ?| ?(?=[)\]])))+[)\]]|{_AXIS}(?: ?[x×] ?{_AXIS})+)"
)
_SIZE_OF = re.compile(r"torch\.Size\((\[.*\])\)")
_BRACKETS = re.compile(r"[(\[][^()\[\]]+[)\]]")


def check_number_of_answers(count: int) -> None:
    """Raise CallError if there are too many answers."""
    if count > MOST_ANSWERS:
        raise CallError(f"expected at most {MOST_ANSWERS:,} numbers or shapes, got {count:,}")


class GivenNumber(NamedTuple):
    """A learner's number. unit: the value of its last digit, more than 1 if it was rounded.

    number: a polynomial, if it is a formula in letters.
    coarse: the value of its last digit that is not 0, if the zeros may come from rounding; else 0.
    untrue: which `=` of a chain of equations is the first that is not true; 0 if none is.
    """

    number: Any
    unit: int = 1
    text: str = ""
    coarse: int = 0
    untrue: int = 0

    @property
    def meant(self) -> tuple[int, int]:
        """The least and the greatest number that may be rounded to it."""
        return self.number - self.unit // 2, self.number + self.unit // 2

    @property
    def one_digit(self) -> bool:
        """Whether it is rounded to one digit, so that right and wrong counts look the same."""
        return self.unit > 1 and self.number < 10 * self.unit

    def means(self, number: int) -> bool:
        """Return whether a number, rounded like the learner's, equals it."""
        if self.unit == 1 or not self.number:
            return bool(number == self.number)
        return bool(abs(self.number - number) * 2 <= self.unit)

    def rounds(self, number: int) -> bool:
        """Return whether a number may be rounded to it, as 51,400,000 to 50M, where the 0 may come from rounding.

        If only its zeros show the rounding, it must be within a twentieth of the number.
        """
        off = abs(self.number - number)
        return self.means(number) or (2 * off <= self.coarse and 20 * off <= number)

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether a tensor of this shape has this many numbers."""
        return self.means(prod(shape))


class Shape(NamedTuple):
    """The shape of a tensor as a learner gave it; a size may be a polynomial."""

    sizes: tuple[int, ...]

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether it is this shape; a vector may also be given as a row or a column."""
        return self.sizes == shape or (len(shape) == 1 and self.sizes in ((*shape, 1), (1, *shape)))


class NamedShape(NamedTuple):
    """A learner's shape of one tensor, or of an array that a layer returns, with its name.

    sizes: a letter is the batch or the steps, None is any size.
    """

    name: str
    sizes: tuple[int | str | None, ...]


Given = GivenNumber | Shape | NamedShape
"""A learner's answer."""


def read_answer(text: str, *, exact: bool = False, sizes: Sizes = None, decimal: str = "") -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    Of a chain of equations it is the last side. exact: whether a number that looks rounded is taken exactly.
    sizes: the letters that may be used, each with its size if it has one; None if any may.
    decimal: the decimal sign, where it is known.
    Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise CallError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = re.sub(r"\s{2,}", " ", text.strip())
    if match := _NAMED.fullmatch(_SIZE_OF.sub(r"\1", " ".join(text.split()))):
        named = re.findall(r"[0-9]+|[A-Z](?![a-z])|None", match["shape"])
        return NamedShape(
            match["name"].removesuffix(".shape"),
            tuple(int(size) if size.isdecimal() else None if size == "None" else size for size in named),
        )
    if shape := _shape(text, sizes):
        return shape
    try:
        chain = read_chain(text, sizes, decimal)
    except ExpressionError:
        if _is_formula(text) and not re.match(r"[A-Za-z]\w*[_.][\w./-]*\s*=", text):
            raise
        raise _refused(text) from None
    value, unit, coarse = chain.sides[-1]
    if re.fullmatch("[A-Za-z][A-Z]|[A-Z][a-z]", text) and not {*text} <= {*(sizes or ())}:
        raise _refused(text)
    rounding = (1, 0) if exact else (unit, coarse)
    return GivenNumber(value, rounding[0], chain.text, rounding[1], _untrue(chain, sizes))


def _untrue(chain: Chain, sizes: Sizes) -> int:
    """Return the number of the first `=` between two sides that differ; 0 if none does.

    A side in letters is compared with one in numbers only if all its letters have sizes.
    """
    sides = [_with_sizes(side, sizes) for side in chain.sides]
    for place, (before, after) in enumerate(pairwise(sides), 1 + chain.named):
        if has_letters(before.value) == has_letters(after.value):
            numbers = [GivenNumber(side.value, side.unit, "", side.coarse) for side in (before, after)]
            if not (numbers[0].rounds(numbers[1].number) or numbers[1].rounds(numbers[0].number)):
                return place
    return 0


def _with_sizes(side: ChainSide, sizes: Sizes) -> ChainSide:
    value: Any = side.value
    known = sizes and has_letters(value) and all(sizes.get(name) is not None for name in value.letters)
    return ChainSide(value.at(sizes)) if known else side


def read_number(text: str) -> GivenNumber:
    """Return a learner's number: 1600, 1,600 or 1 600, or rounded as in 3.8M. Raises CallError if it is none."""
    answer = read_answer(text)
    if not isinstance(answer, GivenNumber) or has_letters(answer.number):
        raise _refused(text)
    return answer


def _shape(text: str, sizes: Sizes) -> Shape | None:
    """Return a shape, such as (20, 10) or (4h, m); None if the text is not one."""
    bare = re.sub(r"\s|\\left|\\right|\\,", "", text)
    if _SHAPE.fullmatch(bare):
        return Shape(tuple(map(int, re.findall("[0-9]+", bare))))
    inside = bare[1:-1].removesuffix(",")
    several = "," in bare or re.fullmatch(r"[0-9]*[A-Za-z](?:_?\w+)?", inside)
    if not several or not _BRACKETS.fullmatch(bare):
        return None
    try:
        (*values,) = [read_chain(size, sizes).sides[0].value for size in inside.split(",") if not size.startswith("0")]
    except TooLargeError:
        raise
    except CallError:
        values = []
    if len(values) <= inside.count(",") or any(value == 0 for value in values):
        if re.search("[+*/^·×]", inside):
            return None  # a sum of numbers with commas between thousands
        raise CallError(f"expected a shape, such as (20, 10), got '{escape(text)}'")
    return Shape(tuple(values))  # type: ignore[arg-type]  # sizes may be polynomials


def _is_formula(text: str) -> bool:
    """Return whether a text that cannot be read is meant as a formula or a sum: it has signs of one."""
    signs = r"[0-9A-Za-z)\]}²³]\s*[-(\[{=\\$]|[+*/^·×]|^[(\[{\\$]"
    return bool(re.search(signs, text)) and not text.startswith("-")


def _refused(text: str) -> CallError:
    """Return the error for what is no number, with the cure for sizes without brackets, and for a comma behind it."""
    cure = ""
    if name := re.match(r"\s*([A-Za-z][\w./-]*)\s*=", text):
        return CallError(f"expected a shape, such as {escape(name[1])}=(2, 32, 20), got '{escape(text)}'")
    if text[:1] in ("(", "["):
        return CallError(f"expected a shape, such as (20, 10), got '{escape(text)}'")
    if re.fullmatch(rf"{_SIZE}(?:, ?{_SIZE}){{1,5}}", text):
        cure = f"; write ({text}) for a shape"
    elif re.fullmatch(r"[0-9][0-9,._]{,40}[,;]", text):
        cure = f"; write {text[:-1]}"
    return CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{cure}")


def in_one(numbers: list[GivenNumber]) -> GivenNumber | None:
    """Return the number whose groups of digits these are, as in 1 600; None if they are not."""
    try:
        return read_number(" ".join(number.text for number in numbers))
    except CallError:
        return None
