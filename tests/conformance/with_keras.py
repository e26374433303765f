"""rnncalc's layers as layers of Keras.

In float32, and with JAX's float64 off: on JAX, Keras brings float64 back to float32 in some operations, tanh for one,
and makes float64 zeros for the biases a GRU has not, so that no float64 goes through it.
"""

from typing import Any

import jax
import keras
import numpy as np
from conformance.drawing import Shapes, only, turn_of

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, Layer, Network
from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed

ZEROS = {"kernel_initializer": "zeros", "bias_initializer": "zeros"}
"""The quickest to make; real weights are put in afterwards."""


@keras.saving.register_keras_serializable()  # type: ignore[untyped-decorator]  # a Bidirectional makes its layers anew
def hard_sigmoid_0_2(x: Any) -> Any:
    """As Keras before 3 has it."""
    return keras.ops.clip(x / 5 + 0.5, 0, 1)


def module(layer: Layer, *, final: bool = False) -> Any:
    """Return the layer as Keras has it, not yet built; `final`: it outputs its last state alone."""
    match layer:
        case RNN():
            only(layer, "bias", "bidirectional", "merge", "activation")
            of: Any = keras.layers.SimpleRNN
            options: dict[str, Any] = {}
        case GRU():
            only(layer, "bias", "bidirectional", "merge", "activation", "recurrent_activation", "reset_after")
            of = keras.layers.GRU
            options = {} if layer.reset_after is None else {"reset_after": layer.reset_after}
        case LSTM():
            only(layer, "bias", "bidirectional", "merge", "activation", "recurrent_activation")
            of = keras.layers.LSTM
            options = {}
        case Dense():
            return keras.layers.Dense(layer.units, activation=layer.activation, use_bias=layer.bias, **ZEROS)
        case Embedding():
            raise AssertionError("made where its vocabulary is known")
        case Dropout():
            return keras.layers.Dropout(layer.rate)
        case _:
            raise AssertionError(layer)
    if of is not keras.layers.SimpleRNN:
        gates = layer.values()["recurrent_activation"] or "sigmoid"
        options["recurrent_activation"] = hard_sigmoid_0_2 if gates == "hard_sigmoid_0.2" else gates
    built = of(
        layer.units,
        activation=layer.activation or "tanh",
        use_bias=layer.bias,
        return_sequences=not final,
        recurrent_initializer="zeros",
        **ZEROS,
        **options,
    )
    return keras.layers.Bidirectional(built, merge_mode=layer.merge or "concat") if layer.bidirectional else built


def built(place: Placed, *, final: bool = False) -> tuple[Any, dict[str, Any]]:
    """Return the layer and its variables, by the names rnncalc gives them."""
    layer = place.layer
    if isinstance(layer, Embedding):
        made = keras.layers.Embedding(place.inputs, layer.units, embeddings_initializer="zeros")
        made.build((None, None))
    else:
        made = module(layer, final=final)
        made.build((None, None, place.inputs) if isinstance(layer, Cell) else (None, place.inputs))
    if isinstance(layer, Cell) and layer.bidirectional:
        ways = {"forward/": made.forward_layer, "backward/": made.backward_layer}
        assert len(made.weights) == sum(len(way.weights) for way in ways.values())
    else:
        ways = {"": made}
    named = {mark + weight.path.split("/")[-1]: weight for mark, way in ways.items() for weight in way.weights}
    assert made.count_params() == sum(int(np.prod(weight.shape)) for weight in named.values())
    return made, named


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what Keras holds for a layer."""
    with jax.enable_x64(False):
        return {name: tuple(weight.shape) for name, weight in built(place)[1].items()}


def apply(place: Placed, weights: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    kind = np.int32 if isinstance(place.layer, Embedding) else np.float32
    with jax.enable_x64(False):
        made, named = built(place, final=final)
        assert {*named} == {*weights}
        for name, weight in named.items():
            weight.assign(np.array(weights[name], np.float32))
        return np.asarray(made(np.asarray(flow, kind)[None]))[0]


def stack(network: Network, *, random: bool = True) -> Any:
    """Return a network as a model of Keras, its layers one behind the other, with random weights or Keras's own."""
    first, turn = network.stack[0], turn_of(network)
    looks_up = isinstance(first.layer, Embedding)
    shape = (network.steps,) if looks_up else (network.steps, first.inputs)
    layers: list[Any] = [keras.Input(shape, dtype="int32" if looks_up else "float32")]
    for place in network.stack:
        if isinstance(place.layer, Embedding):
            layers.append(keras.layers.Embedding(place.inputs, place.outputs, embeddings_initializer="zeros"))
        else:
            layers.append(module(place.layer, final=place is turn))
    model = keras.Sequential(layers)
    if random:
        draw = np.random.default_rng(0).uniform
        model.set_weights([draw(-0.5, 0.5, weight.shape).astype(np.float32) for weight in model.get_weights()])
    return model
