"""Reads the values of a pass as learners write them: numbers, vectors, matrices and tables, with their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from rnncalc.answers.forms import pieces_of, table_in, without_html
from rnncalc.bounds import LONGEST_ANSWER, MOST_BRACKETS
from rnncalc.errors import CallError
from rnncalc.expressions import RealValue, TooLargeError, read_real
from rnncalc.forward.arrays import flat, shape_of
from rnncalc.letters import PLAIN, SUPERSCRIPTS, with_index
from rnncalc.printable import escape
from rnncalc.questions.spelling import turned


class GivenArray(NamedTuple):
    """A value as it was written: its name, empty if it has none, and its text."""

    name: str
    text: str


_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_NAME = (
    rf"(?:[^\W\d_]|[\\∂∇$])"
    rf"(?:[^=:≈;,\n()\[\]{{}}]|{_BRACES}|\^\[[^\[\]=]*\]|\[[0-9]{{1,3}}(?:, ?[0-9]{{1,3}})?\]|\([^()=,]*\)"
    r"|(?<=[\w\u0300-\u036f′]),(?=\w)){0,80}"
)
_EQUALS = r":=|=>?|:|≈|→|->|\\(?:approx|to|rightarrow)(?![A-Za-z])|(?<=\s)(?:is|ist|est|es|è|é)(?=\s)"
_NEXT = rf"(?:[;,\n]|\\\\(?![A-Za-z])|(?<!\w)and(?!\w))\s*(?={_NAME}(?:{_EQUALS}))"
"""A name, the signs behind it, and what is between two values."""
_SHORT = r"([^\W\d]\w{0,3}_?\{?[0-9]\}?)"
_JOINED = re.compile(rf"(?:{_EQUALS})\s*[-−+]?[0-9.]+\s+{_SHORT}\s*(?:{_EQUALS})")
"""Two values with nothing between them; the first side of the second may also be a product with the number."""
_OF_ARRAY = r"[∂d][A-Za-z]+ ?/ ?[∂d][WUVbw]_?\{?[a-z]*\}?"
_AT_STEP = r"\^\s*\{?\s*([(\[][1-9][)\]])?<([0-9]+)>\s*\}?"
"""The gradient of an array; a step above a letter, behind the number of its layer: `a^{[2]<1>}`."""
_STEP = r"(?i:(?:at )?(?:(?:time ?|zeit)?(?:step|schritt)|time|t|étape|pas|paso|passo))"
_BEFORE_STEP = r"(?:\A|(?<=[\n;.,])|(?<=\s)(?:and|und|et|y)\s)"
_OF_STEP = (
    rf"{_BEFORE_STEP}\s*{_STEP}\s*[=#]?\s*([0-9]+)\s*(?:[:,.)-]|(?<=\n))\s*"
    rf"(?={_NAME}(?:{_EQUALS}))"
)
"""The step of the values behind it: `step 1: h = 0.76`."""
_BELOW, _ABOVE = r" ?_? ?\{? ?([0-9]{1,3}) ?\}? ?", r" ?\^ ?\{? ?\(?([0-9]{1,3})\)? ?\}? ?"
_TWO_INDICES = (rf"{_BELOW}{_ABOVE}", rf"{_ABOVE}{_BELOW}", r" ?_ ?\{? ?\(?([0-9]{1,3}), ?([0-9]{1,3})\)? ?\}? ?")
_NUMBER_OF = r"(.+?) ?((?:\[[0-9, ]+\])+)"
_REMARK = r"\A([-−]?[0-9]*[.,]?[0-9]+) \((?=[^()]*[^\W\d])(?:[^()]|\([^()]*\))*\)\Z"
_TURNED = r"\s*(?:\^\s*\{?\s*(?:T|\\top|\\intercal|\\mathsf\{T\})\s*\}?|ᵀ)\s*\Z"
_OF_LATEX = r"\\(?:left|right|[bB]igg?[lr]?|quad|mathbf|boldsymbol|displaystyle|[,;:! ])(?![A-Za-z])|[$~`]"


def read_values(text: str) -> list[GivenArray]:
    """Return the values in a text, each with its name: `h_1 = (0.76, -0.2), y = 0.81`, or one without a name."""
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(f"an answer has at most {LONGEST_ANSWER:,} characters, this one has {len(text):,}")
    text = without_html(text)
    text = re.sub(r"\\(?:begin|end)\{(?:align|eq|gather|split)[a-z]*\*?\}|&(?=\s*(?:[=≈]|\\approx))", "", text)
    text = re.sub(rf"⁽([{SUPERSCRIPTS}]+)⁾", lambda step: f"^({step[1].translate(PLAIN)})", text)
    text = "; ".join(_of_table(text)) or text
    text = re.sub(rf"(?:\A|(?<=[,;\n]))\s*{_SHORT}\s+(?=[-−]?[0-9.]+\s*(?:[,;\n]|\Z))", r" \1 = ", text)
    text = re.sub(rf"({_OF_ARRAY}) ?\((?:{_STEP}) ?= ?([0-9]+)\)", r"\1 (step \2)", text)
    text = re.sub(r"(?<![0-9][({\[])(?<![0-9] [({\[])(?<=[({\[])t\s*=\s*(?=[0-9]+\s*[)}\]])", "", text)
    text = re.sub(rf"(?<=\w) (?:at|in) {_STEP}\s*=?\s*([0-9]+)(?=\s*(?:{_EQUALS}))", r"_\1", text)
    first, *sections = re.split(_OF_STEP, text)
    pieces = [
        (step, each)
        for step, section in zip(["", *sections[::2]], [first, *sections[1::2]], strict=True)
        for each in re.split(_NEXT, section)
    ]
    values = []
    for step, piece in [(step, each.strip(" \n,;")) for step, each in pieces if each.strip(" \n,;")]:
        if joined := _JOINED.search(piece):
            raise CallError(f"expected one value, got two in '{escape(piece)}'; write ; before {joined[1]}")
        match = re.match(rf"({_NAME})(?:{_EQUALS})\s*(.+)\Z", piece, re.DOTALL)
        name, value = match.groups() if match else ("", piece)
        name, value = name.strip(" $`*"), value.strip()
        if at := re.fullmatch(rf"(.+?) ?\({_STEP}\s*[=#]?\s*([0-9]+)\)", value, re.DOTALL):
            name, value = _of_that_step(name, at[2]), at[1]
        values.append(GivenArray(_at_step(name, step), value))
    if not values:
        raise CallError("expected a value, as in h_1 = (0.76, -0.2), got nothing")
    return values


def _of_table(text: str) -> Iterator[str]:
    """Yield the values of a table that has the steps in a column or in a row, or names beside values."""
    titles, *rows = table_in(text) or [[]]
    above = len(rows) == 1 and not re.fullmatch(rf"{_STEP}|\W*", titles[0])
    if above and all(re.match(r"[-−+]?[0-9.]", cell) for cell in rows[0]):  # names above values
        titles, rows = ["", ""], [[*each] for each in zip(titles, rows[0], strict=True)]
    names, heads, each_step = titles[1:], [row[0] for row in rows], rf"{_STEP}?\s*[=#]?\s*[0-9]+"
    by_row, by_column = (all(re.fullmatch(each_step, each) for each in steps) for steps in (heads, names))
    if by_row == by_column:
        by_column, names, rows = names[1:] == [], [""], [titles, *rows]
    named = names if by_row else heads
    if rows and by_row != by_column and all(re.match(r"[^\W\d]|[\\∂]", name) for name in named):
        for head, *cells in rows:
            for title, cell in zip(names, cells, strict=True):
                name, step = (title, head) if by_row else (head, title)
                if re.search("[0-9]", cell):
                    yield f"{_at_step(name, re.sub('[^0-9]', '', step))} = {cell}"


def _at_step(name: str, step: str) -> str:
    """Return a name with the number of its step instead of t, or behind it, if it has none: h_2 of h_t and of h.

    The number of a layer before it, as in `lstm_1.h`, is none of a step.
    """
    unit = r"_ ?\{? ?\(?(?:t, ?([1-9])|([1-9]), ?t)\)?\}?"
    name = re.sub(unit, lambda number: f"_t[{int(number[1] or number[2]) - 1}]", name)
    base, bracket, rest = name.partition("[")
    at = re.sub(r"(?<![A-Za-z\\])t(?![A-Za-z])", step, base) if step else base
    symbol = re.sub(r"\A\w+(?:\.|\s+)(?=[^\W\d])", "", base)
    if step and at == base and not re.search(r"[0-9]|L\Z|loss|[WUVb]_|\A\Z", symbol):
        at = f"{base}_{step}"
    return at + bracket + rest


def _of_that_step(name: str, step: str) -> str:
    """Return the name of a value with `(step 2)` behind it; a parameter's gradient has what that step contributes."""
    if re.search(r"[WUVb](?:_|\W*\Z)", name):
        return f"{name} (step {step})"
    at = _at_step(name, step)
    return at if at != name or re.search(rf"(?<![0-9]){step}(?![0-9])", name) else f"{name} (step {step})"


def meanings(name: str) -> Iterator[tuple[str, list[int]]]:
    """Yield what a name may also mean: the name of a value, and where a number of it is, from 0."""
    name = with_index(name).strip()
    if match := re.fullmatch(_NUMBER_OF, name):
        places = [*map(int, re.findall("[0-9]+", match[2]))]
        yield from ((match[1], places), (f"{match[1]}_{places[0]}", places[1:]))
    elif match := next(filter(None, (re.fullmatch(f"(.*?[^0-9]){each}", name) for each in _TWO_INDICES)), None):
        yield from (
            (f"{match[1]}_{one}", [int(other) - 1]) for one, other in (match.groups()[1:], match.groups()[:0:-1])
        )
    elif match := re.fullmatch(f"(.*?[^0-9]){_ABOVE}", name):
        yield f"{match[1]}_{match[2]}", []
    elif match := re.fullmatch(f"(.*?[^0-9_]){_BELOW}", name):
        yield match[1], [int(match[2]) - 1]


def read_array(text: str, size: int) -> tuple[tuple[int, ...], tuple[RealValue, ...]]:
    """Return the shape and the numbers of the last side of an equation.

    size: how many numbers are expected; it tells whether a comma between digits is a decimal sign. Raises CallError for
    a text that is neither a number, a vector nor a matrix.
    """
    side = re.split(rf"{_EQUALS}", text)[-1].strip()
    side = re.sub(_REMARK, r"\1", side)
    side = re.sub(r"\\begin\{[a-zA-Z]*\*?\}(?:\{[lcr| ]*\})?", "[", side.replace("\\\\", ";").replace("&", ","))
    side = re.sub(_OF_LATEX, " ", re.sub(r"\\end\{[a-zA-Z]*\*?\}", "]", side)).strip(" ;,").rstrip(" .")
    side = re.sub(r"\A(?:<|⟨|\\langle)(.*)(?:>|⟩|\\rangle)\Z", r"(\1)", side.replace("|", ";"), flags=re.DOTALL)
    side = re.sub(r"\A(?:[a-z]+\.)?(?:array|tensor|[mM]atrix)\s*\((.*)\)\Z", r"\1", side, flags=re.DOTALL)
    plain = re.sub(_TURNED, "", side)
    readings: list[tuple[tuple[int, ...], tuple[RealValue, ...]]] = []
    refused: CallError | None = None
    for separator in (r"[;\n]|,", r"[;\n]|,(?![0-9])|(?<![0-9]),"):
        try:
            nested = _nested(plain, separator)
        except CallError as error:
            refused = refused or error
            continue
        if len([*flat(nested)]) != prod(shape_of(nested)):
            refused = refused or CallError(f"the rows of '{escape(text)}' have different lengths")
            continue
        nested = turned(nested) if len(shape_of(nested)) == 2 and plain != side else nested
        numbers: list[Any] = [*flat(nested)]
        readings.append((shape_of(nested), tuple(numbers)))
    if refused and not readings:
        raise refused
    return next((each for each in readings if len(each[1]) == size), readings[0])


def _nested(text: str, separator: str, depth: int = 0) -> Any:
    """Return a number, or the numbers within brackets, or between separators, in a list."""
    if depth > MOST_BRACKETS:
        raise TooLargeError(f"a value has at most {MOST_BRACKETS} brackets in one another")
    text = text.strip()
    inside = text.removeprefix("\\")[1:-1].removesuffix("\\") if _is_bracketed(text) else text
    if text and not inside.strip():
        raise CallError(f"expected numbers between the brackets of '{escape(text)}', as in (0.76, -0.2)")
    for each in ("[;\n]", separator):
        pieces = [*pieces_of(inside, each)]
        if pieces[1:]:
            return [_nested(piece, separator, depth + 1) for piece in pieces if piece.strip()]
    blanks = inside.split()
    if blanks[1:] and all(re.fullmatch(r"[-−+]?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?", each) for each in blanks):
        return [read_real(each.rstrip(".")) for each in blanks]
    if inside is not text and _is_bracketed(inside.strip()):
        return [_nested(inside, separator, depth + 1)]
    return read_real(inside)


def _is_bracketed(text: str) -> bool:
    """Return whether a text is all in one pair of brackets."""
    depth, inner = 0, text.replace("\\", "")
    for place, sign in enumerate(inner):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return place == len(inner) - 1 and inner[0] in "([{"
    return False


def with_step_below(name: str) -> str:
    """Return a name whose step is not above its letter, a^[2]_1 for a^{[2]<1>}."""
    return re.sub(_AT_STEP, lambda at: f"{'^' * bool(at[1])}{at[1] or ''}_{at[2]}", name)


def last_side(text: str) -> str:
    """Return the last side of an equation, on one line."""
    return " ".join(re.split(_EQUALS, text)[-1].strip(" $").split())
