"""Keras: which layer the variables of a Keras layer are, with and without the configuration that came with them."""

from collections.abc import Mapping
from typing import Any

import pytest
from questions.models.made import Shape, Shapes, module, site

from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.questions.models.site import Doubt

TOLD = {"activation": "tanh", "recurrent_activation": "sigmoid", "go_backwards": False, "return_sequences": True}
"""What the configuration of a recurrent layer says by default."""


def weights(gates: int, bias: Shape | None = None, mark: str = "") -> dict[str, Shape]:
    """Return the variables of a cell of 3 units over 4 features, as Keras documents them: input by output."""
    shapes: dict[str, Shape] = {f"{mark}kernel": (4, 3 * gates), f"{mark}recurrent_kernel": (3, 3 * gates)}
    return shapes if bias is None else {**shapes, f"{mark}bias": bias}


def both(gates: int, bias: Shape | None = None) -> dict[str, Shape]:
    return {**weights(gates, bias, "forward/"), **weights(gates, bias, "backward/")}


@pytest.mark.parametrize(
    ("shapes", "settings", "layer", "params"),
    [
        (weights(1, (3,)), {}, RNN(units=3), 3 * (4 + 3 + 1)),
        (weights(1), {}, RNN(units=3, bias=False), 3 * (4 + 3)),
        (weights(4, (12,)), {}, LSTM(units=3), 4 * 3 * (4 + 3 + 1)),
        (weights(4), {}, LSTM(units=3, bias=False), 4 * 3 * (4 + 3)),
        (weights(3, (2, 9)), {"reset_after": True}, GRU(units=3), 3 * 3 * (4 + 3 + 2)),
        (weights(3, (9,)), {"reset_after": False}, GRU(units=3, reset_after=False), 3 * 3 * (4 + 3 + 1)),
        (weights(3, (9,)), {}, GRU(units=3, reset_after=False), 3 * 3 * (4 + 3 + 1)),
        (weights(3), {"reset_after": True}, GRU(units=3, bias=False), 3 * 3 * (4 + 3)),
        (weights(3), {"reset_after": False}, GRU(units=3, bias=False, reset_after=False), 3 * 3 * (4 + 3)),
        (weights(3), {}, GRU(units=3, bias=False), 3 * 3 * (4 + 3)),
        (both(4, (12,)), {}, LSTM(units=3, bidirectional=True), 2 * 4 * 3 * (4 + 3 + 1)),
        (both(3, (2, 9)), {}, GRU(units=3, bidirectional=True), 2 * 3 * 3 * (4 + 3 + 2)),
        (both(3, (9,)), {}, GRU(units=3, bidirectional=True, reset_after=False), 2 * 3 * 3 * (4 + 3 + 1)),
        (both(1), {}, RNN(units=3, bidirectional=True, bias=False), 2 * 3 * (4 + 3)),
    ],
)
def test_a_cell_is_told_from_its_kernels_and_biases(
    shapes: Shapes, settings: Mapping[str, Any], layer: Layer, params: int
) -> None:
    """Its gates by the columns of the recurrent kernel, where the reset gate acts by the rows of the bias."""
    found = site("keras", module("cell", shapes, "", {**TOLD, **settings}))
    assert (found.layer, found.inputs, found.doubts) == (layer, 4, ())
    assert (found.path, found.number, found.params) == ("cell", 0, params)


@pytest.mark.parametrize("merge", ["concat", "sum", "mul", "ave", None])
def test_how_the_directions_join_is_told_by_the_configuration(merge: str | None) -> None:
    """`concat` is the default, and null hands on both apart: no layer of a spec says that otherwise."""
    found = site("keras", module("both", both(4, (12,)), "Bidirectional", {**TOLD, "merge_mode": merge}))
    told: Any = merge if merge in ("sum", "mul", "ave") else None
    assert found.layer == LSTM(units=3, bidirectional=True, merge=told)


def test_one_direction_has_nothing_to_join() -> None:
    """Whatever its configuration says."""
    found = site("keras", module("one", weights(4, (12,)), "LSTM", {**TOLD, "merge_mode": "sum"}))
    assert found.layer == LSTM(units=3)


@pytest.mark.parametrize(
    ("settings", "activation", "doubts"),
    [
        ({"activation": "tanh"}, "tanh", ()),
        ({"activation": "relu"}, "relu", ()),
        ({"activation": "linear"}, "linear", ()),
        ({"activation": "elu"}, None, (Doubt.ACTIVATION,)),
        ({"activation": None}, None, (Doubt.ACTIVATION,)),
        ({}, None, (Doubt.ACTIVATION,)),
    ],
)
def test_an_activation_is_taken_where_a_spec_has_it(
    settings: Mapping[str, Any], activation: str | None, doubts: tuple[Doubt, ...]
) -> None:
    """Of a cell and of a dense layer alike; one that is not told, or that no spec has, is doubted."""
    recurrent = site("keras", module("cell", weights(1, (3,)), "SimpleRNN", settings))
    dense = site("keras", module("fc", {"kernel": (4, 5), "bias": (5,)}, "Dense", settings))
    given: dict[str, Any] = {} if activation is None else {"activation": activation}
    assert (recurrent.layer, recurrent.doubts) == (RNN(units=3, **given), doubts)
    assert (dense.layer, dense.doubts) == (Dense(5, **given), doubts)


@pytest.mark.parametrize(
    ("settings", "doubts"),
    [
        ({**TOLD, "recurrent_activation": "hard_sigmoid"}, (Doubt.OTHERWISE,)),
        ({**TOLD, "go_backwards": True}, (Doubt.OTHERWISE,)),
        ({**TOLD, "go_backwards": True, "activation": "elu"}, (Doubt.ACTIVATION, Doubt.OTHERWISE)),
        ({"activation": "tanh"}, ()),
        ({"recurrent_activation": "hard_sigmoid"}, (Doubt.ACTIVATION, Doubt.OTHERWISE)),
    ],
)
def test_a_cell_that_computes_otherwise_is_doubted(settings: Mapping[str, Any], doubts: tuple[Doubt, ...]) -> None:
    """Gates through another function, or a sequence read backwards: as many weights, other numbers."""
    assert site("keras", module("cell", weights(4, (12,)), "LSTM", settings)).doubts == doubts


@pytest.mark.parametrize(
    ("shapes", "layer", "inputs", "params"),
    [
        ({"kernel": (4, 5), "bias": (5,)}, Dense(5, activation="softmax"), 4, 25),
        ({"kernel": (4, 5)}, Dense(5, bias=False, activation="softmax"), 4, 20),
        ({"embeddings": (20, 3)}, Embedding(3), 20, 60),
    ],
)
def test_a_layer_without_a_state(shapes: Shapes, layer: Layer, inputs: int, params: int) -> None:
    """A matrix with or without biases, and a table of vectors, which has no activation to doubt."""
    found = site("keras", module("one", shapes, "", {"activation": "softmax"}))
    assert (found.layer, found.inputs, found.doubts, found.params) == (layer, inputs, (), params)


@pytest.mark.parametrize(
    "shapes",
    [
        {"gamma": (4,), "beta": (4,)},
        {"kernel": (3, 4, 8), "bias": (8,)},
        {"kernel": (3, 3, 4, 12), "recurrent_kernel": (3, 3, 3, 12), "bias": (12,)},
        {"kernel": (4, 5), "bias": (2, 5)},
        {"kernel": (4, 5), "scale": (5,)},
        {"embeddings": (20, 3), "bias": (3,)},
        {"embeddings": (60,)},
        weights(2, (6,)),
        weights(4, (2, 12)),
        {**weights(4, (12,)), "scale": (3,)},
        {"kernel": (4, 12), "recurrent_kernel": (12,), "bias": (12,)},
        {"kernel": (4, 10), "recurrent_kernel": (3, 10), "bias": (10,)},
        {"kernel": (4, 0), "recurrent_kernel": (0, 0)},
        {**weights(4, (12,), "forward/"), **weights(3, (9,), "backward/")},
        {"0": (4, 12), "1": (3, 12), "2": (12,)},
    ],
)
def test_what_is_no_layer_that_is_known(shapes: Shapes) -> None:
    """Norms, convolutions, other numbers of gates, tensors too many or of another shape: counted, and not named."""
    found = site("keras", module("one", shapes, "", TOLD))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())
