"""What a program for a framework consists of: its modules, and the moves that take an input through them.

Plain data, which `export.py` makes and `sources/` writes; no word of any program stands here.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from rnncalc.conventions.tensor import Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Layer
from rnncalc.network.flow import Input
from rnncalc.network.network import Network
from rnncalc.network.stack import Placed
from rnncalc.step.equations import HALF, Equation, symbols


class OwnCell(NamedTuple):
    """A cell that a framework lacks, of any width: what one direction of it holds, and what it does in a step.

    name: that of its class. options: those of the layer that are not its kind's default, and are in its equations.
    weights: with shapes in letters. states, output: as the layer has them, in letters of widths.
    """

    name: str
    options: tuple[tuple[str, object], ...]
    weights: tuple[Tensor, ...]
    equations: tuple[Equation, ...]
    states: tuple[tuple[str, str], ...]
    output: str

    @property
    def half(self) -> bool:
        """Whether each direction reads its own half of x."""
        return any(symbol.subscript == HALF for each in self.equations for symbol in symbols(each.right))


class Module(NamedTuple):
    """A module of a program: a layer, or those of a `repeat` that the framework stacks in one module.

    name: what reports call the layer. places: the layers, with the tensors that they have in this program.
    cell: what the framework lacks, None where it has the layer.
    """

    name: str
    places: tuple[Placed, ...]
    cell: OwnCell | None = None

    @property
    def layer(self) -> Layer:
        """The layer, each of its layers'."""
        return self.places[0].layer

    @property
    def inputs(self) -> int:
        """The width that the first layer reads, extra inputs included."""
        return self.places[0].inputs

    @property
    def outputs(self) -> int:
        """The width that the last layer outputs."""
        return self.places[-1].outputs

    @property
    def params(self) -> int:
        """The number of its parameters, of all its layers."""
        return sum(place.params for place in self.places)

    @property
    def trainable(self) -> int:
        """The number of those that training changes."""
        return sum(place.trainable for place in self.places)

    @property
    def states(self) -> tuple[tuple[str, int], ...]:
        """The letter and the width of each state of one direction of a recurrent layer."""
        layer = self.layer
        assert isinstance(layer, Cell)
        return tuple((letter, self.places[0].sizes[width]) for letter, width in layer.states.items())


class OneStep(NamedTuple):
    """What is one vector, or one token, becomes a sequence of one step."""


class FedBack(NamedTuple):
    """From here on each step's output is the next step's input; `recurrent` are the modules that keep their states."""

    steps: int | None
    recurrent: tuple[Module, ...]
    extras: bool


class Zeros(NamedTuple):
    """One vector of a width becomes a sequence: it and zeros after it."""

    width: int
    steps: int | None


class ModuleCall(NamedTuple):
    """A module is applied.

    last: only what the last step of each direction hands on goes on. kept: its final states start the decoder's, and
    nothing else of it is read where it is `unread`. start: the module whose final states it starts from.
    looped: it goes on where the step before left it. shape: of what goes on, without the batch.
    """

    module: Module
    shape: tuple[int | None, ...]
    last: bool = False
    kept: bool = False
    unread: bool = False
    looped: bool = False
    start: Module | None = None


class LastStep(NamedTuple):
    """The last step of the sequence alone goes on; shape: of what does, without the batch."""

    shape: tuple[int | None, ...]


Move = Union[Input, OneStep, FedBack, Zeros, ModuleCall, LastStep]  # noqa: UP007  a closed union, told apart by match
"""An input of a part begins what flows; that of a layer, its extra inputs, joins it."""


class Program(NamedTuple):
    """The modules of a network in a framework, in order, and what is done with them."""

    network: Network
    target: str
    modules: tuple[Module, ...]
    moves: tuple[Move, ...]

    @property
    def params(self) -> int:
        """The number of all parameters, as the program holds them."""
        return sum(module.params for module in self.modules)

    @property
    def trainable(self) -> int:
        """The number of those that training changes."""
        return sum(module.trainable for module in self.modules)

    @property
    def cells(self) -> tuple[OwnCell, ...]:
        """The cells that the framework lacks, each once."""
        return tuple(dict.fromkeys(module.cell for module in self.modules if module.cell))
