"""Mistakes about biases: whether there are any, how many vectors, of how many numbers, and in which framework."""

from __future__ import annotations

from functools import partial

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, Output
from rnncalc.questions.answer.changes import biases, lines
from rnncalc.questions.answer.changes.biases import with_biases
from rnncalc.questions.answer.changes.lines import in_layers
from rnncalc.questions.answer.families import other_conventions
from rnncalc.questions.answer.mistake import Family, Mistake, Row

no_biases = partial(with_biases, 0)

BIASES: tuple[Row, ...] = (
    Mistake("no-biases", "leaves out all biases", in_layers(no_biases, Cell, Dense)),
    Mistake("no-hidden-biases", "leaves out the biases of the recurrent layers", in_layers(no_biases, Cell)),
    Mistake("no-output-bias", "leaves out the bias of the output layer", in_layers(no_biases, Output)),
    Family("convention-{name}", "counts as {names} {do}, not as {here}", other_conventions, single=True),
    Mistake("two-biases", "counts two bias vectors a gate where there is one", in_layers(biases.two_biases, Cell)),
    Mistake("one-bias", "counts one bias vector a gate where there are two", in_layers(biases.one_bias, Cell)),
    Mistake(
        "bias-in-each-gate",
        "counts a bias in every gate, and some have none",
        in_layers(biases.bias_in_each_gate, Cell),
    ),
    Mistake("one-bias-in-all", "counts one bias vector for all gates", in_layers(biases.one_bias_in_all, Cell)),
    Mistake("scalar-biases", "counts one number for each bias instead of h", in_layers(biases.scalar_biases, Cell)),
    Mistake("bias-of-inputs", "gives each bias m + h numbers instead of h", in_layers(biases.biases_of_inputs, Cell)),
    Mistake(
        "bias-of-input", "gives each bias m numbers instead of h", in_layers(biases.biases_of_input, Cell), rare=True
    ),
    Mistake("dense-bias-twice", "counts the bias of the dense layers twice", in_layers(biases.bias_twice, Dense)),
    Mistake(
        "scalar-output-bias",
        "counts one number for the bias of the output layer",
        in_layers(biases.scalar_biases, Output),
        rare=True,
    ),
    Mistake(
        "output-bias-of-inputs",
        "gives the output layer's bias a number for each input instead of each unit",
        in_layers(biases.biases_of_input, Output),
        rare=True,
    ),
    Mistake("embedding-bias", "gives the embedding a bias", in_layers(lines.bias_of_embedding, Embedding), rare=True),
    Mistake("projection-bias", "gives the projection a bias", in_layers(lines.bias_of_projection, Cell), rare=True),
)
