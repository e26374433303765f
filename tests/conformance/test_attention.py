"""Attention over a sequence: outputs, gradients and tensors are those of the frameworks."""

from collections.abc import Iterator
from math import prod
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax import linen, nnx
from torch.func import functional_call

from rnncalc import RNN, Network, Output, Part, load
from rnncalc.forward.arrays import filled
from rnncalc.forward.backward_pass import backward_pass, squared
from rnncalc.layers.attention import Attention, MultiHeadAttention, Transformer
from rnncalc.layers.decoder_attention import DecoderAttention
from rnncalc.layers.layer import Layer

pytestmark = [
    pytest.mark.conformance,
    # Keras advises against a softmax of one step, which is 1.
    pytest.mark.filterwarnings(r"ignore:(?s).*You are using a softmax over axis [13]:UserWarning"),
]

Arrays = dict[str, Any]


@pytest.fixture(autouse=True)
def in_float64() -> Iterator[None]:
    """Let PyTorch make its numbers and modules in float64, in these tests alone."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


NUMBER = {"torch": 20, "keras": 5}
"""How many layers of each kind are run by default, most time being JAX's compiler; 200 each were compared once."""

WITHIN = {"torch": 1e-9, "keras": 1e-5}
"""How far numbers may be apart: on JAX Keras has the softmax in float32, though all else is in float64."""


def layer_of(random: Random, kind: str, framework: str) -> tuple[Any, int, str]:
    """Return a layer, the width of its input, and its convention: the textbook's if the framework lacks the kind."""
    heads, each = random.randint(1, 3), random.randint(1, 3)
    options: Arrays = {"bias": random.random() < 0.7}
    if kind == "attention":
        score: Any = random.choice(["additive", "linear", "steps"])
        if score == "additive":
            options |= {"units": random.randint(1, 5), "score_bias": random.random() < 0.5}
        elif score == "linear":
            options["bias"] = random.choice([True, False, "steps"])
        convention = random.choice(["textbook", {"torch": "pytorch"}.get(framework, framework)])
        return Attention(score=score, **options), random.randint(1, 5), convention
    options["causal"] = random.random() < 0.5
    if kind == "transformer":
        options |= {"feed_forward": random.randint(1, 6), "norm": random.choice(["first", "last"])}
        own = framework == "torch"
        options["activation"] = random.choice(["relu", "gelu", *["tanh"] * (not own)])
        return Transformer(heads, **options), heads * each, "pytorch" if own else "textbook"
    if framework == "keras" and random.random() < 0.7:
        options |= {"key_size": random.randint(1, 4), "value_size": random.choice([None, 1, 2, 3])}
        return MultiHeadAttention(heads, **options), random.randint(1, 6), "keras"
    return MultiHeadAttention(heads, **options), heads * each, {"torch": "pytorch"}.get(framework, framework)


def by_role(weights: Arrays, convention: str) -> Arrays:
    """Return the weights of attention over the steps by role, matrices output by input."""
    stem = {"pytorch": ".weight", "keras": "/kernel"}.get(convention, "")
    names = [f"{part}{end}" for part in ("matrix", "score") for end in (stem, f"{stem[:1]}bias")] if stem else [*"Wbvc"]
    if {"bias", "beta"} & {*weights}:  # of each step
        names[3] = "bias" if stem else "beta"
    turned = {name: array.T if convention == "keras" else array for name, array in weights.items()}
    return {role: turned.get(name) for role, name in zip(("kernel", "bias", "score", "score_bias"), names, strict=True)}


def by_torch(layer: Any, weights: Arrays, x: Any, convention: str) -> Any:
    """Return what PyTorch's module gives, or its operations if it has none; x: a batch of one sequence."""
    mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if layer.values().get("causal") else None
    if isinstance(layer, Attention):
        linear = torch.nn.functional.linear
        named = by_role(weights, convention)
        if layer.score == "steps":
            features = x.transpose(1, 2)
            return (torch.softmax(linear(features, named["kernel"], named["bias"]), -1) * features).transpose(1, 2)
        hidden = torch.tanh(linear(x, named["kernel"], named["bias"])) if layer.units else x
        scores = linear(hidden, named["score"])[..., 0]
        scores = scores if named["score_bias"] is None else scores + named["score_bias"]
        return (torch.softmax(scores, dim=-1)[:, None] @ x)[:, 0]
    width, shared = x.shape[2], {"bias": layer.bias, "batch_first": True}
    if isinstance(layer, MultiHeadAttention):
        module: Any = torch.nn.MultiheadAttention(width, layer.heads, **shared)
        return functional_call(module, weights, (x, x, x), {"attn_mask": mask, "need_weights": False})[0]
    sizes = width, layer.heads, layer.feed_forward, 0.0, layer.activation
    module = torch.nn.TransformerEncoderLayer(*sizes, norm_first=layer.norm == "first", **shared)
    return functional_call(module, weights, (x,), {"src_mask": mask})


def called(layer: Any, weights: Any, *inputs: Any, **options: Any) -> Any:
    """Return what a layer of Keras gives with these weights; none of them may be None."""
    layer.build(*(each.shape for each in inputs))
    others = [each.value for each in layer.non_trainable_variables]
    return layer.stateless_call([each for each in weights if each is not None], others, *inputs, **options)[0]


def by_keras(layer: Any, weights: Arrays, x: Any, convention: str) -> Any:
    """Return what Keras' layers give, each with its part of the weights."""
    layers, shared = keras.layers, {"dtype": "float64"}
    biased = shared | {"use_bias": layer.bias}
    if isinstance(layer, Attention):
        named = by_role(weights, convention)
        if layer.score == "steps":
            turn = layers.Permute((2, 1))
            dense = layers.Dense(x.shape[1], "softmax", **biased)
            return layers.Multiply()([x, turn(called(dense, (named["kernel"].T, named["bias"]), turn(x)))])
        hidden = x
        if layer.units:
            dense = layers.Dense(layer.units, "tanh", **biased)
            hidden = called(dense, (named["kernel"].T, named["bias"]), x)
        of_step = layer.bias == "steps"
        score = layers.Dense(1, use_bias=named["score_bias"] is not None and not of_step, **shared)
        scores = called(score, (named["score"].T, None if of_step else named["score_bias"]), hidden)
        scores = scores + named["score_bias"][:, None] if of_step else scores
        return (layers.Softmax(axis=1, **shared)(scores) * x).sum(1)
    key, value = layer.values().get("key_size") or x.shape[2] // layer.heads, layer.values().get("value_size")
    heads = layers.MultiHeadAttention(layer.heads, key, value_dim=value, **biased)

    def attended(weights: Any, x: Any) -> Any:
        scored = value not in (None, key)  # else, on JAX, Keras 3.15 does not run it
        done = called(heads, weights, x, x, use_causal_mask=layer.causal, return_attention_scores=scored)
        return done[0] if scored else done

    if isinstance(layer, MultiHeadAttention):
        roles = ("query", "key", "value", "attention_output")
        return attended([weights.get(f"{role}/{part}") for role in roles for part in ("kernel", "bias")], x)

    def normed(number: int, x: Any) -> Any:
        norm = layers.LayerNormalization(epsilon=1e-5, center=layer.bias, **shared)
        return called(norm, (weights[f"gamma_{number}"], weights.get(f"beta_{number}")), x)

    split = [x.shape[2], layer.heads, key]
    projections: list[Any] = []
    for role in "qkv":
        bias = weights[f"b_{role}"].reshape(split[1:]) if layer.bias else None
        projections += [weights[f"W_{role}"].T.reshape(split), bias]
    projections += [weights["W_o"].T.reshape([*split[1:], split[0]]), weights.get("b_o")]
    first = layer.norm == "first"
    a = x + attended(projections, normed(1, x) if first else x)
    a = a if first else normed(1, a)
    up, down = layers.Dense(layer.feed_forward, layer.activation, **biased), layers.Dense(split[0], **biased)
    hidden = called(up, (weights["W_1"].T, weights.get("b_1")), normed(2, a) if first else a)
    y = a + called(down, (weights["W_2"].T, weights.get("b_2")), hidden)
    return y if first else normed(2, y)


@pytest.mark.parametrize("kind", ["attention", "multi_head_attention", "transformer"])
@pytest.mark.parametrize("framework", NUMBER)
def test_outputs_and_gradients_are_the_frameworks(framework: str, kind: str) -> None:
    """Of a squared error against random targets, with respect to every weight, on copied weights."""
    random = Random(f"{framework} {kind}")
    for _ in range(NUMBER[framework]):
        layer, inputs, convention = layer_of(random, kind, framework)
        steps = random.randint(1, 6)
        network = Network(input=inputs, layers=[layer], steps=steps, convention=convention)
        (placed,) = network.stack
        copied = {tensor.name: np.array(filled(tensor, 1.5, random.random)) for tensor in placed.tensors}
        x = np.array([[2 * random.random() - 1 for _ in range(inputs)] for _ in range(steps)])
        shape = (inputs,) if placed.layer.time.ends else (steps, inputs)
        targets = np.array([random.random() for _ in range(prod(shape))]).reshape(shape)
        lists = {name: array.tolist() for name, array in copied.items()}
        loss = squared(targets.reshape(-1, inputs).tolist())
        ours = backward_pass(network, loss, {placed.name: lists}, inputs={None: x.tolist()})
        if framework == "torch":
            weights = {name: torch.tensor(array, requires_grad=True) for name, array in copied.items()}
            output = by_torch(layer, weights, torch.tensor(x)[None], convention)[0]
            ((output - torch.tensor(targets)) ** 2).sum().backward()
            output, gradients = output.detach().numpy(), {name: each.grad / 2 for name, each in weights.items()}
        else:

            def error(
                weights: Any, layer: Any = layer, x: Any = x, targets: Any = targets, of: str = convention
            ) -> Any:
                output = by_keras(layer, weights, jnp.asarray(x)[None], of)[0]
                return ((output - targets) ** 2).sum() / 2, output

            gradients, output = jax.jit(jax.grad(error, has_aux=True))(copied)
        within = WITHIN[framework]
        np.testing.assert_allclose(ours.ran[-1].output, output, rtol=within, atol=within, err_msg=repr(layer))
        seen = ours.layers[-1].gradients
        scale = max(1.0, *(np.abs(each).max() for each in seen.values()))  # that of keys' biases is 0, and noise there
        for name, gradient in seen.items():
            message = f"{layer} {name}"
            np.testing.assert_allclose(gradient, gradients[name], rtol=within, atol=within * scale, err_msg=message)


def drawn(random: Random, convention: str) -> tuple[Layer, Network]:
    """Return a layer of heads that a convention has, and a network of it; a decoder's has keys of another width."""
    heads, each = random.randint(1, 8), random.randint(1, 8)
    inputs = heads * each
    options: Arrays = {"bias": random.random() < 0.7}
    kind: Any = random.choice(
        [MultiHeadAttention, DecoderAttention, *([Transformer] if convention == "pytorch" else [])]
    )
    if kind is Transformer:
        options["feed_forward"] = random.randint(1, 40)
    elif convention != "pytorch" and random.random() < 0.5:
        options["key_size"], inputs = random.randint(1, 9), random.randint(1, 20)
        if convention == "keras":
            options["value_size"] = random.choice([None, random.randint(1, 9)])
    layer = kind(heads=heads, **options)
    if not isinstance(layer, DecoderAttention):
        return layer, Network(input=inputs, layers=[layer], convention=convention)
    memory = random.choice([inputs, random.randint(1, 20)])
    decoder = Part(3, (RNN(inputs, initial_state=memory),), Output(2), attention=layer)
    return layer, Network(encoder=Part(3, (RNN(memory),)), decoder=decoder, convention=convention)


def shapes_of(layer: Any, inputs: int, memory: int, convention: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a framework's module, by their names."""
    heads, bias, size = layer.heads, layer.bias, layer.values().get("key_size") or inputs // layer.heads
    x, keys = (jax.ShapeDtypeStruct((1, 2, width), jnp.float32) for width in (inputs, memory))
    match convention:
        case "pytorch":
            module: Any = (
                torch.nn.TransformerEncoderLayer(inputs, heads, layer.feed_forward, bias=bias, device="meta")
                if isinstance(layer, Transformer)
                else torch.nn.MultiheadAttention(inputs, heads, bias=bias, kdim=memory, vdim=memory, device="meta")
            )
            return {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
        case "keras":
            module = keras.layers.MultiHeadAttention(heads, size, value_dim=layer.value_size, use_bias=bias)
            module.build(x.shape, keys.shape)
            return {"/".join(weight.path.split("/")[-2:]): tuple(weight.shape) for weight in module.weights}
        case "flax-linen":
            module = linen.MultiHeadDotProductAttention(
                heads, qkv_features=heads * size, out_features=inputs, use_bias=bias
            )
            tree = jax.eval_shape(module.init, jax.random.key(0), x, keys)["params"]
        case _:
            sizes = {"qkv_features": heads * size, "in_kv_features": memory}
            made = lambda: nnx.MultiHeadAttention(  # noqa: E731
                heads, inputs, **sizes, use_bias=bias, decode=False, rngs=nnx.Rngs(0)
            )
            tree = nnx.to_pure_dict(nnx.state(nnx.eval_shape(made), nnx.Param))
    return {f"{part}/{name}": tuple(array.shape) for part, arrays in tree.items() for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("convention", "number"), [("pytorch", 1_000), ("keras", 15), ("flax-linen", 30), ("flax-nnx", 30)]
)
def test_counts_and_tensors_are_the_frameworks(convention: str, number: int) -> None:
    """Of random layers of heads: every tensor by its name and shape, and so the total; 1,000 each once."""
    random = Random(f"heads {convention}")
    for _ in range(number):
        layer, network = drawn(random, convention)
        placed = next(each for each in network.stack if each.kind == layer.kind)
        memory = placed.sizes["k"] if isinstance(layer, DecoderAttention) else placed.inputs
        shapes = shapes_of(layer, placed.inputs, memory, convention)
        assert {tensor.name: tensor.shape for tensor in placed.tensors} == shapes, (layer, network)
        assert placed.params == sum(prod(shape) for shape in shapes.values())


def test_keys_and_values_of_two_widths_are_a_block_by_its_tensors() -> None:
    """The spec has the tensors of PyTorch's module with a kdim and a vdim."""
    module = torch.nn.MultiheadAttention(512, 8, kdim=256, vdim=128, device="meta")
    (placed,) = load("specs/pytorch/keys-and-values.yaml").stack
    assert {tensor.name: tensor.shape for tensor in placed.tensors} == {
        name: tuple(parameter.shape) for name, parameter in module.named_parameters()
    }


def test_attention_of_keras_without_matrices() -> None:
    """docs/attention.md: the parameters of its two layers, over vectors of 6 numbers."""
    plain, additive = keras.layers.Attention, keras.layers.AdditiveAttention
    concat, scaled = {"score_mode": "concat"}, {"use_scale": True}
    made = [plain(), plain(**scaled), plain(**concat), plain(**concat, **scaled), additive(), additive(use_scale=False)]
    for layer in made:
        layer([np.ones((1, 4, 6), "float32")] * 2)
    assert [layer.count_params() for layer in made] == [0, 1, 1, 2, 6, 0]


def test_pytorch_masks_all_pairs_or_leaves_blocks_of_them_out() -> None:
    """What an output reads of the last step, which is no number: all with a mask, a block if causal is said too."""
    module, x = torch.nn.MultiheadAttention(64, 4, batch_first=True), torch.randn(1, 2048, 64)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(2048)
    x[:, -1] = float("nan")
    masked, causal = (module(x, x, x, need_weights=False, attn_mask=mask, is_causal=each)[0] for each in (False, True))
    assert [int(each.isnan().any(-1).sum()) for each in (masked, causal)] == [2048, 512]
