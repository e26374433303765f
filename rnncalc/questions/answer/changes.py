"""What slips do to a learner's sums: the changes that the table in `slips.py` is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Output
from rnncalc.network.network import Network
from rnncalc.questions.answer.worksheet import Sum, Sums

Change = Callable[[Sums, Network], Sums | None]
"""What a slip makes of the sums of a network; None where it changes nothing."""


def in_layers(change: Callable[[Sum], Sum | None], *roles: str) -> Change:
    """Return the slip that changes every layer of some roles, where it changes anything."""
    return partial(_in_layers, change, roles)


def _in_layers(
    change: Callable[[Sum], Sum | None], roles: tuple[str, ...], sums: Sums, network: Network
) -> Sums | None:
    changed = tuple((change(each) or each) if each.role in roles else each for each in sums)
    return None if changed == sums else changed


def with_gates(count: int, each: Sum) -> Sum | None:
    """Count so many gates, with as many bias vectors for each as before where that is whole."""
    return each._replace(gates=count, biases=each.biases * count // each.gates) if each.gates else None


def without_term(name: str, each: Sum) -> Sum:
    """Drop a term from the rest."""
    return each._replace(rest=tuple(term for term in each.rest if term[0] != name))


def left_out(each: Sum) -> Sum:
    """Leave the layer out."""
    return each._replace(gates=0, biases=0, rest=())


def feeding(width: Callable[[Sum, Sum, Network], int | None]) -> Change:
    """Return the slip that feeds each layer but the first with another width; `width` gets the layer below and it."""
    return partial(_feeding, width)


def _feeding(width: Callable[[Sum, Sum, Network], int | None], sums: Sums, network: Network) -> Sums | None:
    changed = [sums[0]]
    for below, each in pairwise(sums):
        same_part = below.place and each.place and below.place.part == each.place.part
        m = width(below, each, network) if same_part and each.m else None
        extra = each.layer.extra_inputs if each.layer else 0
        changed.append(each if m is None else each._replace(m=m + extra))
    return tuple(changed) if tuple(changed) != sums else None


def one_direction(below: Sum, each: Sum, network: Network) -> int | None:
    """Return the width of one direction where two are concatenated."""
    layer = below.layer
    if isinstance(layer, Cell) and layer.bidirectional and layer.merge in (None, "concat"):
        return below.one_way
    return None


def both_directions(below: Sum, each: Sum, network: Network) -> int | None:
    """Return the width of both directions where they are merged otherwise."""
    layer = below.layer
    if isinstance(layer, Cell) and layer.bidirectional and layer.merge not in (None, "concat"):
        return 2 * below.one_way
    return None


def units_for_projection(below: Sum, each: Sum, network: Network) -> int | None:
    """Return the width without the projection."""
    if any(name == "projection" for name, _ in below.rest):
        return below.h * (2 if below.place and below.place.outputs == 2 * below.one_way else 1)
    return None


def network_input(below: Sum, each: Sum, network: Network) -> int | None:
    """Return the width of the part's input."""
    return network.parts[each.place.part].input if each.place and each.role in ("cell", "dense") else None


def without_projection(sums: Sums, network: Network) -> Sums | None:
    """Count as if there were no projection: its matrix gone, and h wherever it was."""
    changed = _feeding(units_for_projection, sums, network) or sums
    bare = tuple(
        each._replace(r=each.h, rest=without_term("projection", each).rest)
        if ("projection" in dict(each.rest))
        else each
        for each in changed
    )
    return bare if bare != sums else None


def _steps(network: Network, each: Sum) -> int | None:
    steps = network.parts[each.place.part].steps if each.place else None
    return steps if steps and steps > 1 else None


def times_steps(*roles: str) -> Change:
    """Return the slip that multiplies the layers of some roles by the number of steps."""
    return partial(_times_steps, roles)


def _times_steps(roles: tuple[str, ...], sums: Sums, network: Network) -> Sums | None:
    steps = [_steps(network, each) for each in sums]
    changed = tuple(
        each._replace(times=each.times * count) if count and each.role in roles else each
        for each, count in zip(sums, steps, strict=True)
    )
    return changed if changed != sums else None


def steps_as_features(sums: Sums, network: Network) -> Sums | None:
    """Feed the first layer that has a matrix with the features of all steps at once."""
    first = next((number for number, each in enumerate(sums) if each.role in ("cell", "dense")), None)
    steps = _steps(network, sums[first]) if first is not None else None
    if first is None or not steps:
        return None
    return (*sums[:first], sums[first]._replace(m=sums[first].m * steps), *sums[first + 1 :])


def frozen_out(each: Sum) -> Sum | None:
    """Leave the layer out if it is frozen."""
    return left_out(each) if each.layer and each.layer.frozen else None


def without_extra(each: Sum) -> Sum | None:
    """Take the extra inputs from the width."""
    return each._replace(m=each.m - each.layer.extra_inputs) if each.layer and each.m else None


def full_recurrence(each: Sum) -> Sum | None:
    """Give a diagonal recurrence a whole matrix."""
    return each._replace(r=each.h) if isinstance(each.layer, Cell) and each.layer.recurrence == "diagonal" else None


def repeat_once(sums: Sums, network: Network) -> Sums | None:
    """Count a repeated layer once."""
    first = [True, *(below.layer is not each.layer for below, each in pairwise(sums))]
    changed = tuple(each if once else left_out(each) for each, once in zip(sums, first, strict=True))
    return changed if changed != sums else None


def without_part(name: str) -> Change:
    """Return the slip that leaves one half of an encoder-decoder out."""
    return partial(_without_part, name)


def _without_part(name: str, sums: Sums, network: Network) -> Sums | None:
    changed = tuple(left_out(each) if each.place and each.place.part == name else each for each in sums)
    return changed if changed != sums else None


def encoder_input(sums: Sums, network: Network) -> Sums | None:
    """Feed the decoder's first layer that reads vectors as the encoder's is."""
    first: dict[str | None, int] = {}
    for place, each in enumerate(sums):
        if each.place and each.role in ("cell", "dense"):
            first.setdefault(each.place.part, place)
    if len(first) < 2:
        return None
    of, to = first["encoder"], first["decoder"]
    return (*sums[:to], sums[to]._replace(m=sums[of].m), *sums[to + 1 :]) if sums[of].m != sums[to].m else None


def tied_twice(sums: Sums, network: Network) -> Sums | None:
    """Count the tied matrix at the output too."""
    changed = tuple(
        each._replace(m=each.place.inputs)
        if isinstance(each.layer, Output) and each.layer.tied and each.place
        else each
        for each in sums
    )
    return changed if changed != sums else None
