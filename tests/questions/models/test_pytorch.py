"""PyTorch: which layers the tensors of a module are; its cells stack several in one."""

import pytest
from questions.models.made import Shape, Shapes, cell, file, linear, module, site

from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, Embedding, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.questions.models.site import Doubt, sites_of


def both(gates: int) -> dict[str, Shape]:
    return {**cell(gates, 4, 3), **cell(gates, 4, 3, mark="_reverse")}


def projected(mark: str = "") -> dict[str, Shape]:
    """Return the tensors of an LSTM of 3 units that hands on 2 numbers."""
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
        {"weight": (4,), "bias": (4,)},
        {"weight": (8, 4, 3), "bias": (8,)},
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
def test_what_is_no_layer_that_is_known(shapes: Shapes) -> None:
    """Norms, convolutions, other numbers of gates, tensors too many, too few or of another shape."""
    found = site("pytorch", module("embedding", shapes))
    assert (found.layer, found.inputs, found.doubts) == (None, 0, ())


@pytest.mark.parametrize("name", ["xweight_ih_l0", "weight_ih_l0x", "weight_ih_l123456", "weight_ih_l"])
def test_a_name_that_only_looks_like_a_cells(name: str) -> None:
    """Is what else there is in the module, under its own name."""
    assert site("pytorch", module("rnn", {name: (12, 4)})).shapes == {name: (12, 4)}
