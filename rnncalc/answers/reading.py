r"""Reads a learner's answers: numbers, exact or rounded, formulas, and shapes of arrays. Knows no network.

    answers = answer {("," | ";" | "and" | newline | "\\\\" | " ") answer}
    answer  = [sizes ("," | ":")] {opening} [name [verb] {opening}] (shape | chain) {remark | behind}
    behind  = "in total" | "with biases" | "matrix" | "." | ("," | "with") sizes | "(" sizes ")"
    sizes   = letter "=" number {("," | "and") letter "=" number}
    opening = "≈" | "about" | "=" | "→" | "exactly" | "so" | "a total of" | ...
    name    = word {word | number | "." | "#" | "|" | "-" | "/"} ["(" letter {"," letter} ")"]
    verb    = "=" | ":" | "≈" | "→" | "∈" | "is" | "has" | ...
    shape   = "(" axis {"," axis} ")" | size "×" size {"×" size} | "ℝ" "^" axes | word {"." word} "(" "(" axes ")" ")"
    axis    = size | sum; with a name also None, and a letter or a word for the batch or the steps
    remark  = "(" words ")" behind a number alone or a unit, which are of the name, or "(" sum ")" of the same value

The tokens, with all words, and the chain are those of expressions.py. Quotation marks, and what else may be around an
answer or a part of it in Markdown and LaTeX, are blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rnncalc.answers.forms import (
    MARK,
    NO_FACTOR,
    claims_in,
    in_order,
    label_first,
    pieces_of,
    rewritten,
    without_growth,
    without_html,
)
from rnncalc.bounds import LONGEST_ANSWER, MAX_DIGITS, MOST_ANSWERS
from rnncalc.errors import CallError
from rnncalc.expressions import (
    ENDS,
    SUFFIXES,
    UNITS,
    WORDS,
    ExpressionError,
    Parser,
    Token,
    TooLargeError,
    read_number,
    tokens_of,
)
from rnncalc.expressions import GivenNumber as GivenNumber
from rnncalc.letters import GREEK, MATH_ACCENTS, PLAIN, has_letters, with_index
from rnncalc.printable import escape

if TYPE_CHECKING:
    from rnncalc.polynomial import Number

    Sizes = Mapping[str, Number | None] | None

_SIGNS: dict[int, int | str] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OF_MATHEMATICS = "(?<![0-9])([0-9]{0,9}) ?([¼-¾⅐-⅞])|[ℎ\U0001d400-\U0001d7ff]"
"""The letters of formulas as documents have them, 𝑛 and ℎ, and fractions that are one sign, ½ and 1½."""
_INSIDE = r"(?:(?!\\[()\[\]]).)*"
_EQUATION = rf"(?={_INSIDE}(?:=|∈|\\in))({_INSIDE})"
_AROUND = (
    r"\\(?:begin|end)\{[a-z]+\*?\}(?:\{[lcr| ]+\})?()",
    r"\\\\(?=\s*(?:&?\s*[-+=]|\\end))()",
    r"(?:&(?=\s*[-+=])|(?<==)&)()",
    r"\\(?:overset|stackrel) ?\{[^{}]*\} ?\{ ?(=) ?\}",
    r"(?<![_{])\\(?:text|math(?!bb))[a-z]*\{( ?[^\W\d_]+(?: [^\W\d_]+)*:? ?)\}",
    r"\A\*\*([^*].*?)\*\*(?=[ $.]*\Z)",
    r"\A\*([^*]+)\*(?=[ $.]*\Z)",
    r"(?<=.)\(([=≈].{1,999})\)(?=[ $.]*\Z)",
    r"\A(?:\w+\.)?shape\(([^()]+)\)(?=\s?[=:])",
    r"`([^`]*)`",
    r"[“„«\"]([^“”„«»\"]*)[”“»\"]",
    rf"\\\({_EQUATION}\\\)",
    rf"\\\[{_EQUATION}\\\]",
)
"""What is around an answer or an equation, with what stays of it. Around a product \\( and \\[ are brackets."""
_BETWEEN = (
    r"\s*(?:[,;](?:\s+(?:and|und|et|y|e))?(?=\s)|;|"
    r"(?<=[\w)]{2})\.(?=\s+[A-Z])|,(?=[^\W\d][\w. ]{0,60}[:=])|\n|\\\\)\s*|\s(?:and|und|et|y|e|&)\s"
    r"|(?<=[\d)\]])(?<![^\W\d]\d)\s+(?!(?:[xX]|times|by|plus|minus|mal|fois|volte|por|per)\s?\d)"
    r"(?=[^\W\d](?:\w|\.(?! )| ){0,60}[:=])"
)
_BLANK = r"(?<=\d)\s+(?=\d)|(?<=[)\]])\s+(?=[(\[])"
_SUMMED = r"((?:.*[:=])? ?[0-9][^:=]*?) ?(?:[=-]>|[→⇒]|\\(?:to|implies|[rR]ightarrow)\b|,? \b(?:so|thus|hence)\b) ?(.+)"
_ITEM = r"\A(?:[-*•]|[0-9]{1,2}[.)]) (?!Schicht|capa|camada|strato)"
_MARK = r"(?:\A\s*|(?<=[\s,;]))[(\[]?(" + MARK + r")[)\]][.:]?\s+" + NO_FACTOR + r"(?=[^\s-])"
_MARK_END = r"[\s,;]+(?:(?:and|und|et|y|e)\s+)?\Z"
_LABELLED = r"\A(?!.* (?:an?|ha|hat|has|tem|tiene|is|ist|est|es|by|mal|par|por|per) [0-9])([^\W\d][\w. ]*?)\s+"
_LABELLED += r"([1-9](?:[^\s=:](?<![^\W\d]{3})|\s(?:(?=[+*×·(])|(?<=[+*×·]\s)(?![+*×·(])))*)(?<=[\w)²³])\Z"
"""What is between several answers in one text, at last blanks alone; before their total; before one in
a list; its number in brackets, and what is before the next; and a label without a verb."""
_SUM_OF_PARTS = r"[^\W\d][\w ]{1,60}\w(?: ?\+ ?[^\W\d][\w ]{1,60}\w)+ ?(?:= ?[0-9][0-9.,]*)?\W*"
"""A sum of layers without their numbers, as GRU + Dense = 1285."""
_BEHIND = r"\A([0-9][0-9.,]*) ((?i:total.*|bia[is]\w*|sesgos|vi[eé]s\w*))\Z"
_DASH = r"\A((?i:total\w*|sum\w*|gesamt\w*)) [-–—] (?=[0-9])"
_ROUGH = ("about", "roughly")
_SUM = {"sign", "times", "over", "power", "equals"}
_VERBS = ("equals", "about", "then", "colon", "in", "is")
_NAME = r"[#|{\\ ]*[^\W\d][^()+,;]*(?:\([^\W\d][\w, ]*\))?"
_NAMED_SHAPE = r"[^\W\d_][\w./{}]*(?::0)? ?[(\[][0-9]+(?:(?:, ?[0-9]+)+|,)[)\]]"
_LEVEL = r"(?:\^ ?\{? ?[(\[<]?|⁽) ?([0-9⁰¹²³⁴-⁹]{1,3}) ?[)\]>⁾]?\}?"
"""What says that a number is rounded, the signs of a calculation, the verbs behind
a name, a name, one with a shape and no verb between them, and the number of a layer above its letter."""
_PARTS = "layer|schicht|couche|capa|strat|camada|lstm|gru|rnn|dense|linear|output|embed|gat|block|direct|richt|coder"
_BRACKETED = (
    r"[(\[]([^()\[\]]*)[)\]]",
    r"[A-Za-z][\w.]*\([(\[]([^()\[\]]*)[)\]]\)",
    r"(?:\\mathbb\{?R\}?|[Rℝ])(?=[\^⁰-⁹¹²³])\^?[{(]?([^{}()]*)[})]?",
)
"""What names a part, and brackets around the axes of a shape, as in torch.Size([20, 10]) and ℝ^{20 × 10}."""
_CODES = {
    ",": ",",
    ";": ",",
    ".": ".",
    "letter": "a",
    "equals": "=",
    "number": "1",
    "with": "w",
    "colon": ":",
    "then": ":",
    "open": "(",
    "close": ")",
}
_STATED = "a=1(?:[,w]+a=1){0,9}"
_SIZE = r"[^\W\d](?:_?\w{1,3})? ?= ?[0-9]+"
"""A character for each kind of token, and the sizes of letters as a student states them: h = 16, m = 8 and k = 4."""


def check_number_of_answers(count: int) -> None:
    """Raise CallError if there are too many answers."""
    if count > MOST_ANSWERS:
        raise CallError(f"expected at most {MOST_ANSWERS:,} numbers or shapes, got {count:,}")


class UnreadError(CallError):
    """A text that is no answer; it may be several."""


class GivenShape(NamedTuple):
    """The shape of a tensor as a learner gave it, or of an array that a layer returns; a size may be a polynomial.

    sizes: if it has a name, a letter or a word is the batch or the steps, and None is any size.
    calculation: the number that it is as a product, as 4 × 16 × 25 and (1600) may be, else None.
    """

    sizes: tuple[Any, ...]
    calculation: GivenNumber | None = None
    name: str = ""

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether it is this shape; a vector may also be given as a row or a column."""
        return self.sizes == shape or (len(shape) == 1 and self.sizes in ((*shape, 1), (1, *shape)))


Given = GivenNumber | GivenShape
"""A learner's answer."""


def read_answer(text: str, *, sizes: Sizes = None, decimal: str = "", quantity: str = "params") -> Given:
    """Return a learner's number, formula or shape: 1600, 1.6k, 4*16*(8+16+1), 4h(m+h+1), (20, 10), W_xh=(20, 10).

    Of a chain of equations it is the last side. sizes: the letters that may be used, each with its size if it has one;
    None if any may. decimal: the decimal sign, where it is known. quantity: what it is about, whose words may be behind
    it. Raises CallError if the text is no answer.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    if re.search(_OF_MATHEMATICS, text):
        from unicodedata import normalize  # which few answers need

        def normal(sign: re.Match[str]) -> str:
            above, slash, below = normalize("NFKC", sign[2] or sign[0]).partition("\u2044")
            return f" {int(sign[1] or 0) * int(below) + int(above)}/{below} " if slash else above

        text = re.sub(_OF_MATHEMATICS, normal, text)
    text = re.sub(r"(?![0-9])\d", lambda digit: str(int(digit[0])), text.translate(_SIGNS))  # of any script
    text = re.sub(r"\s{2,}", " ", re.sub(r"\^ ?\{? ?\\prime ?\}?", "′", text).strip())
    text = re.sub(rf"(\b{_SIZE}) (?={_SIZE})", r"\1, ", text)
    text = re.sub(r"\A\(([^\W\d]{2}[^()=]*)\):? (?=[0-9])", r"\1: ", text)
    plain = _plain(text)
    tokens = tokens_of(plain, sizes, quantity)[:-1]
    if any(token.kind == "or" and behind.kind == "number" for token, behind in pairwise(tokens[1:])):
        raise CallError(f"expected one answer, got two in '{escape(text)}'")
    rest, letters = _without_sizes(text, tokens, sizes or {})
    if rest != text:
        text, plain, sizes = rest, _plain(rest), {**(sizes or {}), **letters}
        tokens = tokens_of(plain, sizes, quantity)[:-1]
    remarks: list[str] = []
    total = tokens[-1:] and tokens[-1].kind == "total" and tokens[0].kind == "number"
    while tokens and (length := _ending(text, tokens, sizes)):
        inside = tokens[1 - length : -1] if length > 1 else []
        kinds = [token.kind for token in inside]
        words = text[inside[0].place : inside[-1].end] if inside else ""
        label = kinds.count("number") < 2 and kinds[0] in (*WORDS, "letter") if inside else False
        if (label or re.search(_PARTS, words.casefold())) and not _SUM & {*kinds}:
            remarks.insert(0, text[inside[0].place : inside[-1].end])
        del tokens[-length:]
    end = tokens[-1].end if tokens else 0
    tokens.append(Token("end", "", end, end))
    try:
        parser = _AnswerParser(text, tokens, sizes, decimal)
        if letters:
            parser.numbers = {name: size for name, size in (sizes or {}).items() if size is not None}
        answer = parser.answer(plain)
        remarks += ["total"] if total and not (answer.name or remarks) else []
        return answer._replace(name=" ".join([answer.name, *remarks]).strip()) if remarks else answer
    except ExpressionError as error:
        raise UnreadError(str(_refused(text, tokens, sizes, error))) from None


def read_answers(text: str, *, sizes: Sizes = None, decimal: str = "", quantity: str = "params") -> list[Given]:
    """Return the answers in a text: one if it can be read as one, else those between commas, lines and labels.

    One of several equations has each of them too. Raises CallError as `read_answer` does.
    """
    read = partial(_read_piece, sizes=sizes, decimal=decimal, quantity=quantity)
    text = text.strip()
    if re.fullmatch("[1-9][0-9]{0,17}", text):  # as most answers are, and it needs no grammar
        return [GivenNumber(int(text), text=text)]
    text = without_html(text).strip() if len(text) <= LONGEST_ANSWER else text
    if quantity != "params":
        text = re.sub(rf"(?i)(?<=[0-9)]) (?:{UNITS[quantity]})(?= (?:for|in|of|für|im|pour|para|per)\b)", "", text)
    if len(text) <= LONGEST_ANSWER and not {"O", "Θ"} & {*(sizes or "")}:
        text, growth = without_growth(text)
        if growth:
            if not text:
                raise CallError(f"{escape(growth)} is an order of growth; write the number")
            *others, last = read_answers(text, sizes=sizes, decimal=decimal, quantity=quantity)
            return [*others, last._replace(aside=growth) if isinstance(last, GivenNumber) else last]
    text = rewritten(text, sizes) if len(text) <= LONGEST_ANSWER else text
    if pieces := _numbered(text, sizes or {}):
        check_number_of_answers(len(pieces))
        return [*_each(pieces, read)]
    try:
        one = read(text)
    except UnreadError:
        lines = [re.sub(_ITEM, "", " ".join(line.split())) for line in text.splitlines()]
        text = "\n".join(filter(None, lines))
        for between in (_BETWEEN, f"{_BETWEEN}|{_BLANK}"):
            pieces = [re.sub(_LABELLED, r"\1 = \2", piece) for piece in pieces_of(text, between)]
            if pieces[1:]:
                check_number_of_answers(len(pieces))
                with suppress(CallError):
                    return [*_each(pieces, read)]
        if pieces := claims_in(text):
            check_number_of_answers(len(pieces))
            with suppress(CallError):
                return [*_each(pieces, read)]
        raise
    if isinstance(one, GivenNumber) and one.equations > 1:
        pieces = [*pieces_of(text, _BETWEEN)]
        if len(pieces) > one.equations:  # sizes are no equations
            pieces = [piece for piece in pieces if not re.fullmatch(_SIZE, piece)]
        with suppress(CallError):
            one = one._replace(apart=_each(pieces, read) if len(pieces) == one.equations else ())
    return [one]


def _read_piece(text: str, *, sizes: Sizes, decimal: str, quantity: str) -> Given:
    """Return an answer whose label may be behind its number."""
    try:
        return read_answer(text, sizes=sizes, decimal=decimal, quantity=quantity)
    except UnreadError:
        other = label_first(text)
        if other == text or (quantity != "params" and re.search("par[aáâ]m|weight", other)):
            raise
        return read_answer(other, sizes=sizes, decimal=decimal, quantity=quantity)


def _numbered(text: str, sizes: Mapping[str, Number | None]) -> list[str]:
    """Return the parts of a text that are numbered in brackets from 1 or a, as `(1) 3552; (2) 150`; [] if none are."""
    marks = [*re.finditer(_MARK, text[:LONGEST_ANSWER])]
    names = [mark[1] for mark in marks]
    if not in_order(names) or not marks or marks[0].start() or not {*names}.isdisjoint(sizes):
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    pieces = [re.sub(_MARK_END, "", text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    closed = all(piece and len(re.findall(r"[(\[]", piece)) == len(re.findall(r"[)\]]", piece)) for piece in pieces)
    return pieces if closed else []


def _each(pieces: Sequence[str], read: Callable[[str], Given]) -> tuple[Given, ...]:
    """Return the answers in pieces of a text; the last may be two, as 85 so 1285, of which the second is the total."""
    *answers, last = map(read, [re.sub(_BEHIND, r"\2: \1", re.sub(_DASH, r"\1: ", piece)) for piece in pieces])
    if total := re.fullmatch(_SUMMED, pieces[-1]):
        first, whole = (getattr(each, "number", None) for each in as_calculations([read(total[1]), last]))
        if (first != whole and not has_letters(first)) or getattr(last, "untrue", ""):
            return (*answers, *map(read, total.groups()))
    return (*answers, last)


def as_calculations(answers: Sequence[Given]) -> list[Given]:
    """Return answers as calculations, as 4 × 16 × 25, if each may be one."""
    if any(isinstance(each, GivenShape) and not each.calculation for each in answers):
        return [*answers]
    return [each if isinstance(each, GivenNumber) else each.calculation or each for each in answers]


def _plain(text: str) -> str:
    """Return a text with blanks for what is around an answer or an equation."""

    def inside(match: re.Match[str]) -> str:
        begin, end = match.span(match.lastindex or 0)
        return text[begin:end].rjust(end - match.start()).ljust(len(match[0]))

    for pattern in _AROUND:
        text = re.sub(pattern, inside, text, flags=re.DOTALL)
    return text


def _ending(text: str, tokens: Sequence[Token], sizes: Sizes) -> int:
    """Return how many of the last tokens are words behind a chain or a shape, or a remark behind a number or a unit."""
    if tokens[-1].kind in ("behind", "total") or tokens[-1].text in (".", "!", "?"):
        return 1
    begin = next((at for at in range(len(tokens) - 2, 0, -1) if tokens[at].kind in ("open", "close")), 0)
    if not begin or (tokens[begin].text, tokens[-1].text) != ("(", ")") or not text[tokens[begin].place - 1].isspace():
        return 0
    before, inside = tokens[:begin], tokens[begin + 1 : -1]
    number = before[-1:] if before[-1].kind == "number" else before[-2:]
    alone = _is_number(number) and {token.kind for token in before[: -len(number)][-1:]} <= {*ENDS, *_VERBS, *WORDS}
    pieces = [text[each[0].place : each[-1].end] for each in (inside, number)] if alone and inside else ["", ""]
    value, stated = [cast("Any", read_number(piece, "", calculation=True)) for piece in pieces]
    if value is not None and value == stated:
        return len(tokens) - begin
    sizes_inside = {token.text for token in inside}  # the number is a size of a product if it is one: 20 (20 + 1)
    if value and stated and 10 * abs(value - stated) <= value and inside[1:] and number[0].text not in sizes_inside:
        ways = f"{stated} = {value} for an equation, or {stated}*{value} for a product"
        raise CallError(f"'{escape(text)}' may be an equation that is not true, or a product; write {ways}")
    if alone and _is_number(inside):
        raise CallError(f"expected one answer, got two in '{escape(text)}'")
    unknown = {token.text for token in inside if token.kind == "letter" and token.text not in (sizes or token.text)}
    kinds = {token.kind for token in inside}
    words = kinds & {*WORDS} or (unknown and not kinds & {"sign", "times", "over", "power"})
    return len(tokens) - begin if (before[1:] and before[-1].kind in ("unit", "total")) or (alone and words) else 0


def _without_sizes(
    text: str, tokens: Sequence[Token], sizes: Mapping[str, Number | None]
) -> tuple[str, dict[str, int]]:
    """Return a text without the sizes of letters at its beginning or its end, and those that the network does not have.

    A letter that the network does not have must be used in the text. Raises CallError for another size of a letter that
    it has.
    """
    codes = "".join(_CODES.get(token.text) or _CODES.get(token.kind, "?") for token in tokens)
    stated = re.search(
        rf"\A(?:w*{_STATED}[,:.]|\({_STATED}\)[,:.]?)|(?:(?<!w)[,w]+{_STATED}|\({_STATED}\))\.?\Z", codes
    )
    if not stated or re.fullmatch(_STATED, codes):
        return text, {}
    begin, end = stated.span()
    rest = text[: tokens[begin].place] if begin else text[tokens[end - 1].end :]
    used = {token.text for token in (tokens[:begin] or tokens[end:]) if token.kind == "letter"}
    letters = {}
    for letter, number in [(tokens[at], tokens[at + 2]) for at in range(begin, end) if tokens[at].kind == "letter"]:
        size, value = sizes.get(letter.text), read_number(number.text)
        if size is None and letter.text in used and isinstance(value, int):  # it is no letter here, or of several sizes
            letters[letter.text] = value
        elif not begin and letter.text not in {*sizes, *"WUVb"} and value in sizes.values():
            continue  # D = 8 for m = 8
        elif not isinstance(size, int):
            return text, {}
        elif value != size:
            other = escape(number.text, MAX_DIGITS)
            raise CallError(f"'{escape(text)}': {letter.text} is {size:,} in this network, not {other}")
    return rest.strip(), letters


def _is_number(tokens: Sequence[Token]) -> bool:
    """Return whether tokens are a number alone, which may have a suffix."""
    kinds = [token.kind for token in tokens]
    return kinds in (["number"], ["number", "suffix"]) or (kinds == ["number", "letter"] and tokens[1].text in SUFFIXES)


class _AnswerParser(Parser):
    """Reads the tokens of an answer: what is before a chain, and the chain or a shape."""

    def answer(self, plain: str) -> Given:
        """Return the number, the formula or the shape. plain: the text of the tokens."""
        self.opening()
        name = self.name()
        name = name or "total" * any(token.kind == "total" for token in self.tokens[: self.next])
        begin = self.token.place
        written = " ".join(plain[begin : self.tokens[-1].place].split()).strip("$~✓✔ ")
        rough = "~" in plain[:begin] or {token.kind for token in self.tokens[: self.next]} & {*_ROUGH}
        array = "" if re.search(r"\A(?:[NP]|total)?\Z|param|[ #|\\]", name) else name
        shape = self.shape(written, array) if array or not name else None
        if shape and shape.calculation is None:
            return shape
        number = self.chain()
        number = (number.about() if rough else number)._replace(text=written, name=name)
        return shape._replace(calculation=number) if shape else number

    def opening(self) -> None:
        """Go on behind opening words and signs."""
        while token := self.taken(*_ROUGH, "opening", "total", "equals", "then"):
            _ = token.kind == "total" and self.taken("colon")

    def name(self) -> str:
        r"""Return the name before a verb, W_xh for \mathbf{W}_{xh} and Wₓₕ, and go on behind both; else stay."""
        verbs = ("open",) if re.fullmatch(_NAMED_SHAPE, self.text[self.token.place : self.tokens[-1].end]) else _VERBS
        verb = next((at for at, token in enumerate(self.tokens) if at > self.next and token.kind in verbs), 0)
        tokens = self.tokens[self.next : verb]
        kinds = {token.kind for token in tokens if not token.text.isalpha()}
        name = self.text[tokens[0].place : tokens[-1].end] if tokens else ""
        level = ""
        if (above := re.search(_LEVEL, name)) and re.match(r"[^_]*_|[A-Zbc]\W", name.replace(above[0], " ", 1)):
            name, level = name.replace(above[0], "", 1), f"^{above[1].translate(PLAIN)}"
            kinds.discard("power")
        if kinds & {"times", "power", "fraction", "brace"} or not re.fullmatch(_NAME, name):
            return ""
        self.next = verb + (self.tokens[verb].kind != "open")
        self.opening()
        for accent, command in MATH_ACCENTS.items():
            name = re.sub(rf"\\(?:wide)?{command} ?\{{(\w)\}}", rf"\1{accent}", name)
        name = re.sub(r"\\([A-Za-z]+)", lambda letter: GREEK.get(letter[1], letter[0]), name)
        name = (
            re.sub(r"\((?:\w(?:, ?\w)*|.*[-+*/=^].*)\)|\\[a-z]+ ?(?=\{)|\\(?=_)|[{}$]", "", name)
            .strip()
            .replace("'", "′")
        )
        return with_index(name).removesuffix(":0").removesuffix(".shape") + level

    def shape(self, text: str, name: str) -> GivenShape | None:
        """Return a shape, such as (20, 10), 20 × 10 or (4h, m); None if a text is not one.

        If it has a name, its axes are also capital letters and words for the batch or the steps, and None.
        """
        spaces = r"(?<![0-9])(?:\s|\\,)|(?:\s|\\,)(?![0-9])|[$~]|\\(?:left|right)"
        bare = re.sub(spaces, "", re.sub(r"\\times|(?<=\d )by(?= \d)", "×", text))
        place, match = next(
            ((at, match) for at, pattern in enumerate(_BRACKETED) if (match := re.fullmatch(pattern, bare))), (0, None)
        )
        inside = match[1].translate(PLAIN if place == 2 else {}).removesuffix(",") if match else bare
        axes = re.split("[,xX×]" if match else "[xX×]", inside)
        array = [self.axis(axis, name) for axis in axes]
        if all(array) and (match or axes[1:]):
            values = tuple([None if size == "None" else size for size in array])
            alone = re.fullmatch(r"[(\[][0-9]+[)\]]|[0-9xX×]+", bare)
            return GivenShape(values, GivenNumber(0) if alone else None, name)
        axes = re.split("[,×]" if place else ",", inside)
        if not match or not ("," in match[1] or axes[1:] or re.fullmatch(r"[0-9]*[A-Za-z](?:_?\w+)?", inside)):
            return None
        try:
            array = [self.axis(axis, name) or self.formula(axis) for axis in axes]
        except TooLargeError:
            raise
        except CallError:
            array = [None]
        if all(array):
            return GivenShape(tuple(array), name=name)
        if re.search("[+*/^·×]", inside):
            return None  # a sum of numbers with commas between thousands
        cure = "; None is a size of a returned array, with its name: output=(None, 16)" if "None" in axes else ""
        raise CallError(f"expected a shape, such as (20, 10), got '{escape(text)}'{cure}")

    def axis(self, text: str, name: str) -> int | str | None:
        """Return a size, or with a name the batch or the steps; None for a formula."""
        if re.fullmatch("[1-9][0-9]{0,12}", text):
            return int(text)
        free = name and text not in (self.sizes or ()) and re.fullmatch("[A-Z]|[A-Za-z]{3,}(?:_[a-z]+)?", text)
        return text if free else None

    def formula(self, text: str) -> Any:
        """Return the value of an axis."""
        return Parser(text, tokens_of(text, self.sizes), self.sizes).chain().number


def _refused(text: str, tokens: Sequence[Token], sizes: Sizes, error: ExpressionError) -> CallError:
    """Return the error for what is no answer: its place in a formula, else what to write instead."""
    if (name := re.match(r"([A-Za-z][\w./-]*)\s*=", text)) and re.search("[_.]", name[1]):
        return CallError(f"expected a shape, such as {escape(name[1])}=(2, 32, 20), got '{escape(text)}'")
    signs = ("sign", "times", "over", "power", "open", "close", "equals")
    known = {token.text for token in tokens if token.kind == "letter"} & {*(sizes or ())}
    formula = text[:1] == "\\" or known or any(token.kind in signs and token.text != "x" for token in tokens)
    cure = ""
    if re.fullmatch(_SUM_OF_PARTS, text):
        example = "'GRU: 1200; Dense: 85; total: 1285'"
        return CallError(f"expected numbers with labels, as in {example}, got '{escape(text)}'")
    if re.fullmatch(r"[1-9][0-9]*(?:(?:[,;] ?|\s)[1-9][0-9]*){1,99}", text):
        shape = f"({', '.join(re.findall('[0-9]+', text))}) for a shape, or " if text.count(",") in range(1, 6) else ""
        cure = f"; write {shape}each number as an answer of its own"
    elif re.fullmatch(r"\([0-9]+(?:, ?[0-9]+){1,4}", text):
        cure = f"; write {text})"
    elif re.fullmatch(r"[0-9][0-9,._]{,40}[,;]", text):
        cure = f"; write {text[:-1]}"
    elif re.fullmatch(r"[=x×*+·-]|param(eter)?s|weights", text):
        cure = "; put an answer of several words in quotes"
    elif text[:1] != "-" and (formula or (error.place and text[:1].isdecimal())):
        return error
    return CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'{cure}")
