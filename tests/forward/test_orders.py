"""In which order gates lie in fused tensors, and when a gate resets, as the frameworks' documentation has it."""

from collections.abc import Iterator
from math import exp, tanh
from random import Random
from typing import Any

import pytest

from rnncalc import GRU, LSTM, MGU, RNN, Cell, Network, run
from rnncalc.forward.arrays import Arrays, BindingError, filled
from rnncalc.forward.bindings import binding

ORDERS = [
    ("pytorch", GRU(3), {"weight_ih_l0": "rzn", "weight_hh_l0": "rzn", "bias_ih_l0": "rzn", "bias_hh_l0": "rzn"}),
    ("pytorch", LSTM(3), {"weight_ih_l0": "ifgo", "weight_hh_l0": "ifgo", "bias_ih_l0": "ifgo", "bias_hh_l0": "ifgo"}),
    ("keras", GRU(3), {"kernel": "zrn", "recurrent_kernel": "zrn", "bias": "zrn"}),
    ("keras", LSTM(3), {"kernel": "ifgo", "recurrent_kernel": "ifgo", "bias": "ifgo"}),
    ("flax-nnx", GRU(3), {"dense_i/kernel": "rzn", "dense_h/kernel": "rzn", "dense_i/bias": "rzn"}),
    ("onnx", GRU(3), {"W": "zrn", "R": "zrn", "B": "zrn"}),
    ("onnx", LSTM(3, peepholes=True), {"W": "iofg", "R": "iofg", "B": "iofg", "P": "iof"}),
]


@pytest.mark.parametrize(("convention", "layer", "orders"), ORDERS, ids=str)
def test_gates_lie_in_the_documented_order(convention: str, layer: Cell, orders: dict[str, str]) -> None:
    """What a convention declares of each fused tensor, by its name."""
    (placed,) = Network(input=2, layers=(layer,), convention=convention).stack
    assert {tensor.name: tensor.gates for tensor in placed.tensors} == orders


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


X, H = {"r": 0.3, "z": -0.4, "n": 0.5}, {"r": -0.6, "z": 0.7, "n": 0.8}
BX, BH = {"r": 0.1, "z": 0.2, "n": -0.3}, {"r": 0.15, "z": -0.25, "n": 0.9}


def gru(reset_after: bool) -> float:
    """Return the state of a GRU of one unit after the inputs 1 and 2, written out."""
    h = 0.0
    for x in (1.0, 2.0):
        r, z = (sigmoid(X[gate] * x + BX[gate] + H[gate] * h + BH[gate]) for gate in "rz")
        past = r * (H["n"] * h + BH["n"]) if reset_after else H["n"] * (r * h) + BH["n"]
        n = tanh(X["n"] * x + BX["n"] + past)
        h = (1 - z) * n + z * h
    return h


def fused(of: dict[str, float], order: str) -> list[float]:
    return [of[gate] for gate in order]


WEIGHTS: dict[str, dict[str, Any]] = {
    "pytorch": {
        "weight_ih_l0": [[number] for number in fused(X, "rzn")],
        "weight_hh_l0": [[number] for number in fused(H, "rzn")],
        "bias_ih_l0": fused(BX, "rzn"),
        "bias_hh_l0": fused(BH, "rzn"),
    },
    "keras": {
        "kernel": [fused(X, "zrn")],
        "recurrent_kernel": [fused(H, "zrn")],
        "bias": [fused(BX, "zrn"), fused(BH, "zrn")],
    },
    "onnx": {
        "W": [[[number] for number in fused(X, "zrn")]],
        "R": [[[number] for number in fused(H, "zrn")]],
        "B": [fused(BX, "zrn") + fused(BH, "zrn")],
    },
    "flax-linen": {
        **{f"i{gate}/kernel": [[X[gate]]] for gate in "rzn"},
        **{f"h{gate}/kernel": [[H[gate]]] for gate in "rzn"},
        **{f"i{gate}/bias": [BX[gate] + BH[gate]] for gate in "rz"},
        "in/bias": [BX["n"]],
        "hn/bias": [BH["n"]],
    },
}


@pytest.mark.parametrize(
    ("convention", "chosen", "reset_after"),
    [
        ("pytorch", None, True),
        ("pytorch", True, True),
        ("keras", None, True),
        ("flax-linen", None, True),
        ("onnx", None, False),
        ("onnx", True, True),
    ],
)
def test_a_gru_resets_where_its_framework_does(convention: str, chosen: bool | None, reset_after: bool) -> None:
    """One unit and two steps, by hand, with another bias on each side of every gate."""
    network = Network(input=1, layers=(GRU(1, reset_after=chosen),), convention=convention, steps=2)
    result = run(network, weights={"gru_1": WEIGHTS[convention]}, inputs={None: [[1.0], [2.0]]})
    assert result.agrees
    assert result.outputs == pytest.approx([gru(reset_after)])
    assert gru(reset_after=True) != pytest.approx(gru(reset_after=False))


def test_the_gate_of_flax_keeps_the_old_state() -> None:
    """An MGU of one unit and two steps, by hand; the textbook's gate replaces it."""
    h = 0.0
    for x in (1.0, 2.0):
        f = sigmoid(X["r"] * x + BX["r"] + H["r"] * h)
        n = tanh(X["n"] * x + BX["n"] + f * (H["n"] * h + BH["n"]))
        h = (1 - f) * n + f * h
    weights = {
        "if/kernel": [[X["r"]]],
        "in/kernel": [[X["n"]]],
        "hf/kernel": [[H["r"]]],
        "hn/kernel": [[H["n"]]],
        "if/bias": [BX["r"]],
        "in/bias": [BX["n"]],
        "hn/bias": [BH["n"]],
    }
    network = Network(input=1, layers=(MGU(1),), convention="flax-linen", steps=2)
    result = run(network, weights={"mgu_1": weights}, inputs={None: [[1.0], [2.0]]})
    assert result.agrees
    assert result.outputs == pytest.approx([h])


LAYERS: list[Cell] = [
    RNN(2, learned_state=True),
    GRU(2),
    GRU(2, reset_after=False),
    LSTM(2, bidirectional=True),
    LSTM(2, peepholes=True),
    LSTM(2, projection=1),
]
FRAMEWORKS = ("pytorch", "keras", "flax-nnx", "onnx")


def cases() -> Iterator[tuple[str, Cell, str]]:
    """Yield the fused tensors of each layer under each framework that has it."""
    for convention in FRAMEWORKS:
        for layer in LAYERS:
            try:
                (placed,) = Network(input=3, layers=[layer], convention=convention).stack
            except ValueError:  # which it cannot express
                continue
            for tensor in placed.tensors:
                if len(tensor.gates) > 1:
                    yield convention, layer, tensor.name


@pytest.mark.parametrize(("convention", "layer", "name"), [*cases()], ids=str)
def test_another_order_is_refused(convention: str, layer: Cell, name: str) -> None:
    """Both orders are said, the framework's and the one that is declared."""
    (placed,) = Network(input=3, layers=[layer], convention=convention).stack
    given = {tensor.name: filled(tensor, 1.0, Random(0).random) for tensor in placed.tensors}
    directions = [False, True] if layer.bidirectional else [False]
    for backward in directions:
        binding(convention).cell(Arrays(given, placed.tensors), layer, 3, backward)
    (order,) = (tensor.gates for tensor in placed.tensors if tensor.name == name)
    turned = [tensor._replace(gates=order[::-1]) if tensor.name == name else tensor for tensor in placed.tensors]
    said = []
    for backward in directions:
        try:
            binding(convention).cell(Arrays(given, turned), layer, 3, backward)
        except BindingError as lack:
            said.append(str(lack))
    assert {*said} == {f"{name}: the gates lie in it as {order}, and {order[::-1]} is declared"}


def test_there_are_such_tensors() -> None:
    """In each framework, and the peepholes, biases and both matrices of ONNX among them."""
    found = [*cases()]
    assert {convention for convention, _, _ in found} == {*FRAMEWORKS}
    assert {name for convention, _, name in found if convention == "onnx"} == {"W", "R", "B", "P"}
