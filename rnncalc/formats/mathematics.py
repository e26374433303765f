"""Equations in characters, for a terminal, and the places to break a wide equation, for every format.

An equation in letters has the shapes below its terms. An equation with numbers has vectors as columns and matrices in
brackets, on one base line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rnncalc.letters import RAISED
from rnncalc.printable import escape
from rnncalc.typeset.equations import (
    Block,
    Derivative,
    EquationText,
    Function,
    Line,
    Piece,
    Root,
    Sign,
    Term,
    WorkLine,
    WorkPiece,
    filled,
    parts,
    plain_piece,
)

POWER = re.compile(r"e([−+]?)0*(\d+)$")
"""The power of ten at the end of a number."""

BREAKS = (Sign.PLUS, Sign.ELEMENTWISE, Sign.TIMES, Sign.OVER)
"""An equation may be broken before these signs."""

IN_WORK = (" + ", " − ", " ∘ ", " / ", "; ")
"""A side of an equation with numbers may be broken before these signs."""


def with_shapes(line: Line, width: int, signs: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of an equation, broken at signs where it is wider than `width`, each with the shapes below it.

    signs: what stands for signs that cannot be written.
    """
    whole = _longer(("", ""), line, signs)
    if len(whole[0]) <= width:
        yield whole
        return
    indent = max(map(len, _longer(("", ""), line[:2], signs)))

    def laid(row: Sequence[Piece], first: bool) -> tuple[str, str]:
        above, below = _longer(("" if first else " " * indent, ""), row, signs)
        return above.rstrip(), below.rstrip()

    rows = filled(parts(line, BREAKS), lambda row, first: len(laid(row, first)[0]) <= width)
    yield from (laid(row, not number) for number, row in enumerate(rows))


def _longer(row: tuple[str, str], pieces: Sequence[Piece], signs: Mapping[int, str]) -> tuple[str, str]:
    """Return a part of an equation, and the shapes of its terms below it, with more pieces at their ends.

    A shape that is wider than its term takes free space before it, then after it. The equation makes room only if
    another shape is in the way.
    """
    above, below = row
    for piece in pieces:
        text = plain_piece(piece).translate(signs) if signs else plain_piece(piece)
        shape = "×".join(piece.sizes) if isinstance(piece, Term) else ""
        if shape:
            spare = len(text) - len(shape)
            free = len(below) + 1 if below else 0  # one space at the least between two shapes
            place = max(len(above) + (spare if spare < 0 else (spare + 1) // 2), free)
            above = above.ljust(place - max(spare, 0))
            below = below.ljust(place) + shape
        above += text
    return above, below


GAP = 4
"""The space between equations that are side by side."""

MOST_WIDTH = 80
"""The most columns that they fill on a wide screen."""

_BRACKETS, _PARENTHESES = ("[⎡⎢⎣", "]⎤⎥⎦"), ("(⎛⎜⎝", ")⎞⎟⎠")
"""A bracket on one line, and its top, its middle and its foot around several."""

TextBox = tuple[str, ...]
"""Lines of one width; the middle one, or the upper of two, is level with its neighbours."""


def paragraphs(lines: Sequence[WorkLine], width: int) -> Iterator[list[str]]:
    """Yield the lines of each equation; equations that only give a value are put side by side."""

    def gives_value(line: WorkLine) -> bool:
        return line.count(" = ") == 1 and not any(piece in IN_WORK for piece in line)

    def fits(row: Sequence[TextBox], _: bool) -> bool:
        return sum(len(box[0]) + GAP for box in row) - GAP <= min(width, MOST_WIDTH)

    for of_values, group in groupby(lines, gives_value):
        if not of_values:
            yield from (laid_out(line, width) for line in group)
            continue
        for row in filled([[_beside([line])] for line in group], fits):
            yield [text.rstrip() for text in _joined([each for box in row for each in (box, (" " * GAP,))])]


def spelled(line: WorkLine, signs: Mapping[int, str]) -> WorkLine:
    """Return an equation with words instead of the letters of its terms and functions, as wide as they will be."""
    if not signs:
        return tuple(map(_with_powers, line))
    letters = Term | Function | Derivative | Root
    return tuple(EquationText(each.name.translate(signs)) if isinstance(each, letters) else each for each in line)


def _with_powers(piece: WorkPiece) -> WorkPiece:
    """Return a number, or those of a block, as `3.2·10⁻⁶` instead of `3.2e−06`."""
    match piece:
        case Block():
            return Block(tuple(tuple([POWER.sub(_raised, text) for text in row]) for row in piece.rows))
        case str():
            return POWER.sub(_raised, piece)
        case _:
            return piece


def _raised(power: re.Match[str]) -> str:
    return "·10" + (power[1].removeprefix("+") + power[2]).translate(RAISED)


def laid_out(line: WorkLine, width: int) -> list[str]:
    """Return the lines of an equation; if it is wider than `width`, its sides are below each other."""
    name, *sides = parts(line, (" = ",))
    indent = len(_beside([name])[0])
    rows: list[WorkLine] = [name]
    broken = False  # whether the side before had to go on below
    for number, side in enumerate(sides):
        if not broken and len(_beside([rows[-1], side])[0]) <= width:
            rows[-1] = (*rows[-1], *side)
            continue
        if number:
            rows.append((" " * indent,))
        broken = len(_beside([rows[-1], side])[0]) > width
        for place, group in enumerate(parts(side, IN_WORK)):
            if place and len(_beside([rows[-1], group])[0]) > width:
                rows.append((" " * (indent + 2),))
            rows[-1] = (*rows[-1], *group)
    return [text.rstrip() for row in rows for text in _beside([row])]


def _beside(rows: Sequence[WorkLine]) -> TextBox:
    """Return pieces side by side, with parentheses as tall as what they enclose."""
    boxes: list[TextBox] = []
    opened: list[int] = []
    for piece in (piece for row in rows for piece in row):
        if piece == "(":
            opened.append(len(boxes))
            boxes.append((piece,))
        elif piece == ")" and opened:
            start = opened.pop()
            boxes[start:] = _around(boxes[start + 1 :], _PARENTHESES)
        elif piece == ")":  # it was opened on a line above
            boxes.append(_bracket(_PARENTHESES[1], _height(boxes)))
        else:
            boxes.append(_box(piece))
    for start in reversed(opened):  # and this is closed on one below
        boxes[start] = _bracket(_PARENTHESES[0], _height(boxes[start + 1 :]))
    return _joined(boxes)


def _height(boxes: Sequence[TextBox]) -> int:
    return max(map(len, boxes), default=1)


def _around(boxes: list[TextBox], signs: tuple[str, str]) -> list[TextBox]:
    """Return boxes with a bracket on each side, as tall as they are."""
    tall = _height(boxes)
    return [_bracket(signs[0], tall), *boxes, _bracket(signs[1], tall)]


def _bracket(signs: str, tall: int) -> TextBox:
    """Return a bracket: its top, its middle as often as needed, and its foot."""
    return (signs[0],) if tall == 1 else (signs[1], *[signs[2]] * (tall - 2), signs[3])


def _box(piece: WorkPiece) -> TextBox:
    match piece:
        case Block():
            return _joined(_around([_numbers(piece)], _BRACKETS))
        case EquationText():
            return (escape(piece.name),)
        case _:
            return (plain_piece(piece),)


def _numbers(block: Block) -> TextBox:
    """Return the rows of a block, with decimal points aligned."""
    columns = []
    for column in zip(*block.rows, strict=True):
        parts = [text.partition(".") for text in column]
        before = max(len(whole) for whole, _, _ in parts)
        after = max(len(point + rest) for _, point, rest in parts)
        columns.append([whole.rjust(before) + (point + rest).ljust(after) for whole, point, rest in parts])
    return tuple(" ".join(row) for row in zip(*columns, strict=True))


def _joined(boxes: Sequence[TextBox]) -> TextBox:
    """Return boxes side by side, their base lines level."""
    above = max(((len(box) - 1) // 2 for box in boxes), default=0)
    below = max((len(box) - (len(box) - 1) // 2 for box in boxes), default=1)
    lines = [""] * (above + below)
    for box in boxes:
        first = above - (len(box) - 1) // 2
        for number in range(above + below):
            inside = first <= number < first + len(box)
            lines[number] += box[number - first] if inside else " " * len(box[0])
    return tuple(lines)
