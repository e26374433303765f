"""The stack: a network's layers in their places, each with its widths, shapes, uses and tensors.

Knows nothing of files or of questions about a network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from rnncalc.conventions.formula import Expression, letters, numbers, plain, substituted, value
from rnncalc.conventions.layout import Layout, Stack, shared_layout
from rnncalc.conventions.rules import Convention
from rnncalc.conventions.tensor import STORED, Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Dense, Embedding, External, Layer, Time, Transform
from rnncalc.letters import has_letters
from rnncalc.network.flow import Attend, InitialState, Moves, Placement, array_of, ends, grids, shapes
from rnncalc.records import Frozen

if TYPE_CHECKING:
    from rnncalc.conventions.notation import Notation
    from rnncalc.step.nodes import Repeats, Trace


class LayerStep(Frozen):
    """The step of a layer, applied once. It is traced if that is asked for, and then once.

    inputs: the width that it reads at each of its places.
    """

    layer: Layer
    inputs: int
    places: int
    row: Convention

    def __post_init__(self) -> None:
        if self.layer.of_user:  # what it declares is compared with its step before any number follows from either
            _ = self.step

    @cached_property
    def step(self) -> Trace | None:
        """The trace of the step; None for a dropout, and for a part that is counted elsewhere."""
        if not isinstance(self.layer, Cell | Dense | Embedding | Transform):
            return None
        from rnncalc.step.trace import trace  # a count of parameters needs none

        return trace(self.layer, self.inputs, self.row)

    @cached_property
    def multiply_adds(self) -> int | None:
        """Multiplications in matrix products; None for a part that is counted elsewhere and does not say."""
        if self.step is None:
            return self.layer.work if isinstance(self.layer, External) else 0
        return self.layer.directions * self.places * self.step.multiply_adds(self.layer.sizes(self.inputs))


class Placed(NamedTuple):
    """A layer in its place.

    name: unique in the network. part: encoder, decoder or None.
    inputs, outputs: the widths of its input (extra inputs included) and of its output.
    output_shape: (steps, width) where a sequence leaves it, (width,) where one vector does; an unknown T is None.
    uses: how many times one pass applies it, as often as it has outputs; None when T is not known.
    sizes: the numbers that the letters of its tensors stand for.
    params: the number of its parameters.
    work: what it computes when it is applied once.
    pairs: of a layer that reads a whole sequence, the steps of that, and how many of them its outputs read; None if T
        is not known.
    grid, output_grid: the places of each axis of a step of its input and of its output; nothing of plain vectors.
    copy: which of the layers of one `repeat` it is, from 0; frameworks number their tensors.
    starts: of a dense layer that makes a state before the first step, the recurrent layer's name and the letter of
        the state.
    names: its letters in the names of the network's sizes (`named_sizes.py`), if any of them has one; or its sizes in
        numbers, if a letter of another layer's size is one of its letters.
    network: the name of its network in a model of several; None in a single one. calls: how often a pass of the model
        applies that network; multiply-adds are those of all calls.
    """

    layer: Layer
    name: str
    part: str | None
    inputs: int
    outputs: int
    output_shape: tuple[int | None, ...]
    uses: int | None
    sizes: Mapping[str, int]
    layout: Layout
    params: int
    work: LayerStep
    pairs: tuple[int, int] | None = None
    grid: tuple[int, ...] = ()
    output_grid: tuple[int, ...] = ()
    copy: int = 0
    starts: tuple[str, str] | None = None
    names: Mapping[str, Any] = {}
    network: str | None = None
    calls: int = 1

    @property
    def full_name(self) -> str:
        """Its name, in a model after that of its network: `actor.lstm_1`."""
        return f"{self.network}.{self.name}" if self.network else self.name

    @property
    def step(self) -> Trace | None:
        """Its trace; None for a dropout, and for a part that is counted elsewhere."""
        return self.work.step

    @property
    def repeats(self) -> Repeats | None:
        """How often a layer that reads a whole sequence computes what; None if T is not known."""
        if self.pairs is None or self.uses is None:
            return None
        from rnncalc.step.nodes import HEADS, Repeats

        return Repeats(self.uses, *self.pairs, self.sizes.get(HEADS, 1))

    @property
    def multiply_adds_per_step(self) -> int | None:
        """Multiplications in matrix products when it is applied once; None if unknown of a part counted elsewhere.

        Of a layer that reads a sequence whole, at its last step.
        """
        if self.layer.time.whole and self.step:
            return self.repeats and self.calls * self.step.multiply_adds(self.sizes, self.repeats.at_the_last)
        per_step = self.work.multiply_adds
        return per_step and self.calls * per_step

    @property
    def multiply_adds(self) -> int | None:
        """The same in a whole pass; None where T is not known, too."""
        if self.layer.time.whole and self.step:
            return self.repeats and self.calls * self.step.multiply_adds(self.sizes, self.repeats)
        per_step = self.multiply_adds_per_step
        return per_step and (None if self.uses is None else per_step * self.uses)

    @property
    def trainable(self) -> int:
        """The number of its parameters that training changes."""
        if self.layer.frozen:
            return 0
        frozen = [each for each in self.layout.tensors if each.role in STORED or not self.layer.trains(each.name)]
        return self.params - sum([each.sized(self.sizes).params for each in frozen])

    def bytes_in(self, dtype: str) -> int:
        """Return the bytes of its parameters; dtype: that of layers without one of their own."""
        return self.params * self.layer.bytes_each(dtype)

    @property
    def once(self) -> bool:
        """Whether it is applied before the first step alone, as a stream has it."""
        return bool(self.starts) or self.layer.once

    @property
    def sequence(self) -> bool:
        """Whether it outputs a vector at every step, not one in all."""
        return len(self.output_shape) > 1

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Its output shape with the places of a step apart from their channels, where it has any."""
        return array_of(self.output_shape, self.output_grid)

    @property
    def places(self) -> int:
        """How many places of a step it reads, each alone; 1 if it reads a step as a whole."""
        return prod(self.grid) if self.layer.time is Time.PLACE else 1

    @property
    def kind(self) -> str:
        """Its kind, as a spec writes it: `lstm`."""
        return self.layer.kind

    @property
    def units(self) -> int | None:
        """Its units; None for a layer without units."""
        units: int | None = getattr(self.layer, "units", None)
        return units

    @property
    def formula(self) -> str:
        """The formula of `params` in letters."""
        return letters(substituted(self.layout.params, self.names)) if self.names else self.layout.letters

    @property
    def substituted(self) -> str:
        """The formula with numbers for its letters."""
        return numbers(self.layout.params, self.sizes)

    @property
    def in_letters(self) -> Expression | None:
        """The formula with its sizes in, if some of them are letters: `4h_1(m + h_1 + 1)`."""
        return substituted(self.layout.params, self.sizes, folded=True) if has_letters(self.params) else None

    @property
    def params_formula(self) -> str | None:
        """The same in plain arithmetic: `4*h_1*(m + h_1 + 1)`."""
        return None if self.in_letters is None else plain(self.in_letters)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors it owns, with their shapes."""
        return tuple([tensor.sized(self.sizes, self.copy) for tensor in self.layout.tensors])

    @property
    def buffers(self) -> tuple[Tensor, ...]:
        """What it stores beside its parameters: a running mean and variance."""
        return tuple([tensor.sized(self.sizes) for tensor in self.layout.buffers])

    @property
    def stored(self) -> tuple[Tensor, ...]:
        """All tensors that a pass reads and that are this layer's: its parameters and its buffers."""
        return (*self.tensors, *self.buffers)

    @property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors it uses but another layer owns and counts."""
        return tuple([tensor.sized(self.sizes) for tensor in self.layout.shared])


Counted = tuple[Mapping[str, int], Layout, int, LayerStep]
"""The numbers of a layer's letters, its layout, its parameters, and its work."""


def stack(moves: Moves, row: Convention, notation: Notation | None = None) -> Iterator[Placed]:
    """Yield the layers in their places, a part's output layer last.

    row: the convention of their tensors. notation: how these are spelled; by default as in the convention.
    """
    if notation:
        row = notation.of(row)
    widths, spaces, ended = shapes(moves), grids(moves), ends(moves)
    counted: dict[object, Counted] = {}  # by layer, width and places: the layers of one `repeat` are one object
    settled: dict[int, Layer] = {}
    for place, move in enumerate(moves):
        if isinstance(move, Placement):
            inputs, (*steps, _), shape = widths[move.reads[0]][-1], widths[place], widths[ended[place]]
            uses = steps[0] if steps and not move.layer.once else 1
            grid = move.layer.grid or spaces[move.reads[0]]
            key = id(move.layer), inputs, grid
            if key not in counted:
                layer = settled.setdefault(id(move.layer), row.settled(move.layer))
                counted[key] = _counted(layer, inputs, grid, row, notation)
            places = grid, spaces[ended[place]]
            starts = (move.recurrent, move.state) if isinstance(move, InitialState) else None
            values = settled[id(move.layer)], move.name, move.part, inputs, shape[-1], shape, uses
            pairs = None
            if move.layer.time.whole and uses is not None and (read := widths[move.reads[-1]][0]) is not None:
                pairs = read, uses * read if isinstance(move, Attend) else move.layer.pairs(read)
            yield Placed(*values, *counted[key], pairs, *places, move.copy, starts)


def symbols_of(
    moves: Moves, row: Convention, notation: Notation, letters: Mapping[str, str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the name of each layer, and its symbols in a notation, each with what a course's letters write for it."""
    course = notation.with_letters(letters)
    for placed, other in zip(stack(moves, row, notation), stack(moves, row, course), strict=True):
        layer, values = placed.layer, ["x", "y"]
        if isinstance(layer, Cell):
            gates = [gate.letter for gate in layer.gates(placed.inputs)]
            sums = "a" if notation.joins_gates and len(gates) > 1 else ""
            values = [*dict.fromkeys(["x", *layer.states, "h", *gates]), *sums]
        tensors = [[each.name.rpartition("/")[2] for each in which.tensors] for which in (placed, other)]
        yield placed.name, [*((each, course.letter(each)) for each in values), *zip(*tensors, strict=True)]


def levels_of(stack: Iterable[Placed], least: int = 1) -> Mapping[str, int]:
    """Return the levels of recurrent layers, their numbers within their part from 1, if a part has at least so many."""
    parts: dict[str | None, list[str]] = {}
    for placed in stack:
        if isinstance(placed.layer, Cell):
            parts.setdefault(placed.part, []).append(placed.name)
    stacks = [names for names in parts.values() if len(names) >= least]
    return {name: level for names in stacks for level, name in enumerate(names, 1)}


def without_clashes(placed: Iterable[Placed], letters: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield layers, in whose formulas no letter of their own is one of the network's letters."""
    for each in placed:
        clash = not letters.keys().isdisjoint(each.sizes) and not any(map(has_letters, each.sizes.values()))
        yield each._replace(names=each.sizes) if clash else each


def _counted(layer: Layer, inputs: int, grid: tuple[int, ...], row: Convention, notation: Notation | None) -> Counted:
    """Return what is counted of a layer that reads so many inputs.

    Layers that differ only in their widths share one layout, made once for a convention.
    """
    places = prod(grid) if layer.time is Time.PLACE else 1
    width = inputs if places == 1 else inputs // places  # a half in letters stays one
    work, sizes = LayerStep(layer, width, places, row), layer.sizes(width)
    stacks: Sequence[Stack] = ()
    if notation and notation.stacked and isinstance(layer, Cell) and work.step:
        from rnncalc.step.equations import stacks as stacks_of  # not needed for the convention's own tensors

        stacks = stacks_of(work.step, notation)
    step = work.step if isinstance(layer, Cell) and layer.of_user else None
    shared = shared_layout(layer, inputs, row, stacks, step)
    return sizes, shared, value(shared.params, sizes), work
