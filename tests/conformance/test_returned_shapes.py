"""`count --shapes` against what the frameworks' modules return for an input of the shape that it says they read."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from conformance import with_keras, with_linen, with_nnx, with_onnx, with_torch
from conformance.drawing import networks
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import LSTM, Dense, Embedding, Network
from rnncalc.layers.cell import Cell
from rnncalc.questions.shapes import ModuleShapes, shapes

pytestmark = pytest.mark.conformance

Returned = dict[str, tuple[int, ...]]

EXAMPLES = 25
"""Random networks for each framework, each of up to a dozen layers."""


def by_pytorch(of: ModuleShapes, time_first: bool, _: bool) -> Returned:
    """Return the shapes that a module of PyTorch returns; a stack of equal layers is one module."""
    layer = of.places[0].layer
    inner = layer.replace(merge=None) if isinstance(layer, Cell) else layer
    with torch.device("meta"):
        made = with_torch.module(inner, of.places[0].inputs, layers=len(of.places))
        made.batch_first = not time_first
        done = made(torch.zeros(tuple(of.input.values()), dtype=torch.int64 if isinstance(layer, Embedding) else None))
    if not isinstance(layer, Cell):
        return {"output": tuple(done.shape)}
    output, states = done
    named = zip(("h_n", "c_n"), states if isinstance(layer, LSTM) else (states,), strict=False)
    return {"output": tuple(output.shape), **{name: tuple(state.shape) for name, state in named}}


def by_keras(of: ModuleShapes, _: bool, final: bool) -> Returned:
    """Return the shapes that a layer of Keras returns, states included."""
    (place,) = of.places
    x = keras.KerasTensor(tuple(of.input.values()), dtype="int32" if isinstance(place.layer, Embedding) else "float32")
    if not isinstance(place.layer, Cell):
        made = with_keras.built(place)[0]
        return {"output": tuple(made(x).shape)}
    made = with_keras.module(place.layer, final=final)
    config = made.get_config()
    if place.layer.bidirectional:
        config["layer"]["config"]["return_state"] = True
        config["backward_layer"]["config"]["return_state"] = True
    else:
        config["return_state"] = True
    output, *states = type(made).from_config(config)(x)
    letters = [*place.layer.states]
    marks = ("forward/", "backward/") if place.layer.bidirectional else ("",)
    names = [f"{mark}state_{letter}" for mark in marks for letter in letters]
    return {"output": tuple(output.shape), **dict(zip(names, [tuple(each.shape) for each in states], strict=True))}


def _carries(layer: Cell, carry: Any, output: Any) -> Returned:
    """Return the shapes of a Flax module's carry, (c, h) of an LSTM, and of its output."""
    found: Returned = {"output": tuple(output.shape)}
    ways = {"forward/": carry[0], "backward/": carry[1]} if layer.bidirectional else {"": carry}
    for mark, way in ways.items():
        states = {"c": way[0], "h": way[1]} if isinstance(layer, LSTM) else {"h": way}
        found |= {f"{mark}carry_{letter}": tuple(state.shape) for letter, state in states.items()}
    return found


def _traced(of: ModuleShapes, apply: Callable[..., Any]) -> Returned:
    """Return the shapes that a function of an array returns; it is traced, not run."""
    layer = of.places[0].layer
    done = jax.eval_shape(
        apply,
        jax.ShapeDtypeStruct(tuple(of.input.values()), jnp.int32 if isinstance(layer, Embedding) else jnp.float64),
    )
    return _carries(layer, *done) if isinstance(layer, Cell) else {"output": tuple(done.shape)}


def by_linen(of: ModuleShapes, time_first: bool, _: bool) -> Returned:
    """Return the shapes that a module of Flax linen returns."""
    (place,) = of.places
    made = with_linen.module(place.layer, place.inputs)
    more = {"return_carry": True, "time_major": time_first} if isinstance(place.layer, Cell) else {}
    return _traced(of, lambda x: made.init_with_output(jax.random.key(0), x, **more)[0])


def by_nnx(of: ModuleShapes, time_first: bool, _: bool) -> Returned:
    """Return the shapes that a module of Flax nnx returns."""
    (place,) = of.places
    more = {"return_carry": True, "time_major": time_first} if isinstance(place.layer, Cell) else {}
    # made within the trace, because a module of nnx counts its random numbers up
    return _traced(of, lambda x: with_nnx.module(place.layer, place.inputs)(x, **more))


def by_onnx(of: ModuleShapes, *_: bool) -> Returned:
    """Return the shapes of a node in ONNX Runtime; the model declares none."""
    (place,) = of.places
    arrays = {tensor.name: np.zeros(tensor.shape) for tensor in place.tensors}
    for name in arrays.keys() & {"initial_h", "initial_c"}:  # one learned state starts every sequence
        arrays[name] = np.repeat(arrays[name], [*of.input.values()][1] or 1, axis=1)
    asked = with_onnx.node(place, 1)
    if isinstance(place.layer, Dense):  # Gemm reads no sequence
        asked, arrays = with_onnx.Asked("MatMul", ("X", "B"), {}, {}), {"B": arrays["B"]}
    states = [f"Y_{letter}" for letter in place.layer.states] if isinstance(place.layer, Cell) else []
    asked = asked._replace(outputs=dict.fromkeys(["Y", *states]))
    x = np.zeros(tuple(of.input.values()), np.int64 if isinstance(place.layer, Embedding) else np.float32)
    done = with_onnx.run_node(asked, arrays, x)
    return {name: tuple(array.shape) for name, array in zip(asked.outputs, done, strict=True)}


FRAMEWORKS = {"pytorch": by_pytorch, "keras": by_keras, "flax-linen": by_linen, "flax-nnx": by_nnx, "onnx": by_onnx}


@pytest.mark.parametrize("convention", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_every_array_is_the_frameworks(convention: str, data: st.DataObject) -> None:
    """Each module, fed with what it is said to read, returns arrays of the shapes that are said, in any axis order."""
    network: Network = data.draw(networks(convention))
    batch = data.draw(st.integers(1, 5))
    time_first = convention != "keras" and data.draw(st.booleans())
    found = shapes(network, batch, time_first=time_first)
    cells = [of for of in found.modules if isinstance(of.places[0].layer, Cell)]
    for of in found.modules:
        final = network.topology == "many-to-one" and of is cells[-1]
        declared = {name: tuple(array.values()) for name, array in of.returns.items()}
        with jax.enable_x64(convention != "keras"):
            assert declared == FRAMEWORKS[convention](of, time_first, final), of
    first = found.modules[0]
    steps_and_batch = (network.steps, batch) if time_first or convention == "onnx" else (batch, network.steps)
    assert tuple(first.input.values())[:2] == steps_and_batch
