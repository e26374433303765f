"""The names and shapes of all tensors, against those that the frameworks make for the same network."""

from math import prod
from typing import Any

import pytest
from conformance import with_torch
from conformance.drawing import cells, networks
from conformance.frameworks import FRAMEWORKS
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import LSTM, Dense, Embedding, Network, Output

pytestmark = pytest.mark.conformance

NAMING = [name for name, framework in FRAMEWORKS.items() if framework.names_tensors]
"""Those whose own names can be compared with ours; what ONNX Runtime refuses is in `test_onnx.py`."""


@pytest.mark.parametrize("convention", NAMING)
@given(data=st.data())
@settings(max_examples=30)
def test_every_tensor_is_the_frameworks(convention: str, data: st.DataObject) -> None:
    """Name by name and shape by shape, in every layer of any network the convention can express; so the total too."""
    network = data.draw(networks(convention))
    total = 0
    for place in network.stack:
        measured = FRAMEWORKS[convention].tensors(place)
        declared = [(tensor.name, tensor.shape) for tensor in place.tensors]
        assert sorted(declared) == sorted(measured.items()), place
        total += sum(map(prod, measured.values()))
    assert network.params == total


@given(cells("pytorch"), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=100)
def test_a_stack_is_the_module_with_so_many_layers(layer: Any, inputs: int, layers: int) -> None:
    """PyTorch's `num_layers` is rnncalc's `repeat`, tensor by tensor, under the names they have in the module."""
    stacked = layer.replace(repeat=layers, merge=None)  # within the module directions are always concatenated
    network = Network(input=inputs, layers=(stacked,), convention="pytorch")
    measured = with_torch.module(layer, inputs, layers=layers)
    declared = {tensor.name: tensor.shape for place in network.stack for tensor in place.tensors}
    assert declared == {name: tuple(array.shape) for name, array in measured.state_dict().items()}
    assert network.params == sum(parameter.numel() for parameter in measured.parameters())


@given(st.integers(1, 9), st.integers(1, 6), cells("pytorch"), st.booleans())
@settings(max_examples=100)
def test_a_tied_output_is_counted_once(vocabulary: int, width: int, layer: Any, bias: bool) -> None:
    """A PyTorch model whose last matrix is the embedding's has as many parameters."""
    first, output = Embedding(width), Output(vocabulary, bias=bias, tied=True)
    network = Network(input=vocabulary, layers=(first, layer, Dense(width)), output=output, convention="pytorch")
    model = with_torch.tied(first, list(network.stack[1:-1]), output, vocabulary)
    assert network.params == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("convention", NAMING)
def test_no_convention_passes_for_another(convention: str) -> None:
    """What one framework makes of an LSTM is not what rnncalc says of any other: the comparison can fail."""
    for other in ("textbook", *FRAMEWORKS):
        (place,) = Network(input=3, layers=(LSTM(2),), convention=other).stack
        declared = {tensor.name: tensor.shape for tensor in place.tensors}
        assert (declared == FRAMEWORKS[convention].tensors(place)) is (other == convention)
