"""Where a package is not what its paper has, or not what rnncalc has, and what of rnncalc's gives which."""

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
import torchrecurrent
from conformance import with_mingru, with_sru
from conformance.drawing import CELLS, numbers
from conformance.packages import PACKAGES
from conformance.ways import MARKS, Weights
from conformance.with_torchrecurrent import MODULES, forward

from rnncalc import GRU, MGU, RNN, SRU, FastGRNN, Layer, Network
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
@pytest.mark.parametrize("parallel", [False, True])
def test_the_minimal_cells_with_another_activation(
    kind: str, bias: bool, activation: str, bidirectional: bool, parallel: bool
) -> None:
    """Where all the candidate's sums are below 0 the package's g is σ, and 2σ(2v) − 1 is tanh."""
    network = alone(CELLS[kind](H, bias=bias, activation=activation, bidirectional=bidirectional))
    own, inputs = drawn(network)
    for name in own:
        if name.endswith(("W_xn", "b_n")):
            own[name] = (-np.abs(own[name]) - 0.01).tolist()
    theirs = with_mingru.apply(network.stack[0], own, np.abs(inputs), final=False, parallel=parallel)
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


@minimal
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("learned_state", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_minimal_cells_scan_a_sequence_at_once(
    kind: str, bias: bool, learned_state: bool, bidirectional: bool
) -> None:
    """The package's scan in logarithms, made for training, is its step taken again and again."""
    network = alone(CELLS[kind](H, bias=bias, learned_state=learned_state, bidirectional=bidirectional))
    own, inputs = drawn(network)
    theirs = with_mingru.apply(network.stack[0], own, inputs, final=False, parallel=True)
    same(ours(network, own, inputs).output, theirs, 1e-9)


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


@pytest.mark.parametrize(("inputs", "matrices"), [(2 * H, 3), (H, 4), (M, 4)])
def test_the_sru_of_both_directions_skips_its_input_where_that_is_twice_as_wide(inputs: int, matrices: int) -> None:
    """Half of the input each; as wide as one direction, it is a matrix that makes the skip."""
    network = alone(SRU(H, bidirectional=True), inputs)
    built = with_sru.module(inputs, H, bidirectional=True)
    assert count(built) == network.params == 2 * (matrices * H * inputs + 4 * H)
    own, x = drawn(network)
    theirs, _ = with_sru.forward(built, own, x, MARKS)
    same(ours(network, own, x).output, theirs)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("FastGRNN", FastGRNN(H)),
        ("IndRNN", RNN(H, recurrence="diagonal")),
        ("LiGRU", GRU(H, reset_gate=False, activation="relu")),
        ("UGRNN", GRU(H, reset_gate=False)),
        ("MGU", MGU(H)),
    ],
)
def test_torchrecurrent_has_a_second_bias(name: str, layer: Any) -> None:
    """Built plainly, each of its modules has one vector more a gate; `recurrent_bias=False` leaves it out."""
    build = getattr(torchrecurrent, name)
    gates = len(layer.gates(M))
    assert count(build(M, H)) == alone(layer).params + gates * H
    assert count(build(M, H, recurrent_bias=False)) == alone(layer).params
    assert count(build(M, H, bias=False, recurrent_bias=False)) == alone(layer).params - gates * H


def test_torchrecurrent_s_fastgrnn_has_tanh_for_a_gate() -> None:
    """By default; its paper has σ, and so has rnncalc, which the other is not."""
    assert isinstance(torchrecurrent.FastGRNN(M, H).cells[0].act, torch.nn.Tanh)
    layer = FastGRNN(H)
    network = alone(layer)
    own, x = drawn(network)
    built_plainly = MODULES["FastGRNN"]._replace(nonlinearity="tanh")
    gives = ours(network, own, x).output
    same(gives, forward(MODULES["FastGRNN"], layer, own, x))
    assert not np.allclose(gives, forward(built_plainly, layer, own, x), rtol=0, atol=1e-3)


MEASURED: list[tuple[str, Layer, int, int]] = [
    ("minGRU", CELLS["mingru"](16, bias=False), 8, 256),
    ("minGRU", CELLS["mingru"](16), 8, 288),
    ("minLSTM", CELLS["minlstm"](16, bias=False), 8, 384),
    ("minLSTM", CELLS["minlstm"](16), 8, 432),
    ("SRU", SRU(16), 8, 576),
    ("SRU", SRU(16), 16, 832),
    ("SRU", SRU(16, bidirectional=True), 8, 1152),
    ("SRU", SRU(128, bidirectional=True), 128, 132_096),
    ("SRU", SRU(128, bidirectional=True), 256, 197_632),
    ("FastGRNN", FastGRNN(16), 8, 418),
    ("IndRNN", RNN(16, recurrence="diagonal", activation="relu"), 8, 160),
    ("LiGRU", GRU(16, reset_gate=False, activation="relu"), 8, 800),
    ("UGRNN", GRU(16, reset_gate=False), 8, 800),
    ("MGU", MGU(16), 8, 800),
]


@pytest.mark.parametrize(("name", "layer", "inputs", "expected"), MEASURED, ids=str)
def test_the_count_is_the_known_number(name: str, layer: Layer, inputs: int, expected: int) -> None:
    """One layer of 16 units in the package and in rnncalc."""
    network = alone(layer, inputs)
    assert sum(map(prod, PACKAGES[name].framework.tensors(network.stack[0]).values())) == expected
    assert network.params == expected
