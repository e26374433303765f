"""The gradients of the tape are those of PyTorch's autograd and of JAX's, on the same weights."""

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
from verified import backward

from rnncalc import GRU, LSTM, RNN, Dense, Embedding, Network, Output
from rnncalc.forward.backward_pass import backward_pass, squared, the_sum

pytestmark = pytest.mark.conformance

Gradients = dict[str, dict[str, Any]]


def by_torch(network: Network, weights: dict[str, Any], inputs: Any, target: Any) -> tuple[float, Gradients]:
    """Return the loss and the gradients of PyTorch's autograd, by layer and tensor. target: a number, or of classes."""
    made = {place.name: with_torch.built(place, weights[place.name]) for place in network.stack}
    flow = torch.tensor(np.asarray(inputs))
    for place in network.stack:
        flow = with_torch.leaving(place.layer, made[place.name], flow, final=place is turn_of(network))
    if isinstance(target, list):
        flow = flow.reshape(len(target), -1)
        loss = torch.nn.functional.cross_entropy(flow, torch.tensor(np.asarray(target)), reduction="sum")
    else:
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

    loss, gradients = jax.jit(jax.value_and_grad(loss_of))(arrays)  # compiled at once, not each operation by itself
    return float(loss), gradients


FRAMEWORKS = {"pytorch": by_torch, "flax-linen": by_jax}


def hold(network: Network, seed: int = 0, target: float | None = None) -> None:
    """Assert that the loss and every gradient of a network are those of its framework."""
    weights, inputs = numbers(network, seed)
    width = network.stack[-1].outputs
    outputs = (network.steps or 1) if network.topology == "many-to-many" else 1
    loss = the_sum if target is None else squared([[target] * width] * outputs)
    back = backward_pass(network, loss, weights, inputs={None: inputs})
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


@pytest.mark.parametrize(
    ("network", "to_one"), [pytest.param(network, at % 2, id=name) for at, (name, network) in enumerate(SINGLE)]
)
def test_every_option_of_every_cell(network: Network, to_one: int) -> None:
    """Two stacked layers and an output, one value of one option at a time, to a sequence and to one vector in turn."""
    if to_one:
        hold(network.replace(topology="many-to-one"), target=0.25)
    else:
        hold(network)


@pytest.mark.parametrize("convention", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=8)
def test_any_network(convention: str, data: st.DataObject) -> None:
    """Over all options together, from the sum of the outputs and from their squared error."""
    target = data.draw(st.none() | st.floats(-1, 1))
    hold(data.draw(networks(convention, running=True)), seed=data.draw(st.integers(0, 1000)), target=target)


@given(data=st.data())
@settings(max_examples=8)
def test_the_cross_entropy_is_that_of_pytorch(data: st.DataObject) -> None:
    """Of class numbers, and of rows that sum to 1; a softmax in the spec changes nothing."""
    network = data.draw(networks("pytorch", running=True))
    classes, rows = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    network = network.replace(output=classes)
    outputs = (network.steps or 1) if network.topology == "many-to-many" else 1
    target: Any = data.draw(st.lists(st.integers(0, classes - 1), min_size=outputs, max_size=outputs))
    if rows:
        target = [[(row + number) / sum(range(row, row + classes)) for number in range(classes)] for row in target]
    weights, inputs = numbers(network, data.draw(st.integers(0, 1000)))
    theirs, gradients = by_torch(network, weights, inputs, target)
    with_softmax = network.replace(output=Output(classes, activation=data.draw(st.sampled_from(["linear", "softmax"]))))
    one = outputs == 1 and network.topology != "many-to-many"
    back = backward(
        with_softmax, loss="cross_entropy", weights=weights, inputs=inputs, targets=target[0] if one else target
    )
    assert back.agrees
    np.testing.assert_allclose(back.loss, theirs, rtol=1e-9)
    for layer in back.layers:
        for tensor, gradient in layer.seen.gradients.items():
            of_torch = gradients[layer.ran.placed.name][tensor] + np.zeros_like(gradient)
            np.testing.assert_allclose(gradient, of_torch, rtol=1e-9, atol=1e-9)


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
    back = backward_pass(tanh, the_sum, weights, inputs={None: inputs})
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
    for layer in backward_pass(network, the_sum, weights, inputs={None: inputs}, chunk=chunk).layers:
        for name, gradient in layer.gradients.items():
            module = made[layer.placed.name]
            np.testing.assert_allclose(gradient, module.get_parameter(name).grad, rtol=1e-9, atol=1e-12)


class OpenLSTMCell(torch.nn.LSTMCell):  # type: ignore[misc]  # torch is untyped here
    """PyTorch's LSTM cell in its documented equations; its own kernel hides the c that h is made of from autograd."""

    def forward(self, x: Any, state: Any = None) -> Any:
        h, c = state or (torch.zeros(self.hidden_size, dtype=x.dtype),) * 2
        sums = self.weight_ih @ x + self.bias_ih + self.weight_hh @ h + self.bias_hh
        i, f, g, o = sums.chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


CELLS = {RNN: torch.nn.RNNCell, GRU: torch.nn.GRUCell, LSTM: OpenLSTMCell}


@pytest.mark.parametrize("frozen", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("kind", CELLS)
def test_the_gradients_of_states_are_those_of_autograd(
    kind: type[RNN | GRU | LSTM], units: int, frozen: tuple[bool, bool]
) -> None:
    """Of every state of two layers, frozen or not, under the squared error of all outputs, and in chunks of 3."""
    layers = tuple(kind(units, frozen=each) for each in frozen)
    network = Network(input=2, layers=layers, topology="many-to-many", steps=5, convention="pytorch")
    weights, inputs = numbers(network, 3)
    for chunk in (None, 3):
        found = backward(
            network, weights=weights, inputs=inputs, targets=[[0.25] * units] * 5, chunk=chunk, states=True
        )
        theirs = state_gradients(network, weights, inputs, chunk or 5)
        for layer, gradients in zip(found.layers, theirs, strict=True):
            for of, letter in zip(layer.norms, gradients, strict=True):
                np.testing.assert_allclose(of.norms, letter, rtol=1e-9)


def state_gradients(network: Network, weights: dict[str, Any], inputs: Any, chunk: int) -> list[Any]:
    """Return for each layer and each of its states the lengths of its gradients at every step, by autograd."""
    cells: list[Any] = []
    for place in network.stack:
        made: Any = CELLS[type(place.layer)](place.inputs, place.outputs, dtype=torch.float64)
        arrays = {name.replace("_l0", ""): torch.tensor(array) for name, array in weights[place.name].items()}
        made.load_state_dict(arrays)
        cells.append(made)
    states: list[list[tuple[Any, ...]]] = [[] for _ in cells]
    carried: list[Any] = [None for _ in cells]
    for step, x in enumerate(inputs):
        flow = torch.tensor(x, dtype=torch.float64)
        for number, cell in enumerate(cells):
            if step % chunk == 0 and carried[number] is not None:
                state = carried[number]
                both = isinstance(state, tuple)
                carried[number] = tuple(each.detach() for each in state) if both else state.detach()
            carried[number] = cell(flow, carried[number])
            made = carried[number] if isinstance(carried[number], tuple) else (carried[number],)
            for each in made:
                each.retain_grad()
            states[number].append(made)
            flow = made[0]
    sum(((step[0] - 0.25) ** 2).sum() / 2 for step in states[-1]).backward()
    return [[[float(state.grad.norm()) for state in of] for of in zip(*steps, strict=True)] for steps in states]
