"""Mistakes about what this network has and most have not: options forgotten, or counted as if they were not there.

What is asked about such a network is its option; so these come before what can be mistaken in any network.
"""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, External, Layer, Output
from rnncalc.questions.answer.changes import biases, gates, lines, widths
from rnncalc.questions.answer.changes.lines import in_layers
from rnncalc.questions.answer.changes.widths import feeding
from rnncalc.questions.answer.families import one_state
from rnncalc.questions.answer.mistake import Family, Mistake, Row

OPTIONS: tuple[Row, ...] = (
    Mistake("no-peepholes", "ignores the peepholes", in_layers(gates.not_reading("peephole"), Cell)),
    Mistake("no-learned-state", "ignores the learned initial state", in_layers(lines.without_other("state"), Cell)),
    Family("only-state", "counts {state} alone of the learned initial states", one_state),
    Mistake("no-scalars", "leaves out the single numbers of the cell", in_layers(lines.without_other("scalars"), Cell)),
    Mistake("no-projection", "ignores the projection", widths.without_projection),
    Mistake(
        "units-for-projection",
        "feeds the next layer with h instead of the projection",
        feeding(widths.width_without_projection),
    ),
    Mistake(
        "recurrent-of-units",
        "gives the recurrent matrices h columns instead of the projection's",
        in_layers(gates.recurrent_of_units, Cell),
    ),
    Mistake(
        "no-projection-matrix",
        "leaves out the projection's own matrix",
        in_layers(lines.without_other("projection"), Cell),
    ),
    Mistake("no-extra-inputs", "ignores the extra inputs", in_layers(lines.without_extra, Cell, Dense)),
    Mistake(
        "full-recurrence",
        "counts h × h recurrent weights where the recurrence is diagonal",
        in_layers(gates.full_recurrence, Cell),
    ),
    Mistake(
        "biases-counted", "counts biases where the network has none", in_layers(biases.biases_counted, Cell, Dense)
    ),
    Mistake("tied-twice", "counts the tied output matrix a second time", in_layers(lines.tied_twice, Output)),
    Mistake("frozen-out", "leaves out the frozen parameters", in_layers(lines.frozen_out, Layer)),
    Mistake("no-external", "leaves out the part counted elsewhere", in_layers(lines.left_out, External)),
)
