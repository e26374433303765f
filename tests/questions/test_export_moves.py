"""How an input flows through a program: each case's moves are written out by hand."""

from functools import partial

import pytest

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Embedding, Layer, Network, Output, Part
from rnncalc.network.flow import Input
from rnncalc.questions.export import export
from rnncalc.questions.program import FedBack, LastStep, Module, ModuleCall, Move, OneStep, Program, Zeros


def said(move: Move) -> tuple[object, ...]:
    """Return a move with the names of modules in their place."""

    def name(value: object) -> object:
        if isinstance(value, Module):
            return value.name
        return tuple(map(name, value)) if isinstance(value, tuple) else value

    if isinstance(move, Input):
        return (Input, move.extra_of, move.shape) if move.extra_of else (Input, move.part, move.shape, move.tokens)
    return type(move), *map(name, move)


def moves(*layers: Layer, target: str = "pytorch", **given: object) -> list[tuple[object, ...]]:
    return [said(move) for move in export(Network(input=4, layers=layers, **given), target).moves]  # type: ignore[arg-type]


def apply(name: str, *shape: int | None, **others: object) -> tuple[object, ...]:
    """Return what is said of a module that is applied."""
    at = {"last": False, "kept": False, "unread": False, "looped": False, "start": None} | others
    return ModuleCall, name, shape, *at.values()


CASES = {
    "many-to-one ends at the last recurrent layer": (
        partial(moves, LSTM(3), GRU(5), output=2, steps=7),
        [
            (Input, None, (7, 4), False),
            apply("lstm_1", 7, 3),
            apply("gru_1", 5, last=True),
            apply("output", 2),
        ],
    ),
    "without a recurrent layer at the last one": (
        partial(moves, Dense(3), Dense(2), steps=7),
        [(Input, None, (7, 4), False), apply("dense_1", 7, 3), apply("dense_2", 7, 2), (LastStep, (2,))],
    ),
    "many-to-many goes on as it comes, its steps unknown": (
        partial(moves, RNN(3), output=2, topology="many-to-many"),
        [(Input, None, (None, 4), False), apply("rnn_1", None, 3), apply("output", None, 2)],
    ),
    "one-to-many begins at the first recurrent layer, with zeros after the one vector": (
        partial(moves, Dense(3), RNN(5, extra_inputs=2), output=2, steps=7, topology="one-to-many"),
        [
            (Input, None, (4,), False),
            apply("dense_1", 3),
            (Zeros, 3, 7),
            (Input, "rnn_1", (7, 2)),
            apply("rnn_1", 7, 5),
            apply("output", 7, 2),
        ],
    ),
    "without a recurrent layer at the first that is no table": (
        partial(moves, Embedding(3), Dense(5), steps=7, topology="one-to-many"),
        [(Input, None, (4,), True), apply("embedding_1", 3), (Zeros, 3, 7), apply("dense_1", 7, 5)],
    ),
    "where a table is all there is, zeros follow it": (
        partial(moves, Embedding(3), steps=7, topology="one-to-many"),
        [(Input, None, (4,), True), apply("embedding_1", 3), (Zeros, 3, 7)],
    ),
    "one-to-one is a sequence of one": (
        partial(moves, LSTM(3, extra_inputs=1), output=2, topology="one-to-one"),
        [
            (Input, None, (4,), False),
            (OneStep,),
            (Input, "lstm_1", (1, 1)),
            apply("lstm_1", 1, 3),
            apply("output", 1, 2),
            (LastStep, (2,)),
        ],
    ),
    "one-to-one, features beside a layer without recurrence": (
        partial(moves, Dense(3, extra_inputs=2), topology="one-to-one"),
        [
            (Input, None, (4,), False),
            (OneStep,),
            (Input, "dense_1", (1, 2)),
            apply("dense_1", 1, 3),
            (LastStep, (3,)),
        ],
    ),
    "features join before the sequence ends, at every step, and after it, once": (
        partial(moves, LSTM(3, extra_inputs=1), Dense(5, extra_inputs=2), steps=7),
        [
            (Input, None, (7, 4), False),
            (Input, "lstm_1", (7, 1)),
            apply("lstm_1", 3, last=True),
            (Input, "dense_1", (2,)),
            apply("dense_1", 5),
        ],
    ),
    "fed back, every module is applied in the loop, the recurrent ones from where they were": (
        partial(moves, RNN(3, extra_inputs=2), Dense(5), output=4, steps=7, topology="one-to-many", feedback=True),
        [
            (Input, None, (4,), False),
            (OneStep,),
            (FedBack, 7, ("rnn_1",), True),
            (Input, "rnn_1", (7, 2)),
            apply("rnn_1", 1, 3, looped=True),
            apply("dense_1", 1, 5),
            apply("output", 1, 4),
        ],
    ),
    "fed back without features beside, and without known steps": (
        partial(moves, RNN(3), output=4, topology="one-to-many", feedback=True),
        [
            (Input, None, (4,), False),
            (OneStep,),
            (FedBack, None, ("rnn_1",), False),
            apply("rnn_1", 1, 3, looped=True),
            apply("output", 1, 4),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_moves_of_a_network(name: str) -> None:
    """Where a sequence begins and ends, what joins it, and what shape goes on."""
    found, expected = CASES[name]
    assert found() == expected


def halves(*, dense: bool) -> Program:
    encoder = Part(6, (Embedding(3), LSTM(4), LSTM(4), *((Dense(2),) if dense else ())), steps=5)
    decoder = Part(2, (LSTM(4), LSTM(4)), Output(3), steps=7)
    return export(Network(encoder=encoder, decoder=decoder), "keras")


def test_the_moves_of_an_encoder_decoder() -> None:
    """Each recurrent layer of the decoder starts from the encoder's in its place; all else of the encoder is unread."""
    assert [said(move) for move in halves(dense=False).moves] == [
        (Input, "encoder", (5, 6), True),
        apply("embedding_1", 5, 3),
        apply("lstm_1", 5, 4, kept=True),
        apply("lstm_2", 4, last=True, kept=True, unread=True),
        (Input, "decoder", (7, 2), False),
        apply("lstm_3", 7, 4, start="lstm_1"),
        apply("lstm_4", 7, 4, start="lstm_2"),
        apply("output", 7, 3),
    ]


def test_what_follows_the_encoders_last_recurrent_layer_reads_it() -> None:
    """So it is not unread."""
    read = [said(move) for move in halves(dense=True).moves][3:5]
    assert read == [apply("lstm_2", 4, last=True, kept=True), apply("dense_1", 2)]


def test_a_cell_of_its_own_is_one_direction_from_zeros() -> None:
    """Directions and learned states are written around it, whatever it is called, however often it stands there."""
    options = {"bidirectional": True, "merge": "sum", "learned_state": True, "frozen": True, "name": "a"}
    layer = MGU(3, recurrence="diagonal", **options)  # type: ignore[arg-type]
    (module,) = export(Network(input=4, layers=[layer]), "pytorch").modules
    cell = module.cell
    assert cell is not None
    assert (cell.name, cell.options, cell.states, cell.output) == (
        "MGU",
        (("recurrence", "diagonal"),),
        (("h", "h"),),
        "h",
    )
    assert [(tensor.name, len(tensor.axes)) for tensor in cell.weights] == [
        ("W_xf", 2),
        ("W_xn", 2),
        ("W_hf", 1),
        ("W_hn", 1),
        ("b_f", 1),
        ("b_n", 1),
    ]
    assert module.params == 2 * (2 * 3 * (4 + 1 + 1) + 3)
    assert module.trainable == 0
