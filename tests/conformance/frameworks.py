"""The frameworks that build rnncalc's layers, by the names of their conventions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from conformance import with_keras, with_linen, with_nnx, with_onnx, with_torch
from conformance.drawing import Shapes, turn_of

from rnncalc import Network
from rnncalc.network.stack import Placed
from rnncalc.questions.run import run


class Framework(NamedTuple):
    """What builds a layer, and what it says of it.

    tensors: takes a layer in its place, and returns the names and shapes of the arrays that it has there.
    apply: takes that, its weights by name, what flows in, and whether only the final state is to leave it; returns what
        does.
    within: how far its numbers may be from rnncalc's, absolutely and relatively.
    names_tensors: whether it names its arrays; an operator of ONNX has none of its own, and can only refuse ours.
    """

    tensors: Callable[[Placed], Shapes]
    apply: Callable[..., Any]
    within: float
    names_tensors: bool = True


FRAMEWORKS = {
    "pytorch": Framework(with_torch.tensors, with_torch.apply, 1e-9),
    "keras": Framework(with_keras.tensors, with_keras.apply, 1e-5),  # on JAX it calculates in float32
    "flax-linen": Framework(with_linen.tensors, with_linen.apply, 1e-9),
    "flax-nnx": Framework(with_nnx.tensors, with_nnx.apply, 1e-9),
    "onnx": Framework(with_onnx.tensors, with_onnx.apply, 1e-5, names_tensors=False),  # and so does its runtime
}


def hold(network: Network, frameworks: Sequence[Framework], weights: dict[str, Any], inputs: Any) -> None:
    """Assert that each layer gives in its framework, fed with what the layer below gave there, what it gives here."""
    done = run(network, weights=weights, inputs={None: inputs})
    assert done.agrees
    turn, flow = turn_of(network), np.asarray(inputs)
    for place, ran, framework in zip(network.stack, done.layers, frameworks, strict=True):
        flow = framework.apply(place, weights[place.name], flow, final=place is turn)
        within = framework.within
        np.testing.assert_allclose(ran.output, flow, rtol=within, atol=within, err_msg=place.name)
