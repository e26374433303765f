"""A guess is held against its framework's convention: what differs in one tensor is no such layer."""

import pytest
from questions.models.made import Shape, Shapes, cell, file, linear, module, site

from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.questions.models.site import expected, sites_of

KERAS = {"kernel": (4, 9), "recurrent_kernel": (3, 9), "bias": (2, 9)}
ONNX = {"W": (1, 9, 4), "R": (1, 9, 3), "B": (1, 18)}


@pytest.mark.parametrize(("framework", "shapes"), [("pytorch", cell(3, 4, 3)), ("keras", KERAS), ("onnx", ONNX)])
def test_every_framework_has_its_own_layout(framework: str, shapes: Shapes) -> None:
    """Of one GRU of 3 units over 4 features, that resets after the product: 3·3·(4 + 3 + 2) = 81 in each."""
    layer = GRU(units=3) if framework != "onnx" else GRU(units=3, reset_after=True)
    assert expected(layer, 4, framework) == shapes
    (found,) = sites_of(file(framework, module("rnn", shapes, "GRU", {"reset_after": True, "activation": "tanh"})))
    assert (found.params, found.shapes) == (81, shapes)


@pytest.mark.parametrize("leaf", [*cell(4, 4, 3)])
@pytest.mark.parametrize("more", [1, -1])
def test_a_tensor_of_another_shape_makes_another_layer_or_none(leaf: str, more: int) -> None:
    """No row too many or too few in any of them."""
    shapes: dict[str, Shape] = {**cell(4, 4, 3)}
    rows, *columns = shapes[leaf]
    found = site("pytorch", module("rnn", {**shapes, leaf: (rows + more, *columns)}))
    assert (found.layer, found.path, found.number) == (None, "rnn", 0)


@pytest.mark.parametrize(
    ("layer", "inputs", "framework"),
    [
        (LSTM(3), 0, "pytorch"),
        (LSTM(0), 4, "pytorch"),
        (LSTM(10**12 + 1), 4, "pytorch"),
        (LSTM(3, projection=3), 4, "pytorch"),
        (RNN(3, activation="sigmoid"), 4, "pytorch"),
        (LSTM(3, peepholes=True), 4, "keras"),
        (LSTM(3, projection=2), 4, "onnx"),
    ],
)
def test_a_layer_that_cannot_be_has_no_shapes(layer: Layer, inputs: int, framework: str) -> None:
    """Nothing to read, no units, more than a spec may have, or what the framework has no tensors for."""
    assert expected(layer, inputs, framework) is None


def test_the_smallest_layers_can_be() -> None:
    """One unit over one feature."""
    assert expected(LSTM(1), 1, "pytorch") == cell(4, 1, 1)
    assert site("pytorch", module("rnn", cell(4, 1, 1))).layer == LSTM(1)
    assert site("pytorch", module("fc", {"weight": (1, 0), "bias": (1,)})).layer is None


def test_sites_stand_as_the_modules_do() -> None:
    """One a module, and one for each layer that is stacked in it; what is not known is one as well."""
    stacked = {**cell(4, 4, 3), **cell(4, 3, 3, number=1)}
    modules = module("fc", linear(3, 5)), module("rnn", stacked), module("bn", {"weight": (4,)})
    found = sites_of(file("pytorch", *modules))
    assert [(site.path, site.number) for site in found] == [("fc", 0), ("rnn", 0), ("rnn", 1), ("bn", 0)]
    assert [site.params for site in found] == [20, 108, 96, 4]  # 5·3 + 5, 4·3·(4 + 3 + 2), 4·3·(3 + 3 + 2)
