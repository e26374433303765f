"""rnncalc's layers as modules of PyTorch."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from conformance.drawing import Shapes, only, turn_of
from conformance.ways import merges
from torch import nn

from rnncalc import GRU, LSTM, RNN, Dense, Dropout, Embedding, Layer, Network, Output
from rnncalc.network.stack import Placed

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "gelu": nn.functional.gelu,
    "sigmoid": torch.sigmoid,
    "linear": lambda x: x,
    "softmax": partial(torch.softmax, dim=-1),
}

MERGES = merges(lambda ways: torch.cat(ways, dim=-1))


def module(layer: Layer, inputs: int, *, layers: int = 1) -> Any:
    """Return the module a layer is in PyTorch; a stack of recurrent ones where `layers` says so."""
    match layer:
        case RNN():
            only(layer, "bias", "bidirectional", "merge", "activation")
            of: Any = partial(nn.RNN, nonlinearity=layer.activation or "tanh")
        case GRU():
            only(layer, "bias", "bidirectional", "merge", "reset_after")
            of = nn.GRU
        case LSTM():
            only(layer, "bias", "bidirectional", "merge", "projection")
            of = partial(nn.LSTM, proj_size=layer.projection or 0)
        case Dense():
            return nn.Linear(inputs, layer.units, bias=layer.bias)
        case Embedding():
            return nn.Embedding(inputs, layer.units)
        case Dropout():
            return nn.Dropout(layer.rate)
        case _:
            raise AssertionError(layer)
    return of(inputs, layer.units, num_layers=layers, bias=layer.bias, bidirectional=layer.bidirectional)


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what PyTorch holds for a layer."""
    with torch.device("meta"):
        state = module(place.layer, place.inputs).state_dict()
    return {numbered(name, 0, place.copy): tuple(array.shape) for name, array in state.items()}


def numbered(name: str, number: int, other: int) -> str:
    """Return the name that an array of a stack's layer has in another one; a layer built alone is number 0."""
    return name.replace(f"_l{number}", f"_l{other}")


def apply(place: Placed, weights: dict[str, Any], flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    with torch.no_grad():
        return leaving(place.layer, built(place, weights), torch.tensor(flow), final=final).numpy()


def built(place: Placed, weights: dict[str, Any]) -> Any:
    """Return the module of a layer in float64, with its weights in it."""
    made = module(place.layer, place.inputs).double().eval()
    arrays = {
        numbered(name, place.copy, 0): torch.tensor(array, dtype=torch.float64) for name, array in weights.items()
    }
    made.load_state_dict(arrays)
    return made


def leaving(layer: Layer, made: Any, flow: Any, *, final: bool) -> Any:
    """Return what leaves a module: its whole sequence, or where `final` its last state."""
    if isinstance(layer, RNN | GRU | LSTM):
        outputs, state = made(flow)
        last = state[0] if isinstance(layer, LSTM) else state
        ways = [*last] if final else [*outputs.chunk(layer.directions, dim=-1)]
        return MERGES[layer.merge](*ways) if layer.bidirectional else ways[0]  # the module itself concatenates
    done = made(flow)
    return ACTIVATIONS[layer.activation](done) if isinstance(layer, Dense) else done


Module: Any = nn.Module


class Stack(Module):  # type: ignore[misc]
    """A network's layers one behind the other."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.layers = nn.ModuleList(module(place.layer, place.inputs) for place in network.stack)
        self.places = network.stack
        self.turn = turn_of(network)

    def forward(self, flow: Any) -> Any:
        """Return what leaves the last layer, fed with one sequence."""
        for place, layer in zip(self.places, self.layers, strict=True):
            flow = leaving(place.layer, layer, flow, final=place is self.turn)
        return flow


def tied(first: Embedding, others: list[Placed], output: Output, vocabulary: int) -> Any:
    """Return a model whose last layer shares the matrix of its first."""
    table = module(first, vocabulary)
    last = module(output, first.units)
    last.weight = table.weight
    return nn.ModuleList([table, *(module(place.layer, place.inputs) for place in others), last])
