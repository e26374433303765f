"""The moves of a flow that every target writes alike, but for how its arrays are spelled. Knows no framework."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnncalc.network.flow import Input
from rnncalc.questions.program import LastStep, OneStep, Zeros
from rnncalc.sources.layout import Call, statement
from rnncalc.sources.written import Writing, shape_of


class Arrays(NamedTuple):
    """How a framework spells what becomes of arrays between modules, the batch first.

    joined: the function that joins arrays; axis: what tells it along which. one_step: an array as a sequence of one
    step. zeros: later inputs of zeros. `{0}` is the array, `{1}` a width.
    """

    joined: str
    axis: str
    one_step: str
    zeros: str


def passed(move: OneStep | Zeros | Input | LastStep, x: str, writing: Writing, arrays: Arrays) -> Iterator[str]:
    """Yield the lines of a move that no module makes; `x` is the name of what it reads."""
    one_step = arrays.one_step.format(x)
    match move:
        case OneStep():
            yield from statement(f"x = {one_step}", depth=2, note="one step")
        case Zeros():
            yield f"        zeros = {arrays.zeros.format(x, move.width)}"
            note = f"{shape_of((move.steps, move.width))}, zeros after the input"
            grown = Call(f"x = {arrays.joined}", (f"[{one_step}, zeros]", f"{arrays.axis}=1"))
            yield from statement(grown, depth=2, note=note)
        case Input():
            pair = f"[{x}, {writing.extra(move)}]"
            yield from statement(Call(f"x = {arrays.joined}", (pair, f"{arrays.axis}=-1")), depth=writing.depth)
        case LastStep():
            yield from statement(f"x = {x}[:, -1]", depth=2, note=shape_of(move.shape))
