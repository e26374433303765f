"""Reads a learner's answer: a number, exact or rounded, or the shape of an array. Knows no network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import (
    LONGEST_ANSWER,
    LONGEST_FORMULA,
    MAX_DIGITS,
    MOST_ANSWERS,
    MOST_BRACKETS,
    MOST_DEGREE,
    MOST_PRODUCTS,
)
from rnncalc.errors import CallError
from rnncalc.text import LETTER, escape, has_letters

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

_NUMBER = re.compile(
    r"\+?(?P<whole>0|[1-9][0-9]{0,2}(?P<gap>[, '\u00a0\u2009\u202f])[0-9]{3}(?:(?P=gap)[0-9]{3}){0,11}"
    r"|[1-9][0-9_]{0,39})"
    r"(?:\.(?P<decimals>[0-9]{1,30}))?(?:[eE]\+?(?P<power>[0-9]{1,2})| ?(?P<suffix>[kKMGB]))?"
)
_SIZE = "[1-9][0-9]{0,12}"
_SHAPE = re.compile(rf"[(\[]{_SIZE}(?:[,x×]{_SIZE})*,?[)\]]|{_SIZE}(?:[x×]{_SIZE})+")
_AXIS = f"(?:{_SIZE}|[A-Z]|None)"
_NAMED = re.compile(
    r"(?P<name>[A-Za-z][\w./-]*) ?(?:==?|:) ?"
    rf"(?P<shape>[(\[] ?(?:{_AXIS}(?: ?[,x×] ?| ?(?=[)\]])))+[)\]]|{_AXIS}(?: ?[x×] ?{_AXIS})+)"
)
_SIZE_OF = re.compile(r"torch\.Size\((\[.*\])\)")
_SUM = re.compile(r"[0-9(\[{][-0-9_,+*×·x^²³()\[\]{}]*")
_FORMULA = re.compile(r"(?:[A-Za-z]+=)?(?P<formula>[0-9A-Za-z(\[{][-0-9A-Za-z_,+*×·^²³()\[\]{}]*)")
_TOKEN = re.compile(rf"[0-9][0-9_]*(?:,[0-9]{{3}})*|(?:\^|\*\*)[0-9]|{LETTER}|.")
_POWER = re.compile(r"(?:\^|\*\*)[0-9]|[²³]")
_ALIKE = {"−": "-", "–": "-", "⋅": "·", "∙": "·", "\\cdot": "·", "\\times": "×"}
_ALIKE |= {"\\left": "", "\\right": "", "\\{": "{", "\\}": "}"}
"""Signs of documents and LaTeX, and the plain sign that each means in a formula."""
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_WORDS = re.compile(
    r"^\s*(?:≈|~|=|about\b|ca\.?\s|total:)\s*"
    r"|\s*\b(?:(?:trainable|learnable|total)\s+)?(?:parameters?|params?|weights?|parametern?)\.?\s*$",
    re.IGNORECASE,
)
"""Words around a number that are ignored."""

_FLAT = str.maketrans("₀₁₂₃₄₅₆₇₈₉²³", "012345678923")
"""Maps the digits of subscripts and powers to plain digits."""

_POWERS = {"k": 3, "K": 3, "M": 6, "G": 9, "B": 9}


def check_number_of_answers(count: int) -> None:
    """Raise CallError if there are too many answers."""
    if count > MOST_ANSWERS:
        raise CallError(f"expected at most {MOST_ANSWERS:,} numbers or shapes, got {count:,}")


class GivenNumber(NamedTuple):
    """A learner's number. unit: the value of its last digit, more than 1 if it was rounded.

    number: a polynomial, if it is a formula in letters.
    coarse: the value of its last digit that is not 0, if the zeros may come from rounding; else 0.
    """

    number: Any
    unit: int = 1
    text: str = ""
    coarse: int = 0

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


def read_answer(text: str, *, exact: bool = False) -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    exact: whether a number that looks rounded is taken exactly. Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise CallError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = re.sub(r"\s{2,}", " ", text.strip())
    if match := _NAMED.fullmatch(_SIZE_OF.sub(r"\1", " ".join(text.split()))):
        sizes = re.findall(r"[0-9]+|[A-Z](?![a-z])|None", match["shape"])
        return NamedShape(
            match["name"].removesuffix(".shape"),
            tuple(int(size) if size.isdecimal() else None if size == "None" else size for size in sizes),
        )
    answer = _read(_WORDS.sub("", text))
    return answer._replace(unit=1, coarse=0) if exact and isinstance(answer, GivenNumber) else answer


def _read(text: str) -> GivenNumber | Shape:
    bare = _without_signs(text)
    if _SHAPE.fullmatch(bare):
        return Shape(tuple(map(int, re.findall("[0-9]+", bare))))
    if _SUM.fullmatch(bare) and re.search(r"[0-9)\]}²³][-+*×·^²³(\[{]", bare) and not _NUMBER.fullmatch(text.strip()):
        return GivenNumber(formula_of(bare), 1, text)
    if not _NUMBER.fullmatch(text.strip()) and (formula := _shape(bare) or _formula(text)):
        return formula
    if name := re.match(r"\s*([A-Za-z][\w./-]*)\s*=", text):
        raise CallError(f"expected a shape, such as {escape(name[1])}=(2, 32, 20), got '{escape(text)}'")
    if bare[:1] in ("(", "["):
        raise CallError(f"expected {_FORMULAS if _is_sum(text) else 'a shape, such as (20, 10)'}, got '{escape(text)}'")
    return read_number(text)


class TooLargeError(CallError):
    """A formula beyond a limit: its length, its brackets, or its products."""


def formula_of(text: str) -> Number:
    """Return the value of a formula such as 4h(m+h+1) or of a sum, without spaces. Raises CallError if it is neither.

    It may have whole numbers, letters with subscripts, brackets, +, -, powers, and products with or without a sign.
    Raises TooLargeError beyond a limit.
    """
    if len(text) > LONGEST_FORMULA:
        raise TooLargeError(f"a formula has at most {LONGEST_FORMULA:,} characters, this one has {len(text):,}")
    expected = _FORMULAS if re.search("[A-Za-wyz]", text) else "a sum, such as 4*16*(8+16+1)"
    tokens = _TOKEN.findall(text)
    place = depth = work = 0

    def character() -> int:
        return len("".join(tokens[:place])) + 1

    def refused() -> CallError:
        cannot = f"it cannot be read from character {character()} on" if place < len(tokens) else "its end is missing"
        return CallError(f"expected {expected}, got '{escape(text)}'; {cannot}")

    def next_token() -> str:
        return tokens[place] if place < len(tokens) else ""

    def taken(*signs: str) -> str:
        nonlocal place
        token = next_token() if next_token() in signs else ""
        place += bool(token)
        return token

    def too_large(limit: str) -> TooLargeError:
        return TooLargeError(f"{limit}, and '{escape(text)}' has more at character {character() - 1:,}")

    def total() -> Number:
        value = product()
        while sign := taken("+", "-"):
            value += product() if sign == "+" else -product()
        return value

    def product() -> Number:
        value = power()
        while taken("*", "×", "·", "x") or next_token() in _BRACKETS or next_token()[:1].isalpha():
            value = times(value, power())
        return value

    def power() -> Number:
        nonlocal place, depth
        token = next_token()
        value: Number
        if opened := taken(*_BRACKETS):
            depth += 1
            if depth > MOST_BRACKETS:
                raise too_large(f"a formula has at most {MOST_BRACKETS} brackets in one another")
            value = total()
            depth -= 1
            if not taken(_BRACKETS[opened]):
                raise refused()
        elif token[:1].isdecimal():
            place += 1
            value = times(1, int(token.replace(",", "").replace("_", "")))
        elif token[:1].isalpha():
            from rnncalc.polynomial import letter  # most answers are numbers

            value = letter(token)
            place += 1
        else:
            raise refused()
        if _POWER.fullmatch(raised := next_token()):
            place += 1
            value, factor = 1, value
            for _ in range(int(raised[-1].translate(_FLAT))):
                value = times(value, factor)
        return value

    def times(one: Number, other: Number) -> Number:
        """Return a product, unless it is beyond a limit: what it takes is counted before it is made."""
        nonlocal work
        (terms, degree), (more_terms, more_degree) = _extent(one), _extent(other)
        work += terms * more_terms
        if degree + more_degree > MOST_DEGREE:
            raise too_large(f"a product has at most {MOST_DEGREE} letters")
        if work > MOST_PRODUCTS:
            raise too_large(f"a formula has at most {MOST_PRODUCTS:,} products of two terms when multiplied out")
        value = one * other
        if any(abs(factor) >= 10**MAX_DIGITS for factor in _coefficients(value)):
            raise too_large(f"a number has at most {MAX_DIGITS} digits")
        return value

    value = total()
    if place < len(tokens):
        raise refused()
    if value < 0:
        raise CallError(f"expected {expected}, got '{escape(text)}', which is less than 0")
    return value


def _extent(value: Number) -> tuple[int, int]:
    """Return the number of terms of a value, and the most letters in one of them."""
    return (1, 0) if isinstance(value, int) else (len(value.terms), max(map(len, value.terms)))


def _coefficients(value: Number) -> Iterable[int]:
    return (value,) if isinstance(value, int) else value.terms.values()


def _without_signs(text: str) -> str:
    """Return a text without blanks, and with the plain signs for those of documents and LaTeX."""
    bare = re.sub(r"\s", "", text)
    for sign, meant in _ALIKE.items():
        bare = bare.replace(sign, meant)
    return re.sub(r"([_^])\{(\w+)\}", r"\1\2", bare)


def _shape(bare: str) -> Shape | None:
    """Return a shape in letters, such as (4h, m); None if the text is not one."""
    inside = bare[1:-1].rstrip(",")
    several = "," in bare or re.fullmatch(f"[0-9]*{LETTER}", inside)
    if not several or not re.fullmatch(r"[(\[][^()\[\]]+[)\]]", bare) or not all(inside.split(",")):
        return None
    sizes = [GivenNumber(int(size)) if re.fullmatch(_SIZE, size) else _formula(size) for size in inside.split(",")]
    return None if None in sizes else Shape(tuple(size.number for size in sizes if size))


def _formula(text: str) -> GivenNumber | None:
    """Return a formula in letters; None for a word or other text."""
    bare = re.sub("[₀-₉]+", lambda match: f"_{match[0].translate(_FLAT)}", _without_signs(text))
    bare = re.sub("(?<![A-Za-z_])([A-WYZa-wyz])([0-9]+)", r"\1_\2", bare)  # h1; x is also a sign of multiplication
    match = _FORMULA.fullmatch(bare)
    if not match or re.fullmatch("[A-Za-z][A-Z]|[A-Z][a-z]", bare) or re.search("(?<!_)[A-Za-z]{3}", bare):
        return None
    try:
        value = formula_of(match["formula"])
    except CallError as error:
        if isinstance(error, TooLargeError) or _is_sum(text):
            raise
        return None
    return GivenNumber(value, 1, " ".join(text.split())) if has_letters(value) else None


_FORMULAS = "a formula, such as 4h(m + h + 1)"


def _is_sum(text: str) -> bool:
    """Return whether a text that cannot be read is meant as a formula: letters, and signs between them."""
    return bool(re.search("[A-Za-z]", text) and re.search(r"[(+*/^·×]", text)) and not re.search("[,=]", text)


def read_number(text: str) -> GivenNumber:
    """Return a learner's number: 1600, 1,600 or 1 600, or rounded as in 3.8M. Raises CallError if it is none."""
    match = _NUMBER.fullmatch(text.strip())
    power = int(match["power"] or _POWERS.get(match["suffix"], 0)) if match else 0
    decimals = (match["decimals"] or "") if match else ""
    kept, beyond = decimals[:power], decimals[power:]
    if not match or beyond.strip("0") or power > MAX_DIGITS:
        if _is_sum(text):
            raise CallError(f"expected {_FORMULAS}, got '{escape(text)}'")
        raise CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{_cure(text.strip())}")
    unit = 10 ** (power - len(kept))
    digits = re.sub(r"[^0-9]", "", match["whole"]) + kept
    zeros = len(digits) - len(digits.rstrip("0")) if unit > 1 and not kept and digits != "0" else 0
    return GivenNumber(int(digits) * unit, unit, text, unit * 10**zeros if zeros else 0)


def _cure(text: str) -> str:
    """Return the cure for sizes without brackets, and for a number with a comma behind it."""
    if re.fullmatch(rf"{_SIZE}(?:, ?{_SIZE})+", text):
        return f"; write ({text}) for a shape"
    if re.fullmatch(r"[0-9]+,[0-9]+ ?[kKMGB]|[1-9][0-9]{0,2}(?:\.[0-9]{3})+", text):  # separators of another language
        meant = text.replace(",", ".") if "," in text else text.replace(".", "")
        return f"; write {meant}" if _reads(meant) else ""
    return f"; write {text[:-1]}" if text[-1:] in (",", ";") and _NUMBER.fullmatch(text[:-1]) else ""


def _reads(text: str) -> bool:
    try:
        read_number(text)
    except CallError:
        return False
    return True


def in_one(numbers: list[GivenNumber]) -> GivenNumber | None:
    """Return the number whose groups of digits these are, as in 1 600; None if they are not."""
    try:
        return read_number(" ".join(number.text for number in numbers))
    except CallError:
        return None
