"""Recurrent matrices of low rank and in blocks: outputs and gradients are PyTorch's, whose whole matrices they make."""

from random import Random
from typing import Any

import pytest
import torch
from torch.func import functional_call

from rnncalc import GRU, LSTM, RNN, Network
from rnncalc.forward.arrays import filled
from rnncalc.forward.backward_pass import backward_pass, the_sum

pytestmark = pytest.mark.conformance

MODULES = {RNN: (torch.nn.RNN, "h"), GRU: (torch.nn.GRU, "rzn"), LSTM: (torch.nn.LSTM, "ifgo")}


def by_torch(layer: Any, arrays: dict[str, Any], x: Any) -> Any:
    """Return the outputs of PyTorch's module for matrices made of their factors, or of their blocks."""
    of, gates = MODULES[type(layer)]

    def whole(gate: str) -> Any:
        if layer.recurrent_rank:
            return arrays[f"A_h{gate}"] @ arrays[f"B_h{gate}"]
        return torch.block_diag(*arrays[f"W_h{gate}"].chunk(layer.recurrent_blocks))

    def fused(name: str) -> Any:
        return torch.cat([arrays[f"{name}{gate}"] for gate in gates])

    weights = {"weight_ih_l0": fused("W_x"), "weight_hh_l0": torch.cat([*map(whole, gates)])}
    weights |= {"bias_ih_l0": fused("b_"), "bias_hh_l0": torch.zeros(len(gates) * layer.units).double()}
    projected: Any = {}
    if layer.values().get("projection"):
        weights["weight_hr_l0"] = arrays["W_hp"]
        projected = {"proj_size": layer.projection}
    return functional_call(of(x.shape[1], layer.units, **projected).double(), weights, (x,))[0]


@pytest.mark.parametrize("seed", range(30))
def test_outputs_and_gradients_are_pytorchs(seed: int) -> None:
    random = Random(seed)
    of: Any = random.choice([*MODULES])
    blocks, each, rows = random.randint(1, 3), random.randint(1, 3), random.randint(1, 2)
    options: dict[str, Any] = {"projection": blocks * each} if of is LSTM and rows > 1 else {}
    options |= {"reset_after": True} if of is GRU else {}
    units = blocks * each * (rows if options.get("projection") else 1)
    form = {"recurrent_blocks": blocks} if random.random() < 0.5 else {"recurrent_rank": random.randint(1, blocks)}
    network = Network(input=3, layers=[of(units, **options, **form)], steps=4, topology="many-to-many")
    (placed,) = network.stack
    weights: Any = {tensor.name: filled(tensor, 1.0, random.random) for tensor in placed.tensors}
    inputs = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(4)]
    done = backward_pass(network, the_sum, {placed.name: weights}, inputs={None: inputs})
    tensors = {name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in weights.items()}
    y = by_torch(placed.layer, tensors, torch.tensor(inputs, dtype=torch.float64))
    torch.testing.assert_close(torch.tensor([each.numbers for each in done.outputs], dtype=torch.float64), y.detach())
    y.sum().backward()
    for name, tensor in tensors.items():
        expected: Any = tensor.grad
        torch.testing.assert_close(torch.tensor(done.layers[0].gradients[name], dtype=torch.float64), expected)
