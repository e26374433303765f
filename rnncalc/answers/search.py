"""Explains a wrong number by a mistake, everywhere or in one layer, by two, by another quantity, or by another size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import groupby, islice, takewhile
from itertools import product as combinations
from operator import itemgetter, ne
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.answers.changes import concatenates, direction_width, feed_next, replace_line
from rnncalc.answers.families import Question, Variant, variants_of
from rnncalc.answers.judgement import Diagnosis, Judgement, Mistake
from rnncalc.answers.quantities import Scope, confused
from rnncalc.answers.reading import GivenNumber
from rnncalc.answers.table import OF_MULTIPLY_ADDS, TABLE
from rnncalc.answers.worksheet import WHOLE, LayerLine, Portion, Worksheet, multiplied, sum_of, worksheet_of
from rnncalc.bounds import MOST_BY_CHANCE, MOST_EXPLAINED, MOST_JUDGED, MOST_LEARNED, MOST_LINES_PAIRED
from rnncalc.conventions.formula import Expression
from rnncalc.letters import has_letters
from rnncalc.network.network import Network

if TYPE_CHECKING:
    from rnncalc.answers.sizes import SizeCurve

MOST_LISTED = 5
"""The most pairs that are listed, and the most explanations of a rounded number."""


class Candidate(NamedTuple):
    """One wrong way to count: its mistakes, the wrong worksheet, and the one layer that it concerns, if any."""

    mistakes: tuple[tuple[Mistake, Variant], ...]
    worksheet: Worksheet
    layer: str | None = None
    alone: tuple[str, str] | None = None

    @property
    def rarity(self) -> int:
        """How many of its mistakes are rare or belong to a family."""
        return sum([row.rarity for row, _ in self.mistakes])


LINES: Mapping[str, Callable[[LayerLine], LayerLine]] = {
    "params": lambda line: line,
    "multiply-adds": multiplied,
    "bytes": lambda line: line._replace(times=line.layer.bytes_each("float32")),
}
"""The quantities that a worksheet counts, each with the line that it makes of one in a count of parameters."""

MOST_AGREEING = 10
"""With so many other wrong numbers of an answer each explanation of one is compared."""

Numbered = dict[int, list[Candidate]]
"""The candidates by the number that each gives, the likeliest first."""


class Search:
    """The search for explanations of wrong numbers of one network.

    One search serves any number of questions: the wrong worksheets are made once, and a number is looked up.
    counts: the quantity of each layer, for one that no worksheet counts; it is only compared with other quantities.
    """

    def __init__(self, network: Network, quantity: str = "params", counts: Sequence[Any] = ()) -> None:
        self.network, self.quantity = network, quantity
        self.worksheet = tuple(map(LINES.get(quantity, LINES["params"]), worksheet_of(network)))
        self.counts = tuple(counts or [line.params for line in self.worksheet])
        large = len(self.worksheet) > MOST_JUDGED
        counted = ("", "multiply-adds" if quantity == "multiply-adds" else "params")
        rows = [row for row in (*OF_MULTIPLY_ADDS, *TABLE) if row.quantity in counted] if quantity in LINES else []
        rows = [row for row in rows if not (large and (row.rare or row.by_layer))]
        self.fitted = [row for row in rows if row.fitted and quantity == "params"]
        self.rows = [row for row in rows if not row.fitted]
        self._variants: dict[str, list[tuple[Variant, tuple[int, ...]]]] = {}
        self._rights: dict[Portion, tuple[list[tuple[int, LayerLine]], Expression]] = {}
        self._singles: dict[Portion, Numbered] = {}
        self._pairs_by_count: dict[Portion, Numbered] = {}

    @cached_property
    def scope(self) -> Scope:
        """The network with what its quantities are computed from."""
        return Scope.of(self.network)._replace(counts=self.counts)

    @cached_property
    def quantities(self) -> list[tuple[Any, Mistake]]:
        """The other quantities of the network that a learner may have computed, each with its number."""
        return [*confused(self.quantity, self.scope)]

    @cached_property
    def sizes(self) -> list[SizeCurve]:
        """How the parameters depend on each size of the network; nothing if sizes are letters."""
        from rnncalc.answers.sizes import size_curves  # for what no single mistake explains

        return [] if self.network.letters or self.quantity != "params" else size_curves(self.network)

    def claims(
        self,
        judgements: Sequence[Judgement],
        portions: Sequence[Portion | None],
        parts: Sequence[tuple[Any, Mistake]] = (),
    ) -> Iterator[Judgement]:
        """Yield the numbers of an answer, the wrong ones with their explanations; some follow from an earlier mistake.

        portions: what each number is of; None for one that is not explained here. parts: the numbers of other parts.
        Of several explanations those come first that give most of the other wrong numbers; if one gives another, it is
        no guess.
        """
        wrong = [
            (each.answer, portion)
            for each, portion in zip(judgements, portions, strict=True)
            if portion and not each.right and isinstance(each.answer, GivenNumber)
        ]
        learned: list[tuple[str, bool, Worksheet]] = []  # claims with a mistake, if it is repeated, and all lines then
        explained = 0
        for each, portion in zip(judgements, portions, strict=True):
            number = each.answer
            if each.right or each.follows or not portion or not isinstance(number, GivenNumber) or number.one_digit:
                yield each
                continue
            causes = [(label, repeats) for label, repeats, way in learned if number.means(portion.count(way))]
            if causes:
                follows, repeats = min(causes, key=itemgetter(1))
                yield each._replace(follows=follows, repeats=repeats)
                continue
            if explained == MOST_EXPLAINED:
                yield each._replace(explained=False)
                continue
            explained += 1
            others = [claim for claim in wrong if claim[0].number != number.number][:MOST_AGREEING]
            judgement, wrongs = self._explained(each, Question(self.network, number, portion), parts, others)
            ways = ((each.label, *way) for wrong in wrongs for way in self._ways(wrong, portion))
            learned = [*islice(ways, MOST_LEARNED), *learned][:MOST_LEARNED]
            yield judgement

    def _ways(self, wrong: Worksheet, portion: Portion) -> Iterator[tuple[bool, Worksheet]]:
        """Yield the worksheets that may follow a wrong claim, and whether each repeats its mistake."""
        if len(portion.places) == 1 and portion.whole:
            return worksheets_after(self.worksheet, wrong, portion.places[0])
        return iter([(True, wrong)])

    def _explained(
        self,
        judgement: Judgement,
        question: Question,
        parts: Sequence[tuple[Any, Mistake]],
        others: Sequence[tuple[GivenNumber, Portion]],
    ) -> tuple[Judgement, list[Worksheet]]:
        """Return a wrong number with its explanations, and the wrong worksheets.

        A chain that has the right number explains itself. Where parameters are asked for, another quantity is listed
        beside the mistakes. Else it is itself the mistake, after those of this quantity alone, and a 0 asks for none.
        A number of a layer is another quantity only if no mistake gives it, and a total may be of another size.
        """
        answer, portion, of_params = question.answer, question.portion, self.quantity == "params"
        if judgement.slips or not (of_params or answer.number):
            return judgement, []
        scope = self.scope.layer(portion.places[0]) if len(portion.places) == 1 else None
        total = portion == WHOLE
        known = self.quantities if total else [*confused(self.quantity, scope)] if scope and portion.whole else []
        quantities = [(number, row) for number, row in known if answer.means(number)]
        alone = bool(quantities) or not (of_params or has_letters(answer.number))  # of other numbers, pairs are chance
        alone = alone or answer.number == 0  # a pair leaves out everything
        explanations = [*self.diagnoses(question, alone=alone or not portion.whole)]
        if quantities and not of_params:  # a mistake that is made in this quantity alone is likelier
            explanations = [each for each in explanations if each[0].mistakes[0].quantity == self.quantity]
        explanations = self._agreeing(explanations, portion, others)
        there = [row for number, row in parts if answer.number == number and not total][:1]
        if there and any(
            number.number == judgement.params and answer.number == other.count(self.worksheet)
            for number, other in others
        ):
            explanations = []  # the two numbers are exchanged
        diagnoses = [diagnosis for diagnosis, _ in explanations]
        meant = [row for _, row in quantities if of_params and (total or not diagnoses)]
        if not of_params:
            layer, right = judgement.layer, judgement.params
            likeliest = {number: Diagnosis((row,), layer, None, number, right) for number, row in reversed(quantities)}
            diagnoses += reversed(likeliest.values())
        guess = bool(meant) and is_guess(answer, [number for number, _ in known])
        guess = diagnoses[0].by_chance if diagnoses else guess
        there = there if all(each.by_chance for each in diagnoses) else []
        size = None
        if total and not (meant or any(len(diagnosis.mistakes) == 1 for diagnosis in diagnoses)):
            from rnncalc.answers.sizes import other_size

            size = other_size(self.sizes, answer)
        explained = judgement._replace(
            diagnoses=tuple(diagnoses),
            meant=(*there, *meant),
            other_size=size,
            by_chance=guess or size is not None,
        )
        return explained, [worksheet for _, worksheet in explanations]

    def _agreeing(
        self,
        explanations: list[tuple[Diagnosis, Worksheet]],
        portion: Portion,
        others: Sequence[tuple[GivenNumber, Portion]],
    ) -> list[tuple[Diagnosis, Worksheet]]:
        """Return explanations, first those that give most of the other wrong numbers; these are no guesses."""
        if not others:
            return explanations

        def agreement(wrong: Worksheet) -> int:
            ways = [way for _, way in self._ways(wrong, portion)]
            return sum(any(number.means(other.count(way)) for way in ways) for number, other in others)

        agreeing = sorted([(agreement(each[1]), *each) for each in explanations], key=lambda each: -each[0])
        return [
            (diagnosis._replace(by_chance=diagnosis.by_chance and not agreements), wrong)
            for agreements, diagnosis, wrong in agreeing
        ]

    def diagnoses(self, question: Question, *, alone: bool = False) -> Iterator[tuple[Diagnosis, Worksheet]]:
        """Yield the explanations of a number, each with its wrong worksheet: those that are no guess come first.

        The order: mistakes made everywhere, as in the table, the rare ones last; mistakes made in one layer only;
        pairs, if there is nothing simpler; mistakes fitted to the number that give many others too. Pairs are not tried
        for a rounded number, because some pair is always near it. Duplicates are skipped: the same lines, or the same
        mistake with the same sum.
        alone: whether pairs and guesses that are fitted are left out.
        """
        answer, portion, numbered = question.answer, question.portion, self.singles(question.portion)
        numbers = (answer.number,) if answer.unit == 1 else tuple(filter(answer.means, numbered))
        giving = [(number, candidate) for number in numbers for candidate in numbered.get(number, ())]
        explanations = sorted(
            [
                (candidate, is_guess(answer, (*takewhile(partial(ne, number), numbered), number)))
                for number, candidate in giving
            ],
            key=itemgetter(1),
        )
        if not (alone or explanations or answer.unit > 1):
            explanations += self._likeliest_pairs(question)
        explanations += [
            (Candidate(((row, variant),), variant.worksheet, variant.layer), True)
            for row in ([] if alone else self.fitted)
            for variant in variants_of(row, self.worksheet, question)
        ]
        lines, right = self._right(portion)
        seen = [lines]
        listed: list[tuple[str, Expression]] = []
        for candidate, by_chance in explanations:
            lines = question.lines(candidate.worksheet)
            if lines not in seen:
                seen.append(lines)
                yours = self._sum(lines)
                layer = candidate.worksheet[portion.places[0]].name if len(portion.places) == 1 else candidate.layer
                mistakes = tuple([row.filled(variant.values) for row, variant in candidate.mistakes])
                diagnosis = Diagnosis(mistakes, layer, candidate.alone, yours, right, by_chance)
                if (diagnosis.id, diagnosis.yours) not in listed:
                    listed.append((diagnosis.id, diagnosis.yours))
                    yield diagnosis, candidate.worksheet
            if question.answer.unit > 1 and len(listed) == MOST_LISTED:
                return

    def singles(self, portion: Portion = WHOLE) -> Numbered:
        """Return the wrong numbers that single mistakes give, the likeliest first, each with its mistakes.

        The mistakes of fitted families are not there.
        """
        if portion not in self._singles:
            right = sum([self.counts[place] for place in portion.places or range(len(self.counts))])
            right = right if portion.whole else portion.count(self.worksheet)
            wrong = [each for each in self._numbered(portion, right) if each[0] != right]
            likeliest = sorted(
                wrong, key=lambda each: each[1].alone is not None or any(row.rare for row, _ in each[1].mistakes)
            )
            numbered = self._singles[portion] = {number: [] for number, _ in likeliest}
            for number, candidate in wrong:
                numbered[number].append(candidate)
        return self._singles[portion]

    def _numbered(self, portion: Portion, right: int) -> Iterator[tuple[int, Candidate]]:
        """Yield each wrong number with its mistake: made everywhere, then in one layer only.

        Of a part of its lines, a mistake that changes nothing else is likelier.
        """
        places = portion.places or range(len(self.worksheet))
        one = len(portion.places) == 1
        numbered: list[tuple[bool, int, Candidate]] = []
        for row in self.rows:
            for variant, counts in () if one and row.by_layer else self.variants(row):
                changes = [now - was for now, was in zip(counts, self.counts, strict=True) if now is not was]
                number = right + sum(changes)
                if not portion.whole:
                    number = portion.count(variant.worksheet)
                elif portion.places:
                    number = sum([counts[place] for place in places])
                beside = number - right != sum(changes) and not portion.whole
                numbered.append((beside, number, Candidate(((row, variant),), variant.worksheet, variant.layer)))
        yield from [each[1:] for each in sorted(numbered, key=itemgetter(0))]
        if not one and 1 < len(self.worksheet) <= MOST_JUDGED:
            for row in self.rows:
                if not row.rarity:
                    yield from self._alone(row, portion, right)

    def variants(self, row: Mistake) -> list[tuple[Variant, tuple[int, ...]]]:
        """Return the variants of a mistake that is not fitted to a number, each with the wrong count of each line."""
        if row.id not in self._variants:
            variants = variants_of(row, self.worksheet, Question(self.network))
            self._variants[row.id] = [(each, _counts(each.worksheet, self.worksheet, self.counts)) for each in variants]
        return self._variants[row.id]

    @cached_property
    def pairs(self) -> list[tuple[tuple[int, ...], Candidate]]:
        """All pairs of mistakes, each with the wrong count of each line, the likeliest first."""
        pairs = self._paired() if len(self.worksheet) <= MOST_JUDGED else ()
        return sorted(pairs, key=lambda pair: pair[1].rarity)

    def _paired(self) -> Iterator[tuple[tuple[int, ...], Candidate]]:
        likelier = len(self.worksheet) > MOST_LINES_PAIRED
        rows = [row for row in self.rows if not (row.single or (likelier and row.rarity))]
        seconds = [row for row in rows if self.variants(row) and not row.by_layer]
        question = Question(self.network)
        for first, second in combinations(rows, seconds):
            combined = first.subject != second.subject and (first.common or second.common)
            for once, counts in self.variants(first) if combined else ():
                for twice in variants_of(second, once.worksheet, question):
                    both = _counts(twice.worksheet, once.worksheet, counts)
                    if both != counts:
                        mistakes = ((first, once), (second, twice))
                        yield both, Candidate(mistakes, twice.worksheet, once.layer or twice.layer)

    def _alone(self, mistake: Mistake, portion: Portion, right: int) -> Iterator[tuple[int, Candidate]]:
        """Yield a mistake made in only one of the layers in which it can be made, each time with the number.

        Layers that are equal, and changed equally, are one explanation, unless another that counts is between them.
        """
        worksheet = self.worksheet
        variant = next((each for each, _ in self.variants(mistake)), Variant(worksheet, {}))

        def layers(place: int) -> object:
            was, now = worksheet[place], variant.worksheet[place]
            return was.placed.part, was.layer, was[2:], now[2:]

        # a layer that is left out alone has a row of its own
        changed = [now is not was and not now.is_empty for was, now in zip(worksheet, variant.worksheet, strict=True)]
        if sum(changed) < 2:
            return
        places = portion.places or range(len(worksheet))
        counted = (place for place in places if not worksheet[place].passes_on)
        for _, (first, *others) in groupby(counted, key=layers):
            if changed[first]:
                place = [first, *others][-1]
                was, now = worksheet[place], variant.worksheet[place]
                names = worksheet[first].name, was.name
                candidate = Candidate(((mistake, variant),), replace_line(worksheet, place, now), names[0], names)
                yield right - portion.of(was).params + portion.of(now).params, candidate

    @cached_property
    def _expressions(self) -> dict[int, Expression]:
        """The sums of the right lines, which most wrong worksheets have too."""
        return {id(line): line.expression for line in self.worksheet}

    def _sum(self, lines: Iterable[tuple[int, LayerLine]]) -> Expression:
        return sum_of((line for _, line in lines), self._expressions)

    def _right(self, portion: Portion) -> tuple[list[tuple[int, LayerLine]], Expression]:
        """Return the right lines of what is asked for, and their sum."""
        if portion not in self._rights:
            lines = portion.lines(self.worksheet)
            self._rights[portion] = lines, self._sum(lines)
        return self._rights[portion]

    def _likeliest_pairs(self, question: Question) -> list[tuple[Candidate, bool]]:
        """Return the likeliest pairs that give the number, one for each sum; all are guesses."""
        portion = question.portion
        if portion not in self._pairs_by_count:
            by_count = self._pairs_by_count.setdefault(portion, {})
            for counts, candidate in self.pairs:
                if len(portion.places) != 1 or not candidate.mistakes[0][0].by_layer:
                    number = sum([counts[place] for place in portion.places] if portion.places else counts)
                    by_count.setdefault(number, []).append(candidate)
        pairs = self._pairs_by_count[portion].get(question.answer.number, [])
        sums = [self._right(portion)[1]]
        likeliest = []
        for pair in pairs:
            if pair.rarity == pairs[0].rarity and (yours := self._sum(question.lines(pair.worksheet))) not in sums:
                sums.append(yours)
                likeliest.append((pair, True))
        return likeliest[:MOST_LISTED]


def is_guess(answer: GivenNumber, explained: Iterable[int]) -> bool:
    """Return whether many of the numbers from half to twice a given one are explained, so that it may be by chance."""
    number = answer.number
    if has_letters(number):  # few formulas are alike
        return False
    near = sum(1 for other in explained if 2 * other >= number and other <= 2 * number)
    return bool(2 * MOST_BY_CHANCE * near * answer.unit > 3 * number)


def _counts(worksheet: Worksheet, before: Worksheet, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return the count of each line of a worksheet; a line that is the same object as before is not counted again."""
    if worksheet is before:
        return counts
    lines = zip(worksheet, before, counts, strict=True)
    return tuple([count if now is was else now.params for now, was, count in lines])


def worksheets_after(worksheet: Worksheet, wrong: Worksheet, place: int) -> Iterator[tuple[bool, Worksheet]]:
    """Yield the worksheets that may follow a wrong layer: with the mistake in this layer only, or repeated in all."""
    was, now = worksheet[place], wrong[place]
    # the mistake may change the width of the output
    same = now.h == was.h and bool(now.part("projection")) == bool(was.part("projection"))
    width = (direction_width(was) if same else now.h) * (min(2, now.directions) if concatenates(was.layer) else 1)
    yield False, feed_next(replace_line(worksheet, place, now), place, width)
    yield True, wrong
    yield True, feed_next(wrong, place, width)
