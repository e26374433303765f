"""The search for the slips behind a wrong number: alone, in one layer, in pairs, or one size that is off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, permutations
from typing import Any, NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Layer
from rnncalc.layers.options import MAX_SIZE
from rnncalc.network.network import Network
from rnncalc.questions.allocation import compare_conventions
from rnncalc.questions.answer.mistakes import SLIPS, in_one_layer
from rnncalc.questions.answer.worksheet import Sums, sums_of
from rnncalc.questions.solve import Sized, counting, largest

MOST_LAYERS = 100
"""Networks of more layers are judged by slips made everywhere only: pairs and sizes would take long."""


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


def mistakes_in_total(network: Network, sums: Sums, given: Given) -> Iterator[Mistake]:
    """Yield the slips that give a number: single ones, in one layer alone, or of width; pairs if none of these does.

    Of those with the same arithmetic only the first.
    """
    seen = {_on_paper(sums)}
    for candidates in (_simple(network, sums, given), _pairs(network, sums)):
        for id_, text, layer, changed in candidates:
            if _total(changed) == given.number and _on_paper(changed) not in seen:
                seen.add(_on_paper(changed))
                yield Mistake(id_, text, given.number, layer, _written(changed), _written(sums))
        if len(seen) > 1 or len(sums) > MOST_LAYERS:
            return


Candidate = tuple[str, str, str | None, Sums]
"""A way of counting wrong: its id, the sentence, the layer if it is in one alone, and the sums."""


def _simple(network: Network, sums: Sums, given: Given) -> Iterator[Candidate]:
    yield from _singles(network, sums)
    if len(sums) <= MOST_LAYERS:
        for slip in SLIPS:
            for name, changed in in_one_layer(slip, sums, network):
                yield slip.id, f"{slip.text}, in {name} alone", name, changed
    yield from _output_width(sums, given)


def _singles(network: Network, sums: Sums) -> Iterator[Candidate]:
    """Yield each slip made alone, and each other convention's count."""
    for slip in SLIPS:
        if (changed := slip.apply(sums, network)) is not None:
            yield slip.id, slip.text, None, changed
    if len(sums) > MOST_LAYERS:
        return
    for name, other in compare_conventions(network).networks.items():
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


def _written(sums: Sums) -> str:
    return " + ".join(each.arithmetic for each in sums if each.params) or "0"


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


def by_size(network: Network, given: Given) -> str:
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
    return network.with_parts({**network.parts, name: new})


def _changed(layers: tuple[Layer, ...], place: int, layer: Layer) -> tuple[Layer, ...]:
    return (*layers[:place], layer, *layers[place + 1 :])


def mistakes_in_layer(network: Network, sums: Sums, place: int, given: Given) -> Iterator[tuple[Mistake, Sums]]:
    """Yield the slips that give a layer's number, with what they make of all layers; pairs if no single one does."""
    right = sums[place]
    seen = {right.arithmetic}
    for candidates in (chain(_singles(network, sums), _width_of(sums, place, given.number)), _pairs(network, sums)):
        for id_, text, _, changed in candidates:
            wrong = changed[place]
            if wrong.params == given.number and wrong.arithmetic not in seen:
                seen.add(wrong.arithmetic)
                mistake = Mistake(id_, text, wrong.params, right.name, wrong.arithmetic, right.arithmetic)
                yield mistake, _carried(sums, changed, place)
                yield mistake, _carried(sums, (*sums[:place], wrong, *sums[place + 1 :]), place)
        if len(seen) > 1:
            return


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
