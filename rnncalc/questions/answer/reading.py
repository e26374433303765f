"""Reads a learner's answer: a number, exact or rounded, a formula, or the shape of an array. Knows no network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import LONGEST_ANSWER, MOST_ANSWERS
from rnncalc.errors import CallError
from rnncalc.expressions import ChainSide, ExpressionError, TooLargeError, read_chain
from rnncalc.text import escape, has_letters

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

    Sizes = Mapping[str, Number | None] | None

_BEFORE = re.compile(r"[\s$]*(?:(?:[≈~=]|about\b|approx(?:imately)?\b|circa\b|ca\.?\s|\\approx\b)[\s$]*)?", re.I)
_UNITS = {
    "params": r"\b(?:(?:trainable|learnable|total)\s+)?(?:par[aáâ]m\w*|weights?|gewichte?|poids|pes[oi]s?)",
    "multiply-adds": r"\b(?:multiply.?adds?|macs?)",
    "flops": r"\bflops?",
    "bytes": r"\bbytes?|(?<=[kKMG ])B",
    "saved": r"\b(?:saved\s+)?activations?",
    "state": r"\bnumbers?",
}
_NAME = re.compile(
    r"(?:\\(?:text|mathrm)\{[^{}]*\}|(?:\\?#|\|)?\\?[^\W\d_](?: ?[^\W\d_])*\|?|\w*par[aá]m\w*"
    r"|[NPnp]\\?_(?:\w+|\{(?:\\\w+\{)?\w+\}?\}))\s*(?:==?(?!>)|:=?|≈|\\approx\b)[\s$]*"
)
_IN_MATHEMATICS = re.compile(r"(\\[(\[])((?:(?!\\[()\[\]]).)*)(\\[)\]])")
_DELIMITERS = {("\\(", "\\)"), ("\\[", "\\]"), ("**", "**")}
_REMARK = re.compile(r"(?:\A|=)\s*[0-9][0-9.,]*[kM]?(\s+\(([\w .,:;]{3,100})\))\Z")
"""What is around an answer and is ignored: words, the name of what is counted, and signs of mathematics."""

_SIZE = "[1-9][0-9]{0,12}"
_SHAPE = re.compile(
    rf"[(\[]{_SIZE}(?:(?:[,x×]|\\times){_SIZE}){{,99}},?[)\]]|{_SIZE}(?:(?:[x×]|\\times){_SIZE}){{1,99}}"
)
_AXIS = f"(?:{_SIZE}|[A-Z]|None)"
_SET = re.compile(r" ?(?:∈|\\in\b) ?(?:\\mathbb ?\{?R\}?|[Rℝ]) ?\^ ?[{(]([^{}()]+)[})]")
_NAMED = re.compile(
    r"(?P<name>(?!(?:[NP]|\w*param\w*|total)\b)[^\W\d_][\w./′\u0300-\u036f-]*) ?(?:==?|:) ?"
    rf"(?P<shape>[(\[] ?(?:{_AXIS}(?: ?[,x×] ?| ?(?=[)\]]))){{1,99}}[)\]]|{_AXIS}(?: ?[x×] ?{_AXIS}){{1,99}})"
)
_SIZE_OF = re.compile(r"torch\.Size\((\[.*\])\)")
_BRACKETS = re.compile(r"[(\[][^()\[\]]{1,9999}[)\]]")


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
    """The shape of a tensor as a learner gave it; a size may be a polynomial.

    product: the number that it is if it is a calculation, as 4 × 16 × 25 may be; None in brackets.
    """

    sizes: tuple[int, ...]
    product: GivenNumber | None = None

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


def read_answer(
    text: str, *, exact: bool = False, sizes: Sizes = None, decimal: str = "", quantity: str = "params"
) -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    Of a chain of equations it is the last side. exact: whether a number that looks rounded is taken exactly.
    sizes: the letters that may be used, each with its size if it has one; None if any may.
    decimal: the decimal sign, where it is known. quantity: what it is about, whose words may be behind it.
    Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = _IN_MATHEMATICS.sub(_bare_chain, re.sub(r"\s{2,}", " ", text.strip()))
    plain = re.sub(r"_ ?\{(\w+)\}", r"_\1", re.sub(r"\$|\\[()\[\]]", "", text)).replace("\\times", "×")
    if match := _NAMED.fullmatch(_SIZE_OF.sub(r"\1", _SET.sub(r"=\1", " ".join(plain.split())))):
        named = re.findall(r"[0-9]+|[A-Z](?![a-z])|None", match["shape"])
        return NamedShape(
            match["name"].removesuffix(".shape"),
            tuple(int(size) if size.isdecimal() else None if size == "None" else size for size in named),
        )
    if (place := text.find("(=")) > 0 and text[-1] == ")":  # 28 (=24+4)
        text = f"{text[:place]} {text[place + 1 : -1]} "
    begin, end, name = _within(text, _after(quantity))
    remark = _REMARK.search(text[begin:end])  # 1200 (3 blocks)
    if remark and re.search(r"[^\W\d_]{3}", remark[2]) and not {*remark[2]} <= {*" ", *(sizes or ())}:
        end -= len(remark[1])
    shape = None if name else _shape(text[begin:end], sizes)
    if shape and shape.product is None:
        return shape
    try:
        sides = read_chain(text, sizes, decimal, within=(begin, end))
    except ExpressionError:
        if _is_formula(text) and not re.match(r"[A-Za-z]\w*[_.][\w./-]*\s*=", text):
            raise
        raise _refused(text) from None
    value, unit, coarse = sides[-1]
    if re.fullmatch("[A-Za-z][A-Z]|[A-Z][a-z]", text) and not {*text} <= {*(sizes or ())}:
        raise _refused(text)
    rounding = (1, 0) if exact else (unit, coarse)
    written = " ".join(f"{name}{text[begin:end]}".split())
    number = GivenNumber(value, rounding[0], written, rounding[1], _untrue(sides, "=" in name, sizes))
    return shape._replace(product=number) if shape else number


def as_calculations(answers: Sequence[Given]) -> list[Given]:
    """Return answers in which what may be a calculation is one, as 4 × 16 × 25."""
    return [each.product or each if isinstance(each, Shape) else each for each in answers]


def _bare_chain(match: re.Match[str]) -> str:
    """Return a chain without the signs of mathematics around it; around anything else they are brackets."""
    return f"  {match[2]}  " if "=" in match[2] and (match[1], match[3]) in _DELIMITERS else match[0]


@cache
def _after(quantity: str) -> re.Pattern[str]:
    """Return the pattern of words behind an answer about a quantity."""
    total = r"(?:\s+(?:(?:in|en|au)\s+)?total|\s+insgesamt)?"
    return re.compile(rf"(?:\\\s)?(?:\\text\{{\s*)?(?:{_UNITS[quantity]})\}}?{total}\Z", re.IGNORECASE)


def _within(text: str, after: re.Pattern[str]) -> tuple[int, int, str]:
    """Return where the mathematics of an answer begins and ends, and the name of what is counted before it."""
    begin, end, name = 0, len(text), ""
    for _ in range(2):  # outside and inside signs of mathematics
        begin = _BEFORE.match(text, begin, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        end = begin + len(text[begin:end].rstrip(" $.\n\t"))
        if words := after.search(text, begin, end):
            end = begin + len(text[begin : words.start()].rstrip(" $.\n\t"))
        closing = text[max(begin + 2, end - 2) : end]
        if (text[begin : begin + 2], closing) in _DELIMITERS and text.find(closing, begin + 2) == end - 2:
            begin, end = begin + 2, end - 2
        elif not name and (match := _NAME.match(text, begin, end)):
            begin, name = match.end(), match[0]
    return begin, end, name


def _untrue(sides: Sequence[ChainSide], named: bool, sizes: Sizes) -> int:
    """Return the number of the first `=` between two sides that differ; 0 if none does.

    A side in letters is compared with one in numbers only if all its letters have sizes. named: whether one `=` is
    behind a name.
    """
    for place, (before, after) in enumerate(pairwise([_with_sizes(side, sizes) for side in sides]), 1 + named):
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
        return Shape(tuple(map(int, re.findall("[0-9]+", bare))), None if bare[0] in "([" else GivenNumber(0))
    inside = bare[1:-1].removesuffix(",")
    several = "," in bare or re.fullmatch(r"[0-9]*[A-Za-z](?:_?\w+)?", inside)
    if not several or not _BRACKETS.fullmatch(bare):
        return None
    try:
        (*values,) = [read_chain(size, sizes)[0].value for size in inside.split(",") if not size.startswith("0")]
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
    if re.fullmatch(rf"{_SIZE}(?:(?:[,;] ?|\s){_SIZE}){{1,99}}", text):
        shape = f"({', '.join(re.findall('[0-9]+', text))}) for a shape, or " if text.count(",") in range(1, 6) else ""
        cure = f"; write {shape}each number as an answer of its own"
    elif re.fullmatch(r"[0-9][0-9,._]{,40}[,;]", text):
        cure = f"; write {text[:-1]}"
    elif re.fullmatch(r"[=x×*+·-]|param(eter)?s|weights", text):
        cure = "; put an answer of several words in quotes"
    return CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{cure}")


def in_one(numbers: list[GivenNumber]) -> GivenNumber | None:
    """Return the number whose groups of digits these are, as in 1 600; None if they are not."""
    try:
        return read_number(" ".join(number.text for number in numbers))
    except CallError:
        return None
