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
from rnncalc.expressions import BY, ExpressionError, TooLargeError, read_chain
from rnncalc.text import KIBI, escape, has_letters

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

    Sizes = Mapping[str, Number | None] | None

_INSIDE = r"((?:(?!\\[()\[\]]).)*)"
_DELIMITED = re.compile(
    rf"\A\*\*(.*)\*\*(?=[ $.]*\Z)|`([^`]*)`|\\\({_INSIDE}\\\)|\\\[{_INSIDE}\\\]|(?<=.)\((=.{{1,999}})\)\Z", re.DOTALL
)
_LAYOUT = re.compile(r"\\(?:begin|end)\{[a-z]+\*?\}|\\\\(?=\s*(?:&?=|\\end))|&(?==)|(?<==)&")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_AFTER = " $.!\n\t"
_ABOUT = r"(?:(?:[≈~=]|about\b|exactly\b|approx(?:imately)?\b|circa\b|ca\.?\s|\\approx\b)[\s$]*)*"
_TOTAL = r"(?:\s+(?:(?:in|en|au)\s+)?total|\s+insgesamt)"
_NAME = (
    r"(?:\\?#|\|)?(?:\\(?:text|mathrm)\{[^{}]*\}|\\?[^\W\d_][\w./′\u0300-\u036f-]*(?: [^\W\d_]\w*)*)"
    r"(?:\\?_ ?\{(?:\\\w+ ?\{)?\w+\}?\})?\|?"
)
_UNITS = {
    "params": r"\b(?:(?:trainable|learnable|total)\s+)?(?:par[aáâ]m\w*|weights?|gewichte?|poids|pes[oi]s?)"
    r"(?:\s+(?:and|und|&)\s+bias\w*)?",
    "multiply-adds": r"\b(?:multiply.?adds?|macs?)",
    "flops": r"\bflops?",
    "bytes": r"\bbytes?|(?<=[kKMG ])B",
    "saved": r"\b(?:saved\s+)?activations?",
    "state": r"\bnumbers?",
}
_BINARY = re.compile(r"(?:\A|=)\s*[0-9][0-9.,]*( ?([KMG])iB)\Z")
_REMARK = re.compile(r"(?:\A|=)\s*[0-9][0-9.,]*[kM]?(\s+\(([\w .,:;]{3,100})\))\Z")
"""The surroundings of an answer: signs of mathematics, words, the name of a quantity or a tensor, and a unit."""

_SIZE = "[1-9][0-9]{0,12}"
_SPACE = re.compile(r"(?<![0-9])(?:\s|\\,)|(?:\s|\\,)(?![0-9])|\$|\\(?:left|right)")
_ARRAY = re.compile(r"(?:torch\.Size\([(\[]|(?:\\mathbb\{?R\}?|[Rℝ])\^[{(])([^{}()\[\]]*)(?:[)\]]\)|[})])")
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
    name: what is before the first `=`, unless it says that parameters are counted; it may be a vector's name.
    """

    number: Any
    unit: int = 1
    text: str = ""
    coarse: int = 0
    untrue: int = 0
    name: str = ""

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

    product: the number that it is if it is a calculation, as 4 × 16 × 25 and (1600) may be, else None.
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


def read_answer(text: str, *, sizes: Sizes = None, decimal: str = "", quantity: str = "params") -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    Of a chain of equations it is the last side. sizes: the letters that may be used, each with its size if it has one;
    None if any may. decimal: the decimal sign, where it is known. quantity: what it is about, whose words may be behind
    it. Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = re.sub(r"\s{2,}", " ", text.translate(_FULL_WIDTH).strip())
    plain = _DELIMITED.sub(_bare, _LAYOUT.sub(lambda match: " " * len(match[0]), text))
    match: Any = _outside(quantity).fullmatch(plain.rstrip(_AFTER))
    side, body, begin = match["side"] or "", match["body"].rstrip(_AFTER), match.start("body")
    name = re.sub(r"_ ?\{(\w+)\}", r"_\1", match["name"] or "").removesuffix(".shape")
    counted = re.search(r"\A(?:[NP]|total)?\Z|param|[ #|\\]", name)
    if not counted and (array := _shape(body, sizes, named=True)):
        return NamedShape(name, array.sizes)
    if re.search(r"[-./\d]|\A(?!.*param|[NPnp]\\?_).*_", name):  # a letter of the network, or a tensor without a shape
        begin, body, side = match.start("side"), plain[match.start("side") : begin] + body, ""
    if remark := _REMARK.search(body):  # 1200 (3 blocks)
        known = {*(sizes or ())}
        if any(not {word} <= known and not {*word} <= known for word in re.findall(r"[^\W\d]\w+", remark[2])):
            body = body.removesuffix(remark[1])
    shape = None if side else _shape(body, sizes)
    if shape and shape.product is None:
        return shape
    if re.fullmatch("[A-Za-z][A-Z]|[A-Z][a-z]", text) and not {*text} <= {*(sizes or ())}:
        raise _refused(text)
    binary = _BINARY.search(body) if quantity == "bytes" else None  # 4.69 KiB is 4.69·1024, and its last digit 10.24
    whole = f"{body.removesuffix(binary[1])}e9" if binary else body
    try:
        sides = read_chain(text, sizes, decimal, plain=" " * begin + whole)
    except ExpressionError as error:
        raise _refused(text, error) from None
    name = "" if counted else name
    numbers = [GivenNumber(value, unit, "", coarse, name=name) for value, unit, coarse in sides]
    if binary:
        scale = KIBI ** " KMG".index(binary[2])
        rounded = [(each * scale + 10**9 // 2) // 10**9 for each in sides[-1]]
        numbers[-1] = GivenNumber(rounded[0], max(1, rounded[1]), "", rounded[2])
    untrue = _untrue(numbers, "=" in side, sizes)
    number = numbers[-1]._replace(text=" ".join(f"{side}{body}".split()), untrue=untrue)
    return shape._replace(product=number) if shape else number


def as_calculations(answers: Sequence[Given]) -> list[Given]:
    """Return answers as calculations, as 4 × 16 × 25, if each may be one."""
    if any(isinstance(each, Shape) and not each.product for each in answers):
        return [*answers]
    return [each.product or each if isinstance(each, Shape) else each for each in answers]


def _bare(match: re.Match[str]) -> str:
    """Return what is between signs of mathematics around a chain, or a whole side; else they are brackets."""
    inside, before = str(match[match.lastindex or 0]), match.string[: match.start()].rstrip(_AFTER)
    whole = before[-1:] in "=:" and not match.string[match.end() :].strip(_AFTER)
    return inside.center(len(match[0])) if whole or "=" in inside else match[0]


@cache
def _outside(quantity: str) -> re.Pattern[str]:
    """Return the pattern of an answer about a quantity: a name before its body, and a unit behind it."""
    return re.compile(
        rf"[\s$]*{_ABOUT}(?:(?P<side>(?P<name>{_NAME})(?:\([^\W\d_][\w, ]*\))?\s*"
        rf"(?:==?(?!>)|:=?|≈|\\approx\b|∈|\\in\b|(?<=\s)is\b)[\s$]*){_ABOUT})?(?P<body>.*?)"
        rf"(?:(?:\\\s)?(?:\\text\{{\s*)?(?:{_UNITS[quantity]})\}}?{_TOTAL}?(?:\s+\([^()]*\))?|{_TOTAL})?",
        re.IGNORECASE | re.DOTALL,
    )


def _untrue(sides: Sequence[GivenNumber], named: bool, sizes: Sizes) -> int:
    """Return the number of the first `=` between two sides that differ; 0 if none does.

    A side in letters is compared with one in numbers only if all its letters have sizes. named: whether one `=` is
    behind a name.
    """
    for place, (before, after) in enumerate(pairwise([_with_sizes(side, sizes) for side in sides]), 1 + named):
        alike = has_letters(before.number) == has_letters(after.number)
        if alike and not (before.rounds(after.number) or after.rounds(before.number)):
            return place
    return 0


def _with_sizes(side: GivenNumber, sizes: Sizes) -> GivenNumber:
    known = sizes and has_letters(side.number) and all(sizes.get(name) is not None for name in side.number.letters)
    return GivenNumber(side.number.at(sizes)) if known else side


def _shape(text: str, sizes: Sizes, *, named: bool = False) -> Shape | None:
    """Return a shape, such as (20, 10) or (4h, m); None if the text is not one.

    named: whether it has a name; its axes are then numbers, capital letters for the batch or the steps, and None.
    """
    signs = _SPACE.sub("", re.sub(rf"\\times|{BY}", "×", text))
    bare = _ARRAY.sub(r"(\1)", signs)
    bracketed = _BRACKETS.fullmatch(bare)
    inside = bare[1:-1].removesuffix(",") if bracketed else bare
    axes = re.split("[,x×]" if bracketed else "[x×]", inside)
    if all(re.fullmatch(f"{_SIZE}|[A-Z]|None" if named else _SIZE, axis) for axis in axes) and (bracketed or axes[1:]):
        array: Any = tuple(int(axis) if axis.isdecimal() else None if axis == "None" else axis for axis in axes)
        return Shape(array, GivenNumber(0) if re.fullmatch(r"[(\[][0-9]+[)\]]|[0-9x×]+", signs) else None)
    several = "," in bare or re.fullmatch(r"[0-9]*[A-Za-z](?:_?\w+)?", inside)
    if named or not (bracketed and several):
        return None
    values: list[Any] = [0]
    try:
        values = [read_chain(size, sizes)[0].value for size in inside.split(",")]
    except TooLargeError:
        raise
    except CallError:
        pass
    if all(values):
        return Shape(tuple(values))
    if re.search("[+*/^·×]", inside):
        return None  # a sum of numbers with commas between thousands
    raise CallError(f"expected a shape, such as (20, 10), got '{escape(text)}'")


def _refused(text: str, error: ExpressionError | None = None) -> CallError:
    """Return the error for what is no answer: its place in a formula, else what to write instead."""
    if (name := re.match(r"([A-Za-z][\w./-]*)\s*=", text)) and re.search("[_.]", name[1]):
        return CallError(f"expected a shape, such as {escape(name[1])}=(2, 32, 20), got '{escape(text)}'")
    signs = r"[0-9A-Za-z)\]}²³]\s*[-(\[{=\\$]|[+*/^·×]|^[(\[{\\$]"
    apart = re.fullmatch(r"[=x×*+·-]|param(eter)?s|weights", text)
    if error and not apart and re.search(signs, text) and not text.startswith("-"):
        return error
    cure = ""
    if re.fullmatch(rf"{_SIZE}(?:(?:[,;] ?|\s){_SIZE}){{1,99}}", text):
        shape = f"({', '.join(re.findall('[0-9]+', text))}) for a shape, or " if text.count(",") in range(1, 6) else ""
        cure = f"; write {shape}each number as an answer of its own"
    elif re.fullmatch(r"[0-9][0-9,._]{,40}[,;]", text):
        cure = f"; write {text[:-1]}"
    elif apart:
        cure = "; put an answer of several words in quotes"
    return CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{cure}")
