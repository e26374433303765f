"""Which layer the tensors of a module are: guessed framework by framework, and compared with the convention."""

from typing import Any

import pytest
from case_files import cases
from models.made import Shape, Shapes, cell, file, linear, module, site, tensor

from rnncalc.layers import kind
from rnncalc.layers.convolution import Conv1D
from rnncalc.layers.gru import GRU
from rnncalc.layers.layer import Dense, External, Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.rnn import RNN
from rnncalc.models.matching import Match, match
from rnncalc.models.sites import COMPUTES_OTHERWISE, Doubt, expected, in_groups, sites_of
from rnncalc.network.network import Network

KERAS = {"kernel": (4, 9), "recurrent_kernel": (3, 9), "bias": (2, 9)}
ONNX = {"W": (1, 9, 4), "R": (1, 9, 3), "B": (1, 18)}


def shapes_in(case: dict[str, Any], part: str) -> dict[str, Shape]:
    return {name: tuple(shape) for name, shape in case.get(part, {}).items()}


def layer_in(case: dict[str, Any]) -> Layer | None:
    """Return the layer of a case, which is written as in a spec; None if it has none."""
    if "layer" not in case:
        return None
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in case["layer"].items()}
    name = next(iter(values))
    number, made = values.pop(name), kind(name)
    options: dict[str, Any] = values | ({made.number: number} if made.number else {})
    return made(**options)


@pytest.mark.parametrize("case", cases("models/sites.yaml"))
def test_the_layer_of_a_module(case: dict[str, Any]) -> None:
    """Those that are recognised, and those that are not: counted, and not named."""
    framework, _, path = case["file"].partition(" ")
    settings = case.get("settings", {})
    if "space" in settings:
        settings = {**settings, "space": tuple(settings["space"])}
    buffers = {leaf: tensor(f"{path}.{leaf}", shape) for leaf, shape in shapes_in(case, "buffers").items()}
    shapes = shapes_in(case, "tensors")
    found = site(framework, module(path, shapes, case.get("class", ""), settings)._replace(buffers=buffers))
    assert (found.layer, found.inputs) == (layer_in(case), case.get("inputs", 0))
    assert found.doubts == tuple(Doubt[doubt] for doubt in case.get("doubts", ()))
    assert (found.path, found.number, found.shapes, {*found.buffers}) == (path, 0, shapes, {*buffers})


@pytest.mark.parametrize("case", [case for case in cases("models/sites.yaml") if "spec" in case])
def test_options_that_a_file_gives_are_compared(case: dict[str, Any]) -> None:
    """Each is a difference with its change if the file gives it, and none if it does not."""
    framework, _, path = case["file"].partition(" ")
    same = module(path, shapes_in(case, "tensors"), case.get("class", ""), case["settings"])

    def compared(layer: Layer | None) -> Match:
        network = Network(input=case["inputs"], layers=[layer] if layer else [], convention=framework)
        return match(network, file(framework, same))

    options = {option: getattr(layer_in(case), option) for option in case["differing"]}
    wrong = compared(layer_in({"layer": case["spec"]}))
    stored = {check.tensor: check.stored_shape for check in wrong.tensors if not check.kept}
    assert stored == {option: (value,) for option, value in options.items()}
    (difference,) = wrong.differences
    assert difference.theirs
    assert {option: getattr(difference.theirs[0], option) for option in options} == options
    assert compared(layer_in(case)).kept


WAYS = {f"{way}/{leaf}": shape for way in ("forward", "backward") for leaf, shape in KERAS.items()}
ALONE = {name: shape for name, shape in KERAS.items() if name != "bias"}


@pytest.mark.parametrize(
    ("framework", "shapes", "settings", "layer", "differing"),
    [
        ("keras", WAYS, {"merge_mode": "concat"}, GRU(3, bidirectional=True, merge="sum"), {"merge": "concat"}),
        ("keras", WAYS, {"merge_mode": "concat"}, GRU(3, bidirectional=True, merge="concat"), {}),
        ("keras", WAYS, {}, GRU(3, bidirectional=True, merge="sum"), {}),  # no configuration
        ("keras", ALONE, {"reset_after": True}, GRU(3, bias=False, reset_after=False), {"reset_after": True}),
        ("onnx", ONNX, {}, GRU(3, reset_after=True), {"reset_after": False}),
        ("onnx", ONNX, {}, GRU(3, reset_after=False), {}),
        ("onnx", ONNX, {"linear_before_reset": [1]}, GRU(3, reset_after=False), {"reset_after": True}),
    ],
)
def test_a_default_is_compared(
    framework: str, shapes: Shapes, settings: dict[str, Any], layer: Layer, differing: dict[str, Any]
) -> None:
    """An option that the file leaves to its framework's default has a value, unless there is no configuration."""
    options = {"activation": "tanh", **settings} if settings else {}
    same = file(framework, module("rnn", shapes, "GRU", options))
    compared = match(Network(input=4, layers=[layer], convention=framework), same)
    assert {check.tensor: check.stored_shape for check in compared.tensors if not check.kept} == {
        option: (value,) for option, value in differing.items()
    }


OTHERWISE = [
    (case, doubts)
    for case in cases("models/sites.yaml")
    if (doubts := [doubt for doubt in case.get("doubts", ()) if Doubt[doubt] in COMPUTES_OTHERWISE])
]


@pytest.mark.parametrize(("case", "doubts"), OTHERWISE)
def test_what_no_spec_computes_is_a_finding(case: dict[str, Any], doubts: list[str]) -> None:
    """Of the layer with the same tensors, and of that alone: an external layer computes nothing."""
    framework, _, path = case["file"].partition(" ")
    same = file(framework, module(path, shapes_in(case, "tensors"), case.get("class", ""), case["settings"]))
    external = External(same.params)
    for layer in (layer_in(case), external):
        network = Network(input=case["inputs"], layers=[layer], convention=framework)  # type: ignore[list-item]
        wrong = [check.doubt and check.doubt.kind for check in match(network, same).tensors if not check.kept]
        assert wrong == [Doubt[doubt] for doubt in doubts if layer is not external]


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


@pytest.mark.parametrize(("below", "groups"), [(None, 1), (1, 1), (4, 4), (8, 8), (3, 1)])
def test_a_convolution_of_one_channel_may_be_in_groups(below: int | None, groups: int) -> None:
    """As many groups as the layer below outputs features, if the filters are a multiple of it."""
    found = in_groups(site("pytorch", module("conv", {"weight": (8, 1, 3)})), below)
    assert (found.layer, found.inputs) == (Conv1D(filters=8, kernel=3, groups=groups, bias=False), groups)


def test_what_is_not_in_groups() -> None:
    """A convolution of several channels, and one whose window is known."""
    two = site("pytorch", module("conv", {"weight": (8, 2, 3)}))
    assert in_groups(two, 4) is two
    known = site("keras", module("conv", {"kernel": (3, 1, 8)}, "Conv1D", {"groups": 1, "padding": "valid"}))
    assert in_groups(known, 4) is known
