"""`answer`: is a learner's count right, and if not, which mistake gives that number. Numbers only, no sentences."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions.answer.families import Question
from rnncalc.questions.answer.given import Given, read_number
from rnncalc.questions.answer.search import Diagnosis, diagnoses_of_layer, diagnoses_of_total
from rnncalc.questions.answer.sizes import OtherSize, other_size
from rnncalc.questions.answer.worksheet import Worksheet, worksheet_of
from rnncalc.questions.dense import dense_equivalent

MOST_DIAGNOSES = 5


class Judged(NamedTuple):
    """One number held against what it should be.

    layer: whose count it is, None for the total.
    is_dense: whether it is the dense equivalent's count.
    other_size: the single size that would give it, where no mistake does.
    follows: the layer whose mistake it follows from, being no mistake of its own.
    """

    layer: str | None
    given: Given
    params: int
    diagnoses: tuple[Diagnosis, ...] = ()
    is_dense: bool = False
    other_size: OtherSize | None = None
    follows: str | None = None

    @property
    def right(self) -> bool:
        """Whether the number is right, rounded as it was given."""
        return self.given.means(self.params)

    @property
    def exact(self) -> bool:
        """Whether the number is right to the last digit."""
        return self.given.number == self.params


class Answer(NamedTuple):
    """A learner's answer, judged: the total, or a number a layer."""

    network: Network
    judged: tuple[Judged, ...]

    @property
    def right(self) -> bool:
        """Whether every number is right."""
        return all(each.right for each in self.judged)

    @property
    def first_wrong(self) -> str | None:
        """The first layer whose number is wrong; None where there is none, or the total was given."""
        return next((each.layer for each in self.judged if not each.right), None)


def judge(network: Network, given: list[Given]) -> Answer:
    """Return the judgement of one number, the total, or of one for each layer, the output layer last.

    Layers without parameters may be left out. Raises CallError for any other number of numbers.
    """
    worksheet = worksheet_of(network)
    everything = [*range(len(worksheet))]
    counted = [place for place in everything if worksheet[place].params] or everything
    if len(given) == 1:
        return Answer(network, (_judge_total(network, worksheet, given[0]),))
    for places in (everything, counted):
        if len(given) == len(places):
            return Answer(network, _judge_layers(network, worksheet, places, given))
    several = f", the total, or {len(counted)}, one for each layer in order" if len(counted) > 1 else ""
    raise CallError(f"expected 1 number{several}, got {len(given)}")


def answer(network: Network, *numbers: int | str) -> Answer:
    """Return the judgement of a learner's count: one number, the total, or one for each layer, the output layer last.

    A number may be text, with separators or rounded, such as `1.6k`. Raises CallError where it is no number, or where
    there are neither one nor as many as layers.
    """
    return judge(network, [read_number(str(number)) for number in numbers])


def _judge_total(network: Network, worksheet: Worksheet, given: Given) -> Judged:
    judged = Judged(None, given, network.params)
    if judged.right:
        return judged
    found = diagnoses_of_total(worksheet, Question(network, given))
    if diagnoses := tuple(islice(found, MOST_DIAGNOSES)):
        return judged._replace(diagnoses=diagnoses)
    dense = dense_equivalent(network)
    if dense and dense.params == given.number:
        return judged._replace(is_dense=True)
    return judged._replace(other_size=other_size(network, given.number))


def _judge_layers(network: Network, worksheet: Worksheet, places: list[int], given: list[Given]) -> tuple[Judged, ...]:
    """Judge a number a layer: the first wrong one is diagnosed, later ones by the widths that its mistake hands on."""
    judged: list[Judged] = []
    learned: list[Worksheet] = []  # the ways of counting that agree with the numbers so far
    first: str | None = None
    for number, place in zip(given, places, strict=True):
        line = worksheet[place]
        each = Judged(line.name, number, line.params)
        if not each.right and first and any(way[place].params == number.number for way in learned):
            each = each._replace(follows=first)
        elif not each.right:
            found = [*diagnoses_of_layer(worksheet, Question(network, number, place))]
            learned = [way for _, way in found] + learned
            diagnoses = {diagnosis.yours: diagnosis for diagnosis, _ in found}.values()
            each = each._replace(diagnoses=tuple(diagnoses)[:MOST_DIAGNOSES])
            first = first or line.name
        judged.append(each)
    return tuple(judged)
