"""What is saved and multiplied in a backward pass is what PyTorch saves for it, and counts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from rnncalc import GRU, LSTM, RNN, Dense, Layer, Network, training

pytestmark = [
    pytest.mark.conformance,
    # To switch oneDNN off also sets its TF32, which PyTorch then says needs a GPU of Intel's.
    pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN:UserWarning"),
]

Step = Callable[[Any, list[Any]], tuple[Any, list[Any]]]
"""From x and the states: what is output, and the states after it."""

SIZES = st.integers(1, 9)


@contextmanager
def saving(parameters: Iterator[Any]) -> Iterator[dict[int, int]]:
    """Note the numbers of every storage that a backward pass needs, by its place; parameters are kept anyway."""
    own = {each.untyped_storage().data_ptr() for each in parameters}
    saved: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with (
        torch.backends.mkldnn.flags(enabled=False),
        torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept),
    ):
        yield saved


@settings(max_examples=60)
@given(st.sampled_from([RNN, LSTM]), st.lists(SIZES, min_size=1, max_size=3), st.booleans(), st.booleans(), st.data())
def test_saved_activations_are_what_pytorch_saves(
    kind: Any, widths: list[int], both: bool, output: bool, data: st.DataObject
) -> None:
    """Of stacked layers, one way or both, with an output at every step: unique storages, parameters left out."""
    inputs, steps, batch = (data.draw(SIZES) for _ in range(3))
    module: Any = {RNN: nn.RNN, LSTM: nn.LSTM}[kind]
    flow = torch.randn(steps, batch, inputs)
    width, layers = inputs, []
    for units in widths:
        layers.append(module(width, units, bidirectional=both))
        width = 2 * units if both else units
    last = nn.Linear(width, 3) if output else None
    with saving(parameter for each in (*layers, last) if each for parameter in each.parameters()) as saved:
        kept = [flow]
        for layer in layers:
            kept.append(layer(kept[-1])[0])
        if last:
            kept.append(last(kept[-1]))
    network = Network(
        input=inputs,
        layers=[kind(units, bidirectional=both) for units in widths],
        output=3 if output else None,
        steps=steps,
        topology="many-to-many",
        convention="pytorch",
    )
    held = training(network).saved
    assert held is not None
    assert sum(saved.values()) == batch * held


def weights(rows: int, columns: int, trained: bool) -> Any:
    return torch.randn(rows, columns, requires_grad=trained)


def of_rnn(layer: RNN, m: int) -> tuple[Step, list[int]]:
    """Return Elman's step."""
    w, u = (weights(layer.units, width, not layer.frozen) for width in (m, layer.units))
    diagonal = torch.randn(layer.units, 1, requires_grad=not layer.frozen)

    def step(x: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        (h,) = state
        past = diagonal * h if layer.recurrence == "diagonal" else u @ h
        h = torch.tanh(w @ x + past)
        return h, [h]

    return step, [layer.units]


def of_gru(layer: GRU, m: int) -> tuple[Step, list[int]]:
    """Return Cho's step, its reset before or after the recurrent product."""
    h_ = layer.units
    wz, wr, wn = (weights(h_, m, not layer.frozen) for _ in range(3))
    uz, ur, un = (weights(h_, h_, not layer.frozen) for _ in range(3))

    def step(x: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        (h,) = state
        z = torch.sigmoid(wz @ x + uz @ h)
        r = torch.sigmoid(wr @ x + ur @ h)
        n = torch.tanh(wn @ x + (r * (un @ h) if layer.reset_after else un @ (r * h)))
        h = z * h + (1 - z) * n
        return h, [h]

    return step, [h_]


def of_lstm(layer: LSTM, m: int) -> tuple[Step, list[int]]:
    """Return the step with the forget gate, its output projected where it is."""
    p = layer.projection or layer.units
    gates = [(weights(layer.units, m, not layer.frozen), weights(layer.units, p, not layer.frozen)) for _ in range(4)]
    project = weights(p, layer.units, not layer.frozen)

    def step(x: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        h, c = state
        i, f, g, o = (w @ x + u @ h for w, u in gates)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        h = project @ h if layer.projection else h
        return h, [h, c]

    return step, [p, layer.units]


STEPS: dict[type[Layer], Callable[[Any, int], tuple[Step, list[int]]]] = {RNN: of_rnn, GRU: of_gru, LSTM: of_lstm}


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    """Draw a layer that has a step here."""
    kind: Any = draw(st.sampled_from([RNN, GRU, LSTM]))
    others: dict[str, Any] = {"frozen": draw(st.booleans()), "learned_state": draw(st.booleans())}
    others["bidirectional"] = draw(st.booleans())
    if kind is RNN:
        others["recurrence"] = draw(st.sampled_from(["full", "diagonal"]))
    if kind is GRU:
        others["reset_after"] = draw(st.booleans())
    if kind is LSTM:
        others["projection"] = draw(st.none() | SIZES)
    made: Layer = kind(draw(SIZES), **others)
    return made


def run(layer: Any, sequence: list[Any], chunk: int) -> tuple[list[Any], Any]:
    """Return what a layer outputs at each step, and where it stops; its states are detached between chunks."""
    ways = []
    for backward in range(layer.directions):
        step, widths = STEPS[type(layer)](layer, len(sequence[0]))
        trained = layer.learned_state and not layer.frozen
        state = [torch.randn(width, 1, requires_grad=trained) for width in widths]
        outputs: list[Any] = []
        times = range(len(sequence))
        for time in reversed(times) if backward else times:
            if outputs and (time + backward) % chunk == 0:
                state = [each.detach() for each in state]
            handed, state = step(sequence[time], state)
            outputs.append(handed)
        ways.append(outputs)
    in_time = [outputs[::-1] if backward else outputs for backward, outputs in enumerate(ways)]
    return [torch.cat(both) for both in zip(*in_time, strict=True)], torch.cat([outputs[-1] for outputs in ways])


@settings(max_examples=60)
@given(st.lists(layers(), min_size=1, max_size=3), SIZES, SIZES, st.integers(1, 10), st.booleans())
def test_multiply_adds_are_what_pytorch_counts(
    stack: list[Layer], inputs: int, steps: int, chunk: int, many: bool
) -> None:
    """On loops written out by hand: products of matrices, those of diagonals left out."""
    topology: Any = "many-to-many" if many else "many-to-one"
    network = Network(input=inputs, layers=stack, output=2, steps=steps, topology=topology)
    output = weights(2, network.stack[-1].inputs, True)
    flow = [torch.randn(inputs, 1) for _ in range(steps)]
    with FlopCounterMode(display=False) as forward:
        for layer in stack:
            flow, end = run(layer, flow, chunk)
        total = torch.stack([(output @ x).sum() for x in (flow if many else [end])]).sum()
    with FlopCounterMode(display=False) as back:
        total.backward()
    of = training(network, chunk=chunk)
    assert forward.get_total_flops() // 2 == network_multiply_adds(network)
    assert back.get_total_flops() // 2 == of.backward_multiply_adds


def network_multiply_adds(network: Network) -> int:
    return sum(placed.multiply_adds or 0 for placed in network.stack)


@settings(max_examples=40)
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans())
def test_the_backward_pass_of_a_dense_layer_is_that_of_pytorch(
    inputs: int, units: int, steps: int, below: bool, frozen: bool
) -> None:
    """Into its matrix where that is trained, and into its input where something is trained below."""
    first, second = weights(4, inputs, below), weights(units, 4, not frozen)
    last = weights(1, units, True)
    with FlopCounterMode(display=False) as counted:
        xs = [torch.randn(inputs, 1) for _ in range(steps)]
        total = torch.stack([last @ torch.relu(second @ (first @ x)) for x in xs]).sum()
    forward = counted.get_total_flops()
    with FlopCounterMode(display=False) as counted:
        total.backward()
    stack = [Dense(4, frozen=not below), Dense(units, activation="relu", frozen=frozen)]
    network = Network(input=inputs, layers=stack, output=1, steps=steps, topology="many-to-many")
    assert forward // 2 == network_multiply_adds(network)
    assert counted.get_total_flops() // 2 == training(network).backward_multiply_adds
