"""The slips that learners make when they count, as a table: what each is called, and how it changes the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from rnncalc.model.cells import Cell
from rnncalc.model.layers import Output
from rnncalc.model.network import Network
from rnncalc.questions.sums import Sum, Sums

Change = Callable[[Sums, Network], Sums | None]
"""What a slip makes of the sums of a network; None where it changes nothing."""


class Slip(NamedTuple):
    """A mistake: its id, one sentence for the learner, and what it makes of the sums, None where it cannot be made."""

    id: str
    text: str
    apply: Change


def _each(change: Callable[[Sum], Sum | None], *roles: str) -> Change:
    """Return the slip that changes every layer of some roles, where it changes anything."""

    def apply(sums: Sums, network: Network) -> Sums | None:
        changed = tuple((change(each) or each) if each.role in roles else each for each in sums)
        return None if changed == sums else changed

    return apply


def _without(name: str) -> Callable[[Sum], Sum]:
    return lambda each: each._replace(rest=tuple(term for term in each.rest if term[0] != name))


def _nothing(each: Sum) -> Sum:
    return each._replace(gates=0, biases=0, rest=())


def _deeper(width: Callable[[Sum, Sum, Network], int | None]) -> Change:
    """Return the slip that feeds each layer but the first with another width; `width` gets the layer below and it."""

    def apply(sums: Sums, network: Network) -> Sums | None:
        changed = [sums[0]]
        for below, each in pairwise(sums):
            same_part = below.place and each.place and below.place.part == each.place.part
            m = width(below, each, network) if same_part and each.m else None
            extra = each.layer.extra_inputs if each.layer else 0
            changed.append(each if m is None else each._replace(m=m + extra))
        return tuple(changed) if tuple(changed) != sums else None

    return apply


def _one_direction(below: Sum, each: Sum, network: Network) -> int | None:
    layer = below.layer
    if isinstance(layer, Cell) and layer.bidirectional and layer.merge in (None, "concat"):
        return below.one_way
    return None


def _both_directions(below: Sum, each: Sum, network: Network) -> int | None:
    layer = below.layer
    if isinstance(layer, Cell) and layer.bidirectional and layer.merge not in (None, "concat"):
        return 2 * below.one_way
    return None


def _units_for_projection(below: Sum, each: Sum, network: Network) -> int | None:
    if any(name == "projection" for name, _ in below.rest):
        return below.h * (2 if below.place and below.place.outputs == 2 * below.one_way else 1)
    return None


def _network_input(below: Sum, each: Sum, network: Network) -> int | None:
    return network.parts[each.place.part].input if each.place and each.role in ("cell", "dense") else None


def _without_projection(sums: Sums, network: Network) -> Sums | None:
    changed = _deeper(_units_for_projection)(sums, network) or sums
    bare = tuple(
        each._replace(r=each.h, rest=_without("projection")(each).rest) if ("projection" in dict(each.rest)) else each
        for each in changed
    )
    return bare if bare != sums else None


def _steps(network: Network, each: Sum) -> int | None:
    steps = network.parts[each.place.part].steps if each.place else None
    return steps if steps and steps > 1 else None


def _times_steps(*roles: str) -> Change:
    def apply(sums: Sums, network: Network) -> Sums | None:
        steps = [_steps(network, each) for each in sums]
        changed = tuple(
            each._replace(times=each.times * count) if count and each.role in roles else each
            for each, count in zip(sums, steps, strict=True)
        )
        return changed if changed != sums else None

    return apply


def _steps_as_features(sums: Sums, network: Network) -> Sums | None:
    first = next((number for number, each in enumerate(sums) if each.role in ("cell", "dense")), None)
    steps = _steps(network, sums[first]) if first is not None else None
    if first is None or not steps:
        return None
    return (*sums[:first], sums[first]._replace(m=sums[first].m * steps), *sums[first + 1 :])


def _frozen_out(each: Sum) -> Sum | None:
    return _nothing(each) if each.layer and each.layer.frozen else None


def _without_extra(each: Sum) -> Sum | None:
    return each._replace(m=each.m - each.layer.extra_inputs) if each.layer and each.m else None


def _full(each: Sum) -> Sum | None:
    return each._replace(r=each.h) if isinstance(each.layer, Cell) and each.layer.recurrence == "diagonal" else None


def _repeat_once(sums: Sums, network: Network) -> Sums | None:
    first = [True, *(below.layer is not each.layer for below, each in pairwise(sums))]
    changed = tuple(each if once else _nothing(each) for each, once in zip(sums, first, strict=True))
    return changed if changed != sums else None


def _without_part(name: str) -> Change:
    def apply(sums: Sums, network: Network) -> Sums | None:
        changed = tuple(_nothing(each) if each.place and each.place.part == name else each for each in sums)
        return changed if changed != sums else None

    return apply


def _encoder_input(sums: Sums, network: Network) -> Sums | None:
    """Feed the decoder's first layer that reads vectors as the encoder's is."""
    first: dict[str | None, int] = {}
    for place, each in enumerate(sums):
        if each.place and each.role in ("cell", "dense"):
            first.setdefault(each.place.part, place)
    if len(first) < 2:
        return None
    of, to = first["encoder"], first["decoder"]
    return (*sums[:to], sums[to]._replace(m=sums[of].m), *sums[to + 1 :]) if sums[of].m != sums[to].m else None


def _tied_twice(sums: Sums, network: Network) -> Sums | None:
    changed = tuple(
        each._replace(m=each.place.inputs)
        if isinstance(each.layer, Output) and each.layer.tied and each.place
        else each
        for each in sums
    )
    return changed if changed != sums else None


def _gates(count: int) -> Slip:
    change = _each(lambda each: each._replace(gates=count, biases=_scaled(each, count)), "cell")
    plural = "" if count == 1 else "s"
    return Slip(f"gates-{count}", f"counts {count} gate{plural}, and the cell has another number", change)


def _scaled(each: Sum, gates: int) -> int:
    """Return the bias vectors of another number of gates, as many for each as before where that is whole."""
    return each.biases * gates // each.gates if each.gates else 0


ROLES = ("cell", "dense", "output", "embedding", "external")

SLIPS: tuple[Slip, ...] = (
    Slip("no-biases", "leaves out all biases", _each(lambda each: each._replace(biases=0), "cell", "dense", "output")),
    Slip(
        "no-hidden-biases",
        "leaves out the biases of the recurrent layers",
        _each(lambda e: e._replace(biases=0), "cell"),
    ),
    Slip("no-output-bias", "leaves out the bias of the output layer", _each(lambda e: e._replace(biases=0), "output")),
    Slip(
        "biases-counted",
        "counts biases where the network has none",
        _each(lambda e: e._replace(biases=e.gates) if e.m and not e.biases else None, "cell", "dense", "output"),
    ),
    Slip("no-output", "leaves out the output layer (the softmax, if it has one)", _each(_nothing, "output")),
    Slip("repeat-once", "counts a repeated layer once", _repeat_once),
    Slip("no-extra-inputs", "ignores the extra inputs", _each(_without_extra, "cell", "dense")),
    Slip("no-encoder", "leaves out the encoder", _without_part("encoder")),
    Slip("no-decoder", "leaves out the decoder", _without_part("decoder")),
    Slip("encoder-input", "feeds the decoder with the encoder's input width", _encoder_input),
    Slip("full-recurrence", "counts h × h recurrent weights where the recurrence is diagonal", _each(_full, "cell")),
    Slip("no-embedding", "leaves out the embedding's table", _each(_nothing, "embedding")),
    Slip("one-direction", "forgets the second direction", _each(lambda e: e._replace(directions=1), "cell")),
    Slip(
        "one-direction-deeper",
        "feeds the next layer with one direction's units in place of both",
        _deeper(_one_direction),
    ),
    Slip(
        "concat-for-merge", "takes the two directions as concatenated, but they are merged", _deeper(_both_directions)
    ),
    Slip("network-input-deeper", "feeds deeper layers with the network's input width", _deeper(_network_input)),
    Slip(
        "two-biases",
        "counts two bias vectors a gate where there is one",
        _each(lambda e: e._replace(biases=2 * e.gates) if 0 < e.biases < 2 * e.gates else None, "cell"),
    ),
    Slip(
        "one-bias",
        "counts one bias vector a gate where there are two",
        _each(lambda e: e._replace(biases=e.gates) if e.biases > e.gates else None, "cell"),
    ),
    *(_gates(count) for count in (1, 2, 3, 4)),
    Slip("no-recurrent", "forgets the recurrent matrices", _each(lambda e: e._replace(r=0), "cell")),
    Slip("no-input", "forgets the input matrices", _each(lambda e: e._replace(m=0), "cell")),
    Slip(
        "diagonal",
        "counts one recurrent weight a unit in place of a matrix",
        _each(lambda e: e._replace(r=1) if e.r > 1 else None, "cell"),
    ),
    Slip(
        "as-dense",
        "treats a recurrent layer as a dense one, h(m + 1)",
        _each(lambda e: e._replace(gates=1, r=0, biases=min(1, e.biases), rest=(), directions=1), "cell"),
    ),
    Slip(
        "bias-of-inputs",
        "gives each bias m + h numbers in place of h",
        _each(lambda e: e._replace(bias_size=e.m + e.r) if e.biases else None, "cell"),
    ),
    Slip(
        "one-bias-in-all",
        "counts one bias vector for all gates together",
        _each(lambda e: e._replace(biases=1) if e.biases > 1 else None, "cell"),
    ),
    Slip(
        "scalar-biases",
        "counts one number for each bias in place of h",
        _each(lambda e: e._replace(bias_size=1) if e.biases else None, "cell"),
    ),
    Slip(
        "output-in-cell",
        "adds an output matrix h × h inside the cell",
        _each(lambda e: e._replace(rest=(*e.rest, ("output matrix", e.h * e.h))), "cell"),
    ),
    Slip(
        "output-and-bias-in-cell",
        "adds an output matrix h × h and a bias inside the cell",
        _each(lambda e: e._replace(rest=(*e.rest, ("output matrix", e.h * e.h + e.h))), "cell"),
    ),
    Slip("times-steps", "multiplies the recurrent layers by the number of steps", _times_steps("cell")),
    Slip(
        "copy-a-step",
        "counts a copy of every layer for each step",
        _times_steps(*ROLES),
    ),
    Slip("output-times-steps", "counts the output layer once for each step", _times_steps("output")),
    Slip("steps-as-features", "takes all steps as the features of one", _steps_as_features),
    Slip(
        "directions-twice",
        "counts each direction twice",
        _each(lambda e: e._replace(directions=2 * e.directions), "cell"),
    ),
    Slip("no-projection", "ignores the projection", _without_projection),
    Slip(
        "units-for-projection", "feeds the next layer with h in place of the projection", _deeper(_units_for_projection)
    ),
    Slip(
        "recurrent-of-units",
        "gives the recurrent matrices h columns in place of the projection's",
        _each(lambda e: e._replace(r=e.h) if "projection" in dict(e.rest) else None, "cell"),
    ),
    Slip("no-projection-matrix", "leaves out the projection's own matrix", _each(_without("projection"), "cell")),
    Slip("no-peepholes", "ignores the peepholes", _each(_without("peepholes"), "cell")),
    Slip("no-learned-state", "ignores the learned initial state", _each(_without("state"), "cell")),
    Slip("tied-twice", "counts the tied output matrix a second time", _tied_twice),
    Slip(
        "dense-bias-twice",
        "counts the bias of the dense layers twice",
        _each(lambda e: e._replace(biases=2 * e.biases), "dense", "output"),
    ),
    Slip("frozen-out", "leaves out the frozen parameters", _each(_frozen_out, *ROLES)),
    Slip("no-external", "leaves out the part counted elsewhere", _each(_nothing, "external")),
    Slip(
        "packed-width",
        "takes the width of the packed gates, gates × h, as the count",
        _each(lambda e: e._replace(packed=True), "cell"),
    ),
)
"""The slips, the simplest and likeliest first."""


def in_one_layer(slip: Slip, sums: Sums, network: Network) -> Iterator[tuple[str, Sums]]:
    """Yield what a slip makes of the sums when it is made in one layer only, with that layer's name."""
    everywhere = slip.apply(sums, network)
    if everywhere is None:
        return
    changed = [number for number, (was, now) in enumerate(zip(sums, everywhere, strict=True)) if was != now]
    if len(changed) > 1:
        for number in changed:
            yield sums[number].name, (*sums[:number], everywhere[number], *sums[number + 1 :])
