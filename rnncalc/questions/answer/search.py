"""The search for the mistakes behind a wrong number: alone, in one layer, or in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.questions.answer.arithmetic import Expression, value
from rnncalc.questions.answer.between import fed_with, one_way
from rnncalc.questions.answer.families import MOST_LAYERS, Question, Values
from rnncalc.questions.answer.mistakes import FAMILIES, MISTAKES, Family, Mistake
from rnncalc.questions.answer.worksheet import Line, Worksheet, sum_of


class Diagnosis(NamedTuple):
    """What gives a learner's number: a mistake, or two made together.

    layer: the layer that it concerns, None if several may; alone: whether it was made there and not in other layers.
    yours: the learner's sum, as it seems; right: the right one.
    """

    mistakes: tuple[Mistake | Family, ...]
    values: Values
    layer: str | None
    alone: bool
    yours: Expression
    right: Expression

    @property
    def id(self) -> str:
        """The ids of its mistakes, joined by +."""
        return "+".join(mistake.id for mistake in self.mistakes).format(**self.values)

    @property
    def params(self) -> int:
        """The number that it gives."""
        return value(self.yours)


class Candidate(NamedTuple):
    """A way of counting wrong."""

    mistakes: tuple[Mistake | Family, ...]
    worksheet: Worksheet
    values: Values = MappingProxyType({})
    layer: str | None = None
    alone: bool = False


def diagnoses_of_total(worksheet: Worksheet, question: Question) -> Iterator[Diagnosis]:
    """Yield what gives a total: single mistakes, in all layers or in one alone; pairs if none of these does.

    Of those with the same arithmetic only the first.
    """
    seen = {_on_paper(worksheet)}
    for candidates in (_simple(worksheet, question), _pairs(worksheet, question)):
        for each in candidates:
            wrong = each.worksheet
            if question.params(wrong) == question.given.number and _on_paper(wrong) not in seen:
                seen.add(_on_paper(wrong))
                yield Diagnosis(each.mistakes, each.values, each.layer, each.alone, sum_of(wrong), sum_of(worksheet))
        if len(seen) > 1 or len(worksheet) > MOST_LAYERS:
            return


def diagnoses_of_layer(worksheet: Worksheet, question: Question) -> Iterator[tuple[Diagnosis, Worksheet]]:
    """Yield what gives a layer's number, with the worksheets that agree with it; pairs if no single mistake does."""
    place = question.place or 0
    right = worksheet[place]
    seen = {right.expression}
    for candidates in (_singles(worksheet, question), _pairs(worksheet, question)):
        for each in candidates:
            wrong = each.worksheet[place]
            if wrong.params == question.given.number and wrong.expression not in seen:
                seen.add(wrong.expression)
                found = Diagnosis(each.mistakes, each.values, right.name, False, wrong.expression, right.expression)
                yield found, _carried(worksheet, each.worksheet, place)
                yield found, _carried(worksheet, _with(worksheet, place, wrong), place)
        if len(seen) > 1:
            return


def _simple(worksheet: Worksheet, question: Question) -> Iterator[Candidate]:
    yield from _singles(worksheet, question)
    if len(worksheet) > MOST_LAYERS:
        return
    for mistake in MISTAKES:
        everywhere = mistake.change(worksheet, question.network)
        places = _changed(worksheet, everywhere)
        if len(places) > 1:
            for place in places:
                wrong = _with(worksheet, place, everywhere[place])
                yield Candidate((mistake,), wrong, {}, worksheet[place].name, alone=True)


def _singles(worksheet: Worksheet, question: Question) -> Iterator[Candidate]:
    for mistake in MISTAKES:
        wrong = mistake.change(worksheet, question.network)
        if wrong != worksheet:
            yield Candidate((mistake,), wrong)
    for family in FAMILIES:
        for way in family.ways(worksheet, question):
            yield Candidate((family,), *way)


def _pairs(worksheet: Worksheet, question: Question) -> Iterator[Candidate]:
    """Yield two mistakes made together, in the order in which both can be made."""
    for first, second in permutations(MISTAKES, 2):
        once = first.change(worksheet, question.network)
        twice = second.change(once, question.network)
        if worksheet != once != twice:
            yield Candidate((first, second), twice)


def _changed(worksheet: Worksheet, wrong: Worksheet) -> list[int]:
    lines = enumerate(zip(worksheet, wrong, strict=True))
    return [place for place, (was, now) in lines if was != now]


def _on_paper(worksheet: Worksheet) -> tuple[Expression, ...]:
    return tuple(line.expression for line in worksheet)


def _with(worksheet: Worksheet, place: int, line: Line) -> Worksheet:
    return (*worksheet[:place], line, *worksheet[place + 1 :])


def _carried(worksheet: Worksheet, wrong: Worksheet, place: int) -> Worksheet:
    """Return the worksheet with the learner's width handed on: one direction, or no projection, if that was it."""
    was, now = worksheet[place], wrong[place]
    layer = was.layer
    if place + 1 >= len(worksheet) or not isinstance(layer, Cell):
        return wrong
    width = was.placed.outputs
    both = layer.bidirectional and layer.merge in (None, "concat")
    if both and now.directions == 1:
        width = one_way(was)
    if was.has("projection") and not now.has("projection"):
        width = now.h * (2 if both else 1)
    after = wrong[place + 1]
    fed = after.width("input") and width != was.placed.outputs
    return _with(wrong, place + 1, fed_with(after, width)) if fed else wrong
