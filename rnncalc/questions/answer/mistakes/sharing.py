"""Mistakes about what recurrent networks share: one set of weights for all steps, two for two directions."""

from __future__ import annotations

from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer, Output
from rnncalc.questions.answer.changes import steps, widths
from rnncalc.questions.answer.changes.lines import in_layers
from rnncalc.questions.answer.changes.widths import feeding
from rnncalc.questions.answer.families import is_any, is_recurrent, times_a_number
from rnncalc.questions.answer.mistake import Family, Mistake, Row

SHARING: tuple[Row, ...] = (
    Mistake("times-steps", "multiplies the recurrent layers by the number of steps", steps.times_steps(Cell)),
    Mistake("copy-a-step", "counts a copy of every layer for each step", steps.times_steps(Layer)),
    Mistake("output-times-steps", "counts the output layer once for each step", steps.times_steps(Output)),
    Mistake("steps-as-features", "takes all steps as the features of one", steps.steps_as_features),
    Mistake("one-direction", "forgets the second direction", in_layers(steps.one_direction, Cell)),
    Mistake(
        "one-direction-deeper",
        "feeds the next layer with one direction's units instead of both",
        feeding(widths.width_of_one_direction),
    ),
    Mistake("no-second-direction", "counts as if there were no second direction", steps.in_one_direction, rare=True),
    Mistake(
        "concat-for-merge",
        "takes the two directions as concatenated, but they are merged",
        feeding(widths.width_of_both_directions),
    ),
    Mistake("directions-twice", "counts each of the two directions twice", in_layers(steps.each_direction_twice, Cell)),
    Mistake(
        "two-directions",
        "counts two directions, and the network reads in one",
        in_layers(steps.two_directions, Cell),
        rare=True,
    ),
    Mistake(
        "two-directions-deeper",
        "counts two directions and their concatenation, and the network reads in one",
        steps.in_both_directions,
        rare=True,
    ),
    Family(
        "times-{times}",
        "multiplies the recurrent layers by {times}, but all steps share one set of weights",
        times_a_number(is_recurrent),
        fitted=True,
    ),
    Family(
        "whole-times-{times}",
        "multiplies the whole count by {times}, but all steps share one set of weights",
        times_a_number(is_any),
        fitted=True,
    ),
    Mistake(
        "weights-times-steps",
        "multiplies the weights of the recurrent layers by the number of steps, and not their biases",
        steps.reading_each_step("input", "past", "peephole"),
        rare=True,
    ),
    Mistake(
        "recurrent-times-steps",
        "counts the recurrent matrices once for each step",
        steps.reading_each_step("past"),
        rare=True,
    ),
    Mistake(
        "recurrent-between-steps",
        "counts the recurrent matrices once between each two steps",
        steps.reading_each_step("past", between=True),
        rare=True,
    ),
    Mistake(
        "input-times-steps",
        "counts the input matrices once for each step",
        steps.reading_each_step("input"),
        rare=True,
    ),
    Mistake(
        "output-of-all-steps",
        "feeds the output layer with the states of all steps at once",
        steps.output_of_all_steps,
        rare=True,
    ),
    Mistake("repeat-once", "counts a repeated layer once", steps.repeat_once),
)
