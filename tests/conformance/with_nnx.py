"""rnncalc's layers as modules of Flax nnx, in float64."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from conformance.drawing import Shapes, only
from conformance.with_linen import ACTIVATIONS, MERGES, functions, last_of, path_of, renamed
from flax import nnx

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, Layer
from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed

CELLS = {"rnn": nnx.SimpleCell, "gru": nnx.GRUCell, "lstm": nnx.LSTMCell}


def module(layer: Layer, inputs: int) -> Any:
    """Return the module a layer is in Flax nnx."""
    double: dict[str, Any] = {"dtype": jnp.float64, "param_dtype": jnp.float64, "rngs": nnx.Rngs(0)}
    match layer:
        case RNN() | GRU() | LSTM():
            only(layer, "bidirectional", "merge", "activation", "recurrent_activation", "reset_after")

            def one() -> Any:
                return nnx.RNN(CELLS[layer.kind](inputs, layer.units, **functions(layer), **double))

            return nnx.Bidirectional(one(), one(), merge_fn=MERGES[layer.merge]) if layer.bidirectional else one()
        case Dense():
            return nnx.Linear(inputs, layer.units, use_bias=layer.bias, **double)
        case Embedding():
            return nnx.Embed(inputs, layer.units, **double)
        case Dropout():
            return nnx.Dropout(layer.rate, deterministic=True)
        case _:
            raise AssertionError(layer)


def params(built: Any) -> dict[str, Any]:
    """Return the parameters of a module by their paths."""
    return {"/".join(map(str, path)): param for path, param in nnx.to_flat_state(nnx.state(built, nnx.Param))}


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what nnx holds for a layer; its initialization is traced, not run."""
    built = nnx.eval_shape(lambda: module(place.layer, place.inputs))
    return {renamed(place.layer, path): tuple(param.shape) for path, param in params(built).items()}


def apply(place: Placed, weights: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    layer = place.layer
    built = module(layer, place.inputs)
    held = params(built)
    assert {*held} == {path_of(layer, name) for name in weights}
    for name, array in weights.items():
        held[path_of(layer, name)][...] = jnp.asarray(array, jnp.float64)
    x = jnp.asarray(flow)[None]

    def leaving(built: Any, x: Any) -> Any:
        if isinstance(layer, Cell):
            carry, done = built(x, return_carry=True)
            return last_of(layer, carry) if final else done
        done = built(x)
        return ACTIVATIONS[layer.activation](done) if isinstance(layer, Dense) else done

    return np.asarray(nnx.jit(leaving)(built, x))[0]  # compiled at once, not each operation by itself
