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

    def weights(self, query: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """Return the weights of all keys."""
        return torch.softmax(torch.stack([self(query, key) for key in memory]), dim=0)

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        match self.name:
            case "additive":
                return self.score(torch.tanh(self.query(query) + self.keys(key)))[0]
            case "concat":
                return self.score(torch.tanh(self.matrix(torch.cat([query, key]))))[0]
            case "general":
                return torch.dot(query, self.matrix(key))
        return torch.dot(query, key)


class LocationScore(nn.Module):  # type: ignore[misc]
    """Scores that also read the weights of the past (Chorowski et al. 2015, equations 8 and 9), as Tacotron 2 has them.

    https://github.com/NVIDIA/tacotron2/blob/185cd24e046cc1304b4f8e564734d2498c6e2e6f/model.py: LocationLayer, Attention
    and the two lines of Decoder.decode that keep the weights and their sum.
    """

    def __init__(self, attention: DecoderAttention, u: int, q: int, k: int) -> None:
        super().__init__()
        self.past, biases = attention.past or "previous", attention.bias is True
        self.query, self.keys = nn.Linear(q, u, bias=biases), nn.Linear(k, u, bias=biases)
        assert attention.kernel
        self.around = (attention.kernel - 1) // 2, attention.kernel // 2  # as padding "same"
        self.convolution = nn.Conv1d(1 + (self.past == "both"), attention.filters, attention.kernel, bias=biases)
        self.location, self.score = nn.Linear(attention.filters, u, bias=biases), nn.Linear(u, 1, bias=biases)
        self.previous: Any = None
        self.cumulative: Any = 0.0

    def weights(self, query: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """Return the weights of all keys, and keep them for the next query."""
        zeros = torch.zeros(len(memory), dtype=memory.dtype)
        previous, cumulative = (zeros + (0.0 if each is None else each) for each in (self.previous, self.cumulative))
        read = {"previous": [previous], "cumulative": [cumulative], "both": [previous, cumulative]}[self.past]
        features = self.convolution(nn.functional.pad(torch.stack(read), self.around)[None])[0].T
        energies = self.score(torch.tanh(self.query(query) + self.keys(memory) + self.location(features)))
        self.previous = torch.softmax(energies[:, 0], dim=0)
        self.cumulative = cumulative + self.previous
        return self.previous


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
        above = sizes.get(f"{kind.kind}_3")  # which starts from zeros
        self.above = CELLS[kind](above.inputs, above.outputs) if above else None
        asked = above if above and attention.layer == "last" else last
        self.starts = nn.ModuleDict(
            {each.name: nn.Linear(each.inputs, each.outputs) for each in network.stack if each.starts}
        )
        self.output = nn.Linear(sizes["output"].inputs, sizes["output"].outputs)
        q, k = asked.outputs, first.outputs
        units = attention.units or q
        if attention.heads:
            self.score = nn.MultiheadAttention(q, attention.heads, bias=attention.bias, kdim=k, vdim=k)
        elif attention.score == "location":
            self.score = LocationScore(attention, units, q, k)
        else:
            self.score = Score(attention.score, units, q, k, attention.bias is True)

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
        cells, carried = [each for each in (self.cell, self.above) if each], [state]
        if self.above:
            zeros = torch.zeros(self.above.hidden_size, dtype=torch.float64)
            carried.append((zeros, zeros) if isinstance(state, tuple) else zeros)
        asked = len(cells) - 1 if self.attention.layer == "last" else 0
        for x in target:
            if before:
                query = carried[asked]
                context = self.attend(query[0] if isinstance(query, tuple) else query, memory)
            h = torch.cat([x, context]) if joins_input else x
            for place, cell in enumerate(cells):
                carried[place] = state = cell(h, carried[place])
                h = state[0] if isinstance(state, tuple) else state
                if place == asked:
                    context = context if before else self.attend(h, memory)
                    h = torch.cat([h, context]) if joins_output else h
            outputs.append(self.output(h))
        return torch.stack(outputs)

    def attend(self, query: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        if self.attention.heads:
            return self.score(query[None], memory, memory)[0][0]
        alpha = self.score.weights(query, memory)
        return sum(weight * key for weight, key in zip(alpha, memory, strict=True))


def parameters(model: Translator, kind: Any) -> dict[str, dict[str, torch.nn.Parameter]]:
    """Return the parameters of a model by the names that they have in rnncalc, under PyTorch's convention."""
    names = {"encoder": f"{kind.kind}_1", "cell": f"{kind.kind}_2", "above": f"{kind.kind}_3"}
    names |= {"score": "attention", "output": "output"}
    named: dict[str, dict[str, torch.nn.Parameter]] = {name: {} for name in names.values()}
    for name, parameter in model.named_parameters():
        module, _, tensor = name.partition(".")
        if module == "starts":
            module, _, tensor = tensor.partition(".")
            named.setdefault(module, {})[tensor] = parameter
            continue
        named[names[module]][tensor + "_l0" * (module in ("cell", "above"))] = parameter
    return named


SCORES = ["additive", "concat", "general", "dot", "heads"]
"""Those that programs can compute."""
QUERIES, CONTEXTS = ["before", "after"], ["input", "output", "both"]


def drawn(
    data: some.DataObject, score: Any, query: Any, context: Any, convention: str, *, above: bool = False
) -> tuple[Any, Network]:
    """Return a kind of cell, and an encoder-decoder of it with random sizes, directions and biases.

    above: whether its decoder may have a second cell, which starts from zeros.
    """
    kind = data.draw(some.sampled_from([RNN, GRU, LSTM]))
    units, both = data.draw(some.integers(1, 4)), data.draw(some.booleans())
    width = decoder = 2 * units if both else units
    options: dict[str, Any] = {"bias": data.draw(some.booleans())}
    if score == "heads":
        options["heads"] = data.draw(some.integers(1, 3))
        decoder = options["heads"] * data.draw(some.integers(1, 3))
    elif score in ("additive", "concat", "location"):
        options["units"] = data.draw(some.integers(1, 4))
        if score == "location":
            options |= {"filters": data.draw(some.integers(1, 3)), "kernel": data.draw(some.integers(1, 6))}
            options["past"] = data.draw(some.sampled_from([None, "cumulative", "both"]))
    else:
        del options["bias"]
    second: tuple[Any, ...] = ()
    if above and data.draw(some.booleans()):
        options["layer"] = data.draw(some.sampled_from(["last", "first"])) if score != "heads" else "first"
        upper = data.draw(some.integers(1, 4))
        second = (kind(decoder if score == "dot" and options["layer"] == "last" else upper),)
    return kind, Network(
        encoder=Part(2, (kind(units, bidirectional=both),), steps=data.draw(some.integers(1, 4))),
        decoder=Part(
            *(3, (kind(decoder, initial_state=None if decoder == width else width), *second), Output(2)),
            *(data.draw(some.integers(1, 4)),),
            DecoderAttention(score=None if score == "heads" else score, query=query, context=context, **options),
            "last" if second else "all",
        ),
        convention=convention,
    )


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("score", [*SCORES, "location"])
@given(data=some.data())
@settings(max_examples=10)
def test_values_and_gradients_are_those_of_pytorch(score: Any, query: Any, context: Any, data: some.DataObject) -> None:
    """Of the sum of the outputs, on copied weights."""
    kind, network = drawn(data, score, query, context, "pytorch", above=True)
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
