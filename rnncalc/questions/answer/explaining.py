"""Explains wrong numbers: the mistakes, the other quantities and the other size that give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from rnncalc.bounds import MOST_EXPLAINED, MOST_LEARNED
from rnncalc.network.network import Network
from rnncalc.questions.answer.judgement import Judgement
from rnncalc.questions.answer.mistake import Question
from rnncalc.questions.answer.quantities import KnownQuantity, Subject, quantities
from rnncalc.questions.answer.reading import GivenNumber
from rnncalc.questions.answer.search import Search, is_guess, worksheets_after
from rnncalc.questions.answer.worksheet import Worksheet, worksheet_of

if TYPE_CHECKING:
    from rnncalc.questions.answer.sizes import SizeCurve


class Explainer:
    """Explains wrong numbers of one network. What several numbers need is computed once, at its first use."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def search(self) -> Search:
        """The search for mistakes in the total, and in each layer."""
        return Search(worksheet_of(self.network), self.network)

    @cached_property
    def subject(self) -> Subject:
        """The network with what its quantities are computed from."""
        return Subject.of(self.network)

    @cached_property
    def quantities(self) -> tuple[KnownQuantity, ...]:
        """The other quantities of the network that a learner may have computed."""
        return tuple(quantities(self.subject))

    @cached_property
    def sizes(self) -> list[SizeCurve]:
        """How the count depends on each size of the network; nothing if sizes are letters."""
        from rnncalc.questions.answer.sizes import size_curves  # for what no single mistake explains

        return [] if self.network.letters else size_curves(self.network)

    def total(self, judgement: Judgement, number: GivenNumber) -> Judgement:
        """Return a wrong total with its explanations."""
        judgement, _ = self._explained(judgement, Question(self.network, number), self.quantities)
        if judgement.meant or any(len(diagnosis.mistakes) == 1 for diagnosis in judgement.diagnoses):
            return judgement
        from rnncalc.questions.answer.sizes import other_size

        size = other_size(self.sizes, number)
        return judgement._replace(other_size=size, by_chance=judgement.by_chance or size is not None)

    def layers(
        self, judgements: Sequence[Judgement], places: Sequence[int], numbers: Sequence[GivenNumber]
    ) -> Iterator[Judgement]:
        """Yield the numbers of layers, the wrong ones with their explanations; some follow from an earlier mistake."""
        worksheet = self.search.worksheet
        learned: list[tuple[str, Worksheet]] = []  # layers with a mistake, and what it makes of all lines
        explained = 0
        for each, place, number in zip(judgements, places, numbers, strict=True):
            if each.right or number.one_digit:
                yield each
                continue
            follows = next((layer for layer, way in learned if number.means(way[place].params)), None)
            if follows:
                yield each._replace(follows=follows)
                continue
            if explained == MOST_EXPLAINED:
                yield each._replace(explained=False)
                continue
            explained += 1
            known = tuple(quantities(self.subject.layer(place)))
            judgement, wrongs = self._explained(each, Question(self.network, number, place), known)
            name = worksheet[place].name
            ways = ((name, way) for wrong in wrongs for way in worksheets_after(worksheet, wrong, place))
            learned = [*islice(ways, MOST_LEARNED), *learned][:MOST_LEARNED]
            yield judgement._replace(meant=() if judgement.diagnoses else judgement.meant)

    def _explained(
        self, judgement: Judgement, question: Question, known: Sequence[KnownQuantity]
    ) -> tuple[Judgement, list[Worksheet]]:
        """Return a wrong number with its explanations, and the wrong worksheets. known: what else it may be."""
        answer = question.answer
        meant = tuple(each for each in known if answer.means(each.number))
        explanations = [*self.search.diagnoses(question, known=bool(meant))]
        diagnoses = tuple(diagnosis for diagnosis, _ in explanations)
        guess = bool(meant) and is_guess(answer, [each.number for each in known])
        guess = diagnoses[0].by_chance if diagnoses else guess
        explained = judgement._replace(diagnoses=diagnoses, meant=meant, by_chance=guess)
        return explained, [worksheet for _, worksheet in explanations]
