"""What cures say of the parameters of other programs' layers: Keras's and PyTorch's of the same names."""

from contextlib import suppress
from inspect import isclass
from math import prod
from typing import Any

import keras
import pytest
import torch

from rnncalc.spec.aliases import TABLE

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
    for shape in ((None, 10, 8), [(None, 10, 8)] * 2, (None, 10, 10, 8), (None, 10, 10, 10, 8)):
        with suppress(TypeError, ValueError, IndexError):
            layer.build(shape)
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
