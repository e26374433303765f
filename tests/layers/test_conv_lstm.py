"""The convolutional LSTM: its counts by hand, its passes against a convolution written out here, and its neighbours."""

from itertools import product
from math import exp, tanh
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import Call
from verified import backward

from rnncalc import (
    BatchNorm,
    ConvLSTM,
    Dense,
    Dropout,
    External,
    Flatten,
    LayerNorm,
    Network,
    Output,
    SpecError,
    export,
    load,
    run,
)
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


def test_it_is_read_from_a_spec_and_from_flags(call: Call, tmp_path: Path) -> None:
    """A space is a list, a word or, of a line, a number."""
    path = tmp_path / "frames.yaml"
    for space, shape in (("[5, 4]", (5, 4, 3)), ("5x4", (5, 4, 3)), ("7", (7, 3))):
        path.write_text(f"input: 2\nsteps: 2\nlayers: [{{conv_lstm: 3, space: {space}}}]", encoding="utf-8")
        net = load(path)
        assert net.stack[0].shape == shape
        assert run(net).agrees
    done = call("-i", 2, "-l", "conv_lstm:3,space=5x4", "-T", 2)
    assert "5×4×2 → 5×4×3" in done.out
    assert "(5, 4, 3)" in done.out


def test_options_that_it_does_not_have(call: Call) -> None:
    """Are neither listed nor taken from Python, each in one problem."""
    (line,) = [line for line in call("help", "layers").out.splitlines() if line.startswith("  conv_lstm ")]
    assert line.split()[1:] == ["bias", "activation", "kernel", "space"]
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


def test_a_dropout_keeps_the_places_of_an_external_part(call: Call) -> None:
    """It changes no width, so the cell above it may divide that into places."""
    layers = ("-l", "external:0,outputs=40", "-l", "dropout:0.5", "-l", "conv_lstm:3,space=5x4")
    assert call("-i", 2, *layers).out.split("Total")[1].split()[0] == "552"  # 4 x 3 x (9 x 2 + 3 x 9 + 1)


def test_it_is_exported_to_keras_alone() -> None:
    """With its places as axes, until they are joined; refused in one line for frameworks that lack it."""
    net = Network(input=2, layers=[ConvLSTM(3, kernel=2, space=(5, 4)), Flatten()], output=2, steps=6)
    text = export(net, "keras")
    for line in (
        "    Reads x (batch, 6, 5, 4, 2); gives (batch, 2).",
        '            3, 2, padding="same", return_sequences=True, name="conv_lstm_1"',
        "        x = self.conv_lstm_1(x)  # (batch, 6, 5, 4, 3)",
        "        x = self.flatten_1(x)  # (batch, 360)",
    ):
        assert line in text.split("\n")
    for target in ("pytorch", "flax-linen", "flax-nnx"):
        with pytest.raises(RefusedError, match=r"^conv_lstm_1: conv_lstm cannot be exported to .*; export to keras$"):
            export(net, target)


def test_it_is_fed_back_as_wide_as_it_is() -> None:
    """Channels and places together; a program does not part an output without places into them."""
    layer = ConvLSTM(2, space=(5,))
    net = Network(input=2, layers=[layer], steps=3, topology="one-to-many", feedback=True)
    assert run(net).agrees
    assert "gives (batch, 3, 5, 2)" in export(net, "keras")
    with pytest.raises(RefusedError, match=r"^feedback: the layer that the output is fed back to reads places"):
        export(net.replace(layers=[layer, External(3, outputs=10)]), "keras")
    with pytest.raises(SpecError, match="the output must be as wide as the input, 10, got 15"):
        net.replace(layers=[layer.replace(units=3)])


def test_the_kernel_is_forgotten(call: Call) -> None:
    """4 · 3 · (2 + 3 + 1) is 72."""
    done = call("answer", "-i", 2, "-l", "conv_lstm:3,space=5x4", 72)
    assert "forgets the kernel, as if a gate read its own place alone" in done.out


def test_a_dense_layer_reads_it_behind_a_flatten_layer(call: Call) -> None:
    """All steps, or with `last` the last alone: 2 · 3 · 2 · 2 and 3 · 2 · 2 features, and the passes agree."""
    words = ("-i", 2, "-l", "conv_lstm:2,kernel=2,space=3x2")
    for between, features in (((), 24), (("-l", "last"), 12)):
        network = (*words, *between, "-l", "flatten", "-l", "dense:5", "-T", 2)
        assert f"5 × ({features} + 1)" in call(*network).out
        assert call("run", *network, "--backward").code == 0


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


def test_the_places_go_on_in_tables(call: Call) -> None:
    """Through norms, dropout and `last`, in counts and in a framework's shapes, until a flatten layer joins them."""
    layers = ("conv_lstm:3,space=5x4", "batch_norm", "dropout:0.5", "last", "flatten")
    words = ("-i", 2, "-T", 3, "-c", "keras", *(word for layer in layers for word in ("-l", layer)), "-o", 2)
    out = call(*words).out
    assert out.count("5×4×3 → 5×4×3") == 3
    assert ("5×4×3 → 60" in out, "4m = 4 × 3" in out) == (True, True)
    assert "(B, 3, 5, 4, 3)  output   (B, 5, 4, 3)" in call(*words, "--shapes").out
    assert "It reads each place of a step (5 × 4) alone" in call("explain", *words).out


def test_its_pass_is_worked_by_hand(call: Call) -> None:
    """A convolution is as its numbers: −0.7 × 0.7 + 0.3 × −0.4 = −0.61 and, at the edge, −0.7 × −0.4 = 0.28."""
    done = call("run", "-i", 1, "-T", 1, "-l", "conv_lstm:1,kernel=2,space=2", "--work")
    assert (done.code, done.err) == (0, "")
    assert "i_1 = σ⎛⎛⎡−0.61⎤ + 0.4⎞ + ⎡0⎤⎞ = σ⎛⎡−0.21⎤⎞ = ⎡0.4477⎤" in done.out


def test_a_wrong_count_is_no_mistake_with_extra_inputs_that_it_has_not(call: Call) -> None:
    """Its gates read k × k channels, which are fewer than the numbers of all places."""
    done = call("answer", "-i", 3, "-T", 3, "-l", "conv_lstm:2,kernel=2,space=3x2", 216)
    assert (done.code, "extra inputs" in done.out) == (1, False)


@pytest.mark.parametrize("space", [5, (), (2, 3, 4), (2, 0), (2, "3"), [2, 3]])
def test_a_space_in_python_is_a_tuple_of_one_or_two_sizes(space: Any) -> None:
    """Anything else is refused, as in a spec."""
    with pytest.raises(SpecError) as refused:
        Network(input=2, layers=[ConvLSTM(3, space=space)])
    message = "expected one or two positive whole numbers, such as 64 or 64x48, got "
    assert str(refused.value).startswith(f"layers[0].space: {message}")
