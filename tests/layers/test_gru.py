"""The two readings of an update gate: what is kept in the one is replaced in the other."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncalc import GRU, Network, run

Weights = dict[str, Any]

ACTIVATIONS = st.sampled_from(["tanh", "relu", "sigmoid", "linear"])
LAYERS = st.builds(
    GRU,
    st.integers(1, 4),
    bias=st.booleans(),
    bidirectional=st.booleans(),
    learned_state=st.booleans(),
    activation=ACTIVATIONS,
    recurrence=st.sampled_from(["full", "diagonal"]),
    reset_after=st.sampled_from([None, True, False]),
) | st.builds(GRU, st.integers(1, 4), reset_gate=st.just(False), activation=ACTIVATIONS)


def filled(shape: tuple[int, ...], random: Random) -> Any:
    if not shape:
        return random.uniform(-1, 1)
    return [filled(shape[1:], random) for _ in range(shape[0])]


def negated(array: Any) -> Any:
    return [negated(item) for item in array] if isinstance(array, list) else -array


def z_negated(weights: Weights) -> Weights:
    """Return the same but for the update gate, each of whose sums has the other sign."""
    return {
        name: negated(array) if name.rpartition("/")[2] in ("W_xz", "W_hz", "b_z") else array
        for name, array in weights.items()
    }


def outputs(network: Network, weights: Weights, inputs: Any) -> list[float]:
    done = run(network, weights={"gru_1": weights}, inputs={None: inputs})
    assert done.agrees
    return [number for vector in done.outputs for number in vector]


@given(LAYERS, st.integers(1, 4), st.integers(0, 1000))
def test_what_a_gate_replaces_is_what_its_negative_keeps(layer: GRU, inputs: int, seed: int) -> None:
    """σ(−v) is 1 − σ(v): with the weights and biases of z negated, `replaces` gives what `keeps` gives."""
    random = Random(seed)
    keeps = Network(input=inputs, layers=[layer], steps=4, topology="many-to-many")
    replaces = keeps.replace(layers=(layer.replace(update_gate="replaces"),))
    weights = {tensor.name: filled(tensor.shape, random) for tensor in keeps.stack[0].tensors}
    assert replaces.stack[0].tensors == keeps.stack[0].tensors
    x = filled((4, inputs), random)
    kept = outputs(keeps, weights, x)
    assert outputs(replaces, z_negated(weights), x) == pytest.approx(kept, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("layer", [GRU(3), GRU(3, reset_after=True), GRU(3, reset_gate=False)])
def test_with_the_same_weights_the_two_differ(layer: GRU) -> None:
    """The comparison can fail: unless z is half everywhere, the other reading gives other numbers."""
    random = Random(0)
    network = Network(input=2, layers=[layer], steps=4, topology="many-to-many")
    other = network.replace(layers=(layer.replace(update_gate="replaces"),))
    weights = {tensor.name: filled(tensor.shape, random) for tensor in network.stack[0].tensors}
    x = filled((4, 2), random)
    assert outputs(other, weights, x) != pytest.approx(outputs(network, weights, x), abs=1e-3)
