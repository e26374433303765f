"""Decoders that start from the last state or zeros, share a table, read a context alone or add it, as in PyTorch."""

from random import Random
from typing import Any

import pytest
import torch
from torch.func import functional_call

from rnncalc import GRU, LSTM, Embedding, Network, Output, Part
from rnncalc.forward.arrays import filled
from rnncalc.forward.backward_pass import backward_pass, the_sum
from rnncalc.layers.decoder_attention import DecoderAttention

pytestmark = pytest.mark.conformance

CELLS: dict[Any, Any] = {GRU: torch.nn.GRUCell, LSTM: torch.nn.LSTMCell}


def drawn(random: Random) -> Network:
    """Return a random encoder-decoder under PyTorch's convention."""
    of: Any = random.choice([GRU, LSTM])
    vocabulary, width, units, levels = (random.randint(1, 4) for _ in range(4))
    starts: Any = random.choice(["all", "last", "zeros"])
    layers = [of(units) for _ in range(levels if starts == "all" else random.randint(1, 3))]
    encoder = Part(vocabulary, (Embedding(width), *[of(units) for _ in range(levels)]), steps=random.randint(1, 4))
    kind = random.choice(["tied", "alone", "added"])
    if kind == "tied":
        table: Any = (Embedding(width, tied="encoder"),)
        return Network(
            encoder=encoder,
            decoder=Part(vocabulary, (*table, *layers), Output(2), random.randint(1, 3), None, starts),
            convention="pytorch",
        )
    attention = DecoderAttention(score="general", context="added" if kind == "added" else "input")
    reads = units if kind == "added" else 0
    decoder = Part(reads, (*layers,), Output(2), random.randint(1, 3), attention, starts)
    return Network(encoder=encoder, decoder=decoder, convention="pytorch")


def by_torch(network: Network, arrays: dict[str, Any], inputs: Any) -> Any:
    """Return the outputs of a loop over PyTorch's cells, as people write it."""
    encoder, decoder = network.encoder, network.decoder
    assert encoder
    assert decoder
    assert decoder.steps
    names = [placed.name for placed in network.stack]
    tables, cells = [
        [name for name in names if kind in name]
        for kind in ("embedding", "gru_" if GRU in [*map(type, encoder.layers)] else "lstm_")
    ]

    def step(name: str, layer: Any, x: Any, state: Any) -> Any:
        module = CELLS[type(layer)](x.shape[1], layer.units).double()
        return functional_call(module, {key[:-3]: array for key, array in arrays[name].items()}, (x, state))

    def zeros(layer: Any) -> Any:
        vector = torch.zeros(1, layer.units).double()
        return (vector, vector) if isinstance(layer, LSTM) else vector

    def output(state: Any) -> Any:
        return state[0] if isinstance(state, tuple) else state

    levels = [layer for layer in encoder.layers if not isinstance(layer, Embedding)]
    finals: list[Any] = []
    flow = [arrays[tables[0]]["weight"][token][None] for token in inputs["encoder"]]
    for name, layer in zip(cells, levels, strict=False):
        state, outputs = zeros(layer), []
        for x in flow:
            state = step(name, layer, x, state)
            outputs.append(output(state))
        flow, finals = outputs, [*finals, state]
    memory = torch.cat(flow)
    layers = [layer for layer in decoder.layers if not isinstance(layer, Embedding)]
    states = [zeros(layer) for layer in layers]
    given = {"all": finals, "last": finals[-1:], "zeros": []}[decoder.initial_states]
    states[: len(given)] = given
    results = []
    for number in range(decoder.steps):
        context = None
        if decoder.attention:
            scores = output(states[-1]) @ arrays["attention"]["matrix.weight"] @ memory.T
            context = torch.softmax(scores, -1) @ memory
        if len(tables) > 1:
            x = arrays[tables[0]]["weight"][inputs["decoder"][number]][None]
        else:
            x = context if decoder.input == 0 else torch.tensor(inputs["decoder"][number]).double()[None] + context
        for level, (name, layer) in enumerate(zip(cells[len(levels) :], layers, strict=True)):
            states[level] = step(name, layer, x, states[level])
            x = output(states[level])
        results.append(torch.nn.functional.linear(x, arrays["output"]["weight"], arrays["output"]["bias"])[0])
    return torch.stack(results)


@pytest.mark.parametrize("seed", range(30))
def test_outputs_and_gradients_are_pytorchs(seed: int) -> None:
    random = Random(seed)
    network = drawn(random)
    encoder, decoder = network.encoder, network.decoder
    assert encoder
    assert encoder.steps
    assert decoder
    assert decoder.steps
    weights: Any = {
        placed.name: {tensor.name: filled(tensor, 1.0, random.random) for tensor in placed.tensors}
        for placed in network.stack
    }
    inputs: Any = {"encoder": [random.randrange(encoder.input) for _ in range(encoder.steps)]}
    if isinstance(decoder.layers[0], Embedding):
        inputs["decoder"] = [random.randrange(decoder.input) for _ in range(decoder.steps)]
    elif decoder.input:
        inputs["decoder"] = [[random.random() for _ in range(decoder.input)] for _ in range(decoder.steps)]
    done = backward_pass(network, the_sum, weights, inputs=inputs)
    assert all(layer.agrees for layer in done.ran)
    tensors = {
        layer: {name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in arrays.items()}
        for layer, arrays in weights.items()
    }
    y = by_torch(network, tensors, inputs)
    torch.testing.assert_close(torch.tensor([each.numbers for each in done.outputs], dtype=torch.float64), y.detach())
    y.sum().backward()
    for layer in done.layers:
        for name, gradient in layer.gradients.items():
            expected: Any = tensors[layer.placed.name][name].grad
            expected = torch.zeros(1).double() if expected is None else expected
            torch.testing.assert_close(
                torch.tensor(gradient, dtype=torch.float64), expected.expand_as(torch.tensor(gradient))
            )
