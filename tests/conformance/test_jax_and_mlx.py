"""MLX, Equinox and Haiku: 200 random cells of each, and what is read of them."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import mlx.core as mx
import numpy as np
import pytest
from conformance.drawing import CELLS
from conformance.one_layer import Build, Built, hold_layers, hold_read
from mlx import nn
from mlx.utils import tree_flatten

from rnncalc import Embedding, Layer, Network
from rnncalc.layers.cell import Cell
from rnncalc.questions.shapes import shapes

pytestmark = [pytest.mark.conformance, pytest.mark.filterwarnings("ignore")]

KEY = jax.random.PRNGKey(0)
OF_MLX = {
    "tanh": mx.tanh,
    "relu": nn.relu,
    "gelu": nn.gelu,
    "sigmoid": mx.sigmoid,
    "linear": lambda x: x,
    "softmax": lambda x: mx.softmax(x, axis=-1),
}


def by_mlx(layer: Layer, inputs: int) -> Built:
    options = layer.values()
    match layer.kind:
        case "rnn":
            function = OF_MLX[options["activation"] or "tanh"]
            module: Any = nn.RNN(inputs, options["units"], options["bias"], function)
        case "gru" | "lstm":
            module = {"gru": nn.GRU, "lstm": nn.LSTM}[layer.kind](inputs, options["units"], options["bias"])
        case "dense":
            module = nn.Linear(inputs, options["units"])
        case "embedding":
            module = nn.Embedding(inputs, options["units"])
        case _:
            module = nn.LayerNorm(inputs)

    def run(weights: Mapping[str, Any], flow: Any) -> Any:
        module.load_weights([(name, mx.array(np.asarray(array, np.float32))) for name, array in weights.items()])
        done = module(mx.array(flow if flow.dtype == int else flow.astype(np.float32))[None])
        return np.array(done[0][0] if layer.kind == "lstm" else done[0])

    return Built({name: tuple(array.shape) for name, array in tree_flatten(module.parameters())}, run)


def by_equinox(layer: Layer, inputs: int) -> Built:
    options = layer.values()
    match layer.kind:
        case "gru" | "lstm":
            of = {"gru": eqx.nn.GRUCell, "lstm": eqx.nn.LSTMCell}[layer.kind]
            module: Any = of(inputs, options["units"], use_bias=options["bias"], key=KEY)
        case "dense":
            module = eqx.nn.Linear(inputs, options["units"], key=KEY)
        case "embedding":
            module = eqx.nn.Embedding(inputs, options["units"], key=KEY)
        case _:
            module = eqx.nn.LayerNorm(inputs)
    arrays, static = eqx.partition(module, eqx.is_array)

    def run(weights: Mapping[str, Any], flow: Any) -> Any:
        filled = jax.tree_util.tree_map_with_path(lambda path, _: jnp.asarray(weights[path[-1].name]), arrays)
        made = eqx.combine(filled, static)
        if not isinstance(layer, Cell):
            return np.asarray([made(x) for x in jnp.asarray(flow)])
        state, outputs = jnp.zeros(layer.units), []
        state = (state, state) if layer.kind == "lstm" else state
        for x in jnp.asarray(flow):
            state = made(x, state)
            outputs.append(state[0] if layer.kind == "lstm" else state)
        return np.asarray(outputs)

    leaves = jax.tree_util.tree_leaves_with_path(arrays)
    return Built({path[-1].name: tuple(leaf.shape) for path, leaf in leaves}, run)


def by_haiku(layer: Layer, inputs: int) -> Built:
    options = layer.values()

    def function(x: Any) -> Any:
        match layer.kind:
            case "rnn" | "gru" | "lstm":
                of = {"rnn": hk.VanillaRNN, "gru": hk.GRU, "lstm": hk.LSTM}[layer.kind]
                core = of(options["units"], name="top")
                return hk.static_unroll(core, x, core.initial_state(None))[0]
            case "dense":
                return hk.Linear(options["units"], name="top")(x)
            case "embedding":
                return hk.Embed(inputs, options["units"], name="top")(x)
            case _:
                return hk.LayerNorm(-1, create_scale=True, create_offset=True, name="top")(x)

    made = hk.without_apply_rng(hk.transform(function))
    x = jnp.zeros((4,), int) if isinstance(layer, Embedding) else jnp.zeros((4, inputs))
    params = jax.eval_shape(made.init, KEY, x)
    names = {f"{path}/{name}".removeprefix("top/"): (path, name) for path, arrays in params.items() for name in arrays}

    def run(weights: Mapping[str, Any], flow: Any) -> Any:
        filled: dict[str, dict[str, Any]] = {}
        for name, (path, leaf) in names.items():
            filled.setdefault(path, {})[leaf] = jnp.asarray(weights[name])
        return np.asarray(made.apply(filled, jnp.asarray(flow)))

    return Built({name: tuple(params[path][leaf].shape) for name, (path, leaf) in names.items()}, run)


PACKAGES: dict[str, tuple[Build, float]] = {
    "mlx": (by_mlx, 1e-5),  # float32
    "equinox": (by_equinox, 1e-6),
    "haiku": (by_haiku, 1e-9),
}


@pytest.mark.parametrize("convention", PACKAGES)
def test_random_cells(convention: str) -> None:
    """Names, shapes, the package's own count and outputs; the package has no second direction."""
    build, within = PACKAGES[convention]
    hold_layers(convention, build, within, "bidirectional", "merge")


@pytest.mark.parametrize("convention", PACKAGES)
def test_every_number_is_read(convention: str) -> None:
    hold_read(convention, PACKAGES[convention][0])


def test_what_is_returned() -> None:
    """The shapes of what modules return, states included: MLX's of every step, Haiku's the last alone."""
    flow = np.zeros((2, 4, 3), np.float32)
    for kind, mlx, haiku in (("gru", nn.GRU, hk.GRU), ("lstm", nn.LSTM, hk.LSTM)):
        network, several = Network(input=3, layers=[CELLS[kind](5)], steps=4, convention="mlx"), kind == "lstm"
        done = mlx(3, 5)(mx.array(flow))
        shapes_of_mlx = [tuple(each.shape) for each in (done if several else [done])]
        assert [[*each.values()] for each in returned(network)] == [[*map(list, shapes_of_mlx)]]
        for major in (False, True):

            def unrolled(x: Any, haiku: Any = haiku, major: bool = major) -> Any:
                return hk.dynamic_unroll(core := haiku(5), x, core.initial_state(2), time_major=major)

            x = jnp.zeros((4, 2, 3) if major else (2, 4, 3))
            of = hk.transform(unrolled)
            outputs, state = of.apply(of.init(KEY, x), KEY, x)
            arrays = [list(each.shape) for each in (outputs, *(state if several else [state]))]
            network = network.replace(convention="haiku")
            assert [[*each.values()] for each in returned(network, time_first=major)] == [arrays]


def returned(network: Network, *, time_first: bool = False) -> list[dict[str, Any]]:
    """Return the shapes that each module returns for a batch of 2."""
    every = shapes(network, 2, time_first=time_first)
    return [{name: [*axes.values()] for name, axes in each.returns.items()} for each in every.modules]
