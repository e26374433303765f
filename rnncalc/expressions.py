r"""The one grammar for mathematics as people write it: sums, formulas, numbers of any language, LaTeX.

    steps    = chain {("→" | ",") chain}
    chain    = sum {("=" | "→" | "≈") sum}
    sum      = [sign] product {sign product}
    product  = power {("*" | "/" | nothing) power}
    power    = factor [exponent]
    factor   = number [suffix | word] | letter | "(" sum ")" | "\frac" factor factor | "\underbrace" factor label

Knows no network: the letters that are known, with their sizes, are given to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rnncalc.bounds import LONGEST_ANSWER, MAX_DIGITS, MOST_BRACKETS, MOST_DEGREE, MOST_PRODUCTS, MOST_RESTS
from rnncalc.errors import CallError
from rnncalc.text import GREEK, LETTER, all_of, did_you_mean, escape, has_letters

if TYPE_CHECKING:
    from fractions import Fraction

    from rnncalc.polynomial import Number, Polynomial

    Known = Mapping[str, Number | None] | None

SUFFIXES = {"k": 3, "K": 3, "M": 6, "G": 9, "B": 9}
"""The letters behind a number that multiply it, with their powers of ten."""

_GAP = r"\{,\}|\\[,; ]|[,.'’´_ ~\u00a0\u2009\u202f]"
_TIMES = r"\\?\*(?!\*)|[·×∗⋅∙•]|\\(?:cdot|times|ast)(?![A-Za-z])"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
NUMBER = (
    rf"(?!0[xX][0-9A-Fa-f])(?:(?P<grouped>[1-9][0-9]{{0,2}}(?P<gap>{_GAP})[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*)(?![0-9])"
    r"|(?P<digits>[1-9][0-9]?(?:,[0-9]{2}){1,9},[0-9]{3}(?!,?[0-9])|[0-9]+(?:_[0-9]+)*))"
    r"(?:(?P<point>[.,])(?P<decimals>[0-9]+)(?![.,]?[0-9]))?(?:[eE]\+?(?P<exponent>[0-9]{1,8})(?![0-9A-Za-z])"
    rf"|(?(gap)(?<=[.,][0-9]{{3}})|(?(decimals)|(?!))) ?(?:{_TIMES}|x) ?10 ?(?:\^ ?(?P<opened>\{{ ?)?"
    rf"(?P<ten>[0-9]{{1,2}})(?(opened) ?\}})|(?P<raised>[{_RAISED}]{{1,2}}))(?![0-9])"
    r"| ?(?P<word>[Tt](?:housand|ausend|sd)|[Mm](?:illion|io)|mln)(?:s|en)?\b\.?)?"
)
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
PLAIN = str.maketrans(f"{_RAISED}{SUBSCRIPTS}", "01234567890123456789aehijklmnoprstuvx")
"""What raised and lowered signs are on the line."""
_GREEK = {f"\\{name}": sign for name, sign in GREEK.items()}
_NAME = rf"\\(?:{'|'.join(GREEK)})(?![A-Za-z])"
_INDEX = (
    rf"\\?_ ?(?:(?P<set>\{{ ?)?(?:\\[a-z]+ ?(?P<style>\{{))?(?(set)|(?(style)|(?!)))"
    rf"(?P<braced>{_NAME}|[A-Za-zα-ωΑ-Ω0-9]{{1,8}})(?(style)\}})(?(set) ?\}})"
    rf"|(?P<index>[0-9]{{1,8}}|{_NAME}|[A-Za-zα-ωΑ-Ω][A-Za-z0-9]{{0,7}}(?!\\?_)))"
    rf"|(?P<below>[{SUBSCRIPTS}]{{1,8}}|(?<!x)[0-9]{{1,8}})"
)
_STYLES = "q?quad|left|right|[bB]igg?[lrm]?|displaystyle|boxed|underline|math[a-z]+|text[a-z]*|num"
_SPACE = rf"(?:\s|[~$]|\\[,;:!> ]|\\(?:{_STYLES})(?![A-Za-z]))+"
_WORD = r"(?<=[\s\d)\]}])(?:word)(?=[\s\d(\[{\\])"
ABOUT = r"≈|≅|\\(?:approx|cong)(?![A-Za-z])"
ARROW = r"[=-]>|[→⇒]|\\(?:to|implies|[rR]ightarrow)(?![A-Za-z])"
_COUNTED = re.compile(
    r"(?:gat|block|layer|schicht|cell|zell|unit|neuron|input|weight|gewicht|poid|pes|bias|par[aáâ]m"
    rf"|matri|direction|richtung|step|schritt)[^\W\d_]*(?=\s*(?:[-+−–=x,→⇒≈]|{_TIMES}))",
    re.IGNORECASE,
)
"""What a number counts, before a sign, as in 3 blocks × 400."""
BY = r"(?<=[0-9] )by(?= [0-9])"
"""The word between two sizes, as in 20 by 10."""
_BRACKETS = {"(": ")", "[": "]", "{": "}", "\\(": "\\)", "\\[": "\\]"}
_FACTORS = ("number", "letter", "open", "fraction", "brace")
"""The signs with which a factor may begin."""


class ExpressionError(CallError):
    """A text that is not in the grammar: what was expected, and a caret under the place."""

    def __init__(self, expected: str, text: str, place: int) -> None:
        self.place, begin = place, max(0, place - 50)
        shown, behind = escape(text[begin:place], 500), escape(text[place : place + 30], 200)
        example = "4h(m + h + 1)" if re.search("[A-Za-wyz]", text) else "4*16*(8+16+1)"
        line = f"expected {expected} at character {place + 1:,} of '{escape(text)}', as in {example}"
        super().__init__(f"{line}\n    {shown}{behind}\n    {' ' * len(shown)}^")


class DivisionError(CallError):
    """A size that is a quotient, and not whole."""


class TooLargeError(CallError):
    """A formula beyond a limit: its brackets, its digits, or its products."""


class GivenNumber(NamedTuple):
    """A learner's number. unit: the value of its last digit, more than 1 if it was rounded.

    number: a polynomial, if it is a formula in letters.
    coarse: the value of its last digit that is not 0, if the zeros may come from rounding; else 0.
    sign: the sign before it in a chain of equations, such as = or →; nothing if it begins an equation.
    untrue: the first sign of a chain that is not true, such as `second =`; empty if none is.
    text: what was read, without the name.
    name: what is before the first `=`; it may be the name of a layer or a tensor.
    """

    number: Any
    unit: int = 1
    text: str = ""
    coarse: int = 0
    untrue: str = ""
    name: str = ""
    sign: str = ""

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
        off = abs(self.number - number)
        return self.means(number) or (2 * off <= self.coarse and 20 * off <= number)

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether a tensor of this shape has this many numbers."""
        return self.means(prod(shape))


class Token(NamedTuple):
    """A sign of the grammar. text: its plain spelling. number: the match of a number."""

    kind: str
    text: str
    place: int
    number: re.Match[str] | None = None


def evaluate(text: str, sizes: Mapping[str, Number], *, whole: bool = True) -> Number:
    """Return the value of an expression of sizes, such as `2*D` or `(h + 4)/2`: a number, or a polynomial in letters.

    sizes: the value of each name. whole: whether a polynomial must be divided without fractions. Raises CallError for
    another text, and for a name that is not among the sizes, and DivisionError for a quotient that is not whole.
    """
    if re.fullmatch(LETTER, text):
        return _size(text, text, sizes)
    parser = _Parser(text, [*_tokens(text, sizes)], dict.fromkeys(sizes), values=sizes)
    parser.whole = whole
    return cast("Number", parser.side().number)


def _size(name: str, text: str, sizes: Mapping[str, Number | None]) -> Number:
    if (size := sizes.get(name)) is None:
        near = did_you_mean(name, [*sizes]) or f"; the sizes are {', '.join(sizes)}"
        raise CallError(f"'{escape(text)}': {name} is no size{near}")
    return size


def read_number(text: str, decimal: str = ".") -> int | Fraction | None:
    """Return the value of a number, such as 20,000, 1.6k or 0.5; None for any other text, and beyond 40 characters."""
    if len(text) > MAX_DIGITS:
        return None
    with suppress(CallError):
        parser = _Parser(text, [*_tokens(text, {})], {}, decimal)
        if (number := parser.taken("number")) and (ratio := parser.number(number)) and parser.token.kind == "end":
            return ratio[0] if ratio[1] == 1 else _fraction(*ratio)
    return None


def read_chain(text: str, sizes: Known = None, decimal: str = "", *, plain: str = "") -> tuple[GivenNumber, ...]:
    """Return the sides of a chain of equations; a sum, a formula or a number is a chain of one side.

    An arrow is an equals sign, but between two equations, as a comma there, it begins the next one.
    sizes: the known letters; None if any letter may be one. decimal: the decimal sign, `.` or `,`, where it is known.
    plain: the text with blanks for the parts that are not read, if there are any.
    Raises ExpressionError with the place that cannot be read, and TooLargeError beyond a limit.
    """
    tokens = [*_tokens(text, sizes, plain)]
    ends = [place for place, token in enumerate(tokens, 1) if token.kind in ("equals", "about", "then", "end")]
    signs = [tokens[place - 1] for place in ends]
    steps = [place for place, sign in enumerate(signs) if sign.kind in ("then", "end")]
    equations = {end for begin, end in pairwise([-1, *steps]) if end - begin > 1}
    following = dict(pairwise(steps))
    sides: list[GivenNumber] = []
    work, sign = 0, ""
    for place, (begin, end) in enumerate(pairwise([0, *ends])):
        parser = _Parser(text, tokens[begin:end], sizes, decimal)
        parser.work = work
        side = parser.side()
        side = side.about() if place and signs[place - 1].kind == "about" else side
        sides.append(side._replace(sign=sign))
        work, sign = parser.work, signs[place].text
        if {place, following.get(place)} <= equations:
            sign = ""
        elif sign[:1] in (",", ";"):
            raise parser.expected("+, -, a factor or the end")
    # The sides before the last may be in letters of the learner's own.
    parser.check_letters(*getattr(side.number, "letters", ()))
    return tuple(sides)


def _tokens(text: str, sizes: Known, plain: str = "") -> Iterator[Token]:
    """Yield the signs of a text. A run of letters is a product where each letter is known, or two letters long."""
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an expression has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    known = None if sizes is None else {*sizes}
    kind, end = "", 0
    for match in _pattern("".join({name[0] for name in known or ()} & {*"xX"})).finditer(plain or text):
        before, place = kind, match.start()
        if place < end or match.lastgroup == "space":
            continue
        kind = str(match.lastgroup)
        if kind != "letters":
            yield Token(kind, match[0][1:] if match[0] in ("\\{", "\\}") else match[0], place, match)
            continue
        names = [_GREEK.get(name, name) for name in re.findall(r"\\[a-zA-Z]+|.", match["names"])]
        if index := match["braced"] or match["index"] or match["below"]:
            names[-1] += f"_{_GREEK.get(index, index).translate(PLAIN)}"
            short, rest = names[-1][:3], names[-1][3:]
            if known and match["index"] and names[-1] not in known and {short, *rest} <= known:  # n_hm is n_h·m
                names[-1:] = [short, *rest]
        if len(match["names"]) > 2 and len(names) > 2 and not (known and known.issuperset(names)):
            if before == "number" and (counted := _COUNTED.match(plain or text, place)):
                kind, end = before, counted.end()
                continue
            word = re.compile(r"\\?\w+").match(text, place) or match  # with the x in it
            raise ExpressionError(f"a number or a letter instead of the word '{escape(word[0], 30)}'", text, place)
        yield from (Token("letter", name, place) for name in names)
    yield Token("end", "", len(plain or text))


@cache
def _pattern(letters: str) -> re.Pattern[str]:
    """Return the pattern of all signs; x, and X between numbers, multiply unless letters has them."""
    no_x, x = ("", "") if "x" in letters else ("(?!x)", "|x")
    x += "" if "X" in letters else "|(?<=[0-9 ])X(?=[0-9 ])"
    return re.compile(
        rf"(?P<space>{_SPACE})|(?P<number>{NUMBER})|(?P<fraction>\\[dt]?frac(?![A-Za-z]))"
        rf"|(?P<times>{_TIMES}|{_WORD.replace('word', 'times|mal|fois|por|per|volte')}|{BY}{x})"
        rf"|(?P<sign>[-+−–](?!>)|{_WORD.replace('word', 'plus|minus')})|(?P<brace>\\(?:und|ov)erbrace(?![A-Za-z]))"
        r"|(?P<label>_ ?\{(?:[^{}]|\{[^{}]*\})*\}|\^ ?\{ ?\\text ?\{[^{}]*\} ?\})"
        rf"|(?P<power>\^|\*\*|[{_RAISED}]+)"
        rf"|(?P<letters>(?P<names>(?:{no_x}(?:[A-Za-zα-ωΑ-Ω]|{_NAME}))+)(?:{_INDEX})?)"
        r"|(?P<open>\\?[(\[{])|(?P<close>\\?[)\]}])|(?P<over>[/÷]|\\div(?![A-Za-z]))"
        rf"|(?P<equals>==?(?!>))|(?P<about>{ABOUT})|(?P<then>{ARROW}|[,;](?=\s))|(?P<other>.)",
        re.DOTALL,
    )


class _Parser:
    """Reads the signs of one side of a chain."""

    def __init__(self, text: str, tokens: list[Token], sizes: Known, decimal: str = "", values: Known = None) -> None:
        self.text, self.tokens, self.sizes, self.decimal, self.values = text, tokens, sizes, decimal, values
        self.next, self.depth, self.work, self.whole = 0, 0, 0, True
        letters = {token.text for token in tokens if token.kind == "letter"}
        known: Collection[str] = sizes if sizes is not None else letters if len(letters - {*SUFFIXES}) else ()
        self.suffixes = set() if values is not None else SUFFIXES.keys() - {*known}
        alone = [token.kind for token in tokens[:-1]] == ["number", "letter"] and tokens[1].text in SUFFIXES
        if not alone:
            self.suffixes -= {"B"}  # which is bytes in a product
        if alone and sizes is not None and (name := tokens[1].text) in sizes:
            if values is not None or has_letters(sizes[name]):
                number = tokens[0].text
                cure = f"write {number}*{name}, or {number}e{SUFFIXES[name]}"
                raise CallError(f"'{escape(text)}' may be {number} times the letter {name}, or have a suffix; {cure}")
            self.suffixes |= {name}

    def side(self) -> GivenNumber:
        """Return the value of the side; if it is one number, with the value of its last digit."""
        value = self.total()
        if self.next + 1 < len(self.tokens):
            raise self.expected("+, -, a factor or the end")
        if value < 0:
            raise CallError(f"expected a number or a formula, got '{escape(self.text)}', which is less than 0")
        number, *rest = [
            token for token in self.tokens[:-1] if token.text not in ("+", *_BRACKETS, *_BRACKETS.values())
        ]
        if number.kind != "number" or len(rest) > 1 or not {each.text for each in rest} <= self.suffixes:
            return GivenNumber(value)
        digits, shift, power = self.parts(number, rest[0].text if rest else "")
        unit = 10 ** max(0, power - shift)
        zeros = len(digits) - len(digits.rstrip("0")) if unit > 1 and not shift and value else 0
        return GivenNumber(value, unit, coarse=unit * 10**zeros if zeros else 0)

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

    def expected(self, what: str, place: int | None = None) -> ExpressionError:
        """Return the error for the next token, or for an earlier place."""
        return ExpressionError(what, self.text, self.token.place if place is None else place)

    def too_large(self, limit: str) -> TooLargeError:
        place = self.tokens[self.next - 1].place
        return TooLargeError(f"{limit}, and '{escape(self.text)}' has more at character {place + 1:,}")

    def total(self) -> Number:
        """Return the value of a sum."""
        value: Number = 0
        sign = self.taken("sign")
        while True:
            term = self.product()
            value = value + term if not sign or sign.text in ("+", "plus") else value - term
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
            elif self.token.kind in _FACTORS:
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

    def check_letters(self, *letters: str) -> None:
        """Raise ExpressionError for the first letter that is not known. letters: those that are no suffix."""
        known = {*(self.sizes or ()), *(self.suffixes - {*letters})}
        lost = [token for token in self.tokens if token.kind == "letter" and token.text not in known]
        if lost and self.sizes is not None:
            name, index = lost[0].text[:-2], lost[0].text[-2:]
            square = f", and {name}^2 for a square," if index == "_2" and name in known else ""
            raise self.expected(f"{formula_in(self.sizes)}{square}", lost[0].place)

    def power(self) -> tuple[Number, Number]:
        """Return a factor with its exponent, as what is above and what is below a bar."""
        above, below = self.factor()
        if not (power := self.taken("power")):
            return above, below
        bracket, place, digits = None, power.place, power.text.translate(PLAIN)
        if not digits.isdecimal():
            bracket = self.taken("open")
            place, digits = self.token.place, self.token.text
            self.taken("number")
        if not re.fullmatch("[0-9]{1,2}", digits) or (bracket and not self.closed(bracket)):
            raise self.expected("an exponent of one or two digits", place)
        raised: list[Number] = [1, 1]
        for _ in range(int(digits)):
            raised = [self.times(raised[0], above), self.times(raised[1], below)]
        return raised[0], raised[1]

    def closed(self, bracket: Token) -> bool:
        """Return whether the next token closes a bracket, and go on if so."""
        return self.token.text == _BRACKETS[bracket.text] and self.taken("close") is not None

    def factor(self) -> tuple[Number, Number]:
        """Return a factor, as what is above and what is below a bar."""
        self.depth += 1
        if self.depth > MOST_BRACKETS + 1:
            raise self.too_large(f"a formula has at most {MOST_BRACKETS} brackets in one another")
        below: Number = 1
        if bracket := self.taken("open"):
            above = self.total()
            if not self.closed(bracket):
                raise self.expected(f"'{_BRACKETS[bracket.text]}'")
        elif self.taken("fraction"):
            (top, under_top), (bottom, under_bottom) = self.factor(), self.factor()
            above, below = self.times(top, under_bottom), self.times(bottom, under_top)
        elif self.taken("brace"):
            above, below = self.factor()
            self.taken("label")
        elif token := self.taken("number"):
            above, below = self.number(token)
        elif token := self.taken("letter"):
            from rnncalc.polynomial import Polynomial  # most answers are numbers

            above = Polynomial({(token.text,): 1}) if self.values is None else _size(token.text, self.text, self.values)
        elif signs := [token for token in self.tokens[max(0, self.next - 1) : self.next + 1] if token.text == "x"]:
            raise self.expected(f"{formula_in(self.sizes or {})}, where x is the sign ×,", signs[0].place)
        else:
            raise self.expected("a number, a letter or a bracket")
        self.depth -= 1
        return above, below

    def number(self, token: Token) -> tuple[int, int]:
        """Return a number, with its suffix, as what is above and what is below a bar."""
        behind = self.tokens[self.next + 1].kind if self.token.text in self.suffixes else "number"
        shifted = token.number and any(token.number.group("exponent", "ten", "raised", "word"))
        suffix = None if shifted or behind in ("power", *_FACTORS) else self.taken("letter")
        digits, shift, power = self.parts(token, suffix.text if suffix else "")
        above, below = int(digits) * 10 ** max(0, power - shift), 10 ** max(0, shift - power)
        self.times(above, 1)  # it is within the limits
        return (above, below) if above % below else (above // below, 1)

    def parts(self, token: Token, suffix: str) -> tuple[str, int, int]:
        """Return the digits of a number, how many of them are decimals, and its power of ten.

        One group of three behind a point or a comma is thousands, unless the decimal sign is known to be that one; a
        point before a suffix or an exponent is a decimal point: 1.600 and 1,600 are 1600, and so are 1.600k, 1,600 Tsd.
        """
        match: Any = token.number
        word = match["word"] and ("M" if match["word"][0] in "Mm" else "k")
        exponent = match["exponent"] or match["ten"] or (match["raised"] or "").translate(PLAIN)
        power = int(exponent or SUFFIXES.get(word or suffix, 0))
        gap, grouped, decimals = match["gap"] or "", match["grouped"] or "", match["decimals"] or ""
        whole = re.sub(r"\D", "", grouped or match["digits"])
        if len(whole + decimals) > MAX_DIGITS or power > MAX_DIGITS:
            raise self.too_large(f"a number has at most {MAX_DIGITS} digits")
        if re.match("0[0-9]", whole):
            raise self.expected("a number without a 0 before it", token.place)
        if gap and gap == match["point"]:
            raise self.expected("groups of three digits", token.place)
        sign = self.decimal or (",."[(match["word"] or "")[1:] not in ("io", "sd", "ausend")] if power else "")
        if gap and gap == sign and not decimals and grouped.count(gap) == 1:
            decimals = grouped.partition(gap)[2]
            whole = whole.removesuffix(decimals)
        decimals = decimals[:power] + decimals[power:].rstrip("0")  # 1600.0 is 1600
        return whole + decimals, len(decimals), power

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


def formula_in(sizes: Mapping[str, Number | None]) -> str:
    """Return what is expected of a formula: its letters, each with its size if it is a number."""
    letters = [f"{name} = {size:,}" if isinstance(size, int) else name for name, size in sizes.items()]
    return f"a formula in {all_of(letters)}" if letters else "a number"


def _fraction(above: int, below: int) -> Any:
    from fractions import Fraction  # with decimal behind it, 2 ms that most calls do without

    return Fraction(above, below)


def _extent(value: Number) -> tuple[int, int]:
    """Return the number of terms of a value, and the most letters in one of them."""
    return (1, 0) if isinstance(value, int) else (len(value.terms), max(map(len, value.terms)))
