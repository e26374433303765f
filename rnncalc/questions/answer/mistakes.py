"""The slips that learners make when they count, as a table: what each is called, and how it changes the sums."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from rnncalc.network.network import Network
from rnncalc.questions.answer.changes import (
    Change,
    both_directions,
    encoder_input,
    feeding,
    frozen_out,
    full_recurrence,
    in_layers,
    left_out,
    network_input,
    one_direction,
    repeat_once,
    steps_as_features,
    tied_twice,
    times_steps,
    units_for_projection,
    with_gates,
    without_extra,
    without_part,
    without_projection,
    without_term,
)
from rnncalc.questions.answer.worksheet import Sums


class Slip(NamedTuple):
    """A mistake: its id, one sentence for the learner, and what it makes of the sums, None where it cannot be made."""

    id: str
    text: str
    apply: Change


ROLES = ("cell", "dense", "output", "embedding", "external")

SLIPS: tuple[Slip, ...] = (
    Slip(
        "no-biases", "leaves out all biases", in_layers(lambda each: each._replace(biases=0), "cell", "dense", "output")
    ),
    Slip(
        "no-hidden-biases",
        "leaves out the biases of the recurrent layers",
        in_layers(lambda e: e._replace(biases=0), "cell"),
    ),
    Slip(
        "no-output-bias", "leaves out the bias of the output layer", in_layers(lambda e: e._replace(biases=0), "output")
    ),
    Slip(
        "biases-counted",
        "counts biases where the network has none",
        in_layers(lambda e: e._replace(biases=e.gates) if e.m and not e.biases else None, "cell", "dense", "output"),
    ),
    Slip("no-output", "leaves out the output layer (the softmax, if it has one)", in_layers(left_out, "output")),
    Slip("repeat-once", "counts a repeated layer once", repeat_once),
    Slip("no-extra-inputs", "ignores the extra inputs", in_layers(without_extra, "cell", "dense")),
    Slip("no-encoder", "leaves out the encoder", without_part("encoder")),
    Slip("no-decoder", "leaves out the decoder", without_part("decoder")),
    Slip("encoder-input", "feeds the decoder with the encoder's input width", encoder_input),
    Slip(
        "full-recurrence",
        "counts h × h recurrent weights where the recurrence is diagonal",
        in_layers(full_recurrence, "cell"),
    ),
    Slip("no-embedding", "leaves out the embedding's table", in_layers(left_out, "embedding")),
    Slip("one-direction", "forgets the second direction", in_layers(lambda e: e._replace(directions=1), "cell")),
    Slip(
        "one-direction-deeper",
        "feeds the next layer with one direction's units in place of both",
        feeding(one_direction),
    ),
    Slip("concat-for-merge", "takes the two directions as concatenated, but they are merged", feeding(both_directions)),
    Slip("network-input-deeper", "feeds deeper layers with the network's input width", feeding(network_input)),
    Slip(
        "two-biases",
        "counts two bias vectors a gate where there is one",
        in_layers(lambda e: e._replace(biases=2 * e.gates) if 0 < e.biases < 2 * e.gates else None, "cell"),
    ),
    Slip(
        "one-bias",
        "counts one bias vector a gate where there are two",
        in_layers(lambda e: e._replace(biases=e.gates) if e.biases > e.gates else None, "cell"),
    ),
    *(
        Slip(
            f"gates-{count}",
            f"counts {count} gate{'s' if count > 1 else ''}, and the cell has another number",
            in_layers(partial(with_gates, count), "cell"),
        )
        for count in (1, 2, 3, 4)
    ),
    Slip("no-recurrent", "forgets the recurrent matrices", in_layers(lambda e: e._replace(r=0), "cell")),
    Slip("no-input", "forgets the input matrices", in_layers(lambda e: e._replace(m=0), "cell")),
    Slip(
        "diagonal",
        "counts one recurrent weight a unit in place of a matrix",
        in_layers(lambda e: e._replace(r=1) if e.r > 1 else None, "cell"),
    ),
    Slip(
        "as-dense",
        "treats a recurrent layer as a dense one, h(m + 1)",
        in_layers(lambda e: e._replace(gates=1, r=0, biases=min(1, e.biases), rest=(), directions=1), "cell"),
    ),
    Slip(
        "bias-of-inputs",
        "gives each bias m + h numbers in place of h",
        in_layers(lambda e: e._replace(bias_size=e.m + e.r) if e.biases else None, "cell"),
    ),
    Slip(
        "one-bias-in-all",
        "counts one bias vector for all gates together",
        in_layers(lambda e: e._replace(biases=1) if e.biases > 1 else None, "cell"),
    ),
    Slip(
        "scalar-biases",
        "counts one number for each bias in place of h",
        in_layers(lambda e: e._replace(bias_size=1) if e.biases else None, "cell"),
    ),
    Slip(
        "output-in-cell",
        "adds an output matrix h × h inside the cell",
        in_layers(lambda e: e._replace(rest=(*e.rest, ("output matrix", e.h * e.h))), "cell"),
    ),
    Slip(
        "output-and-bias-in-cell",
        "adds an output matrix h × h and a bias inside the cell",
        in_layers(lambda e: e._replace(rest=(*e.rest, ("output matrix", e.h * e.h + e.h))), "cell"),
    ),
    Slip("times-steps", "multiplies the recurrent layers by the number of steps", times_steps("cell")),
    Slip(
        "copy-a-step",
        "counts a copy of every layer for each step",
        times_steps(*ROLES),
    ),
    Slip("output-times-steps", "counts the output layer once for each step", times_steps("output")),
    Slip("steps-as-features", "takes all steps as the features of one", steps_as_features),
    Slip(
        "directions-twice",
        "counts each direction twice",
        in_layers(lambda e: e._replace(directions=2 * e.directions), "cell"),
    ),
    Slip("no-projection", "ignores the projection", without_projection),
    Slip(
        "units-for-projection", "feeds the next layer with h in place of the projection", feeding(units_for_projection)
    ),
    Slip(
        "recurrent-of-units",
        "gives the recurrent matrices h columns in place of the projection's",
        in_layers(lambda e: e._replace(r=e.h) if "projection" in dict(e.rest) else None, "cell"),
    ),
    Slip(
        "no-projection-matrix",
        "leaves out the projection's own matrix",
        in_layers(partial(without_term, "projection"), "cell"),
    ),
    Slip("no-peepholes", "ignores the peepholes", in_layers(partial(without_term, "peepholes"), "cell")),
    Slip("no-learned-state", "ignores the learned initial state", in_layers(partial(without_term, "state"), "cell")),
    Slip("tied-twice", "counts the tied output matrix a second time", tied_twice),
    Slip(
        "dense-bias-twice",
        "counts the bias of the dense layers twice",
        in_layers(lambda e: e._replace(biases=2 * e.biases), "dense", "output"),
    ),
    Slip("frozen-out", "leaves out the frozen parameters", in_layers(frozen_out, *ROLES)),
    Slip("no-external", "leaves out the part counted elsewhere", in_layers(left_out, "external")),
    Slip(
        "packed-width",
        "takes the width of the packed gates, gates × h, as the count",
        in_layers(lambda e: e._replace(packed=True), "cell"),
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
