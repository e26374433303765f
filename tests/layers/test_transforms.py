"""Layers around the cells: their shapes, counts and numbers by hand, and random networks with them."""

from pathlib import Path

import pytest
from around import networks
from verified import backward

from rnncalc import Network, Output, load
from rnncalc.conventions import CONVENTIONS
from rnncalc.errors import SpecError
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.layer import Layer
from rnncalc.layers.lstm import LSTM
from rnncalc.layers.normalisation import BatchNorm, LayerNorm
from rnncalc.layers.reshaping import Flatten, LastStep, RepeatVector
from rnncalc.layers.rnn import RNN
from rnncalc.questions.operations import pass_operations
from rnncalc.questions.run import run
from rnncalc.questions.stream import stream
from rnncalc.spec import spec_in_flags


@pytest.mark.parametrize(
    ("layer", "steps", "windows"),
    [
        (Conv1D(1, 3), 5, [(0, 1, 2), (1, 2, 3), (2, 3, 4)]),
        (Conv1D(1, 2, stride=2), 5, [(0, 1), (2, 3)]),
        (Conv1D(1, 2, dilation=3), 5, [(0, 3), (1, 4)]),
        (Conv1D(1, 3, padding="causal"), 2, [(None, None, 0), (None, 0, 1)]),
        (Conv1D(1, 3, padding="same"), 3, [(None, 0, 1), (0, 1, 2), (1, 2, None)]),
        (Conv1D(1, 2, padding="same"), 2, [(0, 1), (1, None)]),  # the right end has the zeros that are left over
        (Conv1D(1, 3, padding="same", stride=2), 4, [(0, 1, 2), (2, 3, None)]),
        (Pool1D(2), 5, [(0, 1), (2, 3)]),
        (Pool1D(2, stride=1), 3, [(0, 1), (1, 2)]),
    ],
)
def test_which_steps_a_window_reads(layer: Conv1D | Pool1D, steps: int, windows: list[tuple[int | None, ...]]) -> None:
    """Worked out on paper."""
    number, _ = layer.output_shape((steps, 1))
    assert [layer.window_of(step, steps) for step in range(number)] == windows


def outputs(layer: Layer, inputs: list[list[float]], **weights: list) -> list:  # type: ignore[type-arg]  # any nesting
    network = Network(input=len(inputs[0]), layers=[layer], topology="many-to-many", steps=len(inputs))
    done = run(network, inputs=inputs, weights={f"{layer.kind}_1": weights} if weights else None)
    assert done.layers[0].agrees
    return done.layers[0].output  # type: ignore[no-any-return]


def test_the_numbers_of_a_convolution() -> None:
    """A kernel of two steps, and two groups of a feature each."""
    x = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert outputs(Conv1D(1, 2), x, W=[[[1.0, 10.0]], [[100.0, 1000.0]]], b=[0.5]) == [
        [1 + 20 + 300 + 4000 + 0.5],
        [3 + 40 + 500 + 6000 + 0.5],
    ]
    in_groups = Conv1D(2, 2, groups=2, bias=False, activation="relu")
    assert outputs(in_groups, x, W=[[[1.0], [-1.0]], [[1.0], [-1.0]]]) == [[4.0, 0.0], [8.0, 0.0]]


def test_the_numbers_of_pooling_and_normalisation() -> None:
    """A maximum, an average, a vector with its own mean and variance, and one with those that are stored."""
    x = [[1.0, 5.0], [3.0, 2.0]]
    assert outputs(Pool1D(2), x) == [[3.0, 5.0]]
    assert outputs(Pool1D(2, mode="average"), x) == [[2.0, 3.5]]
    assert outputs(LayerNorm(), x, g=[1.0, 2.0], b=[0.0, 1.0])[0] == pytest.approx([-1.0, 3.0], abs=1e-4)
    stored = {"mean": [1.0, 2.0], "variance": [4.0, 9.0]}
    found = outputs(BatchNorm(), x, g=[1.0, 1.0], b=[0.0, 0.5], **stored)
    assert found[0] == pytest.approx([0.0, 1.5], abs=1e-4)
    assert found[1] == pytest.approx([1.0, 0.5], abs=1e-4)


def test_a_sequence_ends_and_begins_again() -> None:
    """An autoencoder: its code is one vector, which is read at every step of a sequence of another length."""
    layers = [LSTM(5), LastStep(), RepeatVector(7), LSTM(4, bidirectional=True), Flatten()]
    network = Network(input=3, layers=layers, output=Output(2), steps=9)
    shapes = [placed.output_shape for placed in network.stack]
    assert shapes == [(5,), (5,), (7, 5), (7, 8), (56,), (2,)]
    assert network.params == 4 * 5 * (3 + 5 + 1) + 2 * 4 * 4 * (5 + 4 + 1) + 2 * (56 + 1)
    assert [placed.uses for placed in network.stack] == [9, 1, 7, 7, 1, 1]


def test_many_to_one_ends_where_no_layer_has() -> None:
    """Behind the last layer that reads along the steps, or where a layer says so."""

    def shapes(*layers: Layer) -> list[tuple[int | None, ...]]:
        return [placed.output_shape for placed in Network(input=2, layers=layers, steps=6).stack]

    assert shapes(Conv1D(3, 2), RNN(4), LayerNorm()) == [(5, 3), (4,), (4,)]
    assert shapes(RNN(4), Conv1D(3, 2), LayerNorm()) == [(6, 4), (3,), (3,)]
    assert shapes(Conv1D(3, 2), LayerNorm()) == [(5, 3), (5, 3)]
    assert shapes(RNN(4), LayerNorm(), Flatten()) == [(6, 4), (6, 4), (24,)]
    assert shapes(RNN(4), LastStep(), RepeatVector(2), RNN(3)) == [(4,), (4,), (2, 4), (3,)]


def written(folder: Path, text: str) -> str:
    """Return the path of a new file."""
    path = folder / "spec.yaml"
    path.write_text(text)
    return str(path)


BAD = {
    "- conv1d: 4": "layers[0].kernel: missing; give the steps that a filter reads at once",
    "- {conv1d: 4, kernel: 9}": "reads 9 steps at once, and 5 reach it; give it more steps, or a shorter window",
    "- {conv1d: 3, kernel: 2, groups: 2}": "groups: 3 filters are no multiple of 2 groups",
    "- {conv1d: 4, kernel: 2, groups: 2}": "groups: 3 features of the input are no multiple of 2 groups",
    "- layer_norm: 4": "layer_norm: expected no number, got '4'; write - layer_norm",
    "- {layer_norm: 4, bias: false}": "layer_norm: expected no number, got '4'; write layer_norm: and nothing after it",
    "- flatten: true": "flatten: expected no number, got 'true'; write - flatten",
    "- flaten": "layers[0]: expected a layer, such as lstm: 512, got 'flaten'; did you mean 'flatten'?",
    "- {convlstm2d: 4, space: [5, 4]}": "write conv_lstm, with kernel: 3 and space: 5x4",
    "- repeat_vector: 4": "reads one vector, and a sequence reaches it; put a layer last before it",
    "- last\n- rnn: 3": "reads a sequence, and last below it ends the sequence in one vector; put a repeat_vector",
    "- flatten\n- pool1d: 3": "reads a sequence, and one vector reaches it; put a repeat_vector",
    "- {pool1d: 2, extra_inputs: 3}": "extra_inputs: does not apply to pool1d; remove it",
    "- {last: , repeat: 3}": "repeat: does not apply to last; remove it",
}


@pytest.mark.parametrize("layers", BAD)
def test_what_cannot_be_is_refused_with_its_cure(layers: str, tmp_path: Path) -> None:
    """In one line, at its place."""
    with pytest.raises(SpecError) as refused:
        load(written(tmp_path, f"input: 3\nsteps: 5\nlayers:\n{layers}\n"))
    assert BAD[layers] in str(refused.value)


def test_a_topology_with_an_output_at_every_step_needs_a_sequence() -> None:
    """Many-to-many does, and feedback takes no layer that reads several steps."""
    with pytest.raises(SpecError, match="many-to-many has an output at every step, and last ends the sequence"):
        Network(input=2, layers=[RNN(3), LastStep()], topology="many-to-many")
    with pytest.raises(SpecError, match="with feedback there is one at a time"):
        Network(input=2, layers=[RNN(2), Conv1D(2, 1)], topology="one-to-many", feedback=True)


def test_what_a_convention_stores_beside_its_parameters() -> None:
    """Keras counts the stored means and variances and does not train them; the others keep them apart."""
    for convention in CONVENTIONS:
        network = Network(input=4, layers=[BatchNorm()], convention=convention)
        (placed,) = network.stack
        keras = convention == "keras"
        assert (network.params, network.trainable, len(placed.buffers)) == (16 if keras else 8, 8, 0 if keras else 2)


def test_what_streams() -> None:
    """A convolution carries the steps that its kernel reaches back; one that pads the end waits for later steps."""
    streamed = stream(Network(input=4, layers=[Conv1D(3, 3, dilation=2, padding="causal"), Pool1D(2), RNN(2)]), 10)
    assert streamed.layers == (16, 3, 2)
    assert streamed.multiply_adds_per_second == 10 * 36 + 10 * 5  # the RNN takes every other step
    assert stream(Network(input=4, layers=[Conv1D(3, 3, padding="same")])).cannot == ("conv1d_1",)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_random_networks_are_as_they_are_declared(convention: str) -> None:
    """Shapes, weights read and work of a pass; gradients, saved activations and work of the backward pass."""
    for network in networks(1, 6, convention):
        assert all(layer.agrees for layer in run(network).layers), network
        assert all(layer.agrees for layer in backward(network).layers), network


def test_a_kind_without_a_number_is_written_in_three_ways(tmp_path: Path) -> None:
    """Alone, with nothing behind the colon, and as null."""
    for text in ("[layer_norm]", "[layer_norm: ]", "[{layer_norm: null, bias: true}]"):
        assert load(written(tmp_path, f"input: 3\nlayers: {text}\n")).layers == (LayerNorm(),)


@pytest.mark.parametrize(
    ("layer", "steps"),
    [
        (Conv1D(3, 3), "T − 2"),
        (Conv1D(3, 3, dilation=2), "T − 4"),
        (Conv1D(3, 3, padding="same"), "T"),
        (Conv1D(3, 3, padding="causal"), "T"),
        (Conv1D(3, 3, stride=2), "None"),
        (Pool1D(2), "None"),
    ],
)
def test_steps_in_letters(layer: Layer, steps: str) -> None:
    """A window that moves by one step leaves a letter's; with a stride it need not divide them."""
    assert Conv1D(3, 4, padding="same").padding_of(None) == (1, 2)
    network = spec_in_flags("2", ("dense:2", "rnn:2"), None, steps="T", topology="many-to-many").network
    _, last = network.replace(layers=(layer, RNN(2))).stack
    assert f"{last.uses}" == steps


@pytest.mark.parametrize(
    ("layer", "work"),
    [
        (Conv1D(4, 3, activation="relu"), (4, 0, 4)),
        (Conv1D(4, 3, bias=False), (0, 0, 0)),
        (Pool1D(3), (0, 2 * 6, 0)),  # two comparisons a feature
        (Pool1D(3, mode="average"), (0, 3 * 6, 0)),  # two sums and a quotient
        (LayerNorm(), (6, 6 * 6, 0)),  # mean, distance, square, sum, quotient, scale
        (LayerNorm(bias=False), (0, 6 * 6, 0)),
        (BatchNorm(), (6, 3 * 6, 0)),  # distance, quotient, scale
        (BatchNorm(scale=False, center=False), (0, 2 * 6, 0)),
    ],
)
def test_the_arithmetic_of_a_vector(layer: Layer, work: tuple[int, int, int]) -> None:
    """Additions of a bias, other operations on six features, and activations."""
    steps = layer.span if isinstance(layer, Conv1D | Pool1D) else 1
    network = Network(input=6, layers=[layer], steps=steps, topology="many-to-many")
    (counts,) = pass_operations(network).layers
    assert counts
    assert counts[1:] == work
