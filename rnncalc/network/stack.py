"""The stack: a network's layers in their places, each with its widths, shapes, uses and tensors.

Equal neighbours are one entry with its copies, so that a hundred thousand of them cost what one does. Knows nothing of
files or of what is asked about a network.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rnncalc.conventions.catalogue import convention
from rnncalc.conventions.convention import Convention
from rnncalc.conventions.formula import numbers, value
from rnncalc.conventions.layout import Layout, layout
from rnncalc.conventions.tensor import Tensor
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import Embedding, External, Layer
from rnncalc.network.parts import Part, Topology, hands_on_many, reads_many
from rnncalc.step.trace import trace

OUTPUT = "output"
"""The name of the output layer."""


class Placed(NamedTuple):
    """A layer in its place, or a run of equal ones, each fed by the one before.

    stem, number: its name is the stem, with the number behind it where it has one; each copy's is one higher.
    part: encoder, decoder or None.
    inputs, outputs: the widths it reads (extra inputs included) and hands on.
    output_shape: (steps, width) where a sequence leaves it, (width,) where one vector does; an unknown T is None.
    uses: how many times one pass applies it; None when T is not known.
    sizes: the numbers that the letters of its tensors stand for.
    params: the number of its parameters, of one copy.
    multiply_adds_per_step: multiplications in matrix products when it is applied once; None where a part is counted
        elsewhere.
    copy: which copy of a repeated layer the first is, from 0; frameworks number them. copies: how many there are.
    """

    layer: Layer
    stem: str
    number: int | None
    part: str | None
    inputs: int
    outputs: int
    output_shape: tuple[int | None, ...]
    uses: int | None
    sizes: Mapping[str, int]
    layout: Layout
    params: int
    multiply_adds_per_step: int | None
    copy: int = 0
    copies: int = 1

    @property
    def name(self) -> str:
        """The name of the first copy, unique in the network."""
        return self.name_of(0)

    def name_of(self, copy: int) -> str:
        """Return the name of one of the copies, counted from 0."""
        return self.stem if self.number is None else f"{self.stem}{self.number + copy}"

    def one(self, copy: int) -> "Placed":
        """Return one of the copies by itself, counted from 0."""
        number = None if self.number is None else self.number + copy
        repeated = self.copy + copy if self.layer.repeat > 1 else 0
        return self._replace(number=number, copy=repeated, copies=1)

    @property
    def trainable(self) -> int:
        """The number of its parameters that training changes, of one copy."""
        return 0 if self.layer.frozen else self.params

    @property
    def sequence(self) -> bool:
        """Whether it hands on a vector at every step, not one in all."""
        return len(self.output_shape) > 1

    @property
    def formula(self) -> tuple[str, str]:
        """The formula of `params` in letters, and with the numbers in."""
        return self.layout.letters, numbers(self.layout.params, self.sizes)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors it owns, of the first copy, with their shapes."""
        return tuple([tensor.sized(self.sizes, self.copy) for tensor in self.layout.own])

    @property
    def shared(self) -> tuple[Tensor, ...]:
        """The tensors it uses but another layer owns and counts."""
        return tuple([tensor.sized(self.sizes) for tensor in self.layout.shared])

    @property
    def multiply_adds(self) -> int | None:
        """Multiplications in matrix products in a whole pass; None when they, or T, are not known."""
        once = self.multiply_adds_per_step
        if not once:
            return once
        return None if self.uses is None else once * self.uses


class Join(NamedTuple):
    """Where a layer of a part joins the one below: its place in `layers`, which copies of it, and the widths.

    copies: how many that read and hand on the same widths; copy: the first of them, from 0. A layer that stands in the
    list several times in a row is one with copies too, and `place` the first's.
    """

    layer: Layer
    place: int
    copy: int
    copies: int
    inputs: int
    outputs: int

    def place_of(self, copy: int) -> int:
        """Return the place in `layers` of one of the copies."""
        return self.place if self.layer.repeat > 1 else self.place + copy


def joins(part: Part) -> Iterator[Join]:
    """Yield the layers of a part with the widths they read and hand on; copies that are alike together."""
    width = part.input
    for first, layer, times in part.neighbours():
        listed = layer.repeat == 1 and layer.name is None  # and not repeated, when each begins anew
        copies = times if listed else layer.repeat
        for place in (first,) if listed else range(first, first + times):
            copy = 0
            while copy < copies:
                below, inputs = width, width + layer.extra_inputs
                width = layer.hands_on(inputs)
                alike = copies - copy if width == below else 1
                yield Join(layer, place, copy, alike, inputs, width)
                copy += alike


def turn(part: Part, topology: str) -> int:
    """Return which layer, copies counted from 0, is where a sequence becomes one vector, or one vector a sequence.

    That is the last recurrent layer in many-to-one and the first in one-to-many; without a recurrent layer, the
    last layer, and the first that is no embedding.
    """
    end = 0
    cells, others = [], []
    for _, layer, times in part.neighbours():
        start, end = end, end + times * layer.repeat
        if isinstance(layer, Cell):
            cells.append((start, end))
        elif not isinstance(layer, Embedding):
            others.append(start)
    if topology == Topology.ONE_TO_MANY:
        return cells[0][0] if cells else next(iter(others), 0)
    return (cells[-1][1] if cells else end) - 1


def stem_and_number(layer: Layer, copy: int, counted: int) -> tuple[str, int | None]:
    """Return the name of a layer, its own or its kind's, and the number behind it; `counted` are the kind's so far."""
    if layer.name is None:
        return f"{layer.kind}_", counted + 1
    return (layer.name, None) if layer.repeat == 1 else (f"{layer.name}_", copy + 1)


def stack(
    part_name: str | None, part: Part, topology: str, convention_name: str, counted: Counter[str]
) -> Iterator[Placed]:
    """Yield the layers of a part in their places, its output layer last; `counted` numbers those without a name."""
    row = convention(convention_name)
    many_in, many_out = reads_many(topology), hands_on_many(topology)
    steps, width = part.steps, part.input
    for (layer, _, copy, copies, inputs, width), side in _runs(part, turn(part, topology)):
        many = many_in if side < 0 else many_out
        stem, number = stem_and_number(layer, copy, counted[layer.kind])
        counted[layer.kind] += copies
        shape = (steps, width) if many else (width,)
        uses = steps if many or (many_in and side == 0) else 1
        first = copy if layer.repeat > 1 else 0
        known = _counted(layer, inputs, row)
        yield Placed(layer, stem, number, part_name, inputs, width, shape, uses, *known, first, copies)
    if part.output:
        units = part.output.units
        shape, uses = ((steps, units), steps) if many_out else ((units,), 1)
        known = _counted(part.output, width, row)
        yield Placed(part.output, OUTPUT, None, part_name, width, units, shape, uses, *known)


def _counted(layer: Layer, inputs: int, row: Convention) -> tuple[Mapping[str, int], Layout, int, int | None]:
    """Return what a layer's letters stand for, its layout, its parameters and its multiply-adds when applied once."""
    sizes = layer.sizes(inputs)
    found = _layout(layer, inputs, sizes, row)
    per_step = None if isinstance(layer, External) else value(found.multiply_adds, sizes)
    return sizes, found, value(found.params, sizes), per_step


def _layout(layer: Layer, inputs: int, sizes: Mapping[str, int], row: Convention) -> Layout:
    """Return the layout of a layer; those that differ in their widths alone have one, made once for a convention."""
    key: object = (type(layer), tuple(sizes), layer.choices())
    if isinstance(layer, Cell):
        key = key, trace(layer, inputs, row)
    found: Layout | None = row.layouts.get(key)
    if found is None:
        found = row.layouts[key] = layout(layer, inputs, row)
    return found


def _runs(part: Part, at: int) -> Iterator[tuple[Join, int]]:
    """Yield the runs of equal neighbours, and whether each stands before (-1), at (0) or after the turn (1)."""
    run: Join | None = None
    side = copies = 0
    start = 0
    for join in _split(part, at):
        its_side = (start > at) - (start < at)
        start += join.copies
        if run and side == its_side and run.inputs == join.inputs and _alike(run.layer, join.layer):
            copies += join.copies
            continue
        if run:
            yield run._replace(copies=copies), side
        run, side, copies = join, its_side, join.copies
    if run:
        yield run._replace(copies=copies), side


def _alike(layer: Layer, other: Layer) -> bool:
    """Return whether two neighbours are layers of the list that differ in nothing, not even in a name."""
    return layer.repeat == 1 and layer.name is None and (layer is other or layer == other)


def _split(part: Part, at: int) -> Iterator[Join]:
    """Yield the joins of a part, the layer where the sequence turns by itself."""
    start = 0
    for join in joins(part):
        before, after = at - start, join.copies - (at - start) - 1  # how many of its copies stand on either side
        start += join.copies
        if join.copies == 1 or before < 0 or after < 0:
            yield join
            continue
        for copy, copies in ((0, before), (before, 1), (before + 1, after)):
            if copies:
                yield join._replace(copy=join.copy + copy, copies=copies)
