"""rnncalc's layers as modules of Flax linen, in float64."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from conformance.drawing import Shapes, only
from conformance.ways import merges
from flax import linen as nn
from flax.traverse_util import flatten_dict, unflatten_dict

from rnncalc import GRU, LSTM, MGU, RNN, Dense, Dropout, Embedding, Layer
from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed

CELLS = {"rnn": nn.SimpleCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell, "mgu": nn.MGUCell}

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "sigmoid": jax.nn.sigmoid,
    "linear": lambda x: x,
    "softmax": jax.nn.softmax,
    "hard_sigmoid": jax.nn.hard_sigmoid,
    "hard_sigmoid_0.2": lambda x: jnp.clip(x / 5 + 0.5, 0, 1),
}


def functions(layer: Layer) -> dict[str, Callable[[Any], Any]]:
    """Return the functions of a cell's gates and candidate, as its class takes them."""
    values = layer.values()
    chosen = {"activation_fn": values["activation"] or "tanh", "gate_fn": values.get("recurrent_activation")}
    return {word: ACTIVATIONS[name] for word, name in chosen.items() if name}


MERGES = merges(lambda ways: jnp.concatenate(ways, axis=-1))

HOMES = {"forward/": "forward_rnn/cell/", "backward/": "backward_rnn/cell/", "": "cell/"}
"""Where a cell is in the tree of a `Bidirectional` or an `RNN`, by the mark its names have in rnncalc."""


def module(layer: Layer, inputs: int) -> Any:
    """Return the module a layer is in Flax linen."""
    double: dict[str, Any] = {"dtype": jnp.float64, "param_dtype": jnp.float64}
    match layer:
        case RNN() | GRU() | LSTM() | MGU():
            only(layer, "bidirectional", "merge", "activation", "recurrent_activation", "reset_after")

            def one() -> Any:
                return nn.RNN(CELLS[layer.kind](layer.units, **functions(layer), **double))

            return nn.Bidirectional(one(), one(), merge_fn=MERGES[layer.merge]) if layer.bidirectional else one()
        case Dense():
            return nn.Dense(layer.units, use_bias=layer.bias, **double)
        case Embedding():
            return nn.Embed(inputs, layer.units, **double)
        case Dropout():
            return nn.Dropout(layer.rate, deterministic=True)
        case _:
            raise AssertionError(layer)


def homes(layer: Layer) -> dict[str, str]:
    """Return the part of HOMES that a layer has."""
    if not isinstance(layer, Cell):
        return {"": ""}
    return {mark: home for mark, home in HOMES.items() if bool(mark) == layer.bidirectional}


def renamed(layer: Layer, path: str) -> str:
    """Return rnncalc's name for a path in the tree of parameters."""
    ((mark, home),) = [(mark, home) for mark, home in homes(layer).items() if path.startswith(home)]
    return mark + path.removeprefix(home)


def path_of(layer: Layer, name: str) -> str:
    """Return the path in the tree of parameters for rnncalc's name."""
    ((mark, home),) = [(mark, home) for mark, home in homes(layer).items() if name.startswith(mark)]
    return home + name.removeprefix(mark)


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what linen holds for a layer; its initialization is traced, not run."""
    looks_up = isinstance(place.layer, Embedding)
    flow = jax.ShapeDtypeStruct((1, 2) if looks_up else (1, 2, place.inputs), jnp.int32 if looks_up else jnp.float64)
    tree = jax.eval_shape(module(place.layer, place.inputs).init, jax.random.key(0), flow)
    assert {*tree} <= {"params"}
    flat = flatten_dict(tree.get("params", {}), sep="/")
    return {renamed(place.layer, path): tuple(array.shape) for path, array in flat.items()}


def apply(place: Placed, weights: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    arrays = {name: jnp.asarray(array, jnp.float64) for name, array in weights.items()}
    compiled = jax.jit(partial(leaving, place, final=final))  # at once, not each operation by itself
    return np.asarray(compiled(arrays, jnp.asarray(flow)))


def leaving(place: Placed, arrays: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return the same as a function that JAX can go back through."""
    layer = place.layer
    flat = {path_of(layer, name): array for name, array in arrays.items()}
    built, variables = module(layer, place.inputs), {"params": unflatten_dict(flat, sep="/")}
    x = flow[None]
    if isinstance(layer, Cell):
        carry, done = built.apply(variables, x, return_carry=True)
        return (last_of(layer, carry) if final else done)[0]
    done = built.apply(variables, x)
    return (ACTIVATIONS[layer.activation](done) if isinstance(layer, Dense) else done)[0]


def last_of(layer: Cell, carry: Any) -> Any:
    """Return the last state h of each direction, joined as the layer joins its outputs; an LSTM carries (c, h)."""
    ends = [way[1] if layer.kind == "lstm" else way for way in (carry if layer.bidirectional else (carry,))]
    return MERGES[layer.merge](*ends) if layer.bidirectional else ends[0]
