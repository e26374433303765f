"""Searches for the mistakes that give a wrong number: one everywhere, one in a single layer, or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, product
from types import MappingProxyType

from rnncalc.bounds import MOST_JUDGED, MOST_LINES_PAIRED
from rnncalc.conventions.formula import Expression
from rnncalc.errors import DeclarationError, raised
from rnncalc.network.network import Network
from rnncalc.questions.answer.changes import concatenates, direction_width, replace_line, set_input
from rnncalc.questions.answer.mistake import Family, Mistake, Question, Variant
from rnncalc.questions.answer.table import TABLE
from rnncalc.questions.answer.worksheet import Worksheet, above, amount, sum_of
from rnncalc.records import Record

MOST_LISTED = 5
"""The most pairs that are listed, and the most explanations of a rounded number."""


class Reason(Record):
    """A mistake that gives the number: its id and its sentence, with numbers and names filled in."""

    id: str
    text: str

    @classmethod
    def of(cls, id: str, text: str, values: Mapping[str, str]) -> Reason:
        """Return the reason with the {braces} filled in."""
        try:
            return cls(id.format(**values), text.format(**values))
        except KeyError as error:
            raise DeclarationError(f"mistake {id}: its variant has no value for {{{error.args[0]}}}") from None


class Diagnosis(Record):
    """An explanation of a learner's number: a mistake, or two made together.

    layer: the layer that it concerns, None if there may be several. alone: the layer, if the mistake was made in just
    one; if that may be any of several equal layers, the first and the last of them.
    yours: the probable sum of the learner. right: the right sum.
    """

    mistakes: tuple[Reason, ...]
    layer: str | None
    alone: tuple[str, str] | None
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


class Candidate(Record):
    """One wrong way to count: its mistakes, the wrong worksheet, and the one layer that it concerns, if any."""

    mistakes: tuple[tuple[Mistake | Family, Variant], ...]
    worksheet: Worksheet
    layer: str | None = None
    alone: tuple[str, str] | None = None

    @property
    def weak(self) -> bool:
        """Whether it explains almost any number."""
        return any(isinstance(row, Family) and row.weak for row, _ in self.mistakes)

    @property
    def rarity(self) -> int:
        """How many of its mistakes are rare or belong to a family."""
        return sum(_rarity(row) for row, _ in self.mistakes)


class Search:
    """The search for explanations of wrong numbers of one network.

    One search serves any number of questions: the wrong worksheets are kept.
    """

    def __init__(self, worksheet: Worksheet, network: Network) -> None:
        self.worksheet = worksheet
        self.network = network
        large = len(worksheet) > MOST_JUDGED
        self.rows = [row for row in TABLE if not (large and row.rare)]
        self._made: dict[str, list[tuple[Variant, tuple[int, ...]]]] = {}
        self._in_one_layer: list[tuple[int, Candidate]] | None = None
        self._pairs: list[tuple[tuple[int, ...], Candidate]] | None = None
        self._pairs_by_count: dict[int | None, dict[int, list[Candidate]]] = {}

    def diagnoses(self, question: Question, *, known: bool = False) -> Iterator[tuple[Diagnosis, Worksheet]]:
        """Yield the explanations of a number, each with its wrong worksheet.

        The order: mistakes made everywhere, as in the table; mistakes made in one layer only; pairs, if there is
        nothing simpler; weak mistakes, which explain almost any number. Pairs are not tried for a rounded number,
        because some pair is always near it. Duplicates are skipped: the same lines, or the same mistake with the same
        sum.
        known: whether the number is another known quantity; then pairs and weak mistakes are left out.
        """
        right = _sum(self.worksheet, question)
        seen = [question.lines(self.worksheet)]
        listed: list[tuple[str, Expression]] = []

        def new(candidate: Candidate) -> Iterator[tuple[Diagnosis, Worksheet]]:
            lines = question.lines(candidate.worksheet)
            if lines not in seen:
                seen.append(lines)
                diagnosis = _diagnosis(candidate, right, question)
                if (diagnosis.id, diagnosis.yours) not in listed:
                    listed.append((diagnosis.id, diagnosis.yours))
                    yield diagnosis, candidate.worksheet

        weak: list[Candidate] = []
        for candidate in self._simple(question):
            if candidate.weak:
                weak.append(candidate)
                continue
            yield from new(candidate)
            if question.given.unit > 1 and len(listed) == MOST_LISTED:
                return
        if known and not listed:
            return
        if not listed and question.given.unit == 1:
            yield from self._likeliest_pairs(question, right)
        for candidate in weak:
            yield from new(candidate)

    def variants(self, row: Mistake | Family, question: Question) -> list[tuple[Variant, tuple[int, ...]]]:
        """Return the variants of one mistake, each with the wrong count of each line."""
        if row.id in self._made:
            return self._made[row.id]
        made = _variants(row, self.worksheet, question)
        found = [(variant, tuple(line.params for line in variant.worksheet)) for variant in made]
        if not (isinstance(row, Family) and row.fitted):
            self._made[row.id] = found
        return found

    def pairs(self, question: Question) -> list[tuple[tuple[int, ...], Candidate]]:
        """Return all pairs of mistakes, each with the wrong count of each line, the likeliest first."""
        if self._pairs is None:
            pairs = self._paired(question) if len(self.worksheet) <= MOST_JUDGED else ()
            self._pairs = sorted(pairs, key=lambda pair: pair[1].rarity)
        return self._pairs

    def _paired(self, question: Question) -> Iterator[tuple[tuple[int, ...], Candidate]]:
        likelier = len(self.worksheet) > MOST_LINES_PAIRED
        single = {row.id for row in TABLE if isinstance(row, Family) and (row.single or row.fitted)}
        rows = [row for row in TABLE if row.id not in single and not (likelier and _rarity(row))]
        made = {
            row.id: [each for each in self.variants(row, question) if each[0].worksheet != self.worksheet]
            for row in rows
        }
        seconds = [row for row in rows if made[row.id] and not _by_layer(row)]
        for first, second in product(rows, seconds):
            for once, counts in made[first.id] if first is not second else ():
                for twice in _variants(second, once.worksheet, question):
                    lines = zip(twice.worksheet, once.worksheet, counts, strict=True)
                    both = tuple(count if now is was else now.params for now, was, count in lines)
                    if both != counts:
                        mistakes = ((first, once), (second, twice))
                        yield both, Candidate(mistakes, twice.worksheet, once.layer or twice.layer)

    def _simple(self, question: Question) -> Iterator[Candidate]:
        """Yield the single mistakes that give the number: made everywhere, then in one layer only."""
        for row in self.rows:
            if question.place is not None and _by_layer(row):
                continue
            for variant, counts in self.variants(row, question):
                if question.given.means(sum(counts) if question.place is None else counts[question.place]):
                    yield Candidate(((row, variant),), variant.worksheet, variant.layer)
        if question.place is None and len(self.worksheet) <= MOST_JUDGED:
            if self._in_one_layer is None:
                likelier = [row for row in self.rows if isinstance(row, Mistake) and not row.rare]
                self._in_one_layer = [each for row in likelier for each in self._alone(row, question)]
            yield from (candidate for count, candidate in self._in_one_layer if question.given.means(count))

    def _alone(self, mistake: Mistake, question: Question) -> Iterator[tuple[int, Candidate]]:
        """Yield a mistake made in only one of the layers in which it can be made, each time with the total.

        Neighbours that are equal, and changed equally, are one explanation.
        """
        ((made, _),) = self.variants(mistake, question)
        worksheet, right = self.worksheet, question.params(self.worksheet)

        def layers(place: int) -> object:
            was, now = worksheet[place], made.worksheet[place]
            return was.placed.part, was.layer, was[1:], now[1:]

        # a layer that is left out alone has a row of its own
        changed = [now is not was and not now.is_empty for was, now in zip(worksheet, made.worksheet, strict=True)]
        if sum(changed) < 2:
            return
        for _, (first, *others) in groupby(range(len(worksheet)), key=layers):
            if changed[first]:
                place = [first, *others][-1]
                was, now = worksheet[place], made.worksheet[place]
                names = worksheet[first].name, was.name
                candidate = Candidate(((mistake, made),), replace_line(worksheet, place, now), names[0], names)
                yield right - was.params + now.params, candidate

    def _likeliest_pairs(self, question: Question, right: Expression) -> Iterator[tuple[Diagnosis, Worksheet]]:
        """Yield the likeliest pairs that give the number, in an order in which both mistakes can be made."""
        place = question.place
        if place not in self._pairs_by_count:
            by_count = self._pairs_by_count.setdefault(place, {})
            for counts, candidate in self.pairs(question):
                if place is None or not _by_layer(candidate.mistakes[0][0]):
                    by_count.setdefault(sum(counts) if place is None else counts[place], []).append(candidate)
        listed = [right]
        rarity = 0
        for candidate in self._pairs_by_count[place].get(question.given.number, ()):
            if len(listed) > MOST_LISTED or (candidate.rarity > rarity and len(listed) > 1):
                return
            rarity = candidate.rarity
            if (yours := _sum(candidate.worksheet, question)) not in listed:
                listed.append(yours)
                yield _diagnosis(candidate, right, question), candidate.worksheet


def _rarity(row: Mistake | Family) -> int:
    """Return 1 for a mistake that is rare or belongs to a family, else 0."""
    return int(row.rare or isinstance(row, Family))


def _by_layer(row: Mistake | Family) -> bool:
    """Return whether a mistake is about which layers are counted, so never about the count of one."""
    return isinstance(row, Family) and row.by_layer


def _variants(row: Mistake | Family, worksheet: Worksheet, question: Question) -> Iterator[Variant]:
    """Yield the wrong worksheets of a mistake; unchanged lines are the same objects.

    Raises DeclarationError for a row that raises, or that changes the number of lines.
    """
    try:
        if isinstance(row, Mistake):
            made = iter([Variant(row.change(worksheet, question.network), MappingProxyType({}))])
        else:
            made = row.variants(worksheet, question)
        for variant in made:
            yield variant._replace(worksheet=_with_same(row, worksheet, variant.worksheet))
    except (DeclarationError, MemoryError):
        raise
    except Exception as error:  # a row registered by other code may raise anything
        raise DeclarationError(f"mistake {row.id}: {raised(error)}") from error


def _with_same(row: Mistake | Family, worksheet: Worksheet, changed: Worksheet) -> Worksheet:
    """Return a changed worksheet whose equal lines are those of the other."""
    if len(changed) != len(worksheet):
        lines = f"as many lines as before, {len(worksheet)}, got {len(changed)}"
        raise DeclarationError(f"mistake {row.id}: expected a worksheet of {lines}")
    return tuple([was if was == now else now for was, now in zip(worksheet, changed, strict=True)])


def _diagnosis(candidate: Candidate, right: Expression, question: Question) -> Diagnosis:
    yours = _sum(candidate.worksheet, question)
    layer = candidate.layer if question.place is None else candidate.worksheet[question.place].name
    reasons = tuple(Reason.of(row.id, row.text, variant.values) for row, variant in candidate.mistakes)
    return Diagnosis(reasons, layer, candidate.alone, yours, right)


def _sum(worksheet: Worksheet, question: Question) -> Expression:
    return sum_of(tuple(line for _, line in question.lines(worksheet)))


def worksheets_after(worksheet: Worksheet, wrong: Worksheet, place: int) -> Iterator[Worksheet]:
    """Yield the worksheets that may follow a wrong layer: with the mistake in all layers, or in this one only."""
    for way in (wrong, replace_line(worksheet, place, wrong[place])):
        was, now = worksheet[place], wrong[place]
        both = concatenates(was)
        # the mistake may change the width of the output
        width = direction_width(was) if both and now.directions == 1 else None
        if was.part("projection") and not now.part("projection"):
            width = now.h * (2 if both else 1)
        reader = above(way, place)
        if reader is None or not way[reader].width("input"):
            yield way
        else:
            yield replace_line(way, reader, set_input(way[reader], width))
