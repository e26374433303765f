"""Where a package is not what its paper has, or not what rnncalc has, and what of rnncalc's gives which."""

from typing import Any

import numpy as np
import pytest
import torch
from conformance import with_mingru, with_sru
from conformance.drawing import CELLS, numbers
from conformance.ways import Weights

from rnncalc import SRU, Layer, Network
from rnncalc.forward.network_pass import LayerRun
from rnncalc.questions.run import run

pytestmark = pytest.mark.conformance

M, H = 4, 3

minimal = pytest.mark.parametrize("kind", ["mingru", "minlstm"])


def alone(layer: Layer, inputs: int = M) -> Network:
    return Network(input=inputs, layers=(layer,), steps=7, topology="many-to-many")


def drawn(network: Network) -> tuple[Weights, Any]:
    """Return weights of the one layer, and inputs."""
    weights, inputs = numbers(network, seed=4)
    (own,) = weights.values()
    return own, np.asarray(inputs)


def ours(network: Network, own: Weights, inputs: Any) -> LayerRun:
    """Return what rnncalc's layer does."""
    (place,) = network.stack
    done = run(network, weights={place.name: own}, inputs={None: inputs.tolist()}, states=True)
    assert done.agrees
    return done.layers[0]


def same(left: Any, right: Any, within: float = 1e-12) -> None:
    np.testing.assert_allclose(left, right, rtol=within, atol=within)


def count(built: Any) -> int:
    return sum(array.numel() for array in built.parameters())


@minimal
def test_the_minimal_cells_of_the_package_have_no_biases(kind: str) -> None:
    """Built plainly it is `bias: false`; for biases it is given a feature that is always 1."""
    package = with_mingru.MODULES[kind]
    assert count(package(H)) == alone(CELLS[kind](H, bias=False), H).params
    assert count(package(M + 1, expansion_factor=H / (M + 1), proj_out=False)) == alone(CELLS[kind](H)).params


@minimal
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_minimal_cells_with_another_activation(kind: str, bias: bool, activation: str, bidirectional: bool) -> None:
    """Where all the candidate's sums are below 0 the package's g is σ, and 2σ(2v) − 1 is tanh."""
    network = alone(CELLS[kind](H, bias=bias, activation=activation, bidirectional=bidirectional))
    own, inputs = drawn(network)
    for name in own:
        if name.endswith(("W_xn", "b_n")):
            own[name] = (-np.abs(own[name]) - 0.01).tolist()
    theirs = with_mingru.apply(network.stack[0], own, np.abs(inputs), final=False)
    same(ours(network, own, np.abs(inputs)).output, theirs, 1e-9)


@minimal
def test_the_minimal_cells_above_zero(kind: str) -> None:
    """Where all the candidate's sums are at least 0 the package is ours with b_n = 1/2; nothing is carried over."""
    network = alone(CELLS[kind](H))
    own, inputs = drawn(network)
    name, gates = with_mingru.FUSED[kind]
    own |= {"W_xn": np.abs(own["W_xn"]).tolist(), **{f"b_{gate}": [0.0] * H for gate in gates}, "b_n": [0.5] * H}
    built = with_mingru.module(kind, M, H)
    rows = [row for gate in gates for row in own[f"W_x{gate}"]]
    built.load_state_dict({name: torch.tensor(rows, dtype=torch.float64)})
    with torch.no_grad():
        theirs = built(torch.tensor(np.abs(inputs))[None])[0]
    same(ours(network, own, np.abs(inputs)).output, theirs)


@pytest.mark.parametrize("inputs", [H, M])
@pytest.mark.parametrize("learned_state", [False, True])
def test_the_sru_carries_c(inputs: int, learned_state: bool) -> None:
    """What it outputs is h, and its state, that of a decoder to be, is c."""
    network = alone(SRU(H, learned_state=learned_state), inputs)
    own, x = drawn(network)
    h, c = with_sru.forward(with_sru.module(inputs, H), own, x)
    ran = ours(network, own, x)
    same(ran.output, h)
    same(ran.traces[0].steps[-1]["c"], c)
