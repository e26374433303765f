"""The search for the mistakes behind a wrong number: alone, in one layer, or in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from rnncalc.conventions.formula import Expression
from rnncalc.network.network import Network
from rnncalc.questions.answer.arithmetic import amount
from rnncalc.questions.answer.changes.lines import replaced
from rnncalc.questions.answer.changes.widths import concatenated, fed_with, one_way
from rnncalc.questions.answer.mistake import (
    MOST_LAYERS,
    Explanation,
    Family,
    Mistake,
    Question,
    Row,
    Way,
    explanation,
)
from rnncalc.questions.answer.mistakes import TABLE
from rnncalc.questions.answer.worksheet import Line, Worksheet, sum_of

MOST_TOLD = 5
"""The most pairs that are told, and the most explanations of a rounded number."""

MOST_LINES_PAIRED = 10
"""On a worksheet of more lines only pairs of the likelier mistakes are tried, above MOST_LAYERS none."""


class Alone(NamedTuple):
    """The one layer in which a mistake was made; of several equal layers, any one of those from first to last."""

    first: str
    last: str


class Diagnosis(NamedTuple):
    """What gives a learner's number: a mistake, or two made together.

    layer: the layer that it concerns, None if several may; alone: where it was made, if in one layer and not in others.
    yours: the learner's sum, as it seems; right: the right one.
    """

    mistakes: tuple[Explanation, ...]
    layer: str | None
    alone: Alone | None
    yours: Expression
    right: Expression

    @property
    def id(self) -> str:
        """The ids of its mistakes, joined by +."""
        return "+".join(mistake.id for mistake in self.mistakes)

    @property
    def params(self) -> int:
        """The number that it gives."""
        return amount(self.yours)


class Candidate(NamedTuple):
    """A way of counting wrong: its mistakes, the worksheet that they make, and the one layer that they concern."""

    mistakes: tuple[tuple[Row, Way], ...]
    worksheet: Worksheet
    layer: str | None = None
    alone: Alone | None = None

    @property
    def weak(self) -> bool:
        """Whether it explains almost any number."""
        return any(isinstance(row, Family) and row.weak for row, _ in self.mistakes)


class Pair(NamedTuple):
    """Two mistakes, the second made after the first, and the count of each line that they make."""

    first: Row
    once: Way
    second: Row
    counts: tuple[int, ...]


class Tries:
    """What is tried for a wrong number. It is made once, however many numbers of one network are asked about."""

    def __init__(self, worksheet: Worksheet, network: Network) -> None:
        self.worksheet = worksheet
        self.network = network
        self._made: dict[str, list[Way]] = {}
        self._pairs: list[Pair] | None = None

    def rows(self) -> Sequence[Row]:
        """Return the mistakes that are looked for in a network of this size."""
        return [row for row in TABLE if not row.rare] if len(self.worksheet) > MOST_LAYERS else TABLE

    def ways(self, row: Row, question: Question) -> Sequence[Way]:
        """Return the ways in which one mistake can be made."""
        if isinstance(row, Family) and row.fitted:
            return [*row.ways(self.worksheet, question)]
        if row.id not in self._made:
            self._made[row.id] = [*_ways(row, self.worksheet, question)]
        return self._made[row.id]

    def pairs(self, question: Question) -> list[Pair]:
        """Return all pairs of mistakes, the likelier first."""
        if self._pairs is None:
            pairs = self._paired(question) if len(self.worksheet) <= MOST_LAYERS else ()
            self._pairs = sorted(pairs, key=lambda pair: _rarity(pair.first) + _rarity(pair.second))
        return self._pairs

    def _paired(self, question: Question) -> Iterator[Pair]:
        likelier = len(self.worksheet) > MOST_LINES_PAIRED
        rows = [row for row in TABLE if _is_paired(row) and not (likelier and (row.rare or isinstance(row, Family)))]
        made = {row.id: [way for way in self.ways(row, question) if way.worksheet != self.worksheet] for row in rows}
        seconds = [row for row in rows if made[row.id] and not (isinstance(row, Family) and row.by_layer)]
        for first, second in product(rows, seconds):
            for once in made[first.id] if first is not second else ():
                counts = tuple(line.params for line in once.worksheet)
                for twice in _ways(second, once.worksheet, question):
                    lines = zip(twice.worksheet, once.worksheet, counts, strict=True)
                    both = tuple(count if now is was else now.params for now, was, count in lines)
                    if both != counts:
                        yield Pair(first, once, second, both)


def _rarity(row: Row) -> int:
    """Return 1 for a mistake that is rare, or one of many that differ in a number or a name."""
    return int(row.rare or isinstance(row, Family))


def _is_paired(row: Row) -> bool:
    return isinstance(row, Mistake) or not (row.single or row.fitted)


def _ways(row: Row, worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the ways in which a mistake can be made on a worksheet; lines that it leaves are the same objects."""
    if isinstance(row, Mistake):
        changed = row.change(worksheet, question.network)
        same = (was if was == now else now for was, now in zip(worksheet, changed, strict=True))
        yield Way(tuple(same), MappingProxyType({}))
    else:
        yield from row.ways(worksheet, question)


def diagnoses(tries: Tries, question: Question, *, known: bool = False) -> Iterator[tuple[Diagnosis, Worksheet]]:
    """Yield what gives a number, each with the worksheet that it makes.

    First the mistakes made everywhere, in the table's order, then those made in one layer alone, then pairs if there is
    nothing simpler, and last the weak ones, which explain almost any number. No pairs of a rounded number: some always
    come near it. Of those that make the same of the lines in question, and of the places where one and the same mistake
    gives the same sum, only the first.
    known: whether it is a quantity of another kind; then neither pairs nor weak ones explain it.
    """
    right = _sum(tries.worksheet, question)
    seen = [question.lines(tries.worksheet)]
    told: list[tuple[str, Expression]] = []

    def found(candidate: Candidate) -> Iterator[tuple[Diagnosis, Worksheet]]:
        lines = question.lines(candidate.worksheet)
        if lines not in seen:
            seen.append(lines)
            diagnosis = _diagnosis(candidate, right, question)
            if (diagnosis.id, diagnosis.yours) not in told:
                told.append((diagnosis.id, diagnosis.yours))
                yield diagnosis, candidate.worksheet

    weak: list[Candidate] = []
    for candidate in _simple(tries, question):
        if candidate.weak:
            weak.append(candidate)
            continue
        yield from found(candidate)
        if question.given.unit > 1 and len(told) == MOST_TOLD:
            return
    if known and not told:
        return
    if not told and question.given.unit == 1:
        yield from _of_pairs(tries, question, right)
    for candidate in weak:
        yield from found(candidate)


def _of_pairs(tries: Tries, question: Question, right: Expression) -> Iterator[tuple[Diagnosis, Worksheet]]:
    """Yield the likeliest pairs that give the number."""
    told = [right]
    rarity = 0
    for candidate in _pairs(tries, question):
        this = sum(_rarity(row) for row, _ in candidate.mistakes)
        if len(told) > MOST_TOLD or (this > rarity and len(told) > 1):
            return
        rarity = this
        if (yours := _sum(candidate.worksheet, question)) not in told:
            told.append(yours)
            yield _diagnosis(candidate, right, question), candidate.worksheet


def _diagnosis(found: Candidate, right: Expression, question: Question) -> Diagnosis:
    yours = _sum(found.worksheet, question)
    layer = found.layer if question.place is None else found.worksheet[question.place].name
    mistakes = tuple(explanation(row, way.values) for row, way in found.mistakes)
    return Diagnosis(mistakes, layer, found.alone, yours, right)


def _sum(worksheet: Worksheet, question: Question) -> Expression:
    return sum_of(tuple(line for _, line in question.lines(worksheet)))


def _simple(tries: Tries, question: Question) -> Iterator[Candidate]:
    """Yield the single mistakes that give the number: made everywhere, then in one layer alone."""
    for row in tries.rows():
        for way in tries.ways(row, question):
            if question.is_given_by(way.worksheet):
                yield Candidate(((row, way),), way.worksheet, way.layer)
    if question.place is None and len(tries.worksheet) <= MOST_LAYERS:
        for row in tries.rows():
            if isinstance(row, Mistake) and not row.rare:
                yield from _alone(row, tries, question)


def _alone(mistake: Mistake, tries: Tries, question: Question) -> Iterator[Candidate]:
    """Yield a mistake made in one layer only, where it can be made in several."""
    (way,) = tries.ways(mistake, question)
    worksheet, right = tries.worksheet, question.params(tries.worksheet)
    places = [place for place, (was, now) in enumerate(zip(worksheet, way.worksheet, strict=True)) if was is not now]
    if sum(worksheet[place].copies for place in places) < 2:
        return
    for place in places:
        was, now = worksheet[place], way.worksheet[place]
        if was.copies != now.copies:  # a mistake about the number of layers is in no one of them
            continue
        one = now._replace(copies=1)
        if question.given.means(right - was.params // was.copies + one.params):
            left = () if was.copies == 1 else (was._replace(copies=was.copies - 1),)
            changed = (*worksheet[:place], *left, one, *worksheet[place + 1 :])
            yield Candidate(((mistake, way),), changed, was.name, Alone(was.name, was.last_name))


def _pairs(tries: Tries, question: Question) -> Iterator[Candidate]:
    """Yield the two mistakes that give the number together, in the order in which both can be made."""
    for first, once, second, counts in tries.pairs(question):
        count = sum(counts) if question.place is None else counts[question.place]
        if question.given.means(count):
            for twice in _ways(second, once.worksheet, question):
                if question.is_given_by(twice.worksheet):
                    yield Candidate(((first, once), (second, twice)), twice.worksheet, once.layer or twice.layer)


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
