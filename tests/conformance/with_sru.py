"""The SRU as a module of sru, in float64.

The package computes what its paper says (Lei et al. 2018): gates read the state through a weight per unit, c is shown
without a tanh, and nothing is rescaled (`rescale=False`, which is `SRU`'s default but not `SRUCell`'s).
"""

import warnings
from typing import Any
from unittest import mock

import numpy as np
import torch
from conformance.drawing import Shapes, only
from conformance.ways import MARKS, Weights, joined

from rnncalc import SRU
from rnncalc.network.stack import Placed

# On import the package compiles its kernels, which takes half a minute and a compiler, and they know float32 only. What
# it falls back on while gradients are on is the same recurrence in its own Python, at any precision: that is run here.
# No number that is compared comes from what is replaced.
with mock.patch("torch.utils.cpp_extension.load"), mock.patch("torch.jit.script", lambda function: function):
    import sru


def module(inputs: int, units: int, *, bidirectional: bool = False) -> Any:
    """Return the package's module, of one layer (its own default is two)."""
    return sru.SRU(inputs, units, num_layers=1, bidirectional=bidirectional).double()


def tensors(place: Placed) -> Shapes:
    """Return the names and shapes of what the package holds; its biases cannot be left out, only not counted."""
    layer = place.layer
    assert isinstance(layer, SRU)
    built = module(place.inputs, layer.units, bidirectional=layer.bidirectional)
    return {
        name: tuple(array.shape) for name, array in built.named_parameters() if layer.bias or name != "rnn_lst.0.bias"
    }


def apply(place: Placed, weights: Weights, flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last output in each direction."""
    layer = place.layer
    assert isinstance(layer, SRU)
    only(layer, "bias", "bidirectional", "merge", "learned_state")
    built = module(place.inputs, layer.units, bidirectional=layer.bidirectional)
    done, _ = forward(built, weights, flow, MARKS if layer.bidirectional else ("",))
    return joined(layer, np.split(done, 2, axis=1), final=final) if layer.bidirectional else done[-1] if final else done


def forward(built: Any, weights: Weights, flow: Any, marks: tuple[str, ...] = ("",)) -> tuple[Any, Any]:
    """Return every h_t that a module gives, and its last c; both directions side by side where it has two."""
    built.load_state_dict(built.state_dict() | packed(weights, marks, "nfrs"[: built.rnn_lst[0].num_matrices]))
    start = [torch.tensor(weights[f"{mark}c_0"]) for mark in marks if f"{mark}c_0" in weights]
    first = torch.cat(start).double().reshape(1, 1, -1) if start else None
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Running SRU on CPU with grad_enabled=True")
        h, c = built(torch.tensor(flow)[:, None], first)
    return h[:, 0].detach().numpy(), c[0, 0].detach().numpy()


def packed(weights: Weights, marks: tuple[str, ...], matrices: str) -> dict[str, Any]:
    """Return the package's tensors: columns of `weight` by direction, then unit, then matrix; vectors by gate first."""

    def tensor(name: str) -> Any:
        return torch.tensor(weights[name], dtype=torch.float64)

    def vectors(prefix: str) -> Any:
        return torch.cat([tensor(f"{mark}{prefix}{gate}") for gate in "fr" for mark in marks])

    each = torch.stack([torch.stack([tensor(f"{mark}W_x{gate}") for gate in matrices]) for mark in marks])
    looks = vectors("W_c")
    return {
        "rnn_lst.0.weight": each.permute(3, 0, 2, 1).flatten(1),
        "rnn_lst.0.weight_c": looks,
        "rnn_lst.0.bias": vectors("b_") if f"{marks[0]}b_f" in weights else torch.zeros_like(looks),
    }
