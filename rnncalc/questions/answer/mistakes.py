"""The mistakes that learners make when they count: a table, one row each, the simplest and likeliest first.

A row says what the mistake is called, in one sentence for the learner, and what it makes of a worksheet.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Output
from rnncalc.questions.answer import between
from rnncalc.questions.answer import changes as change
from rnncalc.questions.answer.between import feeding, times_steps
from rnncalc.questions.answer.changes import Change, in_layers
from rnncalc.questions.answer.families import Ways, other_conventions, output_widths


class Mistake(NamedTuple):
    """A mistake: its id, what the learner did, as a sentence without its subject, and what it makes of a worksheet."""

    id: str
    text: str
    change: Change


class Family(NamedTuple):
    """Mistakes that differ in a number or a name, found from the learner's number and the network.

    What stands in {braces} in the id and the text is filled in with the values that each of its `ways` has.
    """

    id: str
    text: str
    ways: Ways


MISTAKES: tuple[Mistake, ...] = (
    Mistake("no-biases", "leaves out all biases", in_layers(partial(change.with_biases, 0), Cell, Dense)),
    Mistake(
        "no-hidden-biases",
        "leaves out the biases of the recurrent layers",
        in_layers(partial(change.with_biases, 0), Cell),
    ),
    Mistake(
        "no-output-bias", "leaves out the bias of the output layer", in_layers(partial(change.with_biases, 0), Output)
    ),
    Mistake(
        "biases-counted", "counts biases where the network has none", in_layers(change.biases_counted, Cell, Dense)
    ),
    Mistake(
        "no-output", "leaves out the output layer (the softmax, if it has one)", in_layers(change.left_out, Output)
    ),
    Mistake("repeat-once", "counts a repeated layer once", between.repeat_once),
    Mistake("no-extra-inputs", "ignores the extra inputs", in_layers(change.without_extra, Cell, Dense)),
    Mistake("no-encoder", "leaves out the encoder", partial(between.without_part, "encoder")),
    Mistake("no-decoder", "leaves out the decoder", partial(between.without_part, "decoder")),
    Mistake("encoder-input", "feeds the decoder with the encoder's input width", between.encoder_input),
    Mistake(
        "full-recurrence",
        "counts h × h recurrent weights where the recurrence is diagonal",
        in_layers(change.full_recurrence, Cell),
    ),
    Mistake("no-embedding", "leaves out the embedding's table", in_layers(change.left_out, Embedding)),
    Mistake("one-direction", "forgets the second direction", in_layers(change.one_direction, Cell)),
    Mistake(
        "one-direction-deeper",
        "feeds the next layer with one direction's units in place of both",
        feeding(between.width_of_one_direction),
    ),
    Mistake(
        "concat-for-merge",
        "takes the two directions as concatenated, but they are merged",
        feeding(between.width_of_both_directions),
    ),
    Mistake(
        "network-input-deeper", "feeds deeper layers with the network's input width", feeding(between.width_of_input)
    ),
    Mistake("two-biases", "counts two bias vectors a gate where there is one", in_layers(change.two_biases, Cell)),
    Mistake("one-bias", "counts one bias vector a gate where there are two", in_layers(change.one_bias, Cell)),
    *(
        Mistake(
            f"gates-{count}",
            f"counts {count} gate{'s' if count > 1 else ''}, and the cell has another number",
            in_layers(partial(change.with_gates, count), Cell),
        )
        for count in (1, 2, 3, 4)
    ),
    Mistake("no-recurrent", "forgets the recurrent matrices", in_layers(change.not_reading("past"), Cell)),
    Mistake("no-input", "forgets the input matrices", in_layers(change.not_reading("input"), Cell)),
    Mistake("diagonal", "counts one recurrent weight a unit in place of a matrix", in_layers(change.diagonal, Cell)),
    Mistake("as-dense", "treats a recurrent layer as a dense one, h(m + 1)", in_layers(change.as_dense, Cell)),
    Mistake(
        "bias-of-inputs",
        "gives each bias m + h numbers in place of h",
        in_layers(change.biases_of_inputs, Cell),
    ),
    Mistake(
        "one-bias-in-all", "counts one bias vector for all gates together", in_layers(change.one_bias_in_all, Cell)
    ),
    Mistake(
        "scalar-biases",
        "counts one number for each bias in place of h",
        in_layers(change.scalar_biases, Cell),
    ),
    Mistake(
        "output-in-cell",
        "adds an output matrix h × h inside the cell",
        in_layers(change.with_other("output", lambda line: line.h * line.h), Cell),
    ),
    Mistake(
        "output-and-bias-in-cell",
        "adds an output matrix h × h and a bias inside the cell",
        in_layers(change.with_other("output", lambda line: line.h * line.h + line.h), Cell),
    ),
    Mistake("times-steps", "multiplies the recurrent layers by the number of steps", times_steps(Cell)),
    Mistake("copy-a-step", "counts a copy of every layer for each step", times_steps(Layer)),
    Mistake("output-times-steps", "counts the output layer once for each step", times_steps(Output)),
    Mistake("steps-as-features", "takes all steps as the features of one", between.steps_as_features),
    Mistake(
        "directions-twice",
        "counts each direction twice",
        in_layers(change.twice_the_directions, Cell),
    ),
    Mistake("no-projection", "ignores the projection", between.without_projection),
    Mistake(
        "units-for-projection",
        "feeds the next layer with h in place of the projection",
        feeding(between.width_without_projection),
    ),
    Mistake(
        "recurrent-of-units",
        "gives the recurrent matrices h columns in place of the projection's",
        in_layers(change.recurrent_of_units, Cell),
    ),
    Mistake(
        "no-projection-matrix",
        "leaves out the projection's own matrix",
        in_layers(change.without_other("projection"), Cell),
    ),
    Mistake("no-peepholes", "ignores the peepholes", in_layers(change.not_reading("peephole"), Cell)),
    Mistake("no-learned-state", "ignores the learned initial state", in_layers(change.without_other("state"), Cell)),
    Mistake("tied-twice", "counts the tied output matrix a second time", in_layers(change.tied_twice, Output)),
    Mistake(
        "dense-bias-twice",
        "counts the bias of the dense layers twice",
        in_layers(change.bias_twice, Dense),
    ),
    Mistake("frozen-out", "leaves out the frozen parameters", in_layers(change.frozen_out, Layer)),
    Mistake("no-external", "leaves out the part counted elsewhere", in_layers(change.left_out, External)),
    Mistake(
        "packed-width",
        "takes the width of the packed gates, gates × h, as the count",
        in_layers(change.units_of_gates, Cell),
    ),
)
"""The mistakes that need no number to be made."""

FAMILIES: tuple[Family, ...] = (
    Family("convention-{name}", "counts as {name} does, not as {here}", other_conventions),
    Family("output-width", "gives the output layer {width} units, and it has {units}", output_widths),
)
"""Those that are solved for, most likely first."""
