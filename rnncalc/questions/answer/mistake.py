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
    """A row of a table: its id, and what was done, as a sentence without its subject; either may have {braces}."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...


class Explanation(NamedTuple):
    """A mistake as it was made: its id and its sentence, with the numbers and names in them."""

    id: str
    text: str


def explanation(row: Told, values: Values) -> Explanation:
    """Return a mistake with its values in the {braces}."""
    return Explanation(row.id.format(**values), row.text.format(**values))


class Mistake(NamedTuple):
    """A mistake in a count, and what it makes of a worksheet.

    rare: others are told before it; it is not looked for in one layer alone, nor in a large network.
    """

    id: str
    text: str
    change: Change
    rare: bool = False


class Family(NamedTuple):
    """Mistakes that differ in a number or a name; each way has its values.

    rare: as of a mistake. single: it is not looked for together with another one. by_layer: it has a way for each
    layer, and together with another mistake is made first.
    fitted: its ways depend on the learner's number; those of all others are the same for every number.
    weak: it explains so many numbers that others are looked for beside it, and told before it.
    """

    id: str
    text: str
    ways: Ways
    rare: bool = False
    single: bool = False
    by_layer: bool = False
    fitted: bool = False
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
