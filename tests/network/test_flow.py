"""The flow: each network's moves are written out by hand."""

import json
from typing import Any

import pytest
from case_files import cases

from rnncalc import (
    GRU,
    LSTM,
    RNN,
    Conv1D,
    Dense,
    Dropout,
    Embedding,
    LastStep,
    Layer,
    LayerNorm,
    Network,
    Part,
    RepeatVector,
)
from rnncalc.network.flow import (
    Apply,
    Begin,
    Final,
    InitialState,
    Input,
    Last,
    Merge,
    Move,
    Placement,
    Recur,
    ends,
    shapes,
    turns,
)
from rnncalc.spec import parse


def line(move: Move) -> str:
    """Return a move as `flow.yaml` writes it: without what is as by default, and a layer by its name alone."""
    if isinstance(move, Placement):
        return " ".join((type(move).__name__, *map(str, move.reads), move.name))
    shape = ("x".join(map(str, move.shape)),) if isinstance(move, Input) else ()
    parts = {key: value for key, value in move.values().items() if key not in ("reads", "shape")}
    parts = {key: value for key, value in parts.items() if value != move.defaults.get(key)}
    words = [f"{key}={value}" for key, value in parts.items()]
    return " ".join((type(move).__name__, *map(str, move.reads), *shape, *words))


@pytest.mark.parametrize("case", cases("network/flow.yaml"), ids=lambda case: str(case["case"]))
def test_the_moves_of_a_network(case: dict[str, Any]) -> None:
    """Where a sequence begins and ends, what joins it, and what each move reads."""
    network = parse(json.dumps(case["spec"]).encode(), "spec").network
    assert [line(move) for move in network.flow] == case["moves"]


def test_an_embedding_alone_is_used_once() -> None:
    """Zeros follow it: one look-up, and only if nothing is after it is the whole sequence its output."""
    for output, shape in ((2, (3,)), (None, (7, 3))):
        network = Network(input=4, layers=[Embedding(3)], output=output, steps=7, topology="one-to-many")
        assert (network.stack[0].uses, network.stack[0].output_shape) == (1, shape)


def test_shapes_of_two_directions() -> None:
    """Side by side until they are merged; a state of both is as wide as two."""
    layer = LSTM(6, projection=3, bidirectional=True, merge="sum")
    decoder = Part(5, (LSTM(12, projection=6),), steps=2)
    moves = Network(encoder=Part(4, (layer,), steps=7), decoder=decoder).flow
    assert shapes(moves) == [(7, 4), (7, 6), (6,), (3,), (2, 5), (6,), (12,), (2, 6)]
    assert ends(moves) == {1: 3, 7: 7}


@pytest.mark.parametrize(
    ("layers", "begin", "end"),
    [
        ([RNN(3)], 0, 0),
        ([Dense(3), RNN(3), Dense(2), RNN(2), Dense(1)], 1, 3),
        ([Dense(3), Dense(2)], 0, 1),
        ([Embedding(3), Dense(2)], 1, 1),
        ([Embedding(3)], 1, 0),
    ],
)
def test_where_a_sequence_begins_and_ends(layers: list[Layer], begin: int, end: int) -> None:
    assert turns(layers, "one-to-many") == (begin, None)
    assert turns(layers, "many-to-one") == (None, end)
    assert turns(layers, "many-to-many") == turns(layers, "one-to-one") == (None, None)


def test_moves_of_other_kinds_differ() -> None:
    """A move equals only one of its own kind with the same fields."""
    moves: list[Move] = [Last((0,)), Merge((0,)), Begin((0,), None), Begin((0,), None, "output")]
    assert all((one == other) is (one is other) for one in moves for other in moves)


def test_the_dense_layers_that_make_states() -> None:
    """One for each state, both directions side by side, frozen as their layer is; each copy has its own."""
    cell = LSTM(4, projection=2, bidirectional=True, initial_state=5, repeat=2, frozen=True)
    network = Network(input=3, layers=[cell, Dropout(0.5)], steps=6, topology="many-to-many")
    h, c = Dense(4, frozen=True), Dense(8, frozen=True)
    assert network.flow == (
        Input((), None, (6, 3)),
        Input((), None, (5,), extra_of="lstm_1", starts=True),
        InitialState((1,), "lstm_1_h_0", h, None, 0, "lstm_1", "h"),
        InitialState((1,), "lstm_1_c_0", c, None, 0, "lstm_1", "c"),
        Recur((0, 2, 3), "lstm_1", cell, None, 0),
        Merge((4,), "concat"),
        Input((), None, (5,), extra_of="lstm_2", starts=True),
        InitialState((6,), "lstm_2_h_0", h, None, 1, "lstm_2", "h"),
        InitialState((6,), "lstm_2_c_0", c, None, 1, "lstm_2", "c"),
        Recur((5, 7, 8), "lstm_2", cell, None, 1),
        Merge((9,), "concat"),
        Apply((10,), "dropout_1", Dropout(0.5), None, 0),
    )


def test_the_dense_layers_between_two_halves() -> None:
    """Each reads the encoder's state of its letter, or else the first."""
    gru, lstm = GRU(4), LSTM(5, initial_state=4)
    assert Network(encoder=Part(2, (gru,)), decoder=Part(3, (lstm,))).flow == (
        Input((), "encoder", (None, 2)),
        Recur((0,), "gru_1", gru, "encoder", 0),
        Last((1,)),
        Input((), "decoder", (None, 3)),
        *(Final((1,), "h"), InitialState((4,), "lstm_1_h_0", Dense(5), "decoder", 0, "lstm_1", "h")),
        *(Final((1,), "h"), InitialState((6,), "lstm_1_c_0", Dense(5), "decoder", 0, "lstm_1", "c")),
        Recur((3, 5, 7), "lstm_1", lstm, "decoder", 0),
    )


@pytest.mark.parametrize(
    ("layers", "topology", "found"),
    [
        ([Conv1D(3, 2), RNN(4), LayerNorm()], "many-to-one", (None, 1)),
        ([RNN(4), Conv1D(3, 2), LayerNorm()], "many-to-one", (None, 1)),
        ([Conv1D(3, 2), LayerNorm()], "many-to-one", (None, 1)),
        ([RNN(4), LastStep()], "many-to-one", (None, None)),
        ([RNN(4), LastStep(), RepeatVector(3), RNN(2), Dense(1)], "many-to-one", (None, 3)),
        ([RNN(4), LastStep(), RepeatVector(3), Dense(1)], "many-to-one", (None, 3)),
        ([RNN(4), LastStep(), RepeatVector(3), RNN(2)], "many-to-many", (None, None)),
        ([Dense(4), RepeatVector(3), RNN(2)], "one-to-many", (None, None)),
    ],
)
def test_layers_that_begin_or_end_a_sequence_themselves(
    layers: list[Layer], topology: str, found: tuple[int | None, int | None]
) -> None:
    """What is after the last that begins one decides where it ends."""
    assert turns(layers, topology) == found
