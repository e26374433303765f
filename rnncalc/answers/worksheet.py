"""A count as a learner writes it: for each layer, what its gates read and how many biases they have.

The right worksheet of a network is a third way to its counts, beside the tensors and the forward pass. It reads the
declared gates of each cell, and takes from the convention only the number of biases. Its value and its text come from
the same lines. Tests compare all of them. No mistake is known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from math import prod
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from rnncalc.conventions.formula import Expression, Plus, Times, letters, numbers, product, substituted, value
from rnncalc.conventions.layout import axis_of, role_of, width_of
from rnncalc.conventions.tensor import BIASES, Direction, Role, Tensor
from rnncalc.layers.cell import Cell, Form, Gate, Product
from rnncalc.layers.layer import ArrayAxes, Dense, Embedding, External, Layer, Output, Transform
from rnncalc.letters import has_letters
from rnncalc.network.network import Network
from rnncalc.network.parts import Part
from rnncalc.network.stack import Placed
from rnncalc.step.nodes import ONE

Source = Literal["input", "past", "peephole", "gain"]
"""What a gate reads: the layer's input, the previous state, a state through a peephole, or its normalised sum."""

A_UNIT: tuple[Source, ...] = ("peephole", "gain")
"""Sources that are written apart from a gate's matrices; in a right count each has one number per unit."""


Products = tuple[tuple[Any, ...], ...]
"""A sum of products of numbers, as a part of a count is written: ((h, h), (h,)) is h × h + h."""


def times(*factors: Any) -> Products:
    """Return a part that is one product; `+` joins two."""
    return (factors,)


def multiple(number: Any, part: Products) -> Products:
    """Return a part several times."""
    return tuple([(number, *factors) for factors in part])


def amount(part: Products) -> Any:
    """Return the number that a part is."""
    return sum(map(prod, part))


def write(expression: Expression) -> str:
    """Return an expression as text: `4 × 16 × (8 + 16 + 1)`, or `4h(m + h + 1)`."""
    return letters(substituted(expression, {})) if has_letters(value(expression, {})) else numbers(expression, {})


def total(terms: Iterable[Expression]) -> Expression:
    """Return the sum of terms, flattened, without terms of 0."""
    return _flattened(term for term in terms if value(term, {}))


def _flattened(terms: Iterable[Expression]) -> Expression:
    each = tuple(part for term in terms for part in (term.terms if isinstance(term, Plus) else (term,)))
    return Plus(each) if len(each) > 1 else each[0] if each else 0


class GateInput(NamedTuple):
    """The weights of a gate for one source: a matrix or a vector with `width` numbers for each unit.

    shared: the name of a matrix that several gates use; it is counted once.
    times: how often it is counted; once in a right count.
    """

    source: Source
    width: int
    shared: str = ""
    times: int = 1


class GateLine(NamedTuple):
    """A gate of a worksheet: what it reads, and its bias vectors. A dense layer is one gate that reads the input."""

    reads: tuple[GateInput, ...]
    biases: int = 0
    name: str = ""

    def width(self, source: Source) -> int:
        """Return how many weights each unit has for a source."""
        return sum([read.width for read in self.reads if read.source == source])


class LayerLine(NamedTuple):
    """A layer's count: times · directions · (what h units in each gate read, their biases, and the others).

    half: the network, or the half of it, that has the layer.
    others: the parts that belong to no gate, by name. bias_size: the size of a bias vector; h in a right count.
    times: how often the whole layer is counted; once in a right count.
    """

    placed: Placed
    half: Part
    h: int
    gates: tuple[GateLine, ...] = ()
    others: Mapping[str, Products] = {}
    bias_size: int = 0
    directions: int = 1
    times: int = 1

    @property
    def name(self) -> str:
        """The name of the layer."""
        return self.placed.name

    @property
    def layer(self) -> Layer:
        """The layer that is counted."""
        return self.placed.layer

    @property
    def steps(self) -> int:
        """The number of steps of its half; 1 if it is unknown."""
        return self.half.steps or 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing is counted: the layer has no parameters, or is left out."""
        return not self.gates and not self.others

    @property
    def passes_on(self) -> bool:
        """Whether the layer counts nothing and outputs as many numbers as it reads, as a dropout does."""
        placed = self.placed
        return not placed.params and not placed.buffers and placed.outputs == placed.inputs

    @property
    def is_fed(self) -> bool:
        """Whether it reads the output of the layer below, and the layer above its own.

        A dense layer that makes a state does not, nor does attention, nor a layer that passes its input on.
        """
        return not (self.placed.starts or self.layer is self.half.attention or self.passes_on)

    @property
    def biases(self) -> int:
        """How many bias vectors one direction has."""
        return sum([gate.biases for gate in self.gates])

    def width(self, source: Source) -> int:
        """Return the width that the gates read from a source, 0 if none reads it."""
        return max([gate.width(source) for gate in self.gates], default=0)

    def part(self, name: str) -> Products:
        """Return a part that belongs to no gate; () if it is not counted."""
        return self.others.get(name, ())

    @property
    def expression(self) -> Expression:
        """The sum of the layer, to be written with its numbers."""
        others = [product(*factors) for part in self.others.values() for factors in part]
        inside = total((*_products(self), *_vectors(self), *others))
        return product(self.times, self.directions, inside) if inside else 0

    @property
    def params(self) -> int:
        """The parameters of the layer: the value of its expression, which takes ten times as long to make."""
        seen: set[tuple[Source, str]] = set()
        weights = biases = 0
        for gate in self.gates:
            biases += gate.biases
            for source, width, shared, times in gate.reads:
                if not shared or (source, shared) not in seen:
                    weights += times * width
                    seen.add((source, shared))
        inside = self.h * weights + self.bias_size * biases
        for part in self.others.values():
            inside += amount(part)
        return self.times * self.directions * inside


Worksheet = tuple[LayerLine, ...]


def _gates_of(line: LayerLine, *sources: Source, biases: bool = False) -> LayerLine:
    """Return a line of what the gates read from some sources, of a recurrent layer, and of their biases or without."""
    sources = sources if isinstance(line.layer, Cell) else ()
    reads = [tuple([read for read in gate.reads if read.source in sources]) for gate in line.gates]
    gates = [GateLine(each, gate.biases * biases, gate.name) for gate, each in zip(line.gates, reads, strict=True)]
    return line._replace(gates=tuple(gates), others={})


TAKEN: Mapping[str, Callable[[LayerLine], LayerLine]] = {
    "biases": lambda line: _gates_of(line, biases=True),
    "input weights": lambda line: _gates_of(line, "input"),
    "recurrent weights": lambda line: _gates_of(line, "past"),
    "weights": lambda line: line._replace(gates=tuple([gate._replace(biases=0) for gate in line.gates])),
    "each gate": lambda line: line._replace(gates=line.gates[:1], others={}),
}
"""What a label may name of a layer besides a gate, each with the line of that alone."""


class Portion(NamedTuple):
    """What a number is of: lines of a worksheet, by default all, or a part of each.

    taken: a key of TAKEN, the name of a gate, or two joined by of; empty for whole lines.
    one_way: whether one direction is meant.
    """

    places: tuple[int, ...] = ()
    taken: str = ""
    one_way: bool = False

    @property
    def whole(self) -> bool:
        """Whether it is all of its lines."""
        return not (self.taken or self.one_way)

    def of(self, line: LayerLine) -> LayerLine:
        """Return the part of a line."""
        line = line._replace(directions=1) if self.one_way else line
        for name in reversed(self.taken.split(" of ")) if self.taken else ():
            gates = tuple([gate for gate in line.gates if gate.name == name])
            line = TAKEN[name](line) if name in TAKEN else line._replace(gates=gates, others={})
        return line

    def lines(self, worksheet: Worksheet) -> list[tuple[int, LayerLine]]:
        """Return the lines, or the part of each, with their places."""
        return [(place, self.of(worksheet[place])) for place in self.places or range(len(worksheet))]

    def count(self, worksheet: Worksheet) -> Any:
        """Return the number in a worksheet."""
        return sum([line.params for _, line in self.lines(worksheet)])


WHOLE = Portion()
"""The whole network."""


class NamedPart(NamedTuple):
    """What a label names, with its correct number.

    layer: the name of its layer; None for the network. name: what is counted of it; None for all.
    portion: the same of a worksheet. kind: the kind of cell that the label says, if it is another's.
    """

    layer: str | None
    name: str | None
    count: Any
    portion: Portion = WHOLE
    kind: str = ""

    @property
    def place(self) -> int | None:
        """The place of a layer that is counted as a whole."""
        return self.portion.places[0] if self.layer and not self.name else None

    @property
    def text(self) -> str:
        """What it is in a sentence."""
        return " of ".join(filter(None, (self.name, self.layer))) or "the whole network"

    @property
    def is_total(self) -> bool:
        """Whether it is the whole network."""
        return self.layer is None and self.name is None


def multiplied(line: LayerLine) -> LayerLine:
    """Return a line that counts the multiply-adds of a pass: the matrices at each use; biases have size 0.

    The multiply-adds of a layer that do not follow from its matrices are one number; a layer without any has 0 times.
    """
    gates = [gate._replace(reads=tuple([it for it in gate.reads if it.source not in A_UNIT])) for gate in line.gates]
    others = {name: part for name, part in line.others.items() if name in ("projection", Role.RIGHT)}
    uses, work = line.placed.uses or 1, line.placed.multiply_adds or 0
    matrices = line._replace(gates=tuple(gates), others=others, bias_size=0, times=uses)
    if not work or matrices.params == work:
        return matrices if work else line._replace(times=0)
    per_step = line.placed.multiply_adds_per_step or 0
    count, products = (uses, per_step) if uses * per_step == work else (1, work)
    return line._replace(gates=(), others={"products": times(products // line.directions)}, times=count)


def sum_of(worksheet: Iterable[LayerLine], known: Mapping[int, Expression] = {}) -> Expression:
    """Return the sum of all lines; neighbours with equal sums become one product.

    known: the sums of lines that are there already, by the identity of the line.
    """
    alike = [(next(lines), 1 + sum(1 for _ in lines)) for _, lines in groupby(worksheet, lambda line: line[2:])]
    counted = [each for line, times in alike if (each := (known.get(id(line)) or line.expression, times))[0]]
    sums = groupby(counted, itemgetter(0))
    return _flattened(product(sum(times for _, times in equal), expression) for expression, equal in sums)


def _products(line: LayerLine) -> Iterator[Expression]:
    """Yield a product for each group of gates that read the same, with biases in the bracket if all have as many."""
    seen: set[tuple[Source, str]] = set()
    groups: dict[tuple[Expression, ...], list[int]] = {}
    for gate in line.gates:
        reads = [read for read in gate.reads if read.source not in A_UNIT and (read.source, read.shared) not in seen]
        seen |= {(read.source, read.shared) for read in reads if read.shared}
        widths = tuple(product(read.times, read.width) for read in reads if read.width)
        groups.setdefault(widths, []).append(gate.biases)
    within = line.bias_size == line.h and not seen and all(len({*biases}) == 1 for biases in groups.values())
    for widths, biases in groups.items():
        if widths and line.h:
            bracket = total((*widths, biases[0]) if within else widths)
            yield product(len(biases), Times((line.h, bracket)))
    apart = sum(sum(biases) for widths, biases in groups.items() if not (within and widths))
    if apart and line.bias_size:
        yield product(apart, line.bias_size)


def _vectors(line: LayerLine) -> Iterator[Expression]:
    """Yield a product for the peepholes of the gates, and for their gains."""
    inputs = sorted(
        (read for gate in line.gates for read in gate.reads if read.source in A_UNIT),
        key=lambda read: A_UNIT.index(read.source),
    )
    for (_, width, times), count in Counter((read.source, read.width, read.times) for read in inputs).items():
        if width and line.h:
            yield product(times, count, line.h if width == 1 else Times((line.h, width)))


def worksheet_of(network: Network, stack: Iterable[Placed] = ()) -> Worksheet:
    """Return the right worksheet of a network, a line for each layer. stack: that of another convention."""
    return tuple([_line(placed, network.parts[placed.part]) for placed in stack or network.stack])


def above(worksheet: Worksheet, place: int) -> int | None:
    """Return the place of the line that reads the output of the line at `place`; None if no layer of its part does.

    A dense layer that makes a state before the first step reads no layer below it, nor does attention. A layer that
    passes its input on, such as a dropout, is left out.
    """
    part = worksheet[place].placed.part
    for reader in range(place + 1, len(worksheet)):
        line = worksheet[reader]
        if line.is_fed:
            return reader if line.placed.part == part else None
    return None


def neighbours(worksheet: Worksheet) -> Iterator[tuple[int, int]]:
    """Yield the place of each line, with the place of the line that reads its output."""
    for place, line in enumerate(worksheet):
        if line.is_fed and (reader := above(worksheet, place)) is not None:
            yield place, reader


def parts_of(arrays: Iterable[ArrayAxes], sizes: Mapping[str, Any]) -> dict[str, Products]:
    """Return the parts of a layer's line that its arrays are, by name."""
    return {
        "matrix" if role == Role.KERNEL and len(axes) == 2 else role: times(*[sizes[it] for it in axes if it != ONE])
        for role, axes in arrays
    }


def _line(placed: Placed, half: Part) -> LayerLine:
    layer = placed.layer
    line = LayerLine(placed, half, 0)
    match layer:
        case Cell():
            tensors, gates = placed.tensors, layer.gates(placed.inputs)
            biases, others = _biases(tensors, layer), dict(_others(placed, layer, gates, tensors))
            lines = [gate_line(placed, layer, gate, biases[gate.letter]) for gate in gates]
            return LayerLine(placed, half, layer.units, tuple(lines), others, layer.units, layer.directions)
        case Dense():
            tied = isinstance(layer, Output) and layer.tied
            gate = GateLine(() if tied else (GateInput("input", placed.inputs),), int(layer.bias))
            return line._replace(h=layer.units, gates=(gate,), bias_size=layer.units)
        case Embedding() | Transform():
            stored: set[str] = {tensor.role for tensor in placed.buffers}  # an array that is no parameter here
            stored |= {each for each, _ in layer.arrays[: len(placed.shared)]}  # a table that another layer counts
            counted = [(role, axes) for role, axes in layer.arrays if role not in stored]
            return line._replace(h=placed.outputs, others=parts_of(counted, placed.sizes))
        case External():
            return line._replace(others={"external": times(placed.params)})
    return line


_SOURCES: Mapping[Role, Source] = {Role.INPUT: "input", Role.RECURRENT: "past", Role.PEEPHOLE: "peephole"}


def gate_line(placed: Placed, layer: Cell, gate: Gate, biases: int) -> GateLine:
    """Return a gate of a recurrent layer as a line, with so many biases."""
    reads = tuple(
        GateInput(
            _SOURCES[role_of(layer, product)],
            _reads(placed, layer, product),
            "" if product.matrix is None else f"{product.vector}{product.matrix}",
        )
        for product in gate.products
    )
    gain = (GateInput("gain", 1),) if gate.normalised else ()
    return GateLine((*reads, *gain), biases, gate.name)


def _reads(placed: Placed, layer: Cell, product: Product) -> int:
    """Return how many weights a unit of a gate has for one source."""
    axis = axis_of(layer, product)
    taps = placed.sizes["k"] ** len(layer.grid) if product.form is Form.CONVOLUTION else 1
    return taps * placed.sizes[axis] if axis else 1


def _biases(tensors: Iterable[Tensor], layer: Cell) -> Counter[str]:
    """Return the number of bias vectors of each gate in one direction, by the gate's letter."""
    biases: Counter[str] = Counter()
    for tensor in tensors:
        if tensor.role in BIASES and tensor.direction is not Direction.BACKWARD:
            directions = layer.directions if tensor.direction is Direction.BOTH else 1
            for letter in tensor.gates:
                biases[letter] += tensor.params // (len(tensor.gates) * layer.units * directions)
    return biases


def _others(
    placed: Placed, layer: Cell, gates: Iterable[Gate], tensors: Iterable[Tensor]
) -> Iterator[tuple[str, Products]]:
    right = [each for gate in gates for each in gate.products if each.form is Form.RANK]
    if right:
        yield Role.RIGHT, times(len(right), placed.sizes["r"], placed.sizes[width_of(layer, right[0].vector)])
    for weight in layer.weights:
        if weight.widths:
            name = "projection" if layer.projects(weight) else weight.letter
            yield name, times(*[placed.sizes[width] for width in weight.widths])
    if scalars := sum(tensor.params for tensor in tensors if tensor.role is Role.SCALAR):
        yield "scalars", times(scalars // layer.directions)
    if layer.learned_state:
        yield "state", state_of(placed, layer)


def state_of(placed: Placed, layer: Cell) -> Products:
    """Return the size of all states of one direction."""
    widths = Counter(placed.sizes[width] for width in layer.states.values())
    return tuple([(count, width) for width, count in widths.items()])
