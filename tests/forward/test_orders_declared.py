"""Each binding holds the order that is declared of every fused tensor against its framework's, one by one."""

from collections.abc import Iterator
from random import Random

import pytest

from rnncalc import GRU, LSTM, RNN, Cell, Network
from rnncalc.forward.arrays import Arrays, BindingError, filled
from rnncalc.forward.bindings import binding

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
