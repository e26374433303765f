"""What a network's layers ask of a model file: for each layer by itself, its tensors by name and shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rnncalc.errors import Path
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Layer
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.network.validation import named
from rnncalc.questions.models.site import Shape, Site


class Wanted(NamedTuple):
    """A layer, one copy of it.

    at: where the network's description has it. shapes: of the tensors it owns, under the names of a layer that stands
    alone; names: the same as the network numbers them. shared: the tensors it uses and another owns.
    """

    placed: Placed
    at: Path
    shapes: Mapping[str, Shape]
    names: Mapping[str, str]
    shared: Mapping[str, Shape]

    @property
    def name(self) -> str:
        """The layer's name."""
        return self.placed.name

    @property
    def layer(self) -> Layer:
        """The layer."""
        return self.placed.layer

    @property
    def kind(self) -> type[Layer]:
        """What it can be taken for: a table, a cell, or anything else."""
        return kind_of(self.layer)


def kind_of(layer: Layer | None) -> type[Layer]:
    """Return what a layer can be taken for: a table, a cell, or any other layer."""
    match layer:
        case Embedding():
            return Embedding
        case Cell():
            return Cell
        case _:
            return Layer


def wanted_of(network: Network) -> list[Wanted]:
    """Return what each layer of a network asks for, those without a tensor left out, external ones with none."""
    paths = {name: path for path, name, _ in named(network.parts)}
    wanted = [_wanted(placed, paths[placed.name]) for placed in network.stack]
    return [each for each in wanted if each.shapes or isinstance(each.layer, External)]


def _wanted(placed: Placed, at: Path) -> Wanted:
    if isinstance(placed.layer, External):
        return Wanted(placed, at, {}, {}, {})
    own = [(tensor.sized(placed.sizes), tensor.sized(placed.sizes, placed.copy)) for tensor in placed.layout.own]
    shapes, names = {alone.name: alone.shape for alone, _ in own}, {alone.name: one.name for alone, one in own}
    shared = {tensor.name: tensor.shape for tensor in placed.shared}
    return Wanted(placed, at, shapes, names, shared)


def distance(wanted: Wanted, site: Site) -> float | None:
    """Return how far the tensors of a site are from those wanted, 0 to 1; None where they cannot be the layer's.

    They cannot where none has its name, or some have other dimensions and no matrix is one on both sides: a norm and a
    dense layer have the same names. The biases of Keras' GRU have two rows or none, and its matrices tell.
    """
    theirs = {name: shape for name, shape in site.shapes.items() if name not in wanted.shared}
    common = wanted.shapes.keys() & theirs.keys()
    dimensions = [(len(wanted.shapes[name]), len(theirs[name])) for name in common]
    alike = all(ours == its for ours, its in dimensions) or any(ours == its > 1 for ours, its in dimensions)
    if not common or not alike:
        return None
    equal = sum(wanted.shapes[name] == theirs[name] for name in common)
    every = len(wanted.shapes.keys() | theirs.keys())
    return 1 - (equal + len(common)) / (2 * every)
