"""The values of a pass by hand, and those that a mistake makes of it, are PyTorch's and its autograd's."""

from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from conformance.with_torch import module

from rnncalc import GRU, LSTM, RNN, Network, Output
from rnncalc.answers.values import ValueGrader
from rnncalc.network.data import Data

pytestmark = pytest.mark.conformance

GATES = {"rnn": "h", "gru": "rzn", "lstm": "ifgo"}
UNITS = 2

Arrays = dict[str, Any]


def of_torch(network: Network, arrays: Arrays, data: Data, start: Any) -> dict[str, Any]:
    """Return outputs, loss and gradients of a recurrent layer and an output in PyTorch, by their keys."""
    layer = network.stack[0].layer
    theirs = module(layer, UNITS).double()
    theirs.load_state_dict({name: torch.tensor(array) for name, array in arrays.items() if name[:3] != "out"})
    linear = torch.nn.Linear(UNITS * layer.directions, 1).double()
    linear.load_state_dict({name: torch.tensor(arrays[f"out.{name}"]) for name in ("weight", "bias")})
    states = [torch.tensor(each) for each in start]
    assert data.inputs
    assert data.targets
    y = linear(
        theirs(torch.tensor(data.inputs[None], dtype=torch.float64), tuple(states) if states[1:] else states[0])[0]
    )
    loss = ((y - torch.tensor(data.targets, dtype=torch.float64)) ** 2).sum() / 2
    loss.backward()
    values = {"L": loss.detach(), "∂L/∂Why": linear.weight.grad, "∂L/∂by": linear.bias.grad}
    values |= {f"y{step}": each for step, each in enumerate(y.detach(), 1)}
    for name, array in theirs.named_parameters():
        letter, side = name.partition("_")[0][0].replace("w", "W"), "x" if "ih" in name else "h"
        way = ("backward/" if name.endswith("reverse") else "forward/") * (layer.directions > 1)
        for gate, block in zip(GATES[network.stack[0].kind], array.grad.split(UNITS), strict=True):
            values[f"{way}∂L/∂{letter}{side}{gate}"] = block
    return values


def changed(mistake: str, arrays: Arrays, start: Any) -> tuple[Arrays, Any]:
    """Return the arrays and states with which PyTorch makes a mistake."""
    arrays = {name: np.array(array) for name, array in arrays.items()}
    recurrent = [name for name in arrays if "_hh" in name and "weight" in name]
    match mistake:
        case "no-bias":
            arrays |= {name: 0 * array for name, array in arrays.items() if "bias" in name}
        case "no-start":
            start = [0 * np.array(each) for each in start]
        case "exchanged":
            pairs = [(name, name.replace("_hh", "_ih")) for name in recurrent]
            arrays |= {one: arrays[other] for pair in pairs for one, other in (pair, pair[::-1])}
        case "transposed":
            arrays |= {
                name: arrays[name].reshape(-1, UNITS, UNITS).swapaxes(1, 2).reshape(-1, UNITS) for name in recurrent
            }
    return arrays, start


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [RNN, GRU, LSTM])
def test_values_are_those_of_autograd(kind: type[RNN | GRU | LSTM], seed: int) -> None:
    """Of random networks, and with the mistakes that other weights or states make."""
    random, draw = Random(seed), np.random.default_rng(seed).uniform
    two_ways = seed % 3 == 2
    network = Network(
        input=UNITS, steps=random.randint(1, 4), convention="pytorch", notation="w", topology="many-to-many",
        layers=[kind(UNITS, bidirectional=two_ways)], output=Output(1),
    )  # fmt: skip
    steps, placed = network.steps, network.stack[0]
    tensors = {tensor.name: draw(-1, 1, tensor.shape).round(1) for tensor in placed.tensors}
    output = {tensor.name: draw(-1, 1, tensor.shape).round(1) for tensor in network.stack[1].tensors}
    arrays = tensors | {f"out.{name}": array for name, array in output.items()}
    start = [draw(-1, 1, (1 + two_ways, UNITS)).round(1) for _ in range(1 + (kind is LSTM))]
    states = {
        letter: each.tolist() if two_ways else each[0].tolist() for letter, each in zip("hc", start, strict=False)
    }
    weights = {
        "output": {name: array.tolist() for name, array in output.items()},
        placed.name: {name: array.tolist() for name, array in tensors.items()},
    }
    inputs, targets = draw(-1, 1, (steps, UNITS)).round(1).tolist(), draw(-1, 1, (steps, 1)).round(1).tolist()
    data = Data(weights, {None: inputs}, {placed.name: states}, targets)
    grader = ValueGrader(network, data)
    passes = [("", grader.both.exact)]
    for row, change, values in grader.mistakes(grader.both):
        every = row.text in ("leaves out all biases", "takes the transpose of the recurrent matrix of h")
        every |= row.id in ("no-start", "exchanged")
        passes += [(row.id, values)] if every and not change.words.get("layer") else []
    assert len(passes) > 2
    for mistake, values in passes:
        wrong, begin = changed(mistake, arrays, start)
        ours = {key: numbers for (_, key), (_, numbers) in values.items()}
        for name, numbers in of_torch(network, wrong, data, begin).items():
            exchanged = name[-3:-1] in ("Wx", "Wh") and mistake == "exchanged"
            key = name[:-2] + "xh"[name[-2] == "x"] + name[-1] if exchanged and name[-2:] != "hy" else name
            if mistake == "" or key in ours:
                np.testing.assert_allclose(
                    ours[key], np.ravel(numbers), rtol=1e-9, atol=1e-12, err_msg=f"{mistake} {key}"
                )
