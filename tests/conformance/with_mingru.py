"""minGRU and minLSTM as modules of minGRU-pytorch, in float64.

The package computes what Feng et al. 2024 have in appendix B, for a scan in logarithms: no biases, and a candidate that
is kept above 0 by g(v) = v + 1/2 for v >= 0, σ(v) below. rnncalc computes their section 3, which has no g, with biases.
Two identities carry the one over to the other, and the package stays as it is:

- W x + b is [W b] [x 1]: a bias is the column that reads a feature which is always 1.
- The shares of a step sum to one, so if n = a·g(v) + d for every candidate, then h = a·h' + d for every state, where h'
  is the package's.

The linear candidate is had so with any weights, sigmoid and tanh where all the candidate's sums are below 0. relu and
softmax are not to be had.
"""

from functools import partial
from typing import Any

import torch
from conformance.drawing import Shapes, only
from conformance.ways import Weights, each_way, marks_of
from minGRU_pytorch.minGRU import minGRU
from minGRU_pytorch.minLSTM import minLSTM

from rnncalc import MinGRU, MinLSTM
from rnncalc.network.stack import Placed

MODULES: dict[str, Any] = {"mingru": minGRU, "minlstm": minLSTM}

FUSED = {"mingru": ("to_hidden_and_gate.weight", "nz"), "minlstm": ("to_hidden_and_f_i_gate.weight", "nfi")}
"""The one tensor of each module, and the gates in it from its first row on."""


def module(kind: str, reads: int, units: int) -> Any:
    """Return the package's module for so many features."""
    # int(reads * factor) is the width; half a unit more keeps it from being rounded down, as 11 * (15 / 11) is.
    return MODULES[kind](reads, expansion_factor=(units + 0.5) / reads, proj_out=False).double()


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what the package holds; with a bias it reads one feature more, the constant."""
    layer = place.layer
    assert isinstance(layer, MinGRU | MinLSTM)
    built = module(layer.kind, place.inputs + layer.bias, layer.units)
    return {mark + name: tuple(array.shape) for mark in marks_of(layer) for name, array in built.named_parameters()}


def apply(place: Placed, weights: Weights, flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer, one step at a time: its whole sequence, or where `final` its last state."""
    layer = place.layer
    assert isinstance(layer, MinGRU | MinLSTM)
    only(layer, "bias", "bidirectional", "merge", "activation", "learned_state")
    return each_way(layer, weights, flow, partial(_one, layer), final=final)


def _one(layer: MinGRU | MinLSTM, weights: Weights, flow: Any) -> Any:
    name, gates = FUSED[layer.kind]
    matrices = {gate: _with_bias(weights, gate) for gate in gates}
    units, reads = matrices["n"].shape
    x = torch.nn.functional.pad(torch.tensor(flow), (0, 1), value=1.0)
    first = torch.tensor(weights.get("h_0", [0.0] * units), dtype=torch.float64)
    matrices["n"], a, d = _through_g(layer.activation, matrices["n"], x, first)
    built = module(layer.kind, reads, units)
    built.load_state_dict({name: torch.cat([matrices[gate] for gate in gates])})
    past = ((first - d) / a).reshape(1, 1, units)
    with torch.no_grad():
        steps = []
        for vector in x:
            past = built(vector[None, None], past)
            steps.append(past.reshape(units))
    return (a * torch.stack(steps) + d).numpy()


def _with_bias(weights: Weights, gate: str) -> Any:
    matrix = torch.tensor(weights[f"W_x{gate}"], dtype=torch.float64)
    bias = torch.tensor(weights.get(f"b_{gate}", [0.0] * len(matrix)), dtype=torch.float64)
    return torch.cat([matrix, bias[:, None]], dim=1)


def _through_g(activation: str, candidate: Any, x: Any, first: Any) -> tuple[Any, float, float]:
    """Return [W b], a and d, with which a·g([W b] [x 1]) + d is the activation of the candidate's sums."""
    sums = x @ candidate.T
    match activation:
        case "linear":
            lift = max(0.0, -float(sums.min()), -float(first.min()))
            lifted = candidate.clone()
            lifted[:, -1] += lift
            return lifted, 1.0, -lift - 0.5
        case "sigmoid":
            assert sums.max() < 0, "g is σ below 0 only"
            return candidate, 1.0, 0.0
        case "tanh":  # tanh v = 2σ(2v) − 1
            assert sums.max() < 0, "g is σ below 0 only"
            return 2 * candidate, 2.0, -1.0
    raise AssertionError(activation)
