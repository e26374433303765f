"""Networks with layers around the cells: what the frameworks' own modules hold, give and differentiate."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import torch
from around import networks
from conformance.programs import Case, case_of, modules_of
from conformance.test_export_flax import hold as hold_flax
from conformance.test_export_flax import linen, nnx_
from conformance.test_export_keras import hold as hold_keras
from conformance.test_export_pytorch import arrays, built
from conformance.test_export_pytorch import hold as hold_pytorch
from flax import linen as nn
from flax import nnx
from onnx import defs
from verified import backward

from rnncalc.conventions import convention
from rnncalc.layers.attention import MultiHeadAttention
from rnncalc.layers.layer import Dense, Layer
from rnncalc.network.network import Network
from rnncalc.programs import spelling
from rnncalc.programs.program import program_of

pytestmark = pytest.mark.conformance

HOLDS: dict[str, Callable[[Case], None]] = {
    "pytorch": hold_pytorch,
    "keras": hold_keras,
    "flax-linen": lambda case: hold_flax(case, linen),
    "flax-nnx": lambda case: hold_flax(case, nnx_),
}
NUMBER = 8
"""How many networks are drawn for each framework; 1,000 each were compared once."""


def case(network: Network, seed: int) -> Case:
    """Return a program of a network with random numbers."""
    target = network.convention
    return case_of(program_of(network, target, stacks=spelling(target).stacks), network, seed)


@pytest.mark.parametrize("target", HOLDS)
def test_a_program_is_the_network(target: str) -> None:
    """Every tensor, the total, what is trained, and the numbers of a pass."""
    for seed, network in enumerate(networks(7, NUMBER, target)):
        if target != "keras" or not any(map(fails_on_jax, network.layers)):
            HOLDS[target](case(network, seed))


def test_frozen_attention_is_not_trained_by_keras() -> None:
    """Built before it is frozen, as its sublayers train otherwise."""
    frozen = MultiHeadAttention(1, key_size=3, frozen=True, causal=True)
    hold_keras(case(Network(input=4, layers=[Dense(4), frozen], output=2, steps=5, convention="keras"), 3))


def fails_on_jax(layer: Layer) -> bool:
    """Return whether Keras 3 cannot compute a layer on JAX, whose attention has values as wide as keys."""
    return layer.values().get("value_size") not in (None, layer.values().get("key_size"))


RNGS = nnx.Rngs(0)
SCHEMAS = [defs.get_schema(f"{kind}Normalization") for kind in ("Layer", "Batch")]
EPSILONS: dict[str, list[float]] = {
    "pytorch": [torch.nn.LayerNorm(2).eps, torch.nn.BatchNorm1d(2).eps],
    "keras": [keras.layers.LayerNormalization().epsilon, keras.layers.BatchNormalization().epsilon],
    "flax-linen": [nn.LayerNorm().epsilon, nn.BatchNorm().epsilon],
    "flax-nnx": [nnx.LayerNorm(2, rngs=RNGS).epsilon, nnx.BatchNorm(2, rngs=RNGS).epsilon],
    "onnx": [schema.attributes["epsilon"].default_value.f for schema in SCHEMAS],
}


@pytest.mark.parametrize("target", EPSILONS)
def test_what_is_added_to_a_variance_is_the_frameworks(target: str) -> None:
    """Its default; a pass in float32 does not see the least of them."""
    declared = [convention(target).transform(kind).epsilon for kind in ("layer_norm", "batch_norm")]
    assert declared == pytest.approx(EPSILONS[target], rel=1e-6)


def test_gradients_are_those_of_autograd() -> None:
    """Of the sum of the outputs, with respect to every weight that is trained."""
    for seed, network in enumerate(networks(8, NUMBER, "pytorch")):
        compare_gradients(case(network, seed), network)


def compare_gradients(of: Case, network: Network) -> None:
    """Assert that the gradients of a program are those of the pass."""
    model = built(of)
    weights = {layer: {name: array.tolist() for name, array in own.items()} for layer, own in of.weights.items()}
    given: Any = {
        name: array.tolist() if network.topology_of(name).startswith("many") else [array.tolist()]
        for name, array in of.inputs.items()
    }
    inputs = given.get(None, given)
    done = backward(network, weights={name: own for name, own in weights.items() if own}, inputs=inputs)
    parameters = dict(model.named_parameters()) | dict(model.named_buffers())
    wanted: dict[str, Any] = {}
    for module, identifier in modules_of(of.program):
        for name, array in arrays(module, identifier, of.weights):
            parameters[name].data.copy_(torch.tensor(array))
        seen: dict[str, dict[str, Any]] = {place.name: {} for place in module.places}
        for layer in done.layers:
            if layer.ran.placed.name in seen:
                seen[layer.ran.placed.name] = {name: np.array(each) for name, each in layer.seen.gradients.items()}
        wanted |= dict(arrays(module, identifier, seen)) if any(seen.values()) else {}
    steps = {} if of.steps is None else {"steps": of.steps}
    total = model(*(torch.tensor(array)[None] for array in (*of.inputs.values(), *of.extras.values())), **steps).sum()
    if total.requires_grad:
        total.backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found = np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
            np.testing.assert_allclose(found, wanted[name], rtol=1e-8, atol=1e-10)
