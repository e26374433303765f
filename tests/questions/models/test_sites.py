"""Which layer the tensors of a module are: guessed framework by framework, and compared with the convention."""

from collections.abc import Mapping
from typing import Any

import pytest
from questions.models.made import Shape, Shapes, cell, file, linear, module, site, tensor

from rnncalc.layers.conv_lstm import ConvLSTM
from rnncalc.layers.convolution import Conv1D
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.layers.rnn import RNN
from rnncalc.questions.models.sites import Doubt, expected, in_groups, sites_of

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


def both(gates: int) -> dict[str, Shape]:
    return {**cell(gates, 4, 3), **cell(gates, 4, 3, mark="_reverse")}


def projected(mark: str = "") -> dict[str, Shape]:
    """Return the tensors of an LSTM of 3 units that outputs 2 numbers."""
    shapes = {"weight_ih_l0": (12, 4), "weight_hh_l0": (12, 2), "weight_hr_l0": (2, 3)}
    return {f"{name}{mark}": shape for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("shapes", "layer", "doubts", "params"),
    [
        (cell(1, 4, 3), RNN(units=3), (Doubt.RECURRENT_ACTIVATION,), 3 * (4 + 3 + 2)),
        (cell(3, 4, 3), GRU(units=3), (), 3 * 3 * (4 + 3 + 2)),
        (cell(4, 4, 3), LSTM(units=3), (), 4 * 3 * (4 + 3 + 2)),
        (cell(4, 4, 3, bias=False), LSTM(units=3, bias=False), (), 4 * 3 * (4 + 3)),
        (both(4), LSTM(units=3, bidirectional=True), (), 2 * 4 * 3 * (4 + 3 + 2)),
        (both(3), GRU(units=3, bidirectional=True), (), 2 * 3 * 3 * (4 + 3 + 2)),
        (projected(), LSTM(units=3, bias=False, projection=2), (), 4 * 3 * (4 + 2) + 2 * 3),
        (
            {**projected(), **projected("_reverse")},
            LSTM(units=3, bias=False, projection=2, bidirectional=True),
            (),
            2 * (4 * 3 * (4 + 2) + 2 * 3),
        ),
    ],
)
def test_a_cell_is_told_from_the_rows_of_its_matrices(
    shapes: Shapes, layer: Layer, doubts: tuple[Doubt, ...], params: int
) -> None:
    """An RNN's may be through relu as well, which no tensor tells."""
    found = site("pytorch", module("rnn", shapes))
    assert (found.layer, found.inputs, found.doubts, found.params) == (layer, 4, doubts, params)
    assert (found.path, found.number) == ("rnn", 0)


def test_a_cell_of_one_step() -> None:
    """LSTMCell and its like have the same tensors without the number of a layer, and they are held as layer 0's."""
    shapes = {name.removesuffix("_l0"): shape for name, shape in cell(4, 4, 3).items()}
    found = site("pytorch", module("rnn", shapes))
    assert (found.layer, found.inputs, found.number) == (LSTM(units=3), 4, 0)
    assert found.shapes == cell(4, 4, 3)
    assert found.tensors["bias_hh_l0"].name == "rnn.bias_hh"


def test_stacked_layers_are_sites_of_their_own() -> None:
    """Each with its number, in the order of the numbers and not of the tensors, under the names of one by itself."""
    shapes = {
        **{name: shape for number in (10, 2, 1) for name, shape in cell(3, 3, 3, number=number).items()},
        **cell(3, 4, 3),
        **linear(3, 5),
    }
    found = sites_of(file("pytorch", module("rnn", shapes)))
    assert [site.number for site in found] == [0, 1, 2, 10, 0]
    assert [site.inputs for site in found] == [4, 3, 3, 3, 3]
    assert [site.layer for site in found] == [*[GRU(units=3)] * 4, Dense(5)]
    assert found[3].tensors["weight_ih_l0"].name == "rnn.weight_ih_l10"
    assert [site.params for site in found] == [81, 72, 72, 72, 20]  # 3·3·(4 + 3 + 2), 3·3·(3 + 3 + 2), 5·3 + 5


@pytest.mark.parametrize("path", ["embedding", "encoder.Embed", "lookup", "wte", "vocab", "tokens"])
def test_a_matrix_that_is_called_a_table_is_one(path: str) -> None:
    """Its rows are the words."""
    found = site("pytorch", module(path, {"weight": (20, 3)}))
    assert (found.layer, found.inputs, found.doubts, found.params) == (Embedding(3), 20, (), 60)


@pytest.mark.parametrize("path", ["", "0", "fc"])
def test_a_matrix_by_itself_is_a_dense_layer_with_a_doubt(path: str) -> None:
    """Its rows are the units; it may be a table all the same."""
    found = site("pytorch", module(path, {"weight": (20, 3)}))
    assert (found.layer, found.inputs) == (Dense(20, bias=False), 3)
    assert found.doubts == (Doubt.ACTIVATION, Doubt.TABLE)


def test_a_matrix_with_biases_is_a_dense_layer() -> None:
    """Whatever it is called; its activation is a function, and no tensor."""
    found = site("pytorch", module("embedding", linear(3, 5)))
    assert (found.layer, found.inputs, found.doubts, found.params) == (Dense(5), 3, (Doubt.ACTIVATION,), 20)


@pytest.mark.parametrize(
    "shapes",
    [
        {"weight": (4,), "bias": (5,)},
        {"weight": (4,)},
        {"weight": (8, 4, 3), "bias": (4,)},
        {"weight": (8, 4, 3, 3), "bias": (8,)},
        {"weight": (5, 3), "bias": (5,), "scale": (5,)},
        {"weight": (5, 3), "bias": (3,)},
        {"alpha": (5, 3)},
        cell(2, 4, 3),
        dict([*cell(4, 4, 3).items()][:-1]),
        {**cell(4, 4, 3), "bias_hh_l0": (9,)},
        {"weight_ih_l0": (12, 4)},
        {"weight_hh_l0": (12, 3)},
        {"weight_ih_l0": (12, 4, 1), "weight_hh_l0": (12, 3)},
        {"weight_ih_l0": (12, 4), "weight_hh_l0": (36,)},
        {"weight_ih_l0": (10, 4), "weight_hh_l0": (10, 3)},
        {"weight_ih_l0": (0, 4), "weight_hh_l0": (0, 0)},
        {**projected(), "weight_hr_l0": (6,)},
        {"weight_ih_l0": (9, 4), "weight_hh_l0": (9, 2), "weight_hr_l0": (2, 3)},  # a GRU has no projection
        {**cell(4, 4, 3), "weight_hh_l0_reverse": (12, 3)},
    ],
)
def test_what_is_no_layer_of_pytorch(shapes: Shapes) -> None:
    """Convolutions over two axes, other numbers of gates, tensors too many, too few or of another shape."""
    found = site("pytorch", module("embedding", shapes))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())


@pytest.mark.parametrize("name", ["xweight_ih_l0", "weight_ih_l0x", "weight_ih_l123456", "weight_ih_l"])
def test_a_name_that_only_looks_like_a_cells(name: str) -> None:
    """Is what else there is in the module, under its own name."""
    assert site("pytorch", module("rnn", {name: (12, 4)})).shapes == {name: (12, 4)}


TOLD = {"activation": "tanh", "recurrent_activation": "sigmoid", "go_backwards": False, "return_sequences": True}
"""What the configuration of a recurrent layer says by default."""


def keras_weights(gates: int, bias: Shape | None = None, mark: str = "") -> dict[str, Shape]:
    """Return the variables of a cell of 3 units over 4 features, as Keras documents them: input by output."""
    shapes: dict[str, Shape] = {f"{mark}kernel": (4, 3 * gates), f"{mark}recurrent_kernel": (3, 3 * gates)}
    return shapes if bias is None else {**shapes, f"{mark}bias": bias}


def keras_both(gates: int, bias: Shape | None = None) -> dict[str, Shape]:
    return {**keras_weights(gates, bias, "forward/"), **keras_weights(gates, bias, "backward/")}


@pytest.mark.parametrize(
    ("shapes", "settings", "layer", "params"),
    [
        (keras_weights(1, (3,)), {}, RNN(units=3), 3 * (4 + 3 + 1)),
        (keras_weights(1), {}, RNN(units=3, bias=False), 3 * (4 + 3)),
        (keras_weights(4, (12,)), {}, LSTM(units=3), 4 * 3 * (4 + 3 + 1)),
        (keras_weights(4), {}, LSTM(units=3, bias=False), 4 * 3 * (4 + 3)),
        (keras_weights(3, (2, 9)), {"reset_after": True}, GRU(units=3), 3 * 3 * (4 + 3 + 2)),
        (keras_weights(3, (9,)), {"reset_after": False}, GRU(units=3, reset_after=False), 3 * 3 * (4 + 3 + 1)),
        (keras_weights(3, (9,)), {}, GRU(units=3, reset_after=False), 3 * 3 * (4 + 3 + 1)),
        (keras_weights(3), {"reset_after": True}, GRU(units=3, bias=False), 3 * 3 * (4 + 3)),
        (keras_weights(3), {"reset_after": False}, GRU(units=3, bias=False, reset_after=False), 3 * 3 * (4 + 3)),
        (keras_weights(3), {}, GRU(units=3, bias=False), 3 * 3 * (4 + 3)),
        (keras_both(4, (12,)), {}, LSTM(units=3, bidirectional=True), 2 * 4 * 3 * (4 + 3 + 1)),
        (keras_both(3, (2, 9)), {}, GRU(units=3, bidirectional=True), 2 * 3 * 3 * (4 + 3 + 2)),
        (keras_both(3, (9,)), {}, GRU(units=3, bidirectional=True, reset_after=False), 2 * 3 * 3 * (4 + 3 + 1)),
        (keras_both(1), {}, RNN(units=3, bidirectional=True, bias=False), 2 * 3 * (4 + 3)),
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
    """`concat` is the default, and null outputs both apart: no layer of a spec says that otherwise."""
    found = site("keras", module("both", keras_both(4, (12,)), "Bidirectional", {**TOLD, "merge_mode": merge}))
    told: Any = merge if merge in ("sum", "mul", "ave") else None
    assert found.layer == LSTM(units=3, bidirectional=True, merge=told)


def test_one_direction_has_nothing_to_join() -> None:
    """Whatever its configuration says."""
    found = site("keras", module("one", keras_weights(4, (12,)), "LSTM", {**TOLD, "merge_mode": "sum"}))
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
    recurrent = site("keras", module("cell", keras_weights(1, (3,)), "SimpleRNN", settings))
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
    assert site("keras", module("cell", keras_weights(4, (12,)), "LSTM", settings)).doubts == doubts


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
        {"gamma": (4, 2), "beta": (4, 2)},
        {"gamma": (4,), "beta": (5,)},
        {"kernel": (3, 4, 8), "bias": (4,)},
        {"kernel": (3, 3, 4, 8), "bias": (8,)},
        {"kernel": (3, 3, 4, 12), "recurrent_kernel": (3, 3, 3, 12), "bias": (12,)},
        {"kernel": (4, 5), "bias": (2, 5)},
        {"kernel": (4, 5), "scale": (5,)},
        {"embeddings": (20, 3), "bias": (3,)},
        {"embeddings": (60,)},
        keras_weights(2, (6,)),
        keras_weights(4, (2, 12)),
        {**keras_weights(4, (12,)), "scale": (3,)},
        {"kernel": (4, 12), "recurrent_kernel": (12,), "bias": (12,)},
        {"kernel": (4, 10), "recurrent_kernel": (3, 10), "bias": (10,)},
        {"kernel": (4, 0), "recurrent_kernel": (0, 0)},
        {**keras_weights(4, (12,), "forward/"), **keras_weights(3, (9,), "backward/")},
        {"0": (4, 12), "1": (3, 12), "2": (12,)},
    ],
)
def test_what_is_no_layer_of_keras(shapes: Shapes) -> None:
    """Convolutions over two axes, other numbers of gates, tensors too many or of another shape: counted, not named."""
    found = site("keras", module("one", shapes, "", TOLD))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())


STATISTICS = {"running_mean": (4,), "running_var": (4,), "num_batches_tracked": ()}
WIDE = {"weight": (4,), "bias": (4,)}


@pytest.mark.parametrize(
    ("path", "shapes", "buffers", "layer", "inputs", "doubts"),
    [
        ("conv", {"weight": (8, 4, 3), "bias": (8,)}, {}, Conv1D(filters=8, kernel=3), 4, (Doubt.WINDOW,)),
        ("conv", {"weight": (8, 4, 3)}, {}, Conv1D(filters=8, kernel=3, bias=False), 4, (Doubt.WINDOW,)),
        ("up.deconv", {"weight": (8, 8, 3), "bias": (8,)}, {}, None, 0, ()),
        ("1", WIDE, STATISTICS, BatchNorm(), 4, (Doubt.EPSILON,)),
        ("1", {}, STATISTICS, BatchNorm(scale=False, center=False), 4, (Doubt.EPSILON,)),
        ("1", {"weight": (5,), "bias": (5,)}, STATISTICS, None, 0, ()),
        ("1", WIDE, {}, LayerNorm(), 4, (Doubt.NORM,)),
        ("ln_f", {"weight": (4,)}, {}, LayerNorm(bias=False), 4, (Doubt.NORM,)),
        ("rms_norm", {"weight": (4,)}, {}, None, 0, ()),
        ("group_norm", WIDE, {}, None, 0, ()),
        ("bn1", WIDE, {}, None, 0, ()),
    ],
)
def test_layers_around_the_cells_in_pytorch(
    path: str, shapes: Shapes, buffers: Shapes, layer: Layer | None, inputs: int, doubts: tuple[Doubt, ...]
) -> None:
    """A batch norm has statistics beside it; other norms with a layer norm's tensors are known by their names alone."""
    stored = {leaf: tensor(f"{path}.{leaf}", shape) for leaf, shape in buffers.items()}
    found = site("pytorch", module(path, shapes)._replace(buffers=stored))
    assert (found.layer, found.inputs, found.doubts) == (layer, inputs, doubts)
    assert {*found.buffers} == {*buffers}


MOVING = {"moving_mean": (4,), "moving_variance": (4,)}
PAIR = {"gamma": (4,), "beta": (4,)}
SLIDING = {"strides": 2, "padding": "same", "dilation_rate": 1, "groups": 2, "activation": "relu"}
USUAL = {"epsilon": 0.001}


@pytest.mark.parametrize(
    ("kind", "shapes", "settings", "layer", "inputs", "doubts"),
    [
        ("", {"kernel": (3, 4, 8), "bias": (8,)}, {}, Conv1D(filters=8, kernel=3), 4, (Doubt.WINDOW,)),
        (
            "Conv1D",
            {"kernel": (3, 4, 8)},
            SLIDING,
            Conv1D(filters=8, kernel=3, stride=2, padding="same", groups=2, bias=False, activation="relu"),
            8,
            (),
        ),
        ("Conv1D", {"kernel": (3, 4, 8)}, {"padding": "reflect"}, None, 0, ()),
        ("Conv1DTranspose", {"kernel": (3, 8, 8), "bias": (8,)}, {}, None, 0, ()),
        ("BatchNormalization", {**PAIR, **MOVING}, USUAL, BatchNorm(), 4, ()),
        ("", {"beta": (4,), **MOVING}, {}, BatchNorm(scale=False), 4, (Doubt.EPSILON,)),
        (
            "BatchNormalization",
            MOVING,
            {"epsilon": 0.1},
            BatchNorm(scale=False, center=False),
            4,
            (Doubt.OTHER_EPSILON,),
        ),
        ("LayerNormalization", PAIR, USUAL, LayerNorm(), 4, ()),
        ("", {"gamma": (4,)}, {}, LayerNorm(bias=False), 4, (Doubt.EPSILON,)),
        ("GroupNormalization", PAIR, USUAL, None, 0, ()),
    ],
)
def test_layers_around_the_cells_in_keras(
    kind: str,
    shapes: Shapes,
    settings: Mapping[str, Any],
    layer: Layer | None,
    inputs: int,
    doubts: tuple[Doubt, ...],
) -> None:
    """By the class in the configuration, and without one by the names of the tensors."""
    found = site("keras", module("one", shapes, kind, settings))
    assert (found.layer, found.inputs, found.doubts) == (layer, inputs, doubts)


@pytest.mark.parametrize(("below", "groups"), [(None, 1), (1, 1), (4, 4), (8, 8), (3, 1)])
def test_a_convolution_of_one_channel_may_be_in_groups(below: int | None, groups: int) -> None:
    """As many groups as the layer below outputs features, if the filters are a multiple of it."""
    found = in_groups(site("pytorch", module("conv", {"weight": (8, 1, 3)})), below)
    assert (found.layer, found.inputs) == (Conv1D(filters=8, kernel=3, groups=groups, bias=False), groups)


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
"""What the operators go through by default, of one direction."""


def onnx_weights(kind: str, ways: int = 1, *, bias: bool = True) -> dict[str, Shape]:
    """Return what an operator of 3 units over 4 features reads, as ONNX documents it: directions in front."""
    rows = GATES[kind] * 3
    shapes: dict[str, Shape] = {"W": (ways, rows, 4), "R": (ways, rows, 3)}
    return {**shapes, "B": (ways, 2 * rows)} if bias else shapes


@pytest.mark.parametrize(
    ("kind", "shapes", "layer", "params"),
    [
        ("RNN", onnx_weights("RNN"), RNN(units=3), 3 * (4 + 3 + 2)),
        ("GRU", onnx_weights("GRU"), GRU(units=3), 3 * 3 * (4 + 3 + 2)),
        ("LSTM", onnx_weights("LSTM"), LSTM(units=3), 4 * 3 * (4 + 3 + 2)),
        ("RNN", onnx_weights("RNN", bias=False), RNN(units=3, bias=False), 3 * (4 + 3)),
        ("LSTM", onnx_weights("LSTM", bias=False), LSTM(units=3, bias=False), 4 * 3 * (4 + 3)),
        ("GRU", onnx_weights("GRU", 2), GRU(units=3, bidirectional=True), 2 * 3 * 3 * (4 + 3 + 2)),
        ("LSTM", onnx_weights("LSTM", 2), LSTM(units=3, bidirectional=True), 2 * 4 * 3 * (4 + 3 + 2)),
        ("LSTM", {**onnx_weights("LSTM"), "P": (1, 9)}, LSTM(units=3, peepholes=True), 4 * 3 * (4 + 3 + 2) + 3 * 3),
        ("GRU", {**onnx_weights("GRU"), "initial_h": (1, 1, 3)}, GRU(units=3, learned_state=True), 81 + 3),
        (
            "LSTM",
            {**onnx_weights("LSTM"), "initial_h": (1, 1, 3), "initial_c": (1, 1, 3)},
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
    assert site("onnx", module("node", onnx_weights("GRU"), "GRU", said)).layer == GRU(units=3, reset_after=after)
    assert site("onnx", module("node", onnx_weights("LSTM"), "LSTM", said)).layer == LSTM(units=3)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize(
    ("word", "activation"),
    [("Tanh", "tanh"), ("Relu", "relu"), ("Sigmoid", "sigmoid"), ("Affine", "linear"), ("tanh", "tanh")],
)
def test_an_activation_is_the_one_behind_those_of_the_gates(kind: str, word: str, activation: Any) -> None:
    """In capitals or not, of one direction or of both alike."""
    made: Any = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}[kind]
    of_one = [word if name == "Tanh" else name for name in FUNCTIONS[kind]]
    one = site("onnx", module("node", onnx_weights(kind), kind, {"activations": of_one}))
    two = site("onnx", module("node", onnx_weights(kind, 2), kind, {"activations": [*of_one, *of_one]}))
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
    found = site("onnx", module("node", onnx_weights(kind), kind, said))
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
    found = site("onnx", module("node", onnx_weights(kind, 2), kind, said))
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
        ("Conv", {"W": (8, 4, 3, 3)}),
        ("Conv", {"W": (8, 4, 3), "B": (4,)}),
        ("BatchNormalization", {"scale": (4,), "B": (3,)}),
        ("LayerNormalization", {"Scale": (4, 3), "B": (4, 3)}),
        ("Gather", {"data": (20,)}),
        ("Gather", {"data": (20, 3, 2)}),
        ("MatMul", {"B": (2, 4, 5)}),
        ("MatMul", {"C": (5,)}),
        ("Gemm", {"B": (4, 5), "C": (1,)}),
        ("", onnx_weights("LSTM")),
        ("GRU", onnx_weights("LSTM")),
        ("LSTM", {"R": (1, 12, 3)}),
        ("LSTM", {"W": (1, 12, 4)}),
        ("LSTM", {"W": (12, 4), "R": (1, 12, 3)}),
        ("LSTM", {"W": (1, 12, 4), "R": (12, 3)}),
        ("LSTM", {**onnx_weights("LSTM"), "B": (1, 12)}),
        ("LSTM", {**onnx_weights("LSTM"), "initial_h": (1, 1, 3)}),
        ("GRU", {**onnx_weights("GRU"), "P": (1, 9)}),
        ("LSTM", onnx_weights("LSTM", 3)),
    ],
)
def test_what_is_no_layer_of_onnx(kind: str, shapes: Shapes) -> None:
    """Another operator, inputs that are not weights, too few of them or of another shape: counted, and not named."""
    found = site("onnx", module("node", shapes, kind))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())


@pytest.mark.parametrize(
    ("pads", "stride", "padding", "doubts"),
    [
        ([0, 0], 1, "valid", ()),
        ([0, 0], 2, "valid", ()),
        ([4, 0], 2, "causal", ()),
        ([2, 2], 1, "same", ()),
        ([2, 2], 2, "same", (Doubt.PADDING,)),
        ([1, 1], 1, "valid", (Doubt.PADDING,)),
    ],
)
def test_a_convolution_of_onnx(pads: list[int], stride: int, padding: str, doubts: tuple[Doubt, ...]) -> None:
    """Its padding is one that a spec has, or a doubt says that a run differs."""
    settings = {"pads": pads, "strides": [stride], "dilations": [2], "group": [2]}
    found = site("onnx", module("conv", {"W": (8, 2, 3), "B": (8,)}, "Conv", settings))
    layer = Conv1D(filters=8, kernel=3, stride=stride, padding=padding, dilation=2, groups=2)
    assert (found.layer, found.inputs, found.doubts) == (layer, 4, (*doubts, Doubt.ACTIVATION))


@pytest.mark.parametrize(
    ("auto", "padding", "doubts"),
    [
        ("SAME_UPPER", "same", ()),
        ("VALID", "valid", ()),
        ("SAME_LOWER", "same", (Doubt.PADDING,)),
        ("NOTSET", "valid", ()),
    ],
)
def test_the_automatic_padding_of_onnx(auto: str, padding: str, doubts: tuple[Doubt, ...]) -> None:
    """As the operator documents it; the default is no padding."""
    found = site("onnx", module("conv", {"W": (8, 4, 3)}, "Conv", {"auto_pad": [auto]}))
    assert found.layer == Conv1D(filters=8, kernel=3, padding=padding, bias=False)
    assert found.doubts == (*doubts, Doubt.ACTIVATION)


@pytest.mark.parametrize(
    ("settings", "doubts"),
    [
        ({}, ()),
        ({"epsilon": [9.999999747378752e-06]}, ()),
        ({"epsilon": [1e-3]}, (Doubt.OTHER_EPSILON,)),
        ({"epsilon": ["1e-5"]}, (Doubt.OTHER_EPSILON,)),
    ],
)
def test_norms_of_onnx(settings: dict[str, Any], doubts: tuple[Doubt, ...]) -> None:
    """Their epsilon is stored in 32 bits."""
    for kind, scale, layer in (
        ("BatchNormalization", "scale", BatchNorm()),
        ("LayerNormalization", "Scale", LayerNorm()),
    ):
        found = site("onnx", module("norm", {scale: (4,), "B": (4,)}, kind, settings))
        assert (found.layer, found.inputs, found.doubts) == (layer, 4, doubts)


FRAMES = {"kernel": (3, 3, 2, 12), "recurrent_kernel": (3, 3, 3, 12), "bias": (12,)}
LINE = {"kernel": (5, 2, 12), "recurrent_kernel": (5, 3, 12)}
USUALLY = {"padding": "same", "strides": 1, "dilation_rate": 1, "data_format": "channels_last", "activation": "tanh"}


@pytest.mark.parametrize(
    ("shapes", "settings", "layer", "inputs", "doubts"),
    [
        (FRAMES, {}, ConvLSTM(3, space=(1, 1)), 2, (Doubt.SPACE,)),
        (LINE, {}, ConvLSTM(3, kernel=5, space=(1,), bias=False), 2, (Doubt.SPACE,)),
        (FRAMES, {**USUALLY, "space": (5, 4)}, ConvLSTM(3, space=(5, 4)), 40, ()),
        (LINE, {**USUALLY, "space": (6,)}, ConvLSTM(3, kernel=5, space=(6,), bias=False), 12, ()),
        (FRAMES, USUALLY, ConvLSTM(3, space=(1, 1)), 2, (Doubt.PLACES,)),
        (
            FRAMES,
            {**USUALLY, "activation": "relu", "recurrent_activation": "hard_sigmoid"},
            ConvLSTM(3, space=(1, 1), activation="relu"),
            2,
            (Doubt.PLACES, Doubt.OTHERWISE),
        ),
        (FRAMES, {**USUALLY, "padding": "valid"}, None, 0, ()),
        (FRAMES, {**USUALLY, "strides": 2}, None, 0, ()),
        ({**FRAMES, "kernel": (3, 5, 2, 12)}, {}, None, 0, ()),
        ({**FRAMES, "recurrent_kernel": (5, 5, 3, 12)}, {}, None, 0, ()),
        ({**FRAMES, "recurrent_kernel": (3, 3, 12)}, {}, None, 0, ()),
        ({"kernel": (3, 3, 3, 2, 12), "recurrent_kernel": (3, 3, 3, 3, 12)}, {}, None, 0, ()),
    ],
)
def test_a_convolutional_lstm_of_keras(
    shapes: Shapes, settings: Mapping[str, Any], layer: Layer | None, inputs: int, doubts: tuple[Doubt, ...]
) -> None:
    """Of one place if none are known; with other strides or another padding it is none that a spec has."""
    found = site("keras", module("frames", shapes, "", settings))
    assert (found.layer, found.inputs, found.doubts) == (layer, inputs, doubts)


def test_what_is_not_in_groups() -> None:
    """A convolution of several channels, and one whose window is known."""
    two = site("pytorch", module("conv", {"weight": (8, 2, 3)}))
    assert in_groups(two, 4) is two
    known = site("keras", module("conv", {"kernel": (3, 1, 8)}, "Conv1D", {"groups": 1, "padding": "valid"}))
    assert in_groups(known, 4) is known


def test_options_that_no_spec_has_in_onnx() -> None:
    """A dilation of 0 is no layer; a norm may have no bias."""
    assert site("onnx", module("conv", {"W": (8, 4, 3)}, "Conv", {"dilations": [0]})).layer is None
    norm = site("onnx", module("norm", {"Scale": (4,)}, "LayerNormalization"))
    assert (norm.layer, norm.inputs, norm.doubts) == (LayerNorm(bias=False), 4, ())
