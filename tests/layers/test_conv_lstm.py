"""The convolutional LSTM: its counts by hand, its passes against a convolution written out here, and its neighbours."""

from itertools import product
from math import exp, tanh
from random import Random
from typing import Any

import pytest
from conftest import Call
from verified import backward

from rnncalc import BatchNorm, ConvLSTM, Dense, Dropout, External, LayerNorm, Network, Output, SpecError, export, run
from rnncalc.errors import RefusedError
from rnncalc.forward.arrays import filled, floats
from rnncalc.forward.network_pass import Pass

SHAPES = [((4, 2), 3, 2, 1), ((3, 2), 2, 2, 2), ((5,), 3, 2, 2), ((4,), 4, 1, 3), ((2, 1), 5, 1, 1), ((3,), 1, 1, 1)]
"""Spaces, kernels, channels and filters."""


def network(space: tuple[int, ...], kernel: int, channels: int, filters: int, convention: str = "keras") -> Network:
    layer = ConvLSTM(filters, kernel=kernel, space=space)
    return Network(input=channels, layers=[layer], steps=3, topology="many-to-many", convention=convention)


@pytest.mark.parametrize(("space", "kernel", "channels", "filters"), SHAPES)
def test_its_counts_are_those_of_the_paper(space: tuple[int, ...], kernel: int, channels: int, filters: int) -> None:
    """Weights for each place of the kernel, whatever the space; work at each place."""
    net = network(space, kernel, channels, filters)
    (placed,) = net.stack
    taps, places = kernel ** len(space), 1
    for size in space:
        places *= size
    assert net.params == 4 * filters * (taps * (channels + filters) + 1)
    assert placed.multiply_adds == 3 * places * 4 * filters * taps * (channels + filters)
    assert placed.shape == (3, *space, filters)
    assert [tensor.shape for tensor in placed.tensors] == [
        (*[kernel] * len(space), channels, 4 * filters),
        (*[kernel] * len(space), filters, 4 * filters),
        (4 * filters,),
    ]


@pytest.mark.parametrize(("space", "kernel", "channels", "filters"), SHAPES)
def test_its_pass_is_that_of_convolutions(space: tuple[int, ...], kernel: int, channels: int, filters: int) -> None:
    """Number by number, from Keras's tensors, with zeros beyond the edges."""
    net = network(space, kernel, channels, filters)
    (placed,) = net.stack
    number = Random(1).random
    weights = {tensor.name: filled(tensor, 1.0, number) for tensor in placed.tensors}
    inputs = [[2 * number() - 1 for _ in range(placed.inputs)] for _ in range(3)]
    (ran,) = Pass(net, floats, weights={placed.name: weights}, inputs={None: inputs}).run()
    assert ran.agrees
    places = [*product(*map(range, space))]
    h = {(place, f): 0.0 for place in places for f in range(filters)}
    c = dict(h)
    for vector, given in zip(inputs, ran.output, strict=True):
        x = dict(zip(product(places, range(channels)), vector, strict=True))
        sums = {
            (place, at): weights["bias"][at]
            + convolved(weights["kernel"], x, place, at, kernel, channels)
            + convolved(weights["recurrent_kernel"], h, place, at, kernel, filters)
            for place in places
            for at in range(4 * filters)
        }
        h = {}
        for place, f in product(places, range(filters)):
            i, forget, g, o = (sums[place, gate * filters + f] for gate in range(4))
            c[place, f] = c[place, f] / (1 + exp(-forget)) + tanh(g) / (1 + exp(-i))
            h[place, f] = tanh(c[place, f]) / (1 + exp(-o))
        assert given == pytest.approx([h[each] for each in product(places, range(filters))], abs=1e-12)


def convolved(
    weights: Any, values: dict[Any, float], place: tuple[int, ...], at: int, kernel: int, channels: int
) -> float:
    total = 0.0
    for tap in product(range(kernel), repeat=len(place)):
        around = tuple(one + by - (kernel - 1) // 2 for one, by in zip(place, tap, strict=True))
        of = weights
        for by in tap:
            of = of[by]
        total += sum(of[channel][at] * values.get((around, channel), 0.0) for channel in range(channels))
    return total


@pytest.mark.broad
@pytest.mark.parametrize("place", range(len(SHAPES)))
def test_its_gradients_are_those_of_differences(place: int) -> None:
    """Saved activations and multiplications too, in whole sequences and in chunks; and one such layer on another."""
    convention, chunk = (("textbook", None), ("keras", 2))[place % 2]
    net = network(*SHAPES[place], convention)
    net = net.replace(layers=(*net.layers, Dropout(0.5), ConvLSTM(1, kernel=2, space=SHAPES[place][0])))
    assert backward(net, chunk=chunk).agrees


def test_options_that_it_does_not_have(call: Call) -> None:
    """Are neither listed nor taken from Python, each in one problem."""
    assert "Options: bias activation recurrent_activation kernel space. dense:UNITS" in " ".join(
        call("help", "layers").out.split()
    )
    with pytest.raises(SpecError) as caught:
        Network(input=2, layers=[ConvLSTM(3, space=(5,), bidirectional=True, merge="sum")])
    assert [problem.path[-1] for problem in caught.value.problems] == ["bidirectional", "merge"]


def test_a_dense_layer_cannot_follow_from_python() -> None:
    """Nor the output layer, in one problem each."""
    layer = ConvLSTM(3, space=(5, 4))
    for more in ({"layers": [layer, Dense(2)]}, {"layers": [layer], "output": Output(2)}):
        with pytest.raises(SpecError, match="outputs 5 x 4 places") as caught:
            Network(input=2, **more)
        assert len(caught.value.problems) == 1


def test_it_is_fed_back_as_wide_as_it_is() -> None:
    """Channels and places together; a program does not part an output without places into them."""
    layer = ConvLSTM(2, space=(5,))
    net = Network(input=2, layers=[layer], steps=3, topology="one-to-many", feedback=True)
    assert run(net).agrees
    assert "gives (batch, 3, 5, 2)" in export(net, "keras")
    with pytest.raises(RefusedError, match=r"^feedback cannot be exported here: the next input has places"):
        export(net.replace(layers=[layer, External(3, outputs=10)]), "keras")
    with pytest.raises(SpecError, match="the output must be as wide as the input, 10, got 15"):
        net.replace(layers=[layer.replace(units=3)])


@pytest.mark.broad
@pytest.mark.parametrize("convention", ["textbook", "keras"])
def test_norms_behind_it_are_of_channels(convention: str) -> None:
    """The same 3 or 2 channels at each place: 2 or 4 numbers a channel, and the passes agree."""
    frames = ConvLSTM(3, kernel=1, space=(4, 2))
    layers = [frames, BatchNorm(), Dropout(0.5), frames.replace(units=2), LayerNorm(), BatchNorm(center=False)]
    net = Network(input=1, layers=layers, steps=2, topology="many-to-many", convention=convention)
    stored = 2 if convention == "keras" else 0
    counts = [placed.params for placed in net.stack]
    assert counts[1:3] + counts[4:] == [3 * (2 + stored), 0, 4, 2 * (1 + stored)]
    assert [placed.shape for placed in net.stack] == [(2, 4, 2, 3)] * 3 + [(2, 4, 2, 2)] * 3
    assert backward(net).agrees
    if convention == "textbook":
        net = net.replace(layers=[frames, LayerNorm()], topology="many-to-one")
        drawn = {tensor.name: filled(tensor, 1.0, Random(1).random) for tensor in net.stack[0].tensors}
        given = {"conv_lstm_1": drawn, "layer_norm_1": {"g": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0]}}
        made = run(net, weights=given).outputs
        assert [sum(made[place : place + 3]) for place in range(0, 24, 3)] == pytest.approx([0.0] * 8, abs=1e-12)


@pytest.mark.parametrize("space", [5, (), (2, 3, 4), (2, 0), (2, "3"), [2, 3]])
def test_a_space_in_python_is_a_tuple_of_one_or_two_sizes(space: Any) -> None:
    """Anything else is refused, as in a spec."""
    with pytest.raises(SpecError) as refused:
        Network(input=2, layers=[ConvLSTM(3, space=space)])
    message = "expected one or two positive whole numbers, such as 64 or 64x48, got "
    assert str(refused.value).startswith(f"layers[0].space: {message}")
