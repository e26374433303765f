"""In which order gates lie in fused tensors, as the frameworks' documentation has it."""

from collections.abc import Iterator
from random import Random

import pytest

from rnncalc import GRU, LSTM, RNN, Cell, Network
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
