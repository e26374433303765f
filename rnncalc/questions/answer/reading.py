"""Reads a learner's answer: a number, exact or rounded, a formula, or the shape of an array. Knows no network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.bounds import LONGEST_ANSWER, MOST_ANSWERS
from rnncalc.errors import CallError
from rnncalc.expressions import (
    ABOUT,
    ARROW,
    BY,
    PLAIN,
    SUBSCRIPTS,
    ExpressionError,
    TooLargeError,
    read_chain,
)
from rnncalc.expressions import GivenNumber as GivenNumber
from rnncalc.text import KIBI, escape, has_letters, ordinal

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

    Sizes = Mapping[str, Number | None] | None

_INSIDE = r"((?:(?!\\[()\[\]]).)*)"
_QUOTES = '“”„«»"'
_DELIMITED = re.compile(
    rf"\A\*\*?(?!\*)(.*?)\*\*?(?=[ $.]*\Z)|`([^`]*)`|[{_QUOTES}]([^{_QUOTES}]*)[{_QUOTES}]"
    rf"|\\\({_INSIDE}\\\)|\\\[{_INSIDE}\\\]|(?<=.)\((=.{{1,999}})\)\Z",
    re.DOTALL,
)
_LAYOUT = re.compile(
    r"\\(?:begin|end)\{[a-z]+\*?\}(?:\{[lcr| ]+\})?|\\\\(?=\s*(?:&?\s*[-+=]|\\end))|&(?=\s*[-+=])|(?<==)&"
    r"|\\(?:overset|stackrel) ?\{[^{}]*\} ?\{ ?(=) ?\}"
)
_SIGNS: dict[int, int | str] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SIGNS |= {ord("½"): " 1/2 ", ord("¼"): " 1/4 ", ord("¾"): " 3/4 "}
_AFTER = " $.!\n\t✓✔"
_ROUNDED = (
    rf"[~≃]|{ABOUT}|\b(?:about|approx(?:imately|\.)?|roughly|around|circa|ca\.?|etwa|environ|ungefähr)(?=[\s$0-9])"
)
_OPENING = r"(?:exactly|(?:a |in )?total(?: of)?|so|also|thus|hence|therefore|daher|hay)(?=[\s$])"
_ABOUT = rf"(?:(?:{_ROUNDED}|{ARROW}|=|{_OPENING})[\s$]*)*"
_IS = r"is|are|has|have|get|ist|sind|hat|haben|beträgt|est|sont|es|son|tiene|y a"
_TOTAL = r"\s{1,9}(?:(?:(?:in|en|au)\s+)?total|insgesamt)"
_NAME = (
    r"(?:\\?#|(?:\\left ?)?\|)?(?:\\(?:text|math)[a-z]*\{[^{}]{,99}\}(?:_\w{1,20})?"
    r"|\\?[^\W\d_][\w./′\u0300-\u036f-]{,99}(?: [^\W\d_]\w{,30}){,12}(?: [0-9]{1,3})?)"
    r"(?:\\?_ ?\{(?:\\\w{1,20} ?\{)?\w{1,20}\}?\})?(?::0)?(?:(?:\\right ?)?\|)?"
)
_UNITS = {
    "params": r"(?:(?:trainable|learnable|total)\s+)?(?:par[aáâ]m\w*|weights?|gewichte?|poids|pes[oi]s?)"
    r"(?:\s+(?:and|und|&)\s+bias\w*)?|bias\w*",
    "multiply-adds": r"multiply.?adds?|macs?",
    "flops": r"flops?",
    "bytes": r"bytes?|octets?|B\b",
    "saved": r"(?:saved\s+)?activations?",
    "state": r"numbers?",
}
_BINARY = re.compile(r"(?:\A|=)\s*[0-9][0-9.,]*( ?([KMG])iB)\Z")
_REMARK = re.compile(r"(?:\A|=)\s*[0-9][0-9.,]*[kM]?(\s+\(([\w .,:;]{3,100})\))\Z")
_TWO = re.compile(
    r"[0-9][kM]?\s*(?:\(\s*)?(?:or|oder|bzw\.?|ou|vs\.?)\s+[0-9]"
    r"|(?:\A|=\s*)[0-9][0-9.,]*[kM]?\s+\([0-9.,]+[kM]?\)[ $.]*\Z"
)
"""The surroundings of an answer: signs of mathematics, words, the name of a quantity or a tensor, and a unit."""

_SIZE = "[1-9][0-9]{0,12}"
_SPACE = re.compile(r"(?<![0-9])(?:\s|\\,)|(?:\s|\\,)(?![0-9])|\$|\\(?:left|right)")
_ARRAY = re.compile(
    r"\b[A-Za-z][\w.]{,40}\([(\[]([^{}()\[\]]*)[)\]]\)|(?:\\mathbb\{?R\}?|[Rℝ])(?:\^(?:[{(]([^{}()\[\]]*)[})]|(?=\w))"
    r"|(?=[⁰-⁹¹²³]))([0-9⁰-⁹¹²³ˣ]+|[A-Za-z](?:_\w+)?)?"
)
_RAISED = PLAIN | {ord("ˣ"): "x"}
_BRACKETS = re.compile(r"[(\[][^()\[\]]{1,9999}[)\]]")


def check_number_of_answers(count: int) -> None:
    """Raise CallError if there are too many answers."""
    if count > MOST_ANSWERS:
        raise CallError(f"expected at most {MOST_ANSWERS:,} numbers or shapes, got {count:,}")


class Shape(NamedTuple):
    """The shape of a tensor as a learner gave it, or of an array that a layer returns; a size may be a polynomial.

    sizes: if it has a name, a letter or a word is the batch or the steps, and None is any size.
    product: the number that it is if it is a calculation, as 4 × 16 × 25 and (1600) may be, else None.
    """

    sizes: tuple[Any, ...]
    product: GivenNumber | None = None
    name: str = ""

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether it is this shape; a vector may also be given as a row or a column."""
        return self.sizes == shape or (len(shape) == 1 and self.sizes in ((*shape, 1), (1, *shape)))


Given = GivenNumber | Shape
"""A learner's answer."""


def read_answer(text: str, *, sizes: Sizes = None, decimal: str = "", quantity: str = "params") -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    Of a chain of equations it is the last side. sizes: the letters that may be used, each with its size if it has one;
    None if any may. decimal: the decimal sign, where it is known. quantity: what it is about, whose words may be behind
    it. Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = re.sub(r"(?![0-9])\d", lambda digit: str(int(digit[0])), text.translate(_SIGNS))  # of any script
    text = re.sub(r"\s{2,}", " ", text.strip())
    plain = _LAYOUT.sub(lambda match: (match[1] or "").center(len(match[0])), text)
    plain = _DELIMITED.sub(_bare, _DELIMITED.sub(_bare, plain))  # **`1,600`** has two pairs
    if _TWO.search(plain):
        raise CallError(f"expected one answer, got two in '{escape(text)}'")
    unit = rf"(?:\b|(?<=[0-9])|(?<=[0-9 ][kKMG]))(?:{_UNITS[quantity]})"
    match: Any = _outside(unit).fullmatch(plain.rstrip(_AFTER))
    side, begin = match["side"] or "", match.start("body")
    inner = rf"(?<=[\d)\]}}kKMG])\s*{unit}(?=\s*(?:[-+−–=×*·⋅→⇒≈)]|\\(?:times|cdot)))"  # between a number and a sign
    body = re.sub(inner, lambda match: " " * len(match[0]), match["body"].rstrip(_AFTER), flags=re.IGNORECASE)
    name = _name(match["name"] or "")
    array = "" if re.search(r"\A(?:[NP]|total)?\Z|param|[ #|\\]", name) else name
    if remark := _REMARK.search(body):  # 1200 (3 blocks)
        known = {*(sizes or ())}
        if any(not {word} <= known and not {*word} <= known for word in re.findall(r"[^\W\d]\w+", remark[2])):
            body = body.removesuffix(remark[1])
    shape = _shape(body, sizes, array) if array or not side else None
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
    if len(sides) == 1 and re.search(_ROUNDED, plain[:begin], re.IGNORECASE):
        sides = (sides[0].about(),)
    number = sides[-1]
    if binary:
        scale = KIBI ** " KMG".index(binary[2])
        rounded = [(each * scale + 10**9 // 2) // 10**9 for each in (number.number, number.unit, number.coarse)]
        number = number._replace(number=rounded[0], unit=max(1, rounded[1]), coarse=rounded[2])
    untrue = _untrue([*sides[:-1], number], sizes)
    written = " ".join(f"{body}{match['unit'] or ''}".split())
    number = number._replace(text=written, untrue=untrue, name=name, sign="")
    return shape._replace(product=number) if shape else number


def as_calculations(answers: Sequence[Given]) -> list[Given]:
    """Return answers as calculations, as 4 × 16 × 25, if each may be one."""
    if any(isinstance(each, Shape) and not each.product for each in answers):
        return [*answers]
    return [each if isinstance(each, GivenNumber) else each.product or each for each in answers]


def _name(text: str) -> str:
    r"""Return a name without its fonts, and with its index on the line: W_xh for \mathbf{W}_{xh} and Wₓₕ."""
    bare = re.sub(r"\\(?:text|math)[a-z]* ?\{([^{}]*)\}|\\?(_) ?\{(?:\\\w+ ?\{)?(\w+)\}?\}", r"\1\2\3", text)
    lowered = re.sub(f"[{SUBSCRIPTS}]+", lambda index: f"_{index[0].translate(PLAIN)}", bare)
    return lowered.removesuffix(":0").removesuffix(".shape")


def _bare(match: re.Match[str]) -> str:
    """Return what is between signs of mathematics around a chain, or a whole side; else they are brackets."""
    inside, before = str(match[match.lastindex or 0]), match.string[: match.start()].rstrip(_AFTER)
    whole = before[-1:] in "=:" and not match.string[match.end() :].strip(_AFTER)
    return inside.center(len(match[0])) if whole or "=" in inside else match[0]


@cache
def _outside(unit: str) -> re.Pattern[str]:
    """Return the pattern of an answer: a name before its body, and a unit behind it."""
    return re.compile(
        rf"[\s$✓✔]*{_ABOUT}(?:(?P<side>(?P<name>{_NAME})(?:\([^\W\d_][\w, ]*\))?\s*"
        rf"(?:==?(?!>)|:=?|{ABOUT}|{ARROW}|∈|\\in\b|(?<=\s)(?:{_IS})(?=[\s$]))[\s$]*){_ABOUT})?(?P<body>.*?)"
        rf"(?P<unit>(?:\\?\s){{,9}}(?:\\(?:text|mathrm)\{{\s*)?{unit}\}}?)?"
        rf"(?:(?(unit)(?:{_TOTAL})?\s{{1,9}}\([^()]*\)|(?!))|{_TOTAL})?"
        r"(?:\s{1,9}(?:with|incl(?:uding|\.)?|mit|avec|con) bias\w*|[\s-](?:matri\w+|ve[ck]t\w+))?",
        re.IGNORECASE | re.DOTALL,
    )


def _untrue(sides: Sequence[GivenNumber], sizes: Sizes) -> str:
    """Return the first sign between two sides that differ, such as `second =`; nothing if there is none.

    A side in letters is compared with one in numbers only if all its letters have sizes; one that begins an equation is
    not compared.
    """
    signs = [side.sign for side in sides]
    for place, (one, other) in enumerate(pairwise([_with_sizes(side, sizes) for side in sides]), 1):
        alike = signs[place] and has_letters(one.number) == has_letters(other.number)
        if alike and not (one.rounds(other.number) or other.rounds(one.number)):
            return f"{ordinal(signs[: place + 1].count(signs[place]))} {signs[place]}"
    return ""


def _with_sizes(side: GivenNumber, sizes: Sizes) -> GivenNumber:
    known = sizes and has_letters(side.number) and all(sizes.get(name) is not None for name in side.number.letters)
    return GivenNumber(side.number.at(sizes)) if known else side


def _shape(text: str, sizes: Sizes, name: str) -> Shape | None:
    """Return a shape, such as (20, 10) or (4h, m); None if the text is not one.

    If it has a name, its axes are numbers, capital letters for the batch or the steps, and None.
    """
    signs = _SPACE.sub("", re.sub(rf"\\times|{BY}", "×", text))
    bare = _ARRAY.sub(lambda array: f"({(array[1] or array[2] or array[3] or '').translate(_RAISED)})", signs)
    bare = bare if bare == signs else bare.replace("×", ",")
    bracketed = _BRACKETS.fullmatch(bare)
    inside = bare[1:-1].removesuffix(",") if bracketed else bare
    axes = re.split("[,xX×]" if bracketed else "[xX×]", inside)
    words = "[A-Z]|[A-Za-z]{3,}(?:_[a-z]+)?" if name else "(?!)"
    free = [axis for axis in axes if re.fullmatch(words, axis) and axis not in (sizes or ())]
    if all(axis in free or re.fullmatch(_SIZE, axis) for axis in axes) and (bracketed or axes[1:]):
        array: Any = tuple(int(axis) if axis.isdecimal() else None if axis == "None" else axis for axis in axes)
        return Shape(array, GivenNumber(0) if re.fullmatch(r"[(\[][0-9]+[)\]]|[0-9xX×]+", signs) else None, name)
    several = "," in bare or re.fullmatch(r"[0-9]*[A-Za-z](?:_?\w+)?", inside)
    if not (bracketed and several):
        return None
    values: list[Any] = [0]
    try:
        values = [size if size in free else read_chain(size, sizes)[0].number for size in inside.split(",")]
    except TooLargeError:
        raise
    except CallError:
        pass
    if all(values):
        return Shape(tuple(values), name=name)
    if re.search("[+*/^·×]", inside):
        return None  # a sum of numbers with commas between thousands
    cure = "; None is a size of a returned array, with its name: output=(None, 16)" if "None" in axes else ""
    raise CallError(f"expected a shape, such as (20, 10), got '{escape(text)}'{cure}")


def _refused(text: str, error: ExpressionError | None = None) -> CallError:
    """Return the error for what is no answer: its place in a formula, else what to write instead."""
    if (name := re.match(r"([A-Za-z][\w./-]*)\s*=", text)) and re.search("[_.]", name[1]):
        return CallError(f"expected a shape, such as {escape(name[1])}=(2, 32, 20), got '{escape(text)}'")
    signs = r"[0-9A-Za-z)\]}²³]\s*[-(\[{=\\$]|[+*/^·×]|^[(\[{\\$]"
    apart = re.fullmatch(r"[=x×*+·-]|param(eter)?s|weights", text)
    cure = ""
    if re.fullmatch(rf"{_SIZE}(?:(?:[,;] ?|\s){_SIZE}){{1,99}}", text):
        shape = f"({', '.join(re.findall('[0-9]+', text))}) for a shape, or " if text.count(",") in range(1, 6) else ""
        cure = f"; write {shape}each number as an answer of its own"
    elif re.fullmatch(r"[0-9][0-9,._]{,40}[,;]", text):
        cure = f"; write {text[:-1]}"
    elif apart:
        cure = "; put an answer of several words in quotes"
    elif error and text[:1] != "-" and (re.search(signs, text) or (error.place and text[:1].isdecimal())):
        return error
    return CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{cure}")
