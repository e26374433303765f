"""What a mistake is: a row of the table in `mistakes/`, and the question that it is asked of. Knows none by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from rnncalc.network.network import Network
from rnncalc.questions.answer.changes.lines import Change
from rnncalc.questions.answer.given import Given
from rnncalc.questions.answer.right import one_by_one, worksheet_of
from rnncalc.questions.answer.worksheet import Line, Worksheet

MOST_LAYERS = 100
"""Larger networks are judged by the likelier mistakes, made in all layers, only: the others would take long."""

Values = Mapping[str, str]
"""What fills the {braces} in the id and the text of a mistake."""


class Told(Protocol):
    """What a learner is told of any mistake: its id, and what was done, as a sentence without its subject.

    What stands in {braces} in either is filled in with the values of a diagnosis.
    """

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...


class Mistake(NamedTuple):
    """A mistake in a count, and what it makes of a worksheet.

    rare: others are told before it; it is not looked for in one layer alone, nor together with another one.
    """

    id: str
    text: str
    change: Change
    rare: bool = False


class Family(NamedTuple):
    """Mistakes that differ in a number or a name, found from the learner's number; each way has its values.

    weak: it explains so many numbers that others are looked for beside it, and told before it.
    """

    id: str
    text: str
    ways: Ways
    weak: bool = False


Row = Mistake | Family


class Question(NamedTuple):
    """A number that is wrong: for the whole network, or for the layer at a place of the worksheet."""

    network: Network
    given: Given
    place: int | None = None

    def lines(self, worksheet: Worksheet) -> list[tuple[int, Line]]:
        """Return the lines that the number is the sum of, with their places."""
        places = range(len(worksheet)) if self.place is None else (self.place,)
        return [(place, worksheet[place]) for place in places]

    def params(self, worksheet: Worksheet) -> int:
        """Return the count that a worksheet answers the question with."""
        return sum(line.params for _, line in self.lines(worksheet))

    def is_given_by(self, worksheet: Worksheet) -> bool:
        """Return whether a worksheet gives the learner's number, rounded as it was."""
        return self.given.means(self.params(worksheet))

    def worksheet_of(self, network: Network) -> Worksheet:
        """Return the right worksheet of a network, as it is needed for this question: for one layer, layer by layer."""
        return worksheet_of(network) if self.place is None else one_by_one(network)


class Way(NamedTuple):
    """One mistake of a family: the worksheet that it makes, its values, and the one layer that it concerns."""

    worksheet: Worksheet
    values: Values
    layer: str | None = None


Ways = Callable[[Worksheet, Question], Iterator[Way]]
