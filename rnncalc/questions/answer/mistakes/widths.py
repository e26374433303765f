"""Mistakes about widths: what a layer is fed with, and how wide it is."""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.questions.answer.changes import gates, lines, steps, widths
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
        "recurrent-of-inputs",
        "gives the recurrent matrices h × m weights instead of h × h",
        in_layers(gates.recurrent_of_inputs, Cell),
        rare=True,
    ),
    Mistake(
        "recurrent-among-inputs",
        "gives the recurrent matrices m × m weights instead of h × h",
        in_layers(gates.recurrent_among_inputs, Cell),
        rare=True,
    ),
    Mistake(
        "input-of-units",
        "gives the input matrices h × h weights instead of h × m",
        in_layers(gates.input_of_units, Cell),
        rare=True,
    ),
    Mistake(
        "steps-for-units",
        "takes the number of steps for the units",
        steps.steps_for_units,
        rare=True,
    ),
    Mistake(
        "widths-added",
        "adds the widths, m + h, instead of multiplying them",
        in_layers(lines.widths_added, Cell),
        rare=True,
    ),
    Mistake(
        "output-in-each-gate",
        "counts the output layer once for each gate of the cell",
        widths.output_in_each_gate,
        rare=True,
    ),
    Mistake(
        "output-as-cell",
        "counts the output layer as if it were another recurrent layer",
        widths.outputs_as_cells,
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
)
