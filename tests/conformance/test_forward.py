"""The same weights and inputs in the framework and in `rnncalc run` give the same numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance import with_keras, with_linen, with_nnx, with_onnx, with_torch
from conformance.drawing import KINDS, networks, numbers, one_option_at_a_time, turn_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rnncalc import LSTM, Dense, Embedding, Network, Output
from rnncalc.conventions.catalogue import CONVENTIONS
from rnncalc.questions.run import run

pytestmark = [
    pytest.mark.conformance,
    # Keras advises against a softmax of one unit; it is drawn, and is one everywhere.
    pytest.mark.filterwarnings(r"ignore:(?s).*You are using a softmax over axis -1:UserWarning"),
]

FRAMEWORKS: dict[str, Any] = {
    "pytorch": with_torch,
    "keras": with_keras,
    "flax-linen": with_linen,
    "flax-nnx": with_nnx,
    "onnx": with_onnx,
}

WITHIN = {"pytorch": 1e-6, "keras": 1e-5, "flax-linen": 1e-6, "flax-nnx": 1e-6, "onnx": 1e-5}
"""Keras on JAX and ONNX Runtime calculate in float32."""

SINGLE = [network for convention in FRAMEWORKS for network in one_option_at_a_time(convention)]


def compare(network: Network, seed: int = 0) -> None:
    """Hold every layer's output in the framework, fed with what its layer below gave, against rnncalc's."""
    weights, inputs = numbers(network, seed)
    done = run(network, weights=weights, inputs={None: inputs})
    assert done.agrees
    turn, flow, within = turn_of(network), np.asarray(inputs), WITHIN[network.convention]
    for place, ran in zip(network.placed, done.layers, strict=True):
        flow = FRAMEWORKS[network.convention].apply(place, weights[place.name], flow, final=place is turn)
        np.testing.assert_allclose(ran.output, flow, rtol=within, atol=within, err_msg=place.name)


@pytest.mark.parametrize("network", [pytest.param(network, id=name) for name, network in SINGLE])
def test_every_option_of_every_cell(network: Network) -> None:
    """Two stacked layers and an output, one value of one option at a time, one-way and bidirectional."""
    compare(network)


FINAL = [
    pytest.param(convention, kind, ways, id=f"{convention}-{kind}{'-bidirectional' if ways else ''}")
    for convention in FRAMEWORKS
    for kind in (CONVENTIONS[convention].kinds or ())
    for ways in (False, True)
]


@pytest.mark.parametrize(("convention", "kind", "ways"), FINAL)
def test_the_final_state(convention: str, kind: str, ways: bool) -> None:
    """After an embedding and a dense layer, the last state of each direction, and what an output makes of it."""
    layer = KINDS[kind](units=3, bidirectional=ways)
    compare(
        Network(
            input=7,
            layers=(Embedding(4), Dense(3, activation="relu"), layer, layer),
            output=Output(2, activation="softmax"),
            steps=4,
            convention=convention,
        )
    )


@pytest.mark.parametrize("merge", ["concat", "sum", "mul", "ave"])
@pytest.mark.parametrize("convention", ["keras", "flax-linen", "flax-nnx"])
def test_the_final_state_of_both_directions_is_merged(convention: str, merge: str) -> None:
    """Where the framework merges sequences, its last states go together in the same way."""
    layer = LSTM(3, bidirectional=True, merge=merge)
    compare(Network(input=4, layers=(layer, layer), steps=4, convention=convention))


def test_a_projection_in_both_directions() -> None:
    """PyTorch's `proj_size`, stacked, both in its sequence and in its final state."""
    layer = LSTM(4, projection=2, bidirectional=True)
    network = Network(input=3, layers=(layer, layer), output=Output(2), steps=4, convention="pytorch")
    compare(network)
    compare(replace(network, topology="many-to-many"))


@pytest.mark.parametrize("convention", FRAMEWORKS)
@given(data=st.data())
@settings(max_examples=40)
def test_any_network(convention: str, data: st.DataObject) -> None:
    """Over all options together, in sequences and to one vector."""
    compare(data.draw(networks(convention, running=True)), seed=data.draw(st.integers(0, 1000)))
