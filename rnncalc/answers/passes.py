"""Exercises on a pass worked by hand: its numbers are drawn from the seed, and values are asked for by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from rnncalc.answers.circuit import Numbers
from rnncalc.answers.judgement import Judgement
from rnncalc.answers.reading import check_number_of_answers
from rnncalc.answers.value_reading import GivenArray
from rnncalc.answers.values import ValueGrader, written
from rnncalc.bounds import MOST_WRONG
from rnncalc.errors import CallError
from rnncalc.forward.arrays import PassData
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External
from rnncalc.network.data import Data
from rnncalc.network.flow import inputs_of
from rnncalc.network.network import Network
from rnncalc.questions.backward import with_loss
from rnncalc.questions.run import with_steps_to_run
from rnncalc.words import plural

MOST_UNITS, MOST_STEPS = 5, 10
"""The widest layer, and the longest sequence, of a pass that learners work by hand."""

MOST_DRAWN = 20
"""How often numbers are drawn until no value that is asked for is nearly 0."""

LEAST = 0.01
"""The least size of a value that is asked for: less has too few digits."""

MOST_ARRAYS = 3
"""The most gradients that are asked for unless they are named."""


def worked_network(network: Network) -> Network:
    """Return the network with its steps known. Raises CallError for one that is too large to be worked by hand."""
    timed = with_steps_to_run(network)
    for placed in timed.stack:
        if isinstance(placed.layer, External) or placed.layer.extra_inputs:
            raise CallError(f"ask: {placed.name} has numbers that come from elsewhere; leave it out")
        reads = 0 if isinstance(placed.layer, Embedding) else placed.inputs
        if max(reads, placed.outputs) > MOST_UNITS:
            width = plural(max(reads, placed.outputs), "number")
            message = f"a step of {placed.name} is too wide to work by hand, {width}"
            raise CallError(f"ask: {message}; use at most {MOST_UNITS} features and units")
    if (steps := max([part.steps or 1 for part in timed.parts.values()])) > MOST_STEPS:
        raise CallError(f"ask: {steps:,} steps are too many to work by hand; use at most {MOST_STEPS}")
    return timed


def loss_of(network: Network) -> str:
    """Return the loss of gradients by default: the cross-entropy of a softmax at the output, else squared errors."""
    last = network.stack[-1].layer
    return "cross_entropy" if isinstance(last, Dense) and last.activation == "softmax" and last.units > 1 else "squared"


def grader_of(network: Network, asks: str, names: Sequence[str], seed: str, loss: str | None) -> ValueGrader:
    """Return the grader of a variant, with numbers of one decimal and the names of the values that are asked for.

    Raises CallError for a name that the pass does not have.
    """
    name_of_loss = (loss or loss_of(network)) if asks == "gradients" else None
    with_loss(network, name_of_loss or "")  # refuses what is no output of classes
    if asks == "values" and names:
        probe = ValueGrader(network, _data(network, seed, None))
        if probe.circuit_of(names)[0] is not probe.forward:
            return grader_of(network, "gradients", names, seed, loss)
    for number in range(MOST_DRAWN):
        grader = ValueGrader(network, _data(network, f"{seed} {number}", name_of_loss), name_of_loss)
        grader.asked = [*names] or _default(grader, asks)
        check_number_of_answers(len(grader.asked))
        if all(max(map(abs, numbers)) >= LEAST for _, numbers in grader.exact):
            break
    return grader


def _data(network: Network, seed: str, loss: str | None) -> Data:
    drawn = PassData(seed, rounded=True)
    weights = {placed.name: drawn.weights_of(placed) for placed in network.stack if placed.stored}
    moves = inputs_of(network.flow)
    inputs = {
        half: [*drawn.inputs(moves[half], (part.steps or 1) if moves[half].sequence else 1)]
        for half, part in network.parts.items()
        if half in moves
    }
    if loss in (None, "sum"):
        return Data(weights, inputs)
    *steps, width = network.stack[-1].output_shape
    assert width is not None
    targets: list[Any] = [drawn.elsewhere(width) for _ in range(steps[0] or 1 if steps else 1)]
    if loss == "cross_entropy":
        targets = [abs(round(10 * numbers[0])) % width for numbers in targets]
    return Data(weights, inputs, None, targets if steps else targets[0])


def _default(grader: ValueGrader, asks: str) -> list[str]:
    """Return what is asked for unless it is named: the last state and the output, or the loss and a few gradients."""
    stack = grader.network.stack
    cells = [placed.name for placed in stack if isinstance(placed.layer, Cell)]
    if asks == "values":
        names = grader.forward.names.values()
        layers = dict.fromkeys([*cells[-1:], stack[-1].name])
        last = ([each.text for each in names if each.layer == layer][-1] for layer in layers)
        return [f"{layer}.{text}" for layer, text in zip(layers, last, strict=True)]
    layer = (cells or [stack[-1].name])[-1]
    arrays = [
        each
        for each in grader.both.names.values()
        if each.layer == layer and re.match(r"(.*/)?∂L/∂[WUb]", each.text) and "(step" not in each.text
    ]
    if len(arrays) > MOST_ARRAYS:
        arrays = [each for each in arrays if "_h" in each.text][:1] or arrays[:1]
    return ["L", *(f"{each.layer}.{each.text}" for each in arrays)]


def items_of_pass(
    grader: ValueGrader, decimals: int
) -> Iterator[tuple[str | None, str, str, tuple[Judgement, ...], tuple[()], Any]]:
    """Yield the fields of an item for each value that is asked for, with the wrong ones that single mistakes give."""
    circuit, elements = grader.circuit_of(grader.asked)
    for name, element, numbers in zip(grader.asked, elements, grader.exact, strict=True):
        right, key = _rounded(numbers, decimals), element.key
        mistaken = [element.of(values) for _, _, values in grader.mistakes(circuit)]
        texts = dict.fromkeys(_rounded(each, decimals) for each in mistaken if each)
        judged = (grader.judge([GivenArray(name, text)]).judged[0] for text in texts if text != right)
        wrong = islice((each for each in judged if not each.right and each.diagnoses), MOST_WRONG)
        (correct,) = grader.judge([GivenArray(name, right)]).judged
        layer = key[0] if sum(each[1] == key[1] for each in circuit.names) > 1 else None
        exact = correct.value and correct.value.exact
        yield layer, circuit.text(element), right, tuple(wrong), (), exact if numbers[1][1:] else numbers[1][0]


def _rounded(numbers: Numbers, decimals: int) -> str:
    """Return a value as text, all its numbers with so many decimals."""
    return re.sub(
        r"[-.0-9]+", lambda each: f"{round(float(each[0]), decimals) + 0.0:.{decimals}f}", written(numbers, 9)
    )
