"""A site: the tensors of one layer in a model file, and the layer that they can be. Knows no file and no format.

Which layer is guessed from names and shapes, framework by framework, and then held against the convention: a guess
whose tensors are not those of the site, name by name and number by number, is no guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from importlib import import_module
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention, lacks
from rnncalc.conventions.layout import layout
from rnncalc.layers.layer import Layer
from rnncalc.modelfiles.model import FileTensor, ModelFile, Module

Shape = tuple[int, ...]

BY_GATES = {1: "rnn", 3: "gru", 4: "lstm"}
"""The cells that frameworks fuse, by the number of their gates."""


class Doubt(Enum):
    """What a file does not tell of a layer, for a report to say."""

    RECURRENT_ACTIVATION = auto()
    ACTIVATION = auto()
    OTHERWISE = auto()
    TABLE = auto()
    TIED = auto()
    MODULES = auto()
    WIDTH = auto()
    INPUT = auto()
    PARTLY_FROZEN = auto()


class Site(NamedTuple):
    """The tensors of one layer, under the names its convention has for those of a layer that stands alone.

    path: of the module; number: which of its stacked layers, from 0. inputs: the width it reads.
    layer: what it can be, None where nothing that is known of.
    """

    path: str
    number: int
    tensors: Mapping[str, FileTensor]
    layer: Layer | None = None
    inputs: int = 0
    doubts: tuple[Doubt, ...] = ()

    @property
    def params(self) -> int:
        """How many parameters it holds."""
        return sum(tensor.params for tensor in self.tensors.values())

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of its tensors by their names."""
        return {name: tensor.shape for name, tensor in self.tensors.items()}


class Guess(NamedTuple):
    """A layer that tensors may be of, and the width it reads."""

    layer: Layer
    inputs: int
    doubts: tuple[Doubt, ...] = ()


Guesser = Callable[[Module], Iterator[tuple[int, Mapping[str, FileTensor], tuple[Guess, ...]]]]
"""Yields the layers stacked in a module: the number of each, its tensors, and what it may be, the likeliest first."""


def sites_of(file: ModelFile) -> tuple[Site, ...]:
    """Return the sites of a file, in its order; the module beside this that is called as its framework guesses."""
    guess: Guesser = import_module(f"rnncalc.questions.models.{file.framework}").guesses
    return tuple(
        _site(module.path, number, tensors, guesses, file.framework)
        for module in file.modules
        for number, tensors, guesses in guess(module)
    )


def _site(
    path: str, number: int, tensors: Mapping[str, FileTensor], guesses: tuple[Guess, ...], framework: str
) -> Site:
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    for layer, inputs, doubts in guesses:
        if expected(layer, inputs, framework) == shapes:
            return Site(path, number, tensors, layer, inputs, doubts)
    return Site(path, number, tensors)


def expected(layer: Layer, inputs: int, framework: str) -> dict[str, Shape] | None:
    """Return the shapes of a layer's tensors by name, None for a layer that cannot be."""
    if inputs < 1 or any(layer.value_problems()) or any(lacks(layer, framework)):
        return None
    sizes = layer.sizes(inputs)
    return {tensor.name: tensor.sized(sizes).shape for tensor in layout(layer, inputs, convention(framework)).own}
