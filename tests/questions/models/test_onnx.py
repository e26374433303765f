"""ONNX: which layer an operator is, by the tensors it reads and the attributes that say how it computes."""

from collections.abc import Mapping
from typing import Any

import pytest
from questions.models.made import Shape, Shapes, module, site

from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.questions.models.site import Doubt

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
"""What the operators go through by default, of one direction."""


def weights(kind: str, ways: int = 1, *, bias: bool = True) -> dict[str, Shape]:
    """Return what an operator of 3 units over 4 features reads, as ONNX documents it: directions in front."""
    rows = GATES[kind] * 3
    shapes: dict[str, Shape] = {"W": (ways, rows, 4), "R": (ways, rows, 3)}
    return {**shapes, "B": (ways, 2 * rows)} if bias else shapes


@pytest.mark.parametrize(
    ("kind", "shapes", "layer", "params"),
    [
        ("RNN", weights("RNN"), RNN(units=3), 3 * (4 + 3 + 2)),
        ("GRU", weights("GRU"), GRU(units=3), 3 * 3 * (4 + 3 + 2)),
        ("LSTM", weights("LSTM"), LSTM(units=3), 4 * 3 * (4 + 3 + 2)),
        ("RNN", weights("RNN", bias=False), RNN(units=3, bias=False), 3 * (4 + 3)),
        ("LSTM", weights("LSTM", bias=False), LSTM(units=3, bias=False), 4 * 3 * (4 + 3)),
        ("GRU", weights("GRU", 2), GRU(units=3, bidirectional=True), 2 * 3 * 3 * (4 + 3 + 2)),
        ("LSTM", weights("LSTM", 2), LSTM(units=3, bidirectional=True), 2 * 4 * 3 * (4 + 3 + 2)),
        ("LSTM", {**weights("LSTM"), "P": (1, 9)}, LSTM(units=3, peepholes=True), 4 * 3 * (4 + 3 + 2) + 3 * 3),
        ("GRU", {**weights("GRU"), "initial_h": (1, 1, 3)}, GRU(units=3, learned_state=True), 81 + 3),
        (
            "LSTM",
            {**weights("LSTM"), "initial_h": (1, 1, 3), "initial_c": (1, 1, 3)},
            LSTM(units=3, learned_state=True),
            4 * 3 * (4 + 3 + 2) + 2 * 3,
        ),
    ],
)
def test_an_operator_is_a_cell(kind: str, shapes: Shapes, layer: Layer, params: int) -> None:
    """With its directions, biases, peepholes and a state before the first step, each by the input that it is."""
    found = site("onnx", module("node", shapes, kind, {"hidden_size": [3]}))
    assert (found.layer, found.inputs, found.doubts) == (layer, 4, ())
    assert (found.path, found.number, found.params) == ("node", 0, params)


@pytest.mark.parametrize(
    ("said", "after"), [({"linear_before_reset": [1]}, True), ({"linear_before_reset": [0]}, None)]
)
def test_where_a_reset_gate_acts_is_an_attribute(said: Mapping[str, Any], after: bool | None) -> None:
    """The biases are the same in number; another cell has no such gate, whatever it says."""
    assert site("onnx", module("node", weights("GRU"), "GRU", said)).layer == GRU(units=3, reset_after=after)
    assert site("onnx", module("node", weights("LSTM"), "LSTM", said)).layer == LSTM(units=3)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize(
    ("word", "activation"),
    [("Tanh", "tanh"), ("Relu", "relu"), ("Sigmoid", "sigmoid"), ("Affine", "linear"), ("tanh", "tanh")],
)
def test_an_activation_is_the_one_behind_those_of_the_gates(kind: str, word: str, activation: Any) -> None:
    """In capitals or not, of one direction or of both alike."""
    made: Any = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}[kind]
    of_one = [word if name == "Tanh" else name for name in FUNCTIONS[kind]]
    one = site("onnx", module("node", weights(kind), kind, {"activations": of_one}))
    two = site("onnx", module("node", weights(kind, 2), kind, {"activations": [*of_one, *of_one]}))
    assert (one.layer, one.doubts) == (made(units=3, activation=activation), ())
    assert (two.layer, two.doubts) == (made(units=3, activation=activation, bidirectional=True), ())


@pytest.mark.parametrize(
    ("kind", "said", "doubts"),
    [
        ("RNN", {"activations": ["Elu"]}, (Doubt.ACTIVATION,)),
        ("GRU", {"activations": ["Sigmoid", "Elu"]}, (Doubt.ACTIVATION,)),
        ("LSTM", {"activations": ["Sigmoid", "Elu", "Elu"]}, (Doubt.ACTIVATION,)),
        ("LSTM", {"activations": ["Sigmoid"]}, (Doubt.ACTIVATION, Doubt.OTHERWISE)),
        ("LSTM", {"activations": ["Sigmoid", "Tanh", "Relu"]}, (Doubt.OTHERWISE,)),
        ("LSTM", {"activations": ["HardSigmoid", "Tanh", "Tanh"]}, (Doubt.OTHERWISE,)),
        ("GRU", {"activations": ["HardSigmoid", "Tanh"]}, (Doubt.OTHERWISE,)),
        ("LSTM", {"input_forget": [1]}, (Doubt.OTHERWISE,)),
        ("RNN", {"clip": [3.0]}, (Doubt.OTHERWISE,)),
        ("LSTM", {"input_forget": [0]}, ()),
        ("GRU", {"direction": ["reverse"]}, (Doubt.OTHERWISE,)),
        ("GRU", {"direction": ["forward"]}, ()),
        ("GRU", {"direction": ["reverse"], "activations": ["Sigmoid", "Elu"]}, (Doubt.ACTIVATION, Doubt.OTHERWISE)),
        ("GRU", {"activations": [1, 2]}, (Doubt.ACTIVATION, Doubt.OTHERWISE)),
    ],
)
def test_an_operator_that_computes_otherwise_is_doubted(
    kind: str, said: Mapping[str, Any], doubts: tuple[Doubt, ...]
) -> None:
    """Functions that no spec has, gates that are coupled, a sequence read backwards: as many weights, other numbers."""
    found = site("onnx", module("node", weights(kind), kind, said))
    assert found.layer == {"RNN": RNN(units=3), "GRU": GRU(units=3), "LSTM": LSTM(units=3)}[kind]
    assert found.doubts == doubts


@pytest.mark.parametrize(
    ("kind", "functions", "doubts"),
    [
        ("RNN", ["Tanh", "Relu"], (Doubt.OTHERWISE,)),
        ("GRU", ["Sigmoid", "Tanh", "Sigmoid", "Relu"], (Doubt.OTHERWISE,)),
        ("GRU", ["Sigmoid", "Tanh", "HardSigmoid", "Tanh"], (Doubt.OTHERWISE,)),
        ("LSTM", ["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"], ()),
    ],
)
def test_directions_that_differ_are_doubted(kind: str, functions: list[str], doubts: tuple[Doubt, ...]) -> None:
    """A layer of a spec has the same functions in both; the first direction's are taken."""
    said = {"direction": ["bidirectional"], "activations": functions}
    found = site("onnx", module("node", weights(kind, 2), kind, said))
    made: Any = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}[kind]
    assert (found.layer, found.doubts) == (made(units=3, bidirectional=True), doubts)


@pytest.mark.parametrize(
    ("kind", "shapes", "layer", "inputs", "doubts", "params"),
    [
        ("Gemm", {"B": (4, 5), "C": (5,)}, Dense(5), 4, (Doubt.ACTIVATION,), 25),
        ("Gemm", {"B": (4, 5)}, Dense(5, bias=False), 4, (Doubt.ACTIVATION,), 20),
        ("MatMul", {"B": (4, 5)}, Dense(5, bias=False), 4, (Doubt.ACTIVATION,), 20),
        ("MatMul", {"B": (4, 5), "C": (5,)}, Dense(5), 4, (Doubt.ACTIVATION,), 25),
        ("Gather", {"data": (20, 3)}, Embedding(3), 20, (), 60),
    ],
)
def test_an_operator_without_a_state(
    kind: str, shapes: Shapes, layer: Layer, inputs: int, doubts: tuple[Doubt, ...], params: int
) -> None:
    """Products are dense layers, whose activation is an operator by itself; a look-up is a table."""
    found = site("onnx", module("node", shapes, kind))
    assert (found.layer, found.inputs, found.doubts, found.params) == (layer, inputs, doubts, params)


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("", {"B": (4, 5)}),
        ("Add", {"B": (4, 5)}),
        ("Conv", {"W": (8, 4, 3)}),
        ("Gather", {"data": (20,)}),
        ("Gather", {"data": (20, 3, 2)}),
        ("MatMul", {"B": (2, 4, 5)}),
        ("MatMul", {"C": (5,)}),
        ("Gemm", {"B": (4, 5), "C": (1,)}),
        ("", weights("LSTM")),
        ("GRU", weights("LSTM")),
        ("LSTM", {"R": (1, 12, 3)}),
        ("LSTM", {"W": (1, 12, 4)}),
        ("LSTM", {"W": (12, 4), "R": (1, 12, 3)}),
        ("LSTM", {"W": (1, 12, 4), "R": (12, 3)}),
        ("LSTM", {**weights("LSTM"), "B": (1, 12)}),
        ("LSTM", {**weights("LSTM"), "initial_h": (1, 1, 3)}),
        ("GRU", {**weights("GRU"), "P": (1, 9)}),
        ("LSTM", weights("LSTM", 3)),
    ],
)
def test_what_is_no_layer_that_is_known(kind: str, shapes: Shapes) -> None:
    """Another operator, inputs that are not weights, too few of them or of another shape: counted, and not named."""
    found = site("onnx", module("node", shapes, kind))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())
