"""The gradients of going back on the tape are those of PyTorch's autograd and of JAX's, on the same weights."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from conformance import with_linen, with_torch
from conformance.drawing import cells, networks, numbers, one_option_at_a_time, turn_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import LSTM, Dense, Embedding, Network, Output
from rnncalc.forward.backward_pass import go_back
from rnncalc.forward.losses import squared, the_sum

pytestmark = pytest.mark.conformance

Gradients = dict[str, dict[str, Any]]


def by_torch(network: Network, weights: dict[str, Any], inputs: Any, target: float | None) -> tuple[float, Gradients]:
    """Return the loss and the gradients of PyTorch's autograd, by layer and tensor."""
    made = {place.name: with_torch.built(place, weights[place.name]) for place in network.stack}
    flow = torch.tensor(np.asarray(inputs))
    for place in network.stack:
        flow = with_torch.leaving(place.layer, made[place.name], flow, final=place is turn_of(network))
    loss = flow.sum() if target is None else ((flow - target) ** 2).sum() / 2
    if loss.requires_grad:
        loss.backward()
    return loss.item(), {
        place.name: {
            with_torch.numbered(name, 0, place.copy): 0.0 if weight.grad is None else weight.grad.numpy()
            for name, weight in made[place.name].named_parameters()
        }
        for place in network.stack
    }


def by_jax(network: Network, weights: dict[str, Any], inputs: Any, target: float | None) -> tuple[float, Gradients]:
    """Return the loss and the gradients of JAX, by layer and tensor."""
    arrays = {
        layer: {name: jnp.asarray(array, jnp.float64) for name, array in tensors.items()}
        for layer, tensors in weights.items()
    }

    def loss_of(arrays: dict[str, Any]) -> Any:
        flow = jnp.asarray(inputs)
        for place in network.stack:
            flow = with_linen.leaving(place, arrays[place.name], flow, final=place is turn_of(network))
        return flow.sum() if target is None else ((flow - target) ** 2).sum() / 2

    loss, gradients = jax.value_and_grad(loss_of)(arrays)
    return float(loss), gradients


FRAMEWORKS = {"pytorch": by_torch, "flax-linen": by_jax}


def hold(network: Network, seed: int = 0, target: float | None = None) -> None:
    """Assert that the loss and every gradient of a network are those of its framework."""
    weights, inputs = numbers(network, seed)
    width = network.stack[-1].outputs
    outputs = (network.steps or 1) if network.topology == "many-to-many" else 1
    loss = the_sum if target is None else squared([[target] * width] * outputs)
    back = go_back(network, loss, weights, inputs={None: inputs})
    theirs, gradients = FRAMEWORKS[network.convention](network, weights, inputs, target)
    np.testing.assert_allclose(back.loss, theirs, rtol=1e-9, atol=1e-9)
    for layer in back.layers:
        name = layer.placed.name
        assert {*layer.gradients} == {*gradients[name]}
        for tensor, gradient in layer.gradients.items():
            np.testing.assert_allclose(
                gradient, gradients[name][tensor] + np.zeros_like(gradient), rtol=1e-9, atol=1e-9
            )


SINGLE = [network for convention in FRAMEWORKS for network in one_option_at_a_time(convention)]


@pytest.mark.parametrize("network", [pytest.param(network, id=name) for name, network in SINGLE])
def test_every_option_of_every_cell(network: Network) -> None:
    """Two stacked layers and an output, one value of one option at a time, to a sequence and to one vector."""
    hold(network)
    hold(network.replace(topology="many-to-one"), target=0.25)


@pytest.mark.parametrize("convention", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=12)
def test_any_network(convention: str, data: st.DataObject) -> None:
    """Over all options together, from the sum of the outputs and from their squared error."""
    target = data.draw(st.none() | st.floats(-1, 1))
    hold(data.draw(networks(convention, running=True)), seed=data.draw(st.integers(0, 1000)), target=target)


def test_a_tied_output_adds_to_the_gradient_of_the_embedding() -> None:
    """One matrix, used for looking up and for the logits: its gradient is the sum of both uses."""
    network = Network(
        input=5, layers=(Embedding(3), LSTM(3)), output=Output(5, tied=True), topology="many-to-many", steps=4
    ).replace(convention="pytorch")
    weights, inputs = numbers(network, 3)
    first, middle, last = network.stack
    table = with_torch.built(first, weights[first.name])
    lstm = with_torch.built(middle, weights[middle.name])
    bias = torch.tensor(weights[last.name]["bias"], dtype=torch.float64, requires_grad=True)
    (lstm(table(torch.tensor(inputs)))[0] @ table.weight.T + bias).tanh().sum().backward()
    tanh = network.replace(output=Output(5, tied=True, activation="tanh"))
    back = go_back(tanh, the_sum, weights, inputs={None: inputs})
    np.testing.assert_allclose(back.layers[0].gradients["weight"], table.weight.grad, rtol=1e-9)
    np.testing.assert_allclose(back.layers[2].gradients["bias"], bias.grad, rtol=1e-9)


@given(data=st.data(), chunk=st.integers(1, 4))
@settings(max_examples=25)
def test_a_chunk_is_what_detaching_the_state_gives(data: st.DataObject, chunk: int) -> None:
    """Stacked layers in one direction, the states detached at each border, a loss at every step."""
    of = cells("pytorch", 4).filter(lambda layer: not layer.bidirectional)
    layers = tuple(data.draw(st.lists(of, min_size=1, max_size=2)))
    network = Network(
        input=2, layers=layers, output=2, topology="many-to-many", steps=data.draw(st.integers(1, 6))
    ).replace(convention="pytorch")
    weights, inputs = numbers(network, data.draw(st.integers(0, 1000)))
    made = {place.name: with_torch.built(place, weights[place.name]) for place in network.stack}
    states: dict[str, Any] = {}
    for start in range(0, network.steps or 1, chunk):
        flow = torch.tensor(np.asarray(inputs[start : start + chunk]))
        for place in network.stack:
            if isinstance(place.layer, Dense):
                flow = made[place.name](flow)
            else:
                flow, state = made[place.name](flow, states.get(place.name))
                both = isinstance(state, tuple)
                states[place.name] = tuple(each.detach() for each in state) if both else state.detach()
        flow.sum().backward()
    for layer in go_back(network, the_sum, weights, inputs={None: inputs}, chunk=chunk).layers:
        for name, gradient in layer.gradients.items():
            module = made[layer.placed.name]
            np.testing.assert_allclose(gradient, module.get_parameter(name).grad, rtol=1e-9, atol=1e-12)
