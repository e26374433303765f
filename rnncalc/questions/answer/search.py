"""The search for the mistakes behind a wrong number: alone, in one layer, or in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple

from rnncalc.conventions.formula import Expression
from rnncalc.questions.answer.arithmetic import amount
from rnncalc.questions.answer.changes.lines import replaced
from rnncalc.questions.answer.changes.widths import concatenated, fed_with, one_way
from rnncalc.questions.answer.mistake import MOST_LAYERS, Family, Mistake, Question, Row, Told, Values
from rnncalc.questions.answer.mistakes import TABLE
from rnncalc.questions.answer.worksheet import Line, Worksheet, sum_of

MOST_PAIRS = 5
"""So many pairs are told at most, and so many explanations of a rounded number."""


MOST_LAYERS_PAIRED = 20
"""For one layer of a larger network no pairs are looked for: another search for each wrong layer would take long."""


class Alone(NamedTuple):
    """The one layer in which a mistake was made; of several equal layers, any one of those from first to last."""

    first: str
    last: str


class Diagnosis(NamedTuple):
    """What gives a learner's number: a mistake, or two made together.

    layer: the layer that it concerns, None if several may; alone: where it was made, if in one layer and not in others.
    yours: the learner's sum, as it seems; right: the right one.
    """

    mistakes: tuple[Told, ...]
    values: Values
    layer: str | None
    alone: Alone | None
    yours: Expression
    right: Expression

    @property
    def id(self) -> str:
        """The ids of its mistakes, joined by +."""
        return "+".join(mistake.id for mistake in self.mistakes).format(**self.values)

    @property
    def params(self) -> int:
        """The number that it gives."""
        return amount(self.yours)


class Candidate(NamedTuple):
    """A way of counting wrong."""

    mistakes: tuple[Row, ...]
    worksheet: Worksheet
    values: Values = MappingProxyType({})
    layer: str | None = None
    alone: Alone | None = None


Made = dict[str, Worksheet]
"""What each mistake makes of a worksheet, by its id: the same for every number that is asked about."""


def diagnoses(
    worksheet: Worksheet, question: Question, made: Made | None = None
) -> Iterator[tuple[Diagnosis, Worksheet]]:
    """Yield what gives a number, each with the worksheet that it makes; pairs if nothing simpler does.

    First the mistakes made everywhere, in the table's order, then those made in one layer alone, then pairs, and last
    the weak ones, which explain almost any number. Of those that make the same of the lines in question, and of the
    places where one and the same mistake gives the same sum, only the first.
    made: filled, and read, where several numbers are asked about.
    """
    right = _sum(worksheet, question)
    seen = [question.lines(worksheet)]
    told: list[tuple[str, Expression]] = []

    def found(candidate: Candidate) -> Iterator[tuple[Diagnosis, Worksheet]]:
        lines = question.lines(candidate.worksheet)
        if question.is_given_by(candidate.worksheet) and lines not in seen:
            seen.append(lines)
            diagnosis = _diagnosis(candidate, right, question)
            if (diagnosis.id, diagnosis.yours) not in told:
                told.append((diagnosis.id, diagnosis.yours))
                yield diagnosis, candidate.worksheet

    weak: list[Candidate] = []
    for candidate in _simple(worksheet, question, {} if made is None else made):
        if any(isinstance(row, Family) and row.weak for row in candidate.mistakes):
            weak.append(candidate)
            continue
        yield from found(candidate)
        if question.given.unit > 1 and len(told) == MOST_PAIRS:
            return
    if not told and len(worksheet) <= (MOST_LAYERS if question.place is None else MOST_LAYERS_PAIRED):
        yield from _of_pairs(worksheet, question, right)
    for candidate in weak:
        yield from found(candidate)


def _of_pairs(worksheet: Worksheet, question: Question, right: Expression) -> Iterator[tuple[Diagnosis, Worksheet]]:
    told = [right]
    for candidate in _pairs(worksheet, question):
        if (yours := _sum(candidate.worksheet, question)) not in told:
            told.append(yours)
            yield _diagnosis(candidate, right, question), candidate.worksheet
            if len(told) > MOST_PAIRS:
                return


def _diagnosis(found: Candidate, right: Expression, question: Question) -> Diagnosis:
    yours = _sum(found.worksheet, question)
    layer = found.layer if question.place is None else found.worksheet[question.place].name
    return Diagnosis(found.mistakes, found.values, layer, found.alone, yours, right)


def _sum(worksheet: Worksheet, question: Question) -> Expression:
    return sum_of(tuple(line for _, line in question.lines(worksheet)))


def _simple(worksheet: Worksheet, question: Question, made: Made) -> Iterator[Candidate]:
    everywhere: list[tuple[Mistake, Worksheet]] = []
    large = len(worksheet) > MOST_LAYERS
    for row in TABLE:
        if large and isinstance(row, Mistake) and row.rare:
            continue
        if isinstance(row, Mistake):
            if row.id not in made:
                made[row.id] = row.change(worksheet, question.network)
            wrong = made[row.id]
            everywhere.append((row, wrong))
            yield Candidate((row,), wrong)
        else:
            for way in row.ways(worksheet, question):
                yield Candidate((row,), *way)
    if question.place is None and not large:
        for mistake, wrong in everywhere:
            if not mistake.rare:
                yield from _alone(mistake, worksheet, wrong)


def _alone(mistake: Mistake, worksheet: Worksheet, wrong: Worksheet) -> Iterator[Candidate]:
    """Yield a mistake made in one layer only, where it can be made in several."""
    places = [place for place, (was, now) in enumerate(zip(worksheet, wrong, strict=True)) if was != now]
    if sum(worksheet[place].copies for place in places) < 2:
        return
    for place in places:
        was, now = worksheet[place], wrong[place]
        if was.copies != now.copies:  # a mistake about the number of layers is in no one of them
            continue
        one = (now,) if was.copies == 1 else (was._replace(copies=was.copies - 1), now._replace(copies=1))
        changed = (*worksheet[:place], *one, *worksheet[place + 1 :])
        yield Candidate((mistake,), changed, layer=was.name, alone=Alone(was.name, was.last_name))


def _pairs(worksheet: Worksheet, question: Question) -> Iterator[Candidate]:
    """Yield the two mistakes that give the number together, in the order in which both can be made."""
    network = question.network
    common = [row for row in TABLE if isinstance(row, Mistake) and not row.rare]
    alone = {row.id: row.change(worksheet, network) for row in common}
    for first, second in permutations(common, 2):
        once = alone[first.id]
        if once != worksheet:
            twice = second.change(once, network)
            if question.is_given_by(twice):
                needless = (sum_of(once), sum_of(alone[second.id]))
                if sum_of(twice) not in needless:
                    yield Candidate((first, second), twice)


def handed_on(worksheet: Worksheet, wrong: Worksheet, place: int) -> Iterator[Worksheet]:
    """Yield the ways to go on after a wrong layer: the mistake made in all layers, or in this one, with its width."""
    for way in (wrong, replaced(worksheet, place, wrong[place])):
        width = _width_handed_on(worksheet[place], wrong[place])
        fed = place + 1 < len(way) and way[place + 1].width("input")
        yield replaced(way, place + 1, fed_with(way[place + 1], width)) if fed else way


def _width_handed_on(was: Line, now: Line) -> int | None:
    """Return the width that a learner's layer hands on, None where it is the right one."""
    both = concatenated(was)
    if was.has("projection") and not now.has("projection"):
        return now.h * (2 if both else 1)
    return one_way(was) if both and now.directions == 1 else None
