"""Attention over a sequence: outputs, gradients and tensors are those of the frameworks."""

from math import prod
from random import Random
from typing import Any

import jax
import keras
import pytest
import torch
from flax import linen, nnx
from verified import backward

from rnncalc import load
from rnncalc.forward.arrays import filled
from rnncalc.layers.attention import Attention, MultiHeadAttention, Transformer
from rnncalc.layers.layer import Layer
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


def drawn(random: Random, convention: str) -> tuple[Layer, int]:
    """Return a layer of heads that a convention has, and the width of its input."""
    heads, each = random.randint(1, 8), random.randint(1, 8)
    options: dict[str, Any] = {"bias": random.random() < 0.7}
    if convention == "pytorch" and random.random() < 0.5:
        return Transformer(heads, feed_forward=random.randint(1, 40), **options), heads * each
    if convention != "pytorch" and random.random() < 0.5:
        options["key_size"] = random.randint(1, 9)
        if convention == "keras":
            options["value_size"] = random.choice([None, random.randint(1, 9)])
        return MultiHeadAttention(heads, **options), random.randint(1, 20)
    return MultiHeadAttention(heads, **options), heads * each


def shapes_of(layer: Any, inputs: int, convention: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a framework's module, by their names."""
    heads, bias, size = layer.heads, layer.bias, getattr(layer, "key_size", None) or inputs // layer.heads
    x: Any
    match convention:
        case "pytorch":
            module: Any = (
                torch.nn.TransformerEncoderLayer(inputs, heads, layer.feed_forward, bias=bias, device="meta")
                if isinstance(layer, Transformer)
                else torch.nn.MultiheadAttention(inputs, heads, bias=bias, device="meta")
            )
            return {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
        case "keras":
            module = keras.layers.MultiHeadAttention(heads, size, value_dim=layer.value_size, use_bias=bias)
            module.build((None, None, inputs), (None, None, inputs))
            return {"/".join(weight.path.split("/")[-2:]): tuple(weight.shape) for weight in module.weights}
        case "flax-linen":
            module = linen.MultiHeadDotProductAttention(
                heads, qkv_features=heads * size, out_features=inputs, use_bias=bias
            )
            x = jax.ShapeDtypeStruct((1, 2, inputs), jax.numpy.float32)
            tree = jax.eval_shape(module.init, jax.random.key(0), x)["params"]
        case _:
            made = lambda: nnx.MultiHeadAttention(  # noqa: E731
                heads, inputs, qkv_features=heads * size, use_bias=bias, decode=False, rngs=nnx.Rngs(0)
            )
            tree = nnx.to_pure_dict(nnx.state(nnx.eval_shape(made), nnx.Param))
    return {f"{part}/{name}": tuple(array.shape) for part, arrays in tree.items() for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("convention", "number"), [("pytorch", 1_000), ("keras", 15), ("flax-linen", 60), ("flax-nnx", 60)]
)
def test_counts_and_tensors_are_the_frameworks(convention: str, number: int) -> None:
    """Of random layers of heads: every tensor by its name and shape, and so the total."""
    random = Random(f"heads {convention}")
    for _ in range(number):
        layer, inputs = drawn(random, convention)
        (placed,) = Network(input=inputs, layers=[layer], convention=convention).stack
        found = shapes_of(layer, inputs, convention)
        assert {tensor.name: tensor.shape for tensor in placed.tensors} == found, (layer, inputs)
        assert placed.params == sum(prod(shape) for shape in found.values())


def test_keys_and_values_of_two_widths_are_a_block_by_its_tensors() -> None:
    """The spec has the tensors of PyTorch's module with a kdim and a vdim."""
    module = torch.nn.MultiheadAttention(512, 8, kdim=256, vdim=128, device="meta")
    (placed,) = load("specs/pytorch/keys-and-values.yaml").stack
    assert {tensor.name: tensor.shape for tensor in placed.tensors} == {
        name: tuple(parameter.shape) for name, parameter in module.named_parameters()
    }
