"""How gradients meet the layers of a stack: in which chunks, and at which steps."""

from typing import Any

import pytest
from verified import backward

from rnncalc import (
    GRU,
    RNN,
    BatchNorm,
    Conv1D,
    Dense,
    Dropout,
    Embedding,
    LastStep,
    LayerNorm,
    Network,
    Output,
    Part,
    Pool1D,
    RepeatVector,
)
from rnncalc.questions.gradient_flow import Chunks, chunks_of


@pytest.mark.parametrize(
    ("steps", "chunk", "expected"),
    [
        (7, None, [(1, 7, True, True)]),
        (7, 9, [(1, 7, True, True)]),
        (7, 7, [(1, 7, True, True)]),
        (8, 4, [(1, 4, True, False), (1, 4, False, True)]),
        (7, 4, [(1, 4, True, False), (1, 3, False, True)]),
        (7, 3, [(1, 3, True, False), (1, 3, False, False), (1, 1, False, True)]),
        (9, 2, [(1, 2, True, False), (3, 2, False, False), (1, 1, False, True)]),
        (3, 1, [(1, 1, True, False), (1, 1, False, False), (1, 1, False, True)]),
        (1, 1, [(1, 1, True, True)]),
    ],
)
def test_the_chunks_of_a_sequence(steps: int, chunk: int | None, expected: list[tuple[int, int, bool, bool]]) -> None:
    """The first, those between, of which there are none, one or several, and what is left for the last."""
    assert [*chunks_of(steps, chunk)] == [Chunks(*each) for each in expected]


MANY: dict[str, Any] = {"topology": "many-to-many"}
ONE: dict[str, Any] = {"topology": "one-to-many"}
DECODER = Part(3, (RNN(4),), Output(1), steps=2)

NETWORKS = {
    "a convolution behind an encoder's cell": Network(
        encoder=Part(2, (RNN(4), Conv1D(3, 2)), steps=3), decoder=DECODER
    ),
    "windows around both cells": Network(
        encoder=Part(2, (Conv1D(3, 2), RNN(4), Pool1D(2)), steps=5),
        decoder=Part(3, (RNN(4), Pool1D(1, stride=2)), Output(1), steps=4),
    ),
    "two directions start one": Network(
        encoder=Part(2, (RNN(4, bidirectional=True),), steps=3), decoder=Part(3, (RNN(8),), Output(1), steps=2)
    ),
    "two frozen cells": Network(
        encoder=Part(2, (RNN(4, frozen=True),), steps=3),
        decoder=DECODER._replace(layers=(RNN(4, frozen=True), Dense(2))),
    ),
    "a frozen norm of one vector, then zeros": Network(
        input=5, layers=[Embedding(3), LayerNorm(frozen=True), Dense(2)], steps=3, **ONE
    ),
    "a frozen dense layer of one vector, then zeros": Network(
        input=5, layers=[Embedding(3), LayerNorm(), Dense(2, frozen=True)], steps=3, **ONE
    ),
    "every other step is read, behind one input": Network(
        input=5, layers=[Dense(3), RNN(2), Pool1D(1, stride=2)], steps=5, **ONE
    ),
    "two directions above a frozen layer": Network(
        input=5,
        layers=[Dense(3), Dense(3, frozen=True, activation="tanh"), RNN(2, bidirectional=True), Pool1D(1, stride=3)],
        steps=6,
        **MANY,
    ),
    "a sequence ends and begins again": Network(
        input=2, layers=[RNN(3), LastStep(), RepeatVector(4), RNN(2), Pool1D(1, stride=3)], steps=3, **MANY
    ),
    "learned states of a frozen cell": Network(
        input=2,
        layers=[RNN(3, learned_state=True, frozen=True), RNN(2, learned_state=True), Pool1D(2, stride=3)],
        steps=6,
    ),
    "nothing is trained below the output": Network(
        input=2,
        layers=[
            GRU(3, bidirectional=True, frozen=True, learned_state=True),
            BatchNorm(scale=False, center=False),
            LayerNorm(frozen=True),
        ],
        output=1,
        steps=4,
    ),
    "an activation that is fed back": Network(
        input=2, layers=[Dense(2, activation="relu"), Dropout(0.5)], steps=3, feedback=True, **ONE
    ),
    "features beside what is fed back": Network(
        input=2, layers=[RNN(2, extra_inputs=2)], output=2, steps=3, feedback=True, **ONE
    ),
    "an average behind a dense layer": Network(
        input=2, layers=[Dense(3), Pool1D(2, mode="average")], output=2, steps=5, **MANY
    ),
}


@pytest.mark.broad
@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_counted_is_what_a_backward_pass_reads_and_multiplies(name: str) -> None:
    """Of each layer: the loss reaches some steps of it, the gradient goes on below it or not."""
    assert all(layer.agrees for layer in backward(NETWORKS[name]).layers)
