"""Mistakes about what belongs to the count: layers and parts left out, or counted twice."""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, Output
from rnncalc.questions.answer.changes import gates, lines, steps, widths
from rnncalc.questions.answer.changes.lines import in_layers
from rnncalc.questions.answer.families import layers_alone, layers_left_out
from rnncalc.questions.answer.mistake import Family, Mistake, Row

PARTS: tuple[Row, ...] = (
    Mistake("no-output", "leaves out the output layer (the softmax, if it has one)", in_layers(lines.left_out, Output)),
    Mistake("no-embedding", "leaves out the embedding's table", in_layers(lines.left_out, Embedding)),
    Mistake("no-encoder", "leaves out the encoder", steps.without_part("encoder")),
    Mistake("no-decoder", "leaves out the decoder", steps.without_part("decoder")),
    Mistake(
        "taken-as-tied", "counts the output matrix as the embedding's, and it is not", widths.taken_as_tied, rare=True
    ),
    Mistake(
        "state-counted",
        "counts the state as parameters, and it is not learned",
        in_layers(gates.state_counted, Cell),
        rare=True,
    ),
    Family("no-layer", "leaves out the layer {layer}", layers_left_out, by_layer=True),
    Family("only-layer", "counts the layer {layer} alone", layers_alone, by_layer=True),
    Mistake(
        "packed-width",
        "takes the width of the packed gates, gates × h, as the count",
        in_layers(lines.units_of_gates, Cell),
        rare=True,
    ),
    Mistake("units", "counts the units instead of their weights", in_layers(lines.units, Cell, Dense), rare=True),
)
