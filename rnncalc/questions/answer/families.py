"""Mistakes with a number or a name in them, which one is found from what the learner gave: another framework, a width.

Each function yields the ways in which its mistake can be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from rnncalc.layers.layer import Output
from rnncalc.network.network import Network
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.given import Given
from rnncalc.questions.answer.worksheet import Worksheet, worksheet_of

MOST_LAYERS = 100
"""Networks of more layers are judged by mistakes made everywhere only: pairs and sizes would take long."""

Values = Mapping[str, str]
"""What fills the {braces} in the id and the text of a mistake."""


class Question(NamedTuple):
    """A number that is wrong: for the whole network, or for the layer at a place."""

    network: Network
    given: Given
    place: int | None = None

    def params(self, worksheet: Worksheet) -> int:
        """Return the count that a worksheet answers the question with."""
        lines = worksheet if self.place is None else (worksheet[self.place],)
        return sum(line.params for line in lines)


class Way(NamedTuple):
    """One mistake of a family: the worksheet that it makes, its values, and the one layer that it concerns."""

    worksheet: Worksheet
    values: Values
    layer: str | None = None


Ways = Callable[[Worksheet, Question], Iterator[Way]]


def other_conventions(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the count under each other convention."""
    if len(worksheet) > MOST_LAYERS:
        return
    here = question.network.convention
    for name, other in compare_conventions(question.network).networks.items():
        if other and name != here:
            yield Way(worksheet_of(other), {"name": name, "here": here})


def output_widths(worksheet: Worksheet, question: Question) -> Iterator[Way]:
    """Yield the width of an output layer that would make the number right, where there is one."""
    for place, line in enumerate(worksheet):
        if not isinstance(line.layer, Output) or not line.width("input") or question.place not in (None, place):
            continue
        wanted = question.given.number - question.params(worksheet) + line.params
        units, over = divmod(wanted, line.width("input") + line.biases)
        if units > 0 and not over and units != line.h:
            changed = line._replace(h=units, bias_size=units)
            values = {"width": f"{units:,}", "units": f"{line.h:,}"}
            yield Way((*worksheet[:place], changed, *worksheet[place + 1 :]), values, line.name)
