"""A decoder's attention is that of modules of PyTorch written from the papers' equations, and of programs for Keras."""

from typing import Any

import jax
import numpy as np
import pytest
import torch
from conformance.programs import case_of, modules_of
from conformance.test_export_keras import arrays, built
from hypothesis import Phase, given, settings
from hypothesis import strategies as some
from torch import nn

from rnncalc import GRU, LSTM, RNN, DecoderAttention, Network, Output, Part
from rnncalc.forward.backward_pass import backward_pass, the_sum
from rnncalc.programs.program import program_of

pytestmark = [
    pytest.mark.conformance,
    # Keras advises against a softmax of one step, which is 1.
    pytest.mark.filterwarnings(r"ignore:(?s).*You are using a softmax over axis -1:UserWarning"),
]

CELLS: dict[Any, Any] = {RNN: nn.RNNCell, GRU: nn.GRUCell, LSTM: nn.LSTMCell}
WHOLE: dict[Any, Any] = {RNN: nn.RNN, GRU: nn.GRU, LSTM: nn.LSTM}


class Score(nn.Module):  # type: ignore[misc]
    """The score of one query with one key: Bahdanau et al. (2015), section A.1.2; Luong et al. (2015), equation 8."""

    def __init__(self, name: str, u: int, q: int, k: int, biases: bool) -> None:
        super().__init__()
        self.name = name
        if name == "additive":
            self.query, self.keys = nn.Linear(q, u, bias=biases), nn.Linear(k, u, bias=biases)
        elif name == "concat":
            self.matrix = nn.Linear(q + k, u, bias=biases)
        elif name == "general":
            self.matrix = nn.Linear(k, q, bias=False)
        if name in ("additive", "concat"):
            self.score = nn.Linear(u, 1, bias=biases)

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        match self.name:
            case "additive":
                return self.score(torch.tanh(self.query(query) + self.keys(key)))[0]
            case "concat":
                return self.score(torch.tanh(self.matrix(torch.cat([query, key]))))[0]
            case "general":
                return torch.dot(query, self.matrix(key))
        return torch.dot(query, key)


class Translator(nn.Module):  # type: ignore[misc]
    """An encoder, and a decoder that attends to its outputs, one sequence and one step at a time."""

    def __init__(self, network: Network, kind: Any) -> None:
        super().__init__()
        sizes = {placed.name: placed for placed in network.stack}
        first, last = (next(placed for placed in network.stack if placed.name == f"{kind.kind}_{n}") for n in (1, 2))
        attention: Any = network.parts["decoder"].attention
        self.attention, self.width = attention, sizes["attention"].outputs
        encoder = first.layer.values()
        self.encoder = WHOLE[kind](first.inputs, encoder["units"], bidirectional=encoder["bidirectional"])
        self.cell = CELLS[kind](last.inputs, last.outputs)
        self.starts = nn.ModuleDict(
            {each.name: nn.Linear(each.inputs, each.outputs) for each in network.stack if each.starts}
        )
        self.output = nn.Linear(sizes["output"].inputs, sizes["output"].outputs)
        units, k = attention.units or last.outputs, first.outputs
        if attention.heads:
            self.score = nn.MultiheadAttention(last.outputs, attention.heads, bias=attention.bias, kdim=k, vdim=k)
        else:
            self.score = Score(attention.score, units, last.outputs, k, attention.bias is True)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory, final = self.encoder(source)
        state = tuple(each.flatten() for each in final) if isinstance(final, tuple) else final.flatten()
        if self.starts:
            states = zip(self.starts.values(), state if isinstance(state, tuple) else (state,), strict=True)
            first = tuple(dense(each) for dense, each in states)
            state = first if isinstance(state, tuple) else first[0]
        context, outputs = torch.zeros(self.width, dtype=torch.float64), []
        before, joins_input = self.attention.query == "before", self.attention.context in ("input", "both")
        joins_output = self.attention.context in ("output", "both")
        for x in target:
            if before:
                context = self.attend(state[0] if isinstance(state, tuple) else state, memory)
            read = torch.cat([x, context]) if joins_input else x
            state = self.cell(read, state)
            h = state[0] if isinstance(state, tuple) else state
            if not before:
                context = self.attend(h, memory)
            outputs.append(self.output(torch.cat([h, context]) if joins_output else h))
        return torch.stack(outputs)

    def attend(self, query: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        if self.attention.heads:
            return self.score(query[None], memory, memory)[0][0]
        alpha = torch.softmax(torch.stack([self.score(query, key) for key in memory]), dim=0)
        return sum(weight * key for weight, key in zip(alpha, memory, strict=True))


def parameters(model: Translator, kind: Any) -> dict[str, dict[str, torch.nn.Parameter]]:
    """Return the parameters of a model by the names that they have in rnncalc, under PyTorch's convention."""
    names = {"encoder": f"{kind.kind}_1", "cell": f"{kind.kind}_2", "score": "attention", "output": "output"}
    named: dict[str, dict[str, torch.nn.Parameter]] = {name: {} for name in names.values()}
    for name, parameter in model.named_parameters():
        module, _, tensor = name.partition(".")
        if module == "starts":
            module, _, tensor = tensor.partition(".")
            named.setdefault(module, {})[tensor] = parameter
            continue
        named[names[module]][tensor + "_l0" * (module == "cell")] = parameter
    return named


SCORES = ["additive", "concat", "general", "dot", "heads"]
QUERIES, CONTEXTS = ["before", "after"], ["input", "output", "both"]


def drawn(data: some.DataObject, score: Any, query: Any, context: Any, convention: str) -> tuple[Any, Network]:
    """Return a kind of cell, and an encoder-decoder of it with random sizes, directions and biases."""
    kind = data.draw(some.sampled_from([RNN, GRU, LSTM]))
    units, both = data.draw(some.integers(1, 4)), data.draw(some.booleans())
    width = decoder = 2 * units if both else units
    options: dict[str, Any] = {"bias": data.draw(some.booleans())}
    if score == "heads":
        options["heads"] = data.draw(some.integers(1, 3))
        decoder = options["heads"] * data.draw(some.integers(1, 3))
    elif score in ("additive", "concat"):
        options["units"] = data.draw(some.integers(1, 4))
    else:
        del options["bias"]
    return kind, Network(
        encoder=Part(2, (kind(units, bidirectional=both),), steps=data.draw(some.integers(1, 4))),
        decoder=Part(
            *(3, (kind(decoder, initial_state=None if decoder == width else width),), Output(2)),
            *(data.draw(some.integers(1, 4)),),
            DecoderAttention(score=None if score == "heads" else score, query=query, context=context, **options),
        ),
        convention=convention,
    )


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("score", SCORES)
@given(data=some.data())
@settings(max_examples=10)
def test_values_and_gradients_are_those_of_pytorch(score: Any, query: Any, context: Any, data: some.DataObject) -> None:
    """Of the sum of the outputs, on copied weights."""
    kind, network = drawn(data, score, query, context, "pytorch")
    torch.manual_seed(data.draw(some.integers(0, 1000)))
    model = Translator(network, kind).double()
    named = parameters(model, kind)
    assert sum(each.numel() for each in model.parameters()) == network.params
    inputs = {
        name: torch.randn(part.steps or 1, part.input, dtype=torch.float64) for name, part in network.parts.items()
    }
    outputs = model(inputs["encoder"], inputs["decoder"])
    outputs.sum().backward()
    weights = {layer: {name: each.tolist() for name, each in tensors.items()} for layer, tensors in named.items()}
    back = backward_pass(network, the_sum, weights, inputs={name: each.tolist() for name, each in inputs.items()})
    np.testing.assert_allclose(back.ran[-1].output, outputs.detach().numpy(), rtol=1e-9, atol=1e-9)
    for layer in back.layers:
        for tensor, gradient in layer.gradients.items():
            theirs = named[layer.placed.name][tensor].grad
            np.testing.assert_allclose(gradient, 0.0 if theirs is None else theirs, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("score", SCORES)
@given(data=some.data())
@settings(max_examples=2, phases=[Phase.generate])  # most time is compiling; 40 each were compared once
def test_values_and_gradients_are_those_of_keras(score: Any, data: some.DataObject) -> None:
    """Of the program that is exported, in float32."""
    query, context = data.draw(some.sampled_from(QUERIES)), data.draw(some.sampled_from(CONTEXTS))
    _, network = drawn(data, score, query, context, "keras")
    case = case_of(program_of(network, "keras"), network, data.draw(some.integers(0, 1000)))
    weights = {layer: {name: each.tolist() for name, each in own.items()} for layer, own in case.weights.items()}
    back = backward_pass(network, the_sum, weights, inputs={name: each.tolist() for name, each in case.inputs.items()})
    gradients = {layer.placed.name: layer.gradients for layer in back.layers}
    wanted = {
        name: array
        for module, identifier in modules_of(case.program)
        for place in module.places
        for name, array in arrays(module, identifier, gradients[place.name])
    }
    with jax.enable_x64(False):
        model, held, inputs, _ = built(case)
        others = [weight.value for weight in model.non_trainable_variables]

        def total(weights: Any) -> Any:
            outputs = model.stateless_call(weights, others, *inputs)[0]
            return outputs.sum(), outputs

        found, outputs = jax.jit(jax.grad(total, has_aux=True))([each.value for each in model.trainable_variables])
    np.testing.assert_allclose(np.asarray(outputs)[0], back.ran[-1].output, rtol=1e-5, atol=1e-5)
    names = {weight.path: name for name, weight in held.items()}
    scale = max(1.0, *(np.abs(each).max() for each in wanted.values()))
    for weight, gradient in zip(model.trainable_variables, found, strict=True):
        theirs = wanted[names[weight.path]]
        np.testing.assert_allclose(gradient, theirs, rtol=1e-4, atol=1e-5 * scale)
