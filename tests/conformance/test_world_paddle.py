"""PaddlePaddle, which needs an environment of its own: 200 random layers, stacks, and what is read of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from conformance.drawing import numbers
from conformance.one_layer import Built, hold_layers, hold_read, of
from conformance.ways import MERGES

from rnncalc import GRU, LSTM, RNN, Layer, Network, SpecError, convert, run
from rnncalc.conventions import CONVENTIONS
from rnncalc.layers.cell import Cell
from rnncalc.questions.shapes import shapes

paddle = pytest.importorskip("paddle")
nn = paddle.nn
pytestmark = [pytest.mark.world, pytest.mark.filterwarnings("ignore")]


def module_of(layer: Layer, inputs: int, layers: int = 1) -> Any:
    options = layer.values()
    words: dict[str, Any] = {"direction": "bidirect" if options.get("bidirectional") else "forward"}
    match layer.kind:
        case "rnn":
            return nn.SimpleRNN(inputs, options["units"], layers, activation=options["activation"] or "tanh", **words)
        case "gru":
            return nn.GRU(inputs, options["units"], layers, **words)
        case "lstm":
            return nn.LSTM(inputs, options["units"], layers, proj_size=options["projection"] or 0, **words)
        case "dense":
            return nn.Linear(inputs, options["units"])
        case "embedding":
            return nn.Embedding(inputs, options["units"])
        case _:
            return nn.LayerNorm(inputs)


def by_paddle(layer: Layer, inputs: int) -> Built:
    module = module_of(layer, inputs)
    state = module.state_dict()
    owned = {id(array) for array in module.parameters()}
    cell = {name: array for name, array in state.items() if ".cell" in name}
    first = {id(array): name for name, array in state.items() if name not in cell}
    names = {}
    for name, array in (cell or state).items():  # the cell's names are right, and tell the others
        plain = name.rpartition(".")[2]
        way = "_reverse" if "_bw." in name else ""
        names[name if plain == "weight_ho" else f"{plain}_l0{way}" if cell else name] = array
    assert len(names) == len(owned)
    if not options_projected(layer):
        assert {first[id(array)]: array.shape for array in names.values()} == {n: a.shape for n, a in names.items()}

    def run(weights: Mapping[str, Any], flow: Any) -> Any:
        for name, array in weights.items():
            names[name].set_value(np.asarray(array, np.float32))
        done = module(paddle.to_tensor(flow if flow.dtype == int else flow.astype(np.float32))[None])
        if not isinstance(layer, Cell):
            return done.numpy()[0]
        outputs = done[0].numpy()[0]
        return MERGES[layer.merge](*np.split(outputs, 2, axis=-1)) if layer.bidirectional else outputs

    return Built({name: tuple(array.shape) for name, array in names.items()}, run)


def options_projected(layer: Layer) -> bool:
    return layer.values().get("projection") is not None


def test_random_layers() -> None:
    hold_layers("paddle", by_paddle, 1e-5)


def test_every_number_is_read() -> None:
    hold_read("paddle", by_paddle)


@pytest.mark.parametrize("cell", [GRU(3, bidirectional=True, repeat=2), LSTM(3, repeat=3)])
def test_a_stack_is_one_layer(cell: Cell) -> None:
    """Its arrays are numbered, those that the state dict has first."""
    network = of("paddle", cell)
    module = module_of(cell, 3, cell.repeat)
    arrays = {name: tuple(array.shape) for name, array in module.state_dict().items() if ".cell" not in name}
    assert {tensor.name: tensor.shape for place in network.stack for tensor in place.tensors} == arrays
    assert network.params == sum(int(array.size) for array in module.parameters())


def test_a_projection_in_a_stack() -> None:
    """Its name is right, where those of the other arrays are another's: weight_ih_l1 is the first projection."""
    module = module_of(LSTM(4, projection=2), 3, 2)
    network = of("paddle", LSTM(4, projection=2, repeat=2))
    assert network.params == sum(int(array.size) for array in module.parameters())
    names = [tensor.name for place in network.stack for tensor in place.tensors if "weight_ho" in tensor.name]
    state = module.state_dict()
    assert [(name, state[name].shape) for name in names] == [("0.cell.weight_ho", [4, 2]), ("1.cell.weight_ho", [4, 2])]
    assert state["weight_ih_l1"] is state["0.cell.weight_ho"]


@pytest.mark.parametrize("time_first", [False, True])
def test_what_is_returned(time_first: bool) -> None:
    """Outputs, and the states of all layers and directions, which do not follow the order of the outputs."""
    network = of("paddle", LSTM(5, bidirectional=True, repeat=2))
    module = nn.LSTM(3, 5, 2, direction="bidirect", time_major=time_first)
    outputs, states = module(paddle.zeros([4, 2, 3] if time_first else [2, 4, 3]))
    (ours,) = shapes(network, 2, time_first=time_first).modules
    seen = dict(zip(("outputs", "h", "c"), ([*each.shape] for each in (outputs, *states)), strict=True))
    assert {name: [*axes.values()] for name, axes in ours.returns.items()} == seen


@pytest.mark.parametrize("layer", [RNN(3), GRU(4, reset_after=True), LSTM(3, bidirectional=True)])
@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name != "paddle"])
def test_weights_of_every_other_framework_and_back(name: str, layer: Layer) -> None:
    """What PaddlePaddle computes is what the passes of the others do, which are held to those themselves."""
    for one, other in ((name, "paddle"), ("paddle", name)):
        try:
            network = Network(input=2, layers=[layer], steps=4, topology="many-to-many", convention=one)
            weights, inputs = numbers(network, 0)
            zeros = {
                (each.placed.name, part.tensor.name)
                for each in convert(network, other).conversions
                for part in each.zeros
            }
        except SpecError:
            continue
        for place, tensor in zeros:
            weights[place][tensor] = np.zeros_like(weights[place][tensor]).tolist()
        done = convert(network, other, weights=weights)
        assert done.arrays
        x = np.array(inputs)
        made = [(done.source, weights), (done.target, done.arrays)]
        outputs = [
            by_paddle(net.stack[0].layer, 2).run(arrays[net.stack[0].name], x)
            if net.convention == "paddle"
            else run(net, weights=arrays, inputs=inputs).outputs
            for net, arrays in made
        ]
        np.testing.assert_allclose(*outputs, rtol=1e-5, atol=1e-5, err_msg=f"{one} {other} {layer}")
