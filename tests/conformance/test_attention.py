"""Attention over a sequence: outputs and gradients are those of PyTorch with the same weights."""

from random import Random
from typing import Any

import pytest
import torch
from verified import backward

from rnncalc.forward.arrays import filled
from rnncalc.layers.attention import Attention
from rnncalc.network.network import Network

pytestmark = pytest.mark.conformance

torch.set_default_dtype(torch.float64)


@pytest.mark.parametrize("seed", range(20))
def test_attention_is_that_of_autograd(seed: int) -> None:
    random = Random(seed)
    layer = Attention(random.randint(1, 5), bias=random.random() < 0.7, score_bias=random.random() < 0.5)
    inputs, steps = random.randint(1, 5), random.randint(1, 6)
    network = Network(input=inputs, layers=[layer], steps=steps)
    drawn: dict[str, Any] = {tensor.name: filled(tensor, 1.5, random.random) for tensor in network.stack[0].tensors}
    x = [[2 * random.random() - 1 for _ in range(inputs)] for _ in range(steps)]
    done = backward(network, weights={"attention_1": drawn}, inputs=x)
    weights = {name: torch.tensor(numbers, requires_grad=True) for name, numbers in drawn.items()}
    sequence = torch.tensor(x)
    hidden = torch.tanh(sequence @ weights["W"].T + weights.get("b", torch.zeros(())))
    scores = hidden @ weights["v"] + weights.get("c", torch.zeros(()))
    output = torch.softmax(scores, dim=0) @ sequence
    output.sum().backward()
    (ran,) = done.layers
    torch.testing.assert_close(torch.tensor(ran.ran.output), output.detach())
    for name, numbers in ran.seen.gradients.items():
        torch.testing.assert_close(torch.tensor(numbers), weights[name].grad)
