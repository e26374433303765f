"""ONNX Runtime as the judge of shapes: it runs what has ours, and refuses whatever is one off."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from conformance.drawing import cells
from conformance.with_onnx import judge, node, run_node
from hypothesis import given, settings
from hypothesis import strategies as st
from onnxruntime.capi import onnxruntime_pybind11_state as refusals

from rnncalc import GRU, LSTM, RNN, Dense, Embedding, Layer, Network

pytestmark = pytest.mark.conformance

REFUSED = (refusals.Fail, refusals.InvalidArgument, refusals.RuntimeException)
STEPS = 3


def alone(layer: Layer, inputs: int) -> Any:
    """Return the layer in its place in a network of one, and its shapes by name."""
    (place,) = Network(input=inputs, layers=(layer,), steps=STEPS, topology="many-to-many", convention="onnx").stack
    return place, {tensor.name: tensor.shape for tensor in place.tensors}


@given(cells("onnx"), st.integers(1, 6))
@settings(max_examples=100)
def test_the_shapes_of_any_cell_are_accepted(layer: Any, inputs: int) -> None:
    """Over both directions, biases, peepholes, learned states, activations and where the reset gate acts."""
    place, shapes = alone(layer.replace(merge=None), inputs)  # operators behind it merge two directions
    outputs, _ = judge(place, shapes, STEPS)
    assert (outputs.shape[0], outputs[0].size) == place.output_shape


@given(st.one_of(st.builds(Dense, st.integers(1, 6), bias=st.booleans()), st.builds(Embedding, st.integers(1, 6))))
@settings(max_examples=50)
def test_the_shapes_of_gemm_and_gather_are_accepted(layer: Any) -> None:
    """A dense layer and a look-up with the attributes ONNX gives them by default."""
    place, shapes = alone(layer, 4)
    (outputs,) = judge(place, shapes, STEPS)
    assert outputs.shape == place.output_shape


REPRESENTATIVE = [
    *(
        of
        for ways in (False, True)
        for of in (
            RNN(3, bidirectional=ways, learned_state=True),
            GRU(3, bidirectional=ways, learned_state=True),
            GRU(3, bidirectional=ways, learned_state=True, reset_after=True),
            LSTM(3, bidirectional=ways, learned_state=True, peepholes=True),
            LSTM(3, bidirectional=ways, bias=False),
        )
    ),
    Dense(3),
    Dense(3, bias=False),
    Embedding(3),
]


@pytest.mark.parametrize("layer", REPRESENTATIVE, ids=str)
def test_one_axis_one_off_is_refused(layer: Layer) -> None:
    """Of every tensor; ONNX Runtime finds the fault when it loads the model or when it runs it.

    A table with a row too many is the next test's: no look-up can miss by it.
    """
    place, shapes = alone(layer, 5)
    judge(place, shapes, STEPS)
    for name, shape in shapes.items():
        for axis, by in product(range(len(shape)), (-1, 1)):
            if (layer.kind, axis, by) == ("embedding", 0, 1):
                continue
            wrong = *shape[:axis], shape[axis] + by, *shape[axis + 1 :]
            with pytest.raises(REFUSED):
                judge(place, shapes | {name: wrong}, STEPS)


def test_a_table_has_no_row_too_many() -> None:
    """A token past the vocabulary is refused with our shape, which it would not be were the table a row longer."""
    place, shapes = alone(Embedding(3), 5)
    past = np.full(STEPS, 5, np.int64)
    with pytest.raises(REFUSED):
        run_node(node(place, STEPS), {"data": np.ones(shapes["data"])}, past)
    run_node(node(place, STEPS), {"data": np.ones((6, 3))}, past)
