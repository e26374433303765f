"""What cures write for the layers of Keras and PyTorch, and say of their parameters."""

import json
from contextlib import suppress
from inspect import isclass
from math import prod
from typing import Any

import keras
import pytest
import torch
from conformance.saved import called

from rnncalc.spec.aliases import TABLE, layer_called

pytestmark = pytest.mark.conformance

ARGUMENTS: tuple[tuple[Any, ...], ...] = ((), (2,), (0.5,), (1, 2), (1, (2,)), ((2, 1),), (lambda x: x,))
"""What a class may be called with, the first that it takes."""


def made(kind: Any) -> Any:
    for arguments in ARGUMENTS:
        with suppress(TypeError, ValueError):
            return kind(*arguments)
    raise AssertionError(kind)


def params(layer: Any) -> int:
    """Return the number of the parameters of a layer that reads 8 features, or a picture of 8 channels."""
    if isinstance(layer, torch.nn.Module):
        return sum(each.numel() for each in layer.parameters())
    words, picture, film = (None, 10, 8), (None, 10, 10, 8), (None, 10, 10, 10, 8)
    for shapes in ((words,), (words, words), ([words, words],), (picture,), (film,)):
        with suppress(TypeError, ValueError, IndexError):
            layer.build(*shapes)
            break
    return sum(prod(each.shape) for each in layer.weights)


def classes_of(words: str) -> list[Any]:
    every = {**vars(torch.nn), **{f"{name} of Keras": each for name, each in vars(keras.layers).items()}}
    return [each for name, each in every.items() if isclass(each) and name.partition(" ")[0].lower() in words.split()]


def test_layers_that_are_said_to_have_no_parameters_have_none() -> None:
    rows = [words for cure, words in TABLE["kind"].items() if "has no parameters" in cure]
    kinds = [kind for words in rows for kind in classes_of(words)]
    assert len(kinds) > 80
    assert {kind: number for kind in kinds if (number := params(made(kind)))} == {}


def test_what_normalization_stores() -> None:
    """The cure is 2m + 1 numbers that are not trained, as of m = 8 features."""
    layer = keras.layers.Normalization()
    assert (params(layer), layer.trainable_weights) == (2 * 8 + 1, [])


CALLS = """
nn.LSTM(8, 16, 2)
nn.LSTM(8, 16, proj_size=4, bias=False, bidirectional=True)
nn.RNN(8, 16, num_layers=2, nonlinearity="relu", batch_first=True, dropout=0.5)
nn.GRUCell(8, 16, False)
nn.RNNCell(8, 16, True, "relu")
nn.Linear(8, 16, False)
nn.Embedding(10, 8)
nn.Conv1d(8, 16, 3, 2)
nn.Conv1d(8, 16, 3, groups=4, padding="same")
nn.Conv1d(in_channels=8, out_channels=16, kernel_size=3, padding=0)
nn.MultiheadAttention(8, 4)
nn.MultiheadAttention(8, 4, 0.1, False)
nn.LayerNorm(8, bias=False)
nn.BatchNorm1d(8)
nn.MaxPool1d(3, 2)
nn.Dropout(0.2)
layers.LSTM(16, return_sequences=True)
layers.GRU(16, reset_after=False, use_bias=False)
layers.Bidirectional(layers.GRU(16), "sum")
layers.TimeDistributed(layers.Dense(5, activation="relu"))
layers.Embedding(100, 8)
layers.Conv1D(16, 3, 2)
layers.MultiHeadAttention(4, 6)
layers.MultiHeadAttention(4, 6, 3)
layers.MultiHeadAttention(num_heads=4, key_dim=6, use_bias=False)
layers.ConvLSTM2D(4, 5)
layers.ConvLSTM2D(filters=4, kernel_size=5)
layers.Conv1D(filters=16, kernel_size=3)
layers.BatchNormalization(scale=False)
layers.LayerNormalization()
layers.MaxPooling1D(3, 2)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_what_is_written_for_a_call_has_the_parameters_of_its_layer(call: str) -> None:
    layer = eval(call, {"nn": torch.nn, "layers": keras.layers})
    reads, text, flags = layer_called(call) or pytest.fail("no cure")
    words = [each for pair in ({"-T": "10"} | flags).items() for each in pair]
    code, counted = called("count", "-i", reads or "8", "-l", text.format(2), *words, "-f", "json")
    assert code == 0, counted
    assert json.loads(counted)["reports"][0]["params"] == params(layer), text


@pytest.mark.parametrize(
    "call",
    [
        *("nn.Conv1d(8, 16, 3, padding=1)", "nn.LayerNorm(8, 1e-5)", "nn.Dropout(0.2, True)"),
        *("nn.MultiHeadAttention(8, 4)", "layers.Softmax()", "layers.Attention()", "layers.AdditiveAttention()"),
    ],
)
def test_no_cure_is_written_for_a_call_that_is_not_known(call: str) -> None:
    assert layer_called(call) is None
