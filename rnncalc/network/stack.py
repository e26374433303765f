"""The stack: a network's layers in their places, each with its widths, shapes, uses and tensors.

Knows nothing of files or of what is asked about a network.
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
    """A layer in its place.

    name: unique in the network. part: encoder, decoder or None.
    inputs, outputs: the widths of its input (extra inputs included) and of its output.
    output_shape: (steps, width) where a sequence leaves it, (width,) where one vector does; an unknown T is None.
    uses: how many times one pass applies it; None when T is not known.
    sizes: the numbers that the letters of its tensors stand for.
    params: the number of its parameters.
    multiply_adds_per_step: multiplications in matrix products when it is applied once; None where a part is counted
        elsewhere.
    copy: which of the layers of one `repeat` it is, from 0; frameworks number their tensors.
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
    multiply_adds_per_step: int | None
    copy: int = 0

    @property
    def trainable(self) -> int:
        """The number of its parameters that training changes."""
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
        """The tensors it owns, with their shapes."""
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
    """A layer of a part between its neighbours: its place in `layers`, its copy of a `repeat` and the widths."""

    layer: Layer
    place: int
    copy: int
    inputs: int
    outputs: int


def joins(part: Part) -> Iterator[Join]:
    """Yield the layers of a part, each of a `repeat` by itself, with their input and output widths."""
    width = part.input
    for place, layer in enumerate(part.layers):
        for copy in range(layer.repeat):
            inputs = width + layer.extra_inputs
            width = layer.hands_on(inputs)
            yield Join(layer, place, copy, inputs, width)


def turn(part: Part, topology: str) -> int:
    """Return which layer, repeats counted, makes one vector of a sequence, or a sequence of one vector.

    That is the last recurrent layer in many-to-one and the first in one-to-many; without a recurrent layer, the
    last layer, and the first that is no embedding.
    """
    layers = [layer for layer in part.layers for _ in range(layer.repeat)]
    cells = [place for place, layer in enumerate(layers) if isinstance(layer, Cell)]
    if topology != Topology.ONE_TO_MANY:
        return cells[-1] if cells else len(layers) - 1
    others = (place for place, layer in enumerate(layers) if not isinstance(layer, Embedding))
    return cells[0] if cells else next(others, 0)


def name_of(layer: Layer, copy: int, counted: Counter[str]) -> str:
    """Return the name of a layer, its own or its kind's with a number; `counted` has the kinds so far."""
    counted[layer.kind] += 1
    if layer.name is None:
        return f"{layer.kind}_{counted[layer.kind]}"
    return layer.name if layer.repeat == 1 else f"{layer.name}_{copy + 1}"


def stack(
    part_name: str | None, part: Part, topology: str, convention_name: str, counted: Counter[str]
) -> Iterator[Placed]:
    """Yield the layers of a part in their places, its output layer last; `counted` numbers those without a name."""
    row = convention(convention_name)
    many_in, many_out = reads_many(topology), hands_on_many(topology)
    steps, width, at = part.steps, part.input, turn(part, topology)
    for number, (layer, _, copy, inputs, width) in enumerate(joins(part)):
        many = many_in if number < at else many_out
        name = name_of(layer, copy, counted)
        shape = (steps, width) if many else (width,)
        uses = steps if many or (many_in and number == at) else 1
        known = _counted(layer, inputs, row)
        yield Placed(layer, name, part_name, inputs, width, shape, uses, *known, copy)
    if part.output:
        units = part.output.units
        shape, uses = ((steps, units), steps) if many_out else ((units,), 1)
        known = _counted(part.output, width, row)
        yield Placed(part.output, OUTPUT, part_name, width, units, shape, uses, *known)


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
