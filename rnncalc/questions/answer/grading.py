"""`answer`: is a learner's count right, and if not, which slip gives that very number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rnncalc.errors import CallError
from rnncalc.network.network import Network
from rnncalc.questions.answer.search import Given, Mistake, by_size, mistakes_in_layer, mistakes_in_total
from rnncalc.questions.answer.worksheet import Sums, sums_of
from rnncalc.questions.dense import dense_equivalent
from rnncalc.reports.heading import setting
from rnncalc.reports.sheet import Column, Sheet, Value
from rnncalc.text import escape

MOST_MISTAKES = 5


class Judged(NamedTuple):
    """One number held against what it should be."""

    what: str
    given: Given
    params: int
    mistakes: tuple[Mistake, ...] = ()
    remark: str = ""
    follows: bool = False

    @property
    def right(self) -> bool:
        """Whether the number is right, rounded as it was given."""
        if self.given.unit == 1 or not self.given.number:
            return self.exact
        return abs(self.given.number - self.params) * 2 <= self.given.unit

    @property
    def exact(self) -> bool:
        """Whether the number is right to the last digit."""
        return self.given.number == self.params


class Answer(NamedTuple):
    """A learner's answer, judged: the total, or a number a layer."""

    network: Network
    judged: tuple[Judged, ...]
    remark: str

    @property
    def right(self) -> bool:
        """Whether every number is right."""
        return all(each.right for each in self.judged)

    def data(self) -> dict[str, Any]:
        """Return the JSON object."""
        numbers = [each.given.number for each in self.judged]
        whole = len(self.judged) == 1
        return {
            "name": self.network.name,
            "params": self.judged[0].params if whole else [each.params for each in self.judged],
            "answer": numbers[0] if whole else numbers,
            "right": self.right,
            "mistakes": [mistake._asdict() for each in self.judged for mistake in each.mistakes],
            "remarks": [each.remark for each in self.judged if each.remark] + ([self.remark] if self.remark else []),
        }

    def sheets(self) -> list[Sheet]:
        """Return the verdict, and for a wrong number the slips that give it."""
        rows: list[tuple[Value, ...]] = [
            ("✓" if each.right else "✗", each.what, each.given.number, each.params) for each in self.judged
        ]
        columns = (
            *(Column("", key=True), Column("Layer", key=True)),
            *(Column("Answer", right=True), Column("Right", right=True)),
        )
        notes = [each.remark for each in self.judged if each.remark]
        verdict = "✓ Right." if self.right else "✗ Not right."
        sheet = Sheet(
            columns, rows, title=self.network.name, subtitle=setting(self.network), notes=(verdict, *notes, self.remark)
        )
        return [sheet._replace(notes=tuple(filter(None, sheet.notes))), *self._mistake_sheets()]

    def _mistake_sheets(self) -> Iterator[Sheet]:
        for each in self.judged:
            if each.mistakes:
                columns = (Column("The slip", key=True), Column("Your sum"), Column("The right sum"))
                rows: list[tuple[Value, ...]] = []
                for mistake in each.mistakes:
                    yours = f"{mistake.arithmetic} = {mistake.params:,}"
                    rows.append((mistake.text, yours, f"{mistake.right} = {each.params:,}"))
                title = f"What gives {each.given.number:,}" + ("" if len(self.judged) == 1 else f" in {each.what}")
                yield Sheet(columns, rows, title=title)


_NUMBER = r"(0|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,12}|[1-9][0-9_]{0,39})(?:\.([0-9]{1,12}))?([kKMGB]?)"


def read_number(text: str) -> Given:
    """Return a learner's number: 1600, 1,600 or 1_600, or rounded as in 3.8M. Raises CallError if it is none."""
    found = re.fullmatch(_NUMBER, text)
    power = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "B": 9}[found[3]] if found else 0
    if not found or len(found[2] or "") > power:
        raise CallError(f"expected a whole number, such as 1600 or 1.6k, got '{escape(text)}'")
    decimals = len(found[2] or "")
    unit = 10 ** (power - decimals)
    digits = int(found[1].replace(",", "").replace("_", "") + (found[2] or ""))
    return Given(digits * unit, unit, text)


def judge(network: Network, given: list[Given]) -> Answer:
    """Return the judgement of one number, the total, or of one for each layer, the output layer last.

    Layers without parameters may be left out. Raises CallError for any other number of numbers.
    """
    sums = sums_of(network)
    counted = tuple(each for each in sums if each.params) or sums
    if len(given) == 1:
        return Answer(network, (_judge_total(network, sums, given[0]),), "")
    for rows in (sums, counted):
        if len(given) == len(rows):
            return _judge_layers(network, sums, rows, given)
    several = f", the total, or {len(counted)}, one for each layer in order" if len(counted) > 1 else ""
    raise CallError(f"expected 1 number{several}, got {len(given)}")


def _judge_total(network: Network, sums: Sums, given: Given) -> Judged:
    judged = Judged("Total", given, network.params)
    if judged.right:
        return judged if judged.exact else judged._replace(remark=_rounded(judged))
    found = tuple(mistakes_in_total(network, sums, given))[:MOST_MISTAKES]
    if found:
        return judged._replace(mistakes=found)
    dense = dense_equivalent(network)
    if dense and dense.params == given.number:
        return judged._replace(remark="This is the count of the dense equivalent, which shares no weights over time.")
    return judged._replace(remark=by_size(network, given) or "No slip that is known gives this number.")


def _rounded(judged: Judged) -> str:
    return f"{judged.given.text} is right as a rounding: exactly it is {judged.params:,}."


def _judge_layers(network: Network, sums: Sums, rows: Sums, given: list[Given]) -> Answer:
    """Judge a number a layer: the first wrong one is diagnosed, the later ones by the widths that its slip hands on."""
    judged: list[Judged] = []
    learned: list[Sums] = [sums]  # the ways of counting that agree with the numbers so far
    first: str | None = None
    for number, row in zip(given, rows, strict=True):
        place = next(place for place, each in enumerate(sums) if each.name == row.name)
        each = Judged(row.name, number, row.params)
        if each.right:
            judged.append(each if each.exact else each._replace(remark=_rounded(each)))
        elif first and any(way[place].params == number.number for way in learned):
            follows = f"{row.name}: {number.number:,} follows from the slip in {first}."
            judged.append(each._replace(remark=follows, follows=True))
        else:
            found = tuple(mistakes_in_layer(network, sums, place, number))
            learned = [changed for _, changed in found] + learned
            mistakes = tuple(dict.fromkeys(mistake for mistake, _ in found))[:MOST_MISTAKES]
            remark = "" if mistakes else f"{row.name}: no slip that is known gives {number.number:,}."
            judged.append(each._replace(mistakes=mistakes, remark=remark))
            first = first or row.name
    return Answer(network, tuple(judged), f"The first wrong layer is {first}." if first else "")
