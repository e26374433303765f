"""The FastGRNN, and what options of rnncalc's cells make of them, as modules of torchrecurrent, in float64.

Every module of the package has a second bias vector per gate, beside the recurrent product, unless `recurrent_bias` is
false; no paper has it, nor does rnncalc's textbook.
"""

from functools import partial
from typing import Any, NamedTuple

import torch
import torchrecurrent
from conformance.drawing import Shapes, only
from conformance.ways import Weights, each_way, marks_of

from rnncalc.layers.cell import Cell
from rnncalc.network.stack import Placed

ACTIVATIONS: dict[str, Any] = {
    "tanh": "tanh",
    "relu": "relu",
    "gelu": torch.nn.GELU(),
    "sigmoid": "sigmoid",
    "linear": "identity",
    "softmax": torch.nn.Softmax(-1),
}


class Module(NamedTuple):
    """How one of the package's modules holds a cell.

    gates: those in its fused tensors, from the first row on. shares: whether they share their matrices.
    recurrent: the name of what multiplies the state.
    options: those of rnncalc that it can express, beside what every module can.
    nonlinearity: what its option of that name is given, where that is not the candidate's activation.
    """

    of: Any
    gates: str
    options: tuple[str, ...] = ()
    shares: bool = False
    recurrent: str = "weight_hh"
    nonlinearity: str | None = None

    def build(self, layer: Cell, inputs: int) -> Any:
        """Return the module as the paper has it, of one direction of a layer."""
        given: dict[str, Any] = {"bias": layer.bias, "recurrent_bias": False, "dtype": torch.float64}
        if "activation" in self.options:
            given["nonlinearity"] = ACTIVATIONS[layer.values()["activation"] or "tanh"]
        elif self.nonlinearity:
            given["nonlinearity"] = self.nonlinearity
        return self.of(inputs, layer.units, **given)


MODULES = {
    "FastGRNN": Module(torchrecurrent.FastGRNN, "zn", shares=True, nonlinearity="sigmoid"),
    "IndRNN": Module(torchrecurrent.IndRNN, "h", ("activation", "recurrence"), recurrent="vector_u"),
    "LiGRU": Module(torchrecurrent.LiGRU, "zn", ("activation", "reset_gate", "update_gate")),
    "UGRNN": Module(torchrecurrent.UGRNN, "nz", ("reset_gate", "update_gate")),
    "MGU": Module(torchrecurrent.MGU, "fn", ("activation",)),
}
"""FastGRNN's `nonlinearity` is its gate's, by default tanh, which the paper has not. Its candidate always has tanh."""


def tensors(name: str, place: Placed) -> Shapes:
    """Return the names and shapes of what the package holds; a bias left out stays there as a buffer of zeros."""
    layer = place.layer
    assert isinstance(layer, Cell)
    held = MODULES[name].build(layer, place.inputs).named_parameters()
    shapes = {name: tuple(array.shape) for name, array in held}
    return {mark + name: shape for mark in marks_of(layer) for name, shape in shapes.items()}


def apply(name: str, place: Placed, weights: Weights, flow: Any, *, final: bool) -> Any:
    """Return what leaves a layer: its whole sequence, or where `final` its last state."""
    layer = place.layer
    assert isinstance(layer, Cell)
    of = MODULES[name]
    only(layer, "bias", "bidirectional", "merge", "learned_state", *of.options)
    return each_way(layer, weights, flow, partial(forward, of, layer), final=final)


def forward(module: Module, layer: Cell, weights: Weights, flow: Any) -> Any:
    """Return every h_t that a module gives for one direction of a layer."""
    given = {name: torch.tensor(array, dtype=torch.float64) for name, array in weights.items()}
    if layer.values().get("update_gate") == "replaces":  # the package's gates keep, and 1 − σ(v) = σ(−v)
        given |= {name: -given[name] for name in ("W_xz", "W_hz", "b_z") if name in given}
    built = module.build(layer, flow.shape[1])
    matrices = [""] if module.shares else [*module.gates]
    arrays = {
        "weight_ih": torch.cat([given[f"W_x{gate}"] for gate in matrices]),
        module.recurrent: torch.cat([given[f"W_h{gate}"] for gate in matrices]),
    }
    if layer.bias:
        arrays["bias_ih"] = torch.cat([given[f"b_{gate}"] for gate in module.gates])
    arrays |= {name: given[name] for name in ("zeta", "nu") if name in given}
    built.load_state_dict(built.state_dict() | {f"cells.0.{name}": array for name, array in arrays.items()})
    first = given["h_0"].reshape(1, 1, -1) if "h_0" in given else None
    with torch.no_grad():
        h, _ = built(torch.tensor(flow)[:, None], first)
    return h[:, 0].numpy()
