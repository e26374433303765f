"""Layers around the cells: what their windows read, what streams, and random networks with them."""

from pathlib import Path

import pytest
from around import networks
from verified import backward

from rnncalc import Network, load
from rnncalc.conventions import CONVENTIONS
from rnncalc.layers.convolution import Conv1D, Pool1D
from rnncalc.layers.layer import Layer
from rnncalc.layers.normalisation import LayerNorm
from rnncalc.layers.rnn import RNN
from rnncalc.questions.run import run
from rnncalc.questions.stream import stream
from rnncalc.spec import spec_in_flags


@pytest.mark.parametrize(
    ("layer", "steps", "windows"),
    [
        (Conv1D(1, 3), 5, [(0, 1, 2), (1, 2, 3), (2, 3, 4)]),
        (Conv1D(1, 2, stride=2), 5, [(0, 1), (2, 3)]),
        (Conv1D(1, 2, dilation=3), 5, [(0, 3), (1, 4)]),
        (Conv1D(1, 3, padding="causal"), 2, [(-2, -1, 0), (-1, 0, 1)]),
        (Conv1D(1, 3, padding="same"), 3, [(-1, 0, 1), (0, 1, 2), (1, 2, 3)]),
        (Conv1D(1, 2, padding="same"), 2, [(0, 1), (1, 2)]),  # the right end has the zeros that are left over
        (Conv1D(1, 3, padding="same", stride=2), 4, [(0, 1, 2), (2, 3, 4)]),
        (Pool1D(2), 5, [(0, 1), (2, 3)]),
        (Pool1D(2, stride=1), 3, [(0, 1), (1, 2)]),
    ],
)
def test_which_steps_a_window_reads(layer: Conv1D | Pool1D, steps: int, windows: list[tuple[int, ...]]) -> None:
    """Worked out on paper."""
    number, _ = layer.output_shape((steps, 1))
    assert [tuple(layer.window_of(step, steps)) for step in range(number)] == windows


def written(folder: Path, text: str) -> str:
    """Return the path of a new file."""
    path = folder / "spec.yaml"
    path.write_text(text)
    return str(path)


def test_what_streams() -> None:
    """A convolution carries the steps that its kernel reaches back; one that pads the end waits for later steps."""
    streamed = stream(Network(input=4, layers=[Conv1D(3, 3, dilation=2, padding="causal"), Pool1D(2), RNN(2)]), 10)
    assert streamed.layers == (16, 3, 2)
    assert streamed.multiply_adds_per_second == 10 * 36 + 10 * 5  # the RNN takes every other step
    assert stream(Network(input=4, layers=[Conv1D(3, 3, padding="same")])).cannot == ("conv1d_1",)


@pytest.mark.parametrize("number", [2, pytest.param(6, marks=pytest.mark.broad)])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_random_networks_are_as_they_are_declared(convention: str, number: int) -> None:
    """Shapes, weights read and work of a pass; gradients, saved activations and work of the backward pass."""
    for network in networks(1, number, convention):
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
