"""`answer`: is a learner's count right, and if not, which slip gives that very number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, permutations
from typing import Any, NamedTuple

from rnncalc.errors import CallError, shown
from rnncalc.model.cells import Cell
from rnncalc.model.layers import Dense, Layer
from rnncalc.model.network import Network
from rnncalc.model.values import MAX_SIZE
from rnncalc.questions.conventions import all_conventions
from rnncalc.questions.report import Column, Sheet, Value, setting
from rnncalc.questions.slips import SLIPS, in_one_layer
from rnncalc.questions.solve import Sized, counting, largest
from rnncalc.questions.sums import Sums, sums_of

MOST_MISTAKES = 5
MOST_LAYERS = 100
"""Networks of more layers are judged by single slips only: pairs and sizes would take long."""


class Given(NamedTuple):
    """A learner's number; `unit` is what its last digit counts, more than 1 where it was rounded."""

    number: int
    unit: int = 1
    text: str = ""


class Mistake(NamedTuple):
    """A slip, or two, that give the number; `arithmetic` is how, `right` how it should be; `layer` where, if in one."""

    id: str
    text: str
    params: int
    layer: str | None
    arithmetic: str
    right: str


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
        return abs(self.given.number - self.params) * 2 <= self.given.unit if self.given.unit > 1 else self.exact

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


def read_number(text: str) -> Given:
    """Return a learner's number: 1600, 1,600 or 1_600, or rounded as in 3.8M. Raises CallError if it is none."""
    found = re.fullmatch(r"([0-9][0-9,_]{0,39})(?:\.([0-9]{1,12}))?([kKMGB]?)", text)
    power = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "B": 9}[found[3]] if found else 0
    if not found or len(found[2] or "") > power:
        raise CallError(f"expected a whole number, such as 1600 or 1.6k, got '{shown(text)}'")
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
    found = tuple(_mistakes_in_total(network, sums, given))[:MOST_MISTAKES]
    if found:
        return judged._replace(mistakes=found)
    return judged._replace(remark=_by_size(network, given) or "No slip that is known gives this number.")


def _rounded(judged: Judged) -> str:
    return f"{judged.given.text} is right as a rounding: exactly it is {judged.params:,}."


def _mistakes_in_total(network: Network, sums: Sums, given: Given) -> Iterator[Mistake]:
    """Yield the slips that give a number: single ones, then a width, then in one layer alone, then pairs.

    Of those with the same arithmetic only the first.
    """
    seen = {_on_paper(sums)}
    for id_, text, layer, changed in _candidates(network, sums, given):
        if _total(changed) == given.number and _on_paper(changed) not in seen:
            seen.add(_on_paper(changed))
            arithmetic, right = (" + ".join(each.arithmetic for each in of if each.params) for of in (changed, sums))
            yield Mistake(id_, text, given.number, layer, arithmetic or "0", right)


Candidate = tuple[str, str, str | None, Sums]
"""A way of counting wrong: its id, the sentence, the layer if it is in one alone, and the sums."""


def _candidates(network: Network, sums: Sums, given: Given) -> Iterator[Candidate]:
    yield from _singles(network, sums)
    yield from _output_width(sums, given)
    if len(sums) > MOST_LAYERS:
        return
    for slip in SLIPS:
        for name, changed in in_one_layer(slip, sums, network):
            yield slip.id, f"{slip.text}, in {name} alone", name, changed
    yield from _pairs(network, sums)


def _singles(network: Network, sums: Sums) -> Iterator[Candidate]:
    """Yield each slip made alone, and each other convention's count."""
    for slip in SLIPS:
        if (changed := slip.apply(sums, network)) is not None:
            yield slip.id, slip.text, None, changed
    for name, other in all_conventions(network).networks.items():
        if other and name != network.convention:
            text = f"counts as {name} does, not as {network.convention}"
            yield f"convention-{name}", text, None, sums_of(other)


def _pairs(network: Network, sums: Sums) -> Iterator[Candidate]:
    """Yield two slips made together, in the order in which both can be made."""
    for first, second in permutations(SLIPS, 2):
        once = first.apply(sums, network)
        twice = second.apply(once, network) if once else None
        if twice is not None:
            yield f"{first.id}+{second.id}", f"{first.text}, and {second.text}", None, twice


def _on_paper(sums: Sums) -> tuple[str, ...]:
    return tuple(each.arithmetic for each in sums)


def _total(sums: Sums) -> int:
    return sum(each.params for each in sums)


def _output_width(sums: Sums, given: Given) -> Iterator[Candidate]:
    """Yield the width of the output layer that would make the total right, where there is one."""
    for place, each in enumerate(sums):
        if each.role == "output":
            yield from _width_of(sums, place, given.number - _total(sums) + each.params)


def _width_of(sums: Sums, place: int, params: int) -> Iterator[Candidate]:
    """Yield the width that gives the output layer at a place so many parameters, where there is one."""
    each = sums[place]
    if each.role != "output" or not each.m:
        return
    width, over = divmod(params, each.m + each.biases)
    if width > 0 and not over and width != each.h:
        changed = (*sums[:place], each._replace(h=width, bias_size=width), *sums[place + 1 :])
        yield "output-width", f"gives the output layer {width:,} units, and it has {each.h:,}", each.name, changed


def _by_size(network: Network, given: Given) -> str:
    """Return which single size, changed, would give the number, or nothing."""
    if len(network.placed) > MOST_LAYERS:
        return ""
    for what, right, sized in _sizes(network):
        count = counting(sized)
        best = largest(count, given.number, MAX_SIZE)
        if best and best != right and count(best) == given.number:
            return f"No slip that is known gives this number, but {what} = {best:,} in place of {right:,} would."
    return ""


def _sizes(network: Network) -> Iterator[tuple[str, int, Sized]]:
    """Yield each size of a network: how to call it, its value, and the network with another."""
    for name, part in network.parts.items():
        of = f" of the {name}" if name else ""
        yield f"the input{of}", part.input, partial(_resized, network, name, None, "input")
        for place, layer in enumerate(part.layers):
            for option, letter in (("units", "h"), ("projection", "p")):
                value = getattr(layer, option, None)
                if value is not None and isinstance(layer, Cell | Dense):
                    yield f"{letter} of layer {place + 1}{of}", value, partial(_resized, network, name, place, option)


def _resized(network: Network, name: str | None, place: int | None, option: str, size: int) -> Network:
    """Return the network with another size of a part's input, or of the layer at a place."""
    part = network.parts[name]
    if place is None:
        new = part._replace(input=size)
    else:
        options: dict[str, Any] = {option: size}
        new = part._replace(layers=_changed(part.layers, place, replace(part.layers[place], **options)))
    plain = replace(network, expect=None, budget=None)
    if name is None:
        return replace(plain, input=new.input, layers=new.layers)
    return replace(plain, encoder=new) if name == "encoder" else replace(plain, decoder=new)


def _changed(layers: tuple[Layer, ...], place: int, layer: Layer) -> tuple[Layer, ...]:
    return (*layers[:place], layer, *layers[place + 1 :])


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
            found = tuple(_mistakes_in_layer(network, sums, place, number))
            learned = [changed for _, changed in found] + learned
            mistakes = tuple(dict.fromkeys(mistake for mistake, _ in found))[:MOST_MISTAKES]
            remark = "" if mistakes else f"{row.name}: no slip that is known gives {number.number:,}."
            judged.append(each._replace(mistakes=mistakes, remark=remark))
            first = first or row.name
    return Answer(network, tuple(judged), f"The first wrong layer is {first}." if first else "")


def _mistakes_in_layer(network: Network, sums: Sums, place: int, given: Given) -> Iterator[tuple[Mistake, Sums]]:
    """Yield the slips that give a layer's number, with what they make of all layers."""
    right = sums[place]
    seen = {right.arithmetic}
    ways = (_singles(network, sums), _width_of(sums, place, given.number), _pairs(network, sums))
    for id_, text, _, changed in chain.from_iterable(ways):
        wrong = changed[place]
        if wrong.params == given.number and wrong.arithmetic not in seen:
            seen.add(wrong.arithmetic)
            mistake = Mistake(id_, text, wrong.params, right.name, wrong.arithmetic, right.arithmetic)
            yield mistake, _carried(sums, changed, place)
            alone = (*sums[:place], wrong, *sums[place + 1 :])
            yield mistake, _carried(sums, alone, place)


def _carried(sums: Sums, changed: Sums, place: int) -> Sums:
    """Return the sums with the learner's width handed on: one direction, or no projection, where that was the slip."""
    was, now = sums[place], changed[place]
    layer = was.layer
    if place + 1 >= len(sums) or not isinstance(layer, Cell) or not was.place:
        return changed
    hands_on = was.place.outputs
    if layer.bidirectional and now.directions == 1 and layer.merge in (None, "concat"):
        hands_on = was.one_way
    if "projection" in dict(was.rest) and "projection" not in dict(now.rest):
        hands_on = now.h * (2 if was.place.outputs == 2 * was.one_way else 1)
    after = changed[place + 1]
    extra = after.layer.extra_inputs if after.layer else 0
    if after.m and hands_on != was.place.outputs:
        return (*changed[: place + 1], after._replace(m=hands_on + extra), *changed[place + 2 :])
    return changed
