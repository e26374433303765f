"""Mistakes about widths: what a layer is fed with, and how wide it is."""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense
from rnncalc.questions.answer.changes import gates, lines, widths
from rnncalc.questions.answer.changes.lines import in_layers
from rnncalc.questions.answer.changes.widths import feeding, to_output
from rnncalc.questions.answer.mistake import Mistake, Row

WIDTHS: tuple[Row, ...] = (
    Mistake(
        "network-input-deeper", "feeds deeper layers with the network's input width", feeding(widths.width_of_input)
    ),
    Mistake(
        "own-width-deeper",
        "feeds deeper layers with as many numbers as they have units",
        feeding(widths.own_width),
        rare=True,
    ),
    Mistake("no-extra-inputs", "ignores the extra inputs", in_layers(lines.without_extra, Cell, Dense)),
    Mistake("encoder-input", "feeds the decoder with the encoder's input width", widths.encoder_input),
    Mistake(
        "state-beside-input",
        "feeds the decoder with the encoder's state beside its input",
        widths.state_beside_input,
        rare=True,
    ),
    Mistake(
        "swapped",
        "takes the inputs for the units and the units for the inputs",
        widths.inputs_and_units_swapped,
        rare=True,
    ),
    Mistake(
        "output-of-input",
        "feeds the output layer with the network's input",
        feeding(to_output(widths.input_of_part)),
        rare=True,
    ),
    Mistake(
        "output-of-both-states",
        "feeds the output layer with the cell state too, not with h alone",
        feeding(to_output(widths.width_of_all_states)),
        rare=True,
    ),
    Mistake(
        "deeper-of-both-states",
        "feeds the next layers with the cell state too, not with h alone",
        feeding(widths.width_of_all_states),
        rare=True,
    ),
    Mistake(
        "output-of-state-and-input",
        "feeds the output layer with the last layer's input too",
        feeding(to_output(widths.state_and_input)),
        rare=True,
    ),
    Mistake(
        "one-hot",
        "leaves out the embedding and feeds the next layer with the vocabulary",
        widths.one_hot,
        rare=True,
    ),
    Mistake("no-projection", "ignores the projection", widths.without_projection),
    Mistake(
        "units-for-projection",
        "feeds the next layer with h in place of the projection",
        feeding(widths.width_without_projection),
    ),
    Mistake(
        "recurrent-of-units",
        "gives the recurrent matrices h columns in place of the projection's",
        in_layers(gates.recurrent_of_units, Cell),
    ),
    Mistake(
        "no-projection-matrix",
        "leaves out the projection's own matrix",
        in_layers(lines.without_other("projection"), Cell),
    ),
)
