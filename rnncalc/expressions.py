r"""The one grammar for mathematics as people write it: sums, formulas, numbers of any language, LaTeX.

    chain    = sum {("=" | "≈" | "→" | ",") sum}
    sum      = [sign] product {sign product}
    product  = power {("*" | "/" | nothing) power}
    power    = factor [exponent] [counted]
    factor   = number | letter | "(" sum ")" | "\frac" factor factor | "\underbrace" factor label
    number   = digits [suffix | "×" "10" exponent]

Between two equations "→" and "," begin the next one; else "→" is an equals sign. What is counted, as in 3 blocks × 400,
is read over. What else an answer has is in the grammar of answers/reading.py, with the tokens of this one.
Knows no network: the letters that are known, with their sizes, are given to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from itertools import product as combinations
from math import e, isfinite, log, nan, prod, sqrt, tanh
from operator import truediv
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rnncalc.bounds import LONGEST_ANSWER, MAX_DIGITS, MOST_BRACKETS, MOST_DEGREE, MOST_PRODUCTS, MOST_RESTS, MOST_SIDES
from rnncalc.errors import CallError, DivisionError
from rnncalc.letters import GREEK, LETTER, LOWERED, PLAIN, RAISED_SIGNS, SUPERSCRIPTS, has_letters
from rnncalc.printable import escape
from rnncalc.words import KIBI, all_of, did_you_mean, one_of, ordinal

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.polynomial import Number, Polynomial

    Known = Mapping[str, Number | None] | None

SUFFIXES = {"k": 3, "K": 3, "M": 6, "G": 9, "B": 9}
"""The letters behind a number that multiply it, with their powers of ten."""
_PLAIN_NUMBER = re.compile(f"(0|[1-9][0-9]{{0,11}})([{''.join(SUFFIXES)}]?)")
_GERMAN = {"tausend": 10**3, "tsd": 10**3, "millionen": 10**6, "mio": 10**6}
_SCALE_WORDS = _GERMAN | {"thousand": 10**3, "million": 10**6, "mln": 10**6}
_BINARY = {"Ki": KIBI, "Mi": KIBI**2, "Gi": KIBI**3}
_SCALES = _SCALE_WORDS | _BINARY | {name: 10**power for name, power in SUFFIXES.items()}
"""What multiplies a number before it; before the German words a comma is a decimal comma."""
_WEIGHTS, _BIASES = r"weights?|gewichte?|poids|pes[oi]s?", r"bia[is]\w*|sesgos?|vi[eé]s(?:es)?"
UNITS = {
    "params": rf"trainable|learnable|par[aáâ]m\w*|{_WEIGHTS}|{_BIASES}",
    "multiply-adds": "multiply.?adds?|macs?",
    "flops": "flops?",
    "bytes": "bytes?|octets?|b",
    "saved": "activations?",
    "state": "numbers?",
}
_COUNTED = "gat|block|layer|schicht|cell|zell|unit|neuron|input|matri|direction|richtung|step|schritt|par[aáâ]m|weight"
_COUNTED += "|gewicht|poid|pes|bias"
"""The units of each quantity, and how the words for its factors begin."""

# The tokens

_GAP = r"\{,\}|\\[,; ]|[,.'’´_ ~\u00a0\u2009\u202f]"
NUMBER = (
    rf"(?!0[xX][0-9A-Fa-f])(?:(?P<grouped>[1-9][0-9]{{0,2}}(?P<gap>{_GAP})[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*)(?![0-9])"
    r"|(?P<digits>[1-9][0-9]?(?:,[0-9]{2}){1,9},[0-9]{3}(?!,?[0-9])|[0-9]+(?:_[0-9]+)*))"
    r"(?:(?P<point>[.,])(?P<decimals>[0-9]+)(?![.,]?[0-9]))?"
    r"(?:[eE]\+?(?P<exponent>[0-9]{1,8})(?![0-9A-Za-z]))?"
)
_GREEK = rf"\\(?:{'|'.join(GREEK)})(?![A-Za-z])"
_LETTER = rf"(?:(?!SIGN_X)[^\W\d_{RAISED_SIGNS}{LOWERED}][\u0300-\u036f]*|{_GREEK})"
_LOW = rf"(?:{_GREEK}|[A-Za-zα-ωΑ-Ω0-9]{{1,8}})"
_INDEX = (
    rf"\\?_ ?(?:\{{ ?(?:{_LOW}|\\[a-z]+ ?\{{{_LOW}\}}|\\[a-z]+ {_LOW}) ?\}}|\\[a-z]+ ?\{{{_LOW}\}}"
    rf"|[0-9]{{1,8}}|{_GREEK}|[A-Za-zα-ωΑ-Ω][A-Za-z0-9]{{0,7}}(?!\\?_))|[{LOWERED}]{{1,8}}|(?<![xX])[0-9]{{1,8}}"
)
_SPACES = r"q?quad|left|right|[bB]igg?[lrm]?|displaystyle|boxed|underline|math(?!bb)[a-z]+|text[a-z]*|num|rm|bf|it"
_COUNTED_WITH = "(?:(?:trainable|learnable|trainierbaren?|lernbaren?|total|saved) ){0,3}"
_BEHIND_UNIT = rf"(?: entr[ae]\w+| addestr\w+| trein\w+)?(?:(?: (?:and|und|et|y|e|&) |/)(?:{_WEIGHTS}|{_BIASES}))?"


def _word(words: str) -> str:
    """Return the pattern of one of these words, whole and before a space, a number, a bracket or a comma."""
    return rf"(?<![^\W\d])(?i:{words})(?=[\s\d(\[{{\\$,]|\.?\Z)"


_KINDS = {
    # ~ is a space in LaTeX; between a word and a number it says that the number is rounded
    "space": rf"(?:[\s$✓✔]|(?<![^\W\d]\s)~|~(?!\s?[0-9])|\\[,;:!> ]|\\(?:{_SPACES})(?![A-Za-z]))+",
    "number": NUMBER,
    "suffix": rf"(?<=[0-9 ])(?:[kKMG]i?(?=(?i:UNIT)(?!\w))|(?i:{'|'.join(_SCALE_WORDS)})s?\b\.?)",
    "fraction": r"\\[dt]?frac(?![A-Za-z])",
    "brace": r"\\(?:und|ov)erbrace(?![A-Za-z])",
    "label": r":0(?=\s?(?:=|:|→))|_ ?\{(?:[^{}]|\{[^{}]*\})*\}|\^ ?\{ ?\\text ?\{[^{}]*\} ?\}",
    "power": rf"(?:\^|\*\*)(?: ?[0-9]{{1,2}}(?![0-9])| ?[({{] ?[0-9]{{1,2}} ?[)}}])?|[{RAISED_SIGNS}]+",
    "times": r"\\?\*|[·×∗⋅∙•]|\\(?:cdot|times|ast)(?![A-Za-z])|(?<=[0-9] )by(?= [0-9])|SIGN_X|"
    + _word("times|mal|fois|volte")
    + rf"|{_word('por|per')}(?! {_COUNTED_WITH}(?:{_COUNTED}))",
    "over": r"[/÷]|\\div(?![A-Za-z])",
    "behind": r"(?:-|(?<=\s))(?i:(?:with|incl\.?|including|mit|avec|con) bias\w*|(?:matri|ve[ck]t)\w+(?=\W*\Z))",
    "sign": rf"[-+−–](?!>)|{_word('plus|minus')}|(?<=[a-z] )and(?= [0-9.,]{{1,20}} bias)",
    "equals": r"==?(?!>)",
    "about": r"[≈≅≃~]|\\(?:approx|cong)(?![A-Za-z])",
    "roughly": _word(r"about|approx(?:imately|\.)?|roughly|around|circa|ca\.?|rd\.?|rund|etwa|environ|ungefähr"),
    "then": rf"(?:, ?)?{_word('so|then|thus|hence|therefore|daher|donc')}|, ?(?:i[.]e[.]|d[.]h[.]),?(?= )"
    r"|[=-]>|[→⇒]|\\(?:to|implies|[rR]ightarrow)(?![A-Za-z])",
    "comma": r"[,;](?=\s)",
    "colon": ":",
    "in": r"∈|\\in(?![A-Za-z])",
    "with": _word("let|given|with|where|for|and|mit|für|und|avec|pour|et|con|para"),
    "opening": _word("exactly|also|hay"),
    "unit": rf"(?:(?<![^\W\d])|(?<=[0-9 ][kKMG])|(?<=[KMG]i))(?i:{_COUNTED_WITH}(?:UNIT){_BEHIND_UNIT})(?![^\W_])",
    "total": _word("(?:(?:a|in|en|au) )?total(?: of)?|insgesamt"),
    "is": _word("is|are|has|have|get|ist|sind|hat|haben|beträgt|est|sont|es|son|tiene|y a")
    + r"|(?<=[^\W\d]{2} )a(?= [0-9])",
    "or": _word(r"or|oder|bzw\.?|ou|vs\.?"),
    "counted": rf"(?<![^\W\d])(?i:(?:per |each |pro |je )?{_COUNTED_WITH}(?:{_COUNTED})[^\W\d_]*{_BEHIND_UNIT})",
    "word": rf"(?P<names>{_LETTER}+)(?P<index>{_INDEX})?",
    "open": r"\\?[(\[{]",
    "close": r"\\?[)\]}]",
    "command": r"\\[A-Za-z]+",
    "other": ".",
}
"""The kinds of signs and words, with their patterns; of those that fit, the first is taken. UNIT is a quantity's."""
_PRODUCT = re.compile(r"(?P<word>(?P<names>[^\W\d_]+)(?P<index>(?!))?)")
"""A word of known letters, whatever else it means: `es` where e and s are letters."""
_SIGNS_X = {"x": "(?<![A-Za-z]{3})x(?![A-Za-z]{3})", "X": "(?<=[0-9 ])X(?=[0-9 ])"}
BRACKETS = {"(": ")", "[": "]", "{": "}", "\\(": "\\)", "\\[": "\\]", "\\{": "\\}"}
_FACTORS = ("number", "letter", "open", "fraction", "brace")
WORDS = ("word", "command", "unit", "counted", "roughly", "with", "opening", "total", "is", "or", "behind")
_PRODUCTS = ("times", "over", "power", "open", "fraction")
ENDS = ("equals", "about", "then", "comma", "end")
"""The tokens with which a factor may begin, those that are words, those of more than a sum of numbers, and
those at which a side of a chain ends."""
_MORE = "+, -, a factor or the end"
"""What is expected where a side ends."""


class ExpressionError(CallError):
    """A text that is not in the grammar: what was expected, and a caret under the place."""

    def __init__(self, expected: str, text: str, place: int, sizes: Known = None, example: str = "") -> None:
        self.place, begin = place, max(0, place - 50)
        shown, behind = escape(text[begin:place], 500), escape(text[place : place + 30], 200)
        first, *others = ("m", "h") if not sizes or {"m", "h"} <= {*sizes} else sizes
        second = others[0] if others else first
        in_letters = sizes != {} and re.search("[A-Za-wyz]", text)
        example = example or (f"4{second}({first} + {second} + 1)" if in_letters else "4*16*(8+16+1)")
        line = f"expected {expected} at character {place + 1:,} of '{escape(text)}', as in {example}"
        super().__init__(f"{line}\n    {shown}{behind}\n    {' ' * len(shown)}^")


class TooLargeError(CallError):
    """A formula beyond a limit: its brackets, its digits, or its products."""


class GivenNumber(NamedTuple):
    """A learner's number. unit: the value of its last digit, more than 1 if it was rounded.

    number: a polynomial, if it is a formula in letters.
    coarse: the value of its last digit that is not 0, if the zeros may come from rounding; else 0.
    untrue: the first sign of a chain that is not true, such as `second =`; empty if none is.
    before: the number before that sign. of_whole: whether that number too is said to be the answer.
    rounding: the end of the chain, if it only rounds the number.
    text: what was read, without the name.
    name: what is before the first `=`; it may be the name of a layer or a tensor.
    equations: how many there are between commas. apart: each of them as an answer of its own.
    aside: an order of growth behind it, which is not judged.
    unsure: sides with a letter of several sizes beside numbers: both, the sign between them, and `of_whole` for them.
    """

    number: Any
    unit: int = 1
    text: str = ""
    coarse: int = 0
    untrue: str = ""
    before: Any = None
    name: str = ""
    of_whole: bool = False
    rounding: str = ""
    equations: int = 1
    apart: tuple[Any, ...] = ()
    aside: str = ""
    unsure: tuple[tuple[Any, Any, str, bool], ...] = ()

    def about(self) -> GivenNumber:
        """Return a number that is said to be rounded: its last digit that is not 0 shows how far."""
        if not isinstance(self.number, int) or self.coarse:
            return self
        return self._replace(coarse=10 ** (len(str(self.number)) - len(str(self.number).rstrip("0"))))

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
        if not self.coarse or self.means(number):
            return self.means(number)
        off = abs(self.number - number)
        return bool(2 * off <= self.coarse and 20 * off <= number)

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether a tensor of this shape has this many numbers."""
        return self.means(prod(shape))


class Token(NamedTuple):
    """A sign, a number, a letter or a word. text: a letter in its plain spelling, else as written.

    end: the place behind it, or behind the word of a letter.
    """

    kind: str
    text: str
    place: int
    end: int
    match: re.Match[str] | None = None


def tokens_of(text: str, sizes: Known = None, quantity: str = "") -> list[Token]:
    """Return the tokens of a text, without spaces; the last is its end.

    sizes: the known letters; None if any may be. quantity: the one whose words are units.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an expression has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    names = None if sizes is None else {*sizes}
    letters = "".join({name[0] for name in names or ()} & {*"xXeE"})
    index_x_of = "".join(sorted(name[0] for name in names or () if name[1:] == "_x"))
    tokens: list[Token] = []
    for match in _pattern(UNITS.get(quantity, "(?!)"), letters, index_x_of).finditer(text):
        if match.lastgroup in WORDS and names and {*match[0]} <= names:
            match = cast("re.Match[str]", _PRODUCT.fullmatch(text, *match.span()))
        if match.lastgroup == "word":
            tokens += _letters(match, names)
        elif match.lastgroup != "space":
            tokens.append(Token(str(match.lastgroup), match[0], *match.span(), match))
    return [*tokens, Token("end", "", len(text), len(text))]


@cache
def _pattern(unit: str, letters: str, index_x_of: str) -> re.Pattern[str]:
    """Return the pattern of all kinds.

    letters: those of x, X, e and E that are letters. Else x is a sign between factors, and `2E+1` the number 20.
    index_x_of: the letters that have x as an index, behind which it is no sign: nx is n_x.
    """
    powers = [letter for letter in "eE" if letter not in letters]
    before = f"(?<![{index_x_of}])" if index_x_of else ""
    signs = [before + sign for letter, sign in _SIGNS_X.items() if letter not in letters]
    kinds = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items())
    kinds = kinds.replace("[eE]", f"(?:{'|'.join([*powers, '(?!)'])})")
    return re.compile(kinds.replace("UNIT", unit).replace("SIGN_X", "|".join([*signs, "(?!)"])), re.DOTALL)


def _letters(word: re.Match[str], sizes: set[str] | None) -> list[Token]:
    """Return the letters of a word that is a product: it has two letters, or most of them are known; else the word."""
    letters: list[Token] = []
    for letter in re.finditer(rf"{_GREEK}|.[\u0300-\u036f]*", word["names"]):
        name = GREEK.get(letter[0][1:], letter[0])
        joint = f"{letters[-1].text}_{name}" if letters else ""  # nh is n_h
        if sizes and joint in sizes and not {name, letters[-1].text} <= sizes:
            letters[-1] = letters[-1]._replace(text=f"{letters[-1].text}_{name}")
        else:
            letters.append(Token("letter", name, word.start() + letter.start(), word.end(), word))
    if word["index"]:
        below: Any = re.search(rf"({_GREEK}|[^\W_]+)\W*\Z", word["index"])
        low = GREEK.get(below[1][1:], below[1]).translate(PLAIN)
        names = [f"{letters[-1].text}_{low}"]
        apart = [names[0][:3], *low[1:]]
        if sizes and names[0] not in sizes and {*apart} <= sizes and "{" not in word["index"]:  # n_hm is n_h·m
            names = apart
        letters[-1:] = [letters[-1]._replace(text=name) for name in names]
    if len(letters) <= 2 or (sizes and 2 * sum(letter.text in sizes for letter in letters) > len(letters)):
        return letters
    return [Token("word", word[0], *word.span(), word)]


def evaluate(text: str, sizes: Mapping[str, Number], *, whole: bool = True) -> Number:
    """Return the value of an expression of sizes, such as `2*D` or `(h + 4)/2`: a number, or a polynomial in letters.

    sizes: the value of each name. whole: whether a polynomial must be divided without fractions. Raises CallError for
    another text, and for a name that is not among the sizes, and DivisionError for a quotient that is not whole.
    """
    if re.fullmatch(LETTER, text):
        return _size(text, text, sizes)
    parser = Parser(text, tokens_of(text, sizes), dict.fromkeys(sizes), values=sizes)
    parser.whole = whole
    side = parser.side()
    parser.end()
    return cast("Number", side.number)


def _size(name: str, text: str, sizes: Mapping[str, Number | None]) -> Number:
    if (size := sizes.get(name)) is None:
        near = did_you_mean(name, [*sizes]) or f"; the sizes are {', '.join(sizes)}"
        raise CallError(f"'{escape(text)}': {name} is not a size{near}")
    return size


def read_number(text: str, decimal: str = ".", *, calculation: bool = False) -> int | Fraction | None:
    """Return the value of a number of at most 40 characters, such as 20,000, 1.6k or 0.5; None for any other text.

    calculation: whether it may be a whole one of any length, such as 5*10^3.
    """
    if len(text) > MAX_DIGITS and not calculation:
        return None
    if plain := _PLAIN_NUMBER.fullmatch(text):  # as most numbers are
        return int(plain[1] + "0" * SUFFIXES.get(plain[2], 0))
    with suppress(CallError):
        parser = Parser(text, tokens_of(text, {}), {}, decimal)
        number = parser.taken("number")
        value = parser.number(number) if number else None
        if calculation and parser.token.kind != "end":
            parser.next = 0
            value = parser.side().number, 1
            parser.check_letters()
        parser.end()
        if value:
            return value[0] if value[1] == 1 else _fraction(*value)
    return None


class Parser:
    """Reads the tokens of a chain: one number, sum or formula, or several with signs between them.

    sizes: the known letters, each with its size if it has one; None if any letter may be one. decimal: the decimal
    sign, `.` or `,`, where it is known. values: what the letters are, if the value of an expression is wanted. numbers:
    the letters that are read as their sizes.
    """

    def __init__(self, text: str, tokens: list[Token], sizes: Known, decimal: str = "", values: Known = None) -> None:
        self.text, self.tokens, self.sizes, self.decimal, self.values = text, tokens, sizes, decimal, values
        self.next, self.depth, self.work, self.whole = 0, 0, 0, True
        self.numbers: Mapping[str, Number] = {}
        self.begin = 0  # of the side
        self.units: list[int] = []  # of its numbers
        self.letters: list[Token] = []
        self.last_number: tuple[list[Token], GivenNumber] = [], GivenNumber(0)

    def chain(self) -> GivenNumber:
        """Return the last exact side of a chain, or the last one, with the first sign that is not true.

        A side in letters is compared with one in numbers only if all its letters have sizes. Raises ExpressionError
        with the place that cannot be read, and TooLargeError beyond a limit.
        """
        sides = self.equation()
        begin, before, equations = 0, len(sides), 1  # of the last equation
        while arrow := self.taken("then", "comma"):
            equation = self.equation()
            apart = before > 1 and len(equation) > 1
            if arrow.kind == "comma" and not apart:
                raise self.expected(_MORE, arrow.place)
            equations += arrow.kind == "comma"
            begin, before = len(sides) if apart else begin, len(equation)
            sides += [("" if apart else arrow.text.strip(", "), *equation[0][1:]), *equation[1:]]
        self.end()
        self.check_letters()  # the sides before may be in letters of the learner's own
        signs = [sign for sign, _, _ in sides]
        values = [self.in_numbers(side) for _, side, _ in sides]
        about = [self.tokens[first - 1].kind == "about" for _, _, first in sides]
        number = sides[-1][1]
        if number.unit > 1 or number.coarse or about[-1]:
            earlier = [*zip(values, about, strict=True)][begin:-1]
            exact = (each for each, rough in earlier[::-1] if not rough and self.is_exact(each))
            rounding = self.text[self.tokens[sides[-1][2]].place : self.token.place].strip("$ .")
            number = next((each._replace(rounding=rounding) for each in exact), number)
        number = number._replace(equations=equations)
        for place, (one, other) in enumerate(pairwise(values), 1):
            first, length = sides[place][2], sides[place][2] - sides[place - 1][2]
            # 384 → 1152 is no equation, and 3*384 → 1152 is one; 3h(m+h+1) ≈ 3h² leaves terms out
            step = self.tokens[first - 1].kind == "then" and length <= 3
            step = step or (about[place] and hasattr(sides[place][1].number, "letters"))
            if not signs[place] or step:
                continue
            token = self.tokens[first]  # 16*8 = 128 + 256 goes on with its number
            goes_on = token.kind == "number" and read_number(token.text, self.decimal) == one.number
            untrue = f"{ordinal(signs[: place + 1].count(signs[place]))} {signs[place]}"
            of_whole = place > begin and not goes_on
            if self.differ(one, other):
                return number._replace(untrue=untrue, before=one.number, of_whole=of_whole)
            letters = {*getattr(one.number, "letters", ()), *getattr(other.number, "letters", ())}
            if has_letters(one.number) != has_letters(other.number) and letters <= {*(self.sizes or {})}:
                number = number._replace(unsure=(*number.unsure, (one, other, untrue, of_whole)))
        return number

    def equation(self) -> list[tuple[str, GivenNumber, int]]:
        """Return the sides of an equation, each with the sign before it and the place of its first token."""
        sides = [("", self.side(), self.begin)]
        while sign := self.taken("equals", "about"):
            if len(sides) == MOST_SIDES:
                raise self.too_large(f"a chain has at most {MOST_SIDES} sides")
            side = self.side()
            each = ("=", side) if sign.kind == "equals" else (sign.text, side.about())
            sides.append((*each, self.begin))
        return sides

    def is_exact(self, side: GivenNumber) -> bool:
        """Return whether a side is not rounded, and all its letters have sizes."""
        letters = getattr(side.number, "letters", ())
        return side.unit == 1 and not side.coarse and None not in map((self.sizes or {}).get, letters)

    def differ(self, one: GivenNumber, other: GivenNumber) -> bool:
        """Return whether two sides are unequal; not letters beside a number, or a letter of the learner's own."""
        letters = [{*getattr(side.number, "letters", ())} for side in (one, other)]
        unknown = set() if self.sizes is None else (letters[0] ^ letters[1]) - {*self.sizes}
        if unknown or has_letters(one.number) != has_letters(other.number):
            return False
        return not (one.rounds(other.number) or other.rounds(one.number))

    def in_numbers(self, side: GivenNumber) -> GivenNumber:
        """Return a side with the sizes of its letters, if it has letters and all have sizes."""
        sizes, letters = dict(self.sizes or {}), getattr(side.number, "letters", ())
        return GivenNumber(side.number.at(sizes)) if letters and None not in map(sizes.get, letters) else side

    def side(self) -> GivenNumber:
        """Return the value of a side; if it is one number, with the value of its last digit."""
        self.begin, self.letters, self.units = self.next, [], []
        value = self.total()
        if value < 0 and self.token.kind in ENDS:
            raise CallError(f"expected a number or a formula, got '{escape(self.text)}', which is less than 0")
        tokens, number = self.last_number
        if tokens == _bare(self.tokens[self.begin : self.next]):
            return number._replace(number=value)
        unit = min(self.units, default=1)  # of 32k + 18.6k
        if unit > 1 and any(token.kind in _PRODUCTS for token in self.tokens[self.begin : self.next]):
            unit = 1
        return GivenNumber(value, unit)

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.next]

    def taken(self, *kinds: str) -> Token | None:
        """Return the next token and go on, if it is of these kinds."""
        if self.token.kind not in kinds:
            return None
        self.next += 1
        return self.tokens[self.next - 1]

    def close(self, bracket: Token) -> None:
        """Go on behind the bracket that closes another; raise ExpressionError if it is not the next token."""
        if self.token.text != BRACKETS[bracket.text]:
            raise self.expected(f"'{BRACKETS[bracket.text]}'")
        self.next += 1

    def end(self) -> None:
        """Raise ExpressionError if this is not the end."""
        if self.token.kind != "end":
            raise self.expected(_MORE)

    def expected(self, what: str, place: int | None = None) -> ExpressionError:
        """Return the error for the next token, or for an earlier place."""
        if place is None and self.token.kind in WORDS:
            what = f"a number or a letter instead of the word '{escape(self.token.text, 30)}'"
        return ExpressionError(what, self.text, self.token.place if place is None else place, self.sizes)

    def too_large(self, limit: str) -> TooLargeError:
        place = self.tokens[self.next - 1].place
        return TooLargeError(f"{limit}, and '{escape(self.text)}' has more at character {place + 1:,}")

    def total(self) -> Number:
        """Return the value of a sum."""
        value: Number = 0
        sign = self.taken("sign")
        while True:
            term = self.product()
            value = value + term if not sign or sign.text in ("+", "plus", "and") else value - term
            if not (sign := self.taken("sign")):
                return value

    def product(self) -> Number:
        """Return the value of a product; it is divided at its end, so that h/2·4 is 2h."""
        above: Number = 1
        below: Number = 1
        place, over = self.token.place, False
        while True:
            top, bottom = self.power()
            if over:
                top, bottom, place = bottom, top, self.tokens[self.next - 1].place
            above, below = self.times(above, top), self.times(below, bottom)
            if self.taken("times", "over"):
                over = self.tokens[self.next - 1].kind == "over"
            elif self.token.kind in _FACTORS and self.tokens[self.next - 1].kind not in ("unit", "counted"):
                if self.token.kind == "number" and self.tokens[self.next - 1].kind in ("number", "power"):
                    raise self.expected("a sign between two numbers")
                over = False
            else:
                return self.quotient(above, below, place)

    def quotient(self, above: Number, below: Number, place: int) -> Number:
        """Return a quotient; a product without a division has 1 below."""
        if isinstance(below, int) and below == 1:
            return above
        self.add_work(_extent(above)[0] ** 2)
        quotient, rest = divmod(above, below) if below else (0, 1)
        if not rest:
            return quotient
        if isinstance(below, int) and below and not isinstance(above, int) and self.divides(above, below):
            self.add_work(MOST_PRODUCTS // 40)  # the denominators of a sum are multiplied
            return cast("Number", _fraction(1, below) * above)
        if self.values is not None:
            raise DivisionError(f"'{escape(self.text)}': {above} / {below} is not whole")
        self.check_letters()
        raise self.expected("a quotient that is whole", place)

    def divides(self, above: Polynomial, below: int) -> bool:
        """Return whether a polynomial may have fractions: it is whole where its letters are numbers, or for all."""
        if self.values is not None or self.sizes is None:
            return not self.whole
        sizes: dict[str, Any] = {name: self.sizes.get(name, above) for name in above.letters}
        if None in sizes.values() or below ** sum(map(has_letters, sizes.values())) > MOST_RESTS:
            return None in sizes.values()
        rests = combinations(*[range(below) if has_letters(size) else (size,) for size in sizes.values()])
        return not any(above.at(dict(zip(sizes, each, strict=True))) % below for each in rests)

    def check_letters(self) -> None:
        """Raise ExpressionError for the first letter of the side that is not known."""
        if self.sizes is not None and (lost := [letter for letter in self.letters if letter.text not in self.sizes]):
            name, index = lost[0].text[:-2], lost[0].text[-2:]
            square = f" and {name}^2 for a square," if index == "_2" and name in self.sizes else ""
            raise self.expected(f"{formula_in(self.sizes)}, not {lost[0].text},{square}", lost[0].place)

    def power(self) -> tuple[Number, Number]:
        """Return a factor with its exponent and its unit, as what is above and what is below a bar."""
        above, below = self.factor()
        if self.taken("power"):
            top, bottom, above, below = above, below, 1, 1
            for _ in range(self.exponent()):
                above, below = self.times(above, top), self.times(below, bottom)
        if self.token.kind != "counted" or self.tokens[self.next + 1].kind in ("times", "sign", *ENDS[:-1]):
            self.taken("unit", "counted")
        return above, below

    def exponent(self) -> int:
        """Return the exponent that was taken: 2 of ^2, ^{2}, **2 and ²."""
        power = self.tokens[self.next - 1]
        digits = re.sub(r"[\^*(){} ]", "", power.text.translate(PLAIN))
        if not re.fullmatch("[0-9]{1,2}", digits):
            raise self.expected("an exponent of one or two digits", power.place if digits else self.token.place)
        return int(digits)

    def factor(self) -> tuple[Number, Number]:
        """Return a factor, as what is above and what is below a bar."""
        self.depth += 1
        if self.depth > MOST_BRACKETS + 1:
            raise self.too_large(f"a formula has at most {MOST_BRACKETS} brackets in one another")
        below: Number = 1
        if bracket := self.taken("open"):
            above = self.total()
            self.close(bracket)
        elif self.taken("fraction"):
            (top, under_top), (bottom, under_bottom) = self.argument(), self.argument()
            above, below = self.times(top, under_bottom), self.times(bottom, under_top)
        elif self.taken("brace"):
            above, below = self.factor()
            self.taken("label")
        elif token := self.taken("number"):
            above, below = self.number(token)
        elif token := self.taken("letter"):
            from rnncalc.polynomial import Polynomial  # most answers are numbers

            self.letters.append(token)
            if self.values is not None:
                above = _size(token.text, self.text, self.values)
            else:
                above = self.numbers.get(token.text) or Polynomial({(token.text,): 1})
        elif signs := [token for token in self.tokens[max(0, self.next - 1) : self.next + 1] if token.text == "x"]:
            raise self.expected(f"{formula_in(self.sizes or {})}, where x is the sign ×,", signs[0].place)
        else:
            raise self.expected("a number, a letter or a bracket")
        self.depth -= 1
        return above, below

    def argument(self) -> tuple[Number, Number]:
        """Return what is above or below the bar of a fraction: without braces one digit of a number, as in LaTeX."""
        token = self.token
        if token.kind == "number" and token.text[1:]:
            spans = (token.place, token.place + 1), (token.end - len(token.text[1:].lstrip()), token.end)
            parts = [re.compile(NUMBER).match(self.text, *span) for span in spans]
            if None in parts:
                raise self.expected("a number in braces")
            self.tokens[self.next : self.next + 1] = [
                Token("number", part[0], *part.span(), part) for part in parts if part
            ]
        return self.factor()

    def number(self, token: Token) -> tuple[int, int]:
        """Return a number with its suffix, as what is above and what is below a bar; bytes of KiB are rounded.

        One group of three behind a point or a comma is thousands, unless the decimal sign is known to be that one; a
        point before a suffix or an exponent is a decimal point: 1.600 and 1,600 are 1600, and so are 1.600k, 1,600 Tsd.
        So is a comma behind one digit before a power of ten, where nobody groups: 1,600·10^3 is 1600.
        """
        match: Any = token.match
        first = self.next - 1
        scale, sign = self.scale(match)
        gap, grouped, decimals = match["gap"] or "", match["grouped"] or "", match["decimals"] or ""
        whole = re.sub(r"\D", "", grouped or match["digits"])
        if len(whole + decimals) > MAX_DIGITS:
            raise self.too_large(f"a number has at most {MAX_DIGITS} digits")
        if re.match("0[0-9]", whole):
            raise self.expected("a number without a 0 before it", token.place)
        if gap and gap == match["point"]:
            raise self.expected("groups of three digits", token.place)
        if gap and gap == (self.decimal or sign) and not decimals and grouped.count(gap) == 1:
            decimals = grouped.partition(gap)[2]
            whole = whole.removesuffix(decimals)
        above, below = int(whole + decimals) * scale, 10 ** len(decimals)
        unit = max(1, (2 * scale + below) // (2 * below))
        if scale in _BINARY.values():
            above, below = (2 * above + below) // (2 * below), 1
        self.times(above, 1)  # it is within the limits
        self.units.append(unit)
        zeros = len(whole) - len(whole.rstrip("0")) if unit > 1 and not decimals and above else 0
        self.last_number = (
            _bare(self.tokens[first : self.next]),
            GivenNumber(0, unit, coarse=zeros and unit * 10**zeros),
        )
        return (above, below) if above % below else (above // below, 1)

    def scale(self, number: re.Match[str]) -> tuple[int, str]:
        """Return what a number is multiplied by, 1,000 for 1.6k, 1.6e3 and 1.6 × 10³, and the decimal sign it shows."""
        behind = self.tokens[self.next : self.next + 3]
        ten = [token.kind for token in behind] == ["times", "number", "power"] and behind[1].text == "10"
        sign = number["gap"] if re.match(r"[0-9]\{?,", number["grouped"] or "") else "."
        if number["exponent"]:
            if (power := int(number["exponent"])) > MAX_DIGITS:
                raise self.too_large(f"a number has at most {MAX_DIGITS} digits")
            return 10**power, sign
        if ten and (number["point"] or number["gap"] in (".", ",", "{,}")):
            self.next += 3
            return 10 ** self.exponent(), sign
        if suffix := self.taken("suffix"):
            word = suffix.text if suffix.text in _SCALES else suffix.text.casefold().rstrip(".s")
            return _SCALES[word], "," if word in _GERMAN else "."
        if self.at_suffix():
            self.next += 1
            return 10 ** SUFFIXES[behind[0].text], "."
        return 1, ""

    def at_suffix(self) -> bool:
        """Return whether the next letter is a suffix: it is not known, or all there is but a number.

        Raises CallError if it may be a letter too.
        """
        name, behind = self.token.text, self.tokens[self.next : self.next + 2][-1]
        if self.token.kind != "letter" or name not in SUFFIXES or behind.kind in ("power", *_FACTORS):
            return False
        alone = self.next == self.begin + 1 and behind.kind in ("unit", *ENDS)
        if name not in (sizes := self.sizes or {}):
            return self.values is None and (alone or name != "B")  # which is bytes in a product
        if alone and (self.values is not None or has_letters(sizes[name])):
            number = escape(self.tokens[self.begin].text, MAX_DIGITS)
            cure = f"write {number}*{name}, or {number}e{SUFFIXES[name]}"
            raise CallError(f"'{escape(self.text)}' may be {number} times the letter {name}, or have a suffix; {cure}")
        return alone

    def times(self, one: Number, other: Number) -> Number:
        """Return a product, unless it is beyond a limit."""
        (terms, degree), (more_terms, more_degree) = _extent(one), _extent(other)
        if degree + more_degree > MOST_DEGREE:
            raise self.too_large(f"a product has at most {MOST_DEGREE} letters")
        self.add_work(terms * more_terms)
        value = one * other
        if max(map(abs, [value] if isinstance(value, int) else value.terms.values())) >= 10**MAX_DIGITS:
            raise self.too_large(f"a number has at most {MAX_DIGITS} digits")
        return value

    def add_work(self, products: int) -> None:
        """Count products of two terms before they are made."""
        self.work += products
        if self.work > MOST_PRODUCTS:
            raise self.too_large(f"a formula has at most {MOST_PRODUCTS:,} products of two terms when multiplied out")


def _bare(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without those that do not change a number: brackets, a plus, and what is counted."""
    return [token for token in tokens if token.kind not in ("open", "close", "unit", "counted") and token.text != "+"]


def formula_in(sizes: Mapping[str, Number | None]) -> str:
    """Return what is expected of a formula: its letters, each with its size if it is a number, … if it has several."""
    several = any(isinstance(size, int) for size in sizes.values())  # else they are letters of the network
    letters = [
        f"{name} = {size:,}" if isinstance(size, int) else f"{name} = …" if several and size is None else name
        for name, size in sizes.items()
    ]
    return f"a formula in {all_of(letters)}" if letters else "a number"


def _fraction(above: int, below: int) -> Any:
    from fractions import Fraction  # with decimal behind it, 2 ms that most calls do without

    return Fraction(above, below)


def _extent(value: Number) -> tuple[int, int]:
    """Return the number of terms of a value, and the most letters in one of them."""
    return (1, 0) if isinstance(value, int) else (len(value.terms), max(map(len, value.terms)))


# Calculations with real numbers

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "σ": lambda x: (1 + tanh(x / 2)) / 2,
    "tanh": tanh,
    "ln": log,
    "sqrt": sqrt,
    "relu": lambda x: max(x, 0.0),
}
_FUNCTIONS |= {"sigmoid": _FUNCTIONS["σ"], "log": log, "√": sqrt}
_POWERS = str.maketrans(f"{SUPERSCRIPTS}⁻", "0123456789-")
"""The functions of a calculation by name; the signs of a raised number on the line."""


class RealValue(NamedTuple):
    """A number or a calculation: its value, and how far that may be off because it was rounded.

    digits: how many it was written with, without zeros in front; EXACT_DIGITS of a calculation that is not rounded.
    """

    value: float
    error: float
    digits: int


EXACT_DIGITS = 17
"""The digits of a value that is not rounded, those of a float."""
_COARSE = 0.025
"""A calculation whose decimals leave more than this unknown is meant as it is written: tanh(0.5)."""
_REAL_NUMBER = re.compile(r"[-+(\s]*[0-9][0-9 _]*(?:[.,]([0-9]+))?(?:·10\^\{([-+]?[0-9]+)\})?[)\s]*")


def read_real(text: str) -> RealValue:
    r"""Return the value of a number or a calculation such as `-0.2`, `1/3`, `σ(0.25)`, `\tanh(0.5)` or `e^{-1}`.

    A point or a comma before decimals is a decimal sign. A number alone is rounded to its last digit, and decimals in a
    calculation to theirs. Raises CallError for another text.
    """
    text = re.sub(r"(?<![0-9])\.(?=[0-9])", "0.", re.sub(r"\\?exp(?![A-Za-z])", "e^", text))
    text = re.sub(f"[⁻{RAISED_SIGNS}]+", lambda power: f"^{{{power[0].translate(_POWERS)}}}", text.replace("−", "-"))
    text = re.sub(r"(?<=[0-9.])[eE]([-+]?[0-9]{1,3})(?![0-9A-Za-z.])", r"·10^{\1}", text)
    tokens = tokens_of(text)
    parser = _RealParser(text, tokens)
    value = parser.value()
    if alone := _REAL_NUMBER.fullmatch(text):
        error = 0.5 * 10.0 ** (int(alone[2] or 0) - len(alone[1] or ""))
    else:
        nudged = (_RealParser(text, tokens, *each).value() for each in enumerate(parser.halves))
        error = sum([abs(each - value) for each in nudged])
        error = 0.0 if error > _COARSE * max(1.0, abs(value)) else error
    return RealValue(value, error, len(f"{abs(value) / (2 * error):.0f}") if error else EXACT_DIGITS)


class _RealParser(Parser):
    """Reads a calculation with real numbers. nudged: which number with decimals is changed by an amount.

    halves: half the value of the last digit of each number with decimals.
    """

    def __init__(self, text: str, tokens: list[Token], nudged: int = -1, amount: float = 0.0) -> None:
        super().__init__(text, [*tokens], {})
        self.nudged, self.amount = nudged, amount
        self.halves: list[float] = []

    def value(self) -> float:
        """Return the value of the whole text."""
        value = cast("float", self.total())
        self.end()
        if not isfinite(value):
            raise CallError(f"'{escape(self.text)}' is not a real number, or too large")
        return value

    def number(self, token: Token) -> Any:
        match: Any = token.match
        gap, grouped, decimals = match["gap"] or "", match["grouped"] or "", match["decimals"] or ""
        whole = grouped or match["digits"]
        if not decimals and gap in (".", ",", "{,}") and grouped.count(gap) == 1:  # 1.234 has three decimals
            whole, _, decimals = grouped.partition(gap)
        whole = re.sub(r"\D", "", whole)
        if len(whole + decimals) > MAX_DIGITS:
            raise self.too_large(f"a number has at most {MAX_DIGITS} digits")
        value = float(f"{whole}.{decimals or 0}")
        if decimals:
            value += self.amount if len(self.halves) == self.nudged else 0.0
            self.halves.append(0.5 * 10.0 ** -len(decimals))
        return value, 1

    def expected(self, what: str, place: int | None = None) -> ExpressionError:
        if place is None and self.token.kind in ("letter", *WORDS):
            what = f"a number or {one_of([*_FUNCTIONS])}"
        return ExpressionError(what, self.text, self.token.place if place is None else place, example="tanh(0.5)")

    def times(self, one: Any, other: Any) -> Any:
        return one * other

    def quotient(self, above: Any, below: Any, place: int) -> Any:
        return self.real(truediv, above, below)

    def real(self, function: Callable[..., Any], *numbers: Any) -> float:
        """Return the value of a function; NaN if it has none that is real."""
        try:
            value = function(*numbers)
        except (OverflowError, ValueError, ZeroDivisionError):
            return nan
        return nan if isinstance(value, complex) else float(value)

    def factor(self) -> Any:
        token = self.token
        if sign := self.taken("sign"):
            above, below = self.power()
            return above if sign.text in ("+", "plus") else -above, below
        word = token.match[0] if token.kind == "letter" and token.match else token.text.removeprefix("\\")
        if name := next((each for each in (word.casefold(), token.text) if each in _FUNCTIONS), None):
            while self.token.end == token.end and self.token.kind != "end":  # ln is two letters of one word
                self.next += 1
            self.depth += 1
            if self.depth > MOST_BRACKETS + 1:
                raise self.too_large(f"a formula has at most {MOST_BRACKETS} brackets in one another")
            above, below = self.power()
            self.depth -= 1
            return self.real(_FUNCTIONS[name], self.real(truediv, above, below)), 1
        if token.kind == "letter" and token.text == "e":
            self.next += 1
            return e, 1
        if token.kind == "letter":
            raise self.expected("")
        return super().factor()

    def power(self) -> Any:
        above, below = self.factor()
        while token := self.taken("power"):
            exponent = (self.exponent(), 1) if re.search("[0-9]", token.text) else self.factor()
            above, below = self.real(pow, self.real(truediv, above, below), self.real(truediv, *exponent)), 1
        return above, below
