"""A pass on widths: what a backward pass reads and multiplies, layer by layer, counted on a tape without numbers.

A value is the place in the step of the layer that makes it. Its width, a number or a letter, follows from the layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from rnncalc.conventions.tensor import STORED, Role
from rnncalc.forward.arrays import Meter
from rnncalc.forward.layer_pass import DirectionPass, LayerPass, Stream, TransformPass
from rnncalc.forward.network_pass import LayerRun, Pass
from rnncalc.forward.tape import LayerTape, Tape, Taped, TapeValue
from rnncalc.layers.cell import Cell
from rnncalc.layers.layer import External, Layer
from rnncalc.network.flow import Delay, Input, Placement, flow
from rnncalc.network.network import Network
from rnncalc.network.parts import Parts
from rnncalc.network.stack import Placed
from rnncalc.step.nodes import HEADS, INPUT, MATRICES, ONE, PAIRED, STEPS
from rnncalc.step.operations import OPERATIONS, RESULT, Operation

PRODUCTS = {*MATRICES, *PAIRED}

Axes = tuple[str, ...]
"""The letters of the widths whose product is how many multiply-adds an operation takes."""


class SavedVector(NamedTuple):
    """A forward value that a backward equation reads: its place in the step, and the letter of its width."""

    place: int
    width: str


class WidthValue(TapeValue):
    """A value by its place in a step; its `numbers` are an object that only tells it from other values.

    operands: the last operand of an operation may be several of them, the vectors of a window or a sequence.
    length: how many numbers it has, if it has one for each step of a sequence.
    """

    __slots__ = ("length", "place")

    def __init__(self, layer: WidthTape, place: int, row: Operation, operands: Sequence[TapeValue], chunk: int) -> None:
        super().__init__(object(), layer, row, operands, chunk)
        self.place = place
        self.length = 1

    def backward(self) -> None:
        """Note the values that the gradients of the operands read, and the products with matrices."""
        layer: Any = self.layer
        row: Any = self.row
        layer.reached = True
        last, noted, operands = row.operands - 1, -1, self.operands
        for number, operand in enumerate(operands):
            if not operand.needs:
                continue
            operand.gradient = True
            if row.name in PRODUCTS:  # the gradient of the first operand takes a product for each of the others
                layer.products[self.chunk][self.place] += 1 if number else len(operands) - 1
            if (position := min(number, last)) != noted:
                noted = position
                for read in row.reads[position]:
                    for value in (self,) if read == RESULT else operands[read : None if read == last else read + 1]:
                        layer.save(value, self.chunk)


class WidthTape(LayerTape):
    """What the backward pass through one layer reads and multiplies in each chunk.

    table: the layer whose matrix it has: the embedding if its own is tied.
    places: those of the vectors that come from elsewhere, by chunk: of x, and of the states before a step.
    x, start: whether gradients are asked for of its input, and of its states before the first step, or of the encoder's
        outputs in a decoder's attention. reached: whether the loss depends on what it computes.
    """

    def __init__(self, placed: Placed, table: Layer) -> None:
        super().__init__({}, trained=False, name=placed.name)
        self.placed = placed
        self.table = table
        self.places: dict[tuple[int, object], int] = {}
        self.x = self.start = self.reached = False
        self.reads: dict[int, dict[object, TapeValue]] = defaultdict(dict)
        self.products: dict[int, Counter[int]] = defaultdict(Counter)

    def is_frozen(self, role: Role) -> bool:
        """Return whether weights of a role are not trained."""
        return (self.table if role in (Role.KERNEL, Role.EMBEDDING) else self.placed.layer).frozen

    def save(self, value: TapeValue, chunk: int) -> None:
        """Note that a value is read; weights are kept anyway, and what is computed again has its operand read."""
        if value.row and value.row.again and (chunk, value.numbers) not in self.places:
            for operand in value.operands:
                self.save(operand, chunk)
        elif value.weights is None:
            self.reads[chunk][value.numbers] = value

    def counts(self) -> Counter[tuple[int, SavedVector | Axes]]:
        """Return how often a vector is saved in a chunk, and how often the widths of a product are multiplied."""
        counts: Counter[tuple[int, SavedVector | Axes]] = Counter()
        placed, sizes = self.placed, self.placed.sizes
        trace: Any = placed.step  # what reads or multiplies has one

        def times(letters: Collection[str]) -> int:
            """Return how many values each one on the tape represents, if these differ with such letters."""
            return placed.places * (sizes[HEADS] if "i" in letters else 1)

        for chunk, read in self.reads.items():
            for value in read.values():
                place, length = self.places.get((chunk, value.numbers)), 1
                if place is None:
                    assert isinstance(value, WidthValue)
                    place, length = value.place, value.length
                width = trace.nodes[place].width
                vector = SavedVector(place, ONE if width == STEPS else width)
                counts[chunk, vector] += length * times(trace.repeats[place])
        for chunk, products in self.products.items():
            for place, number in products.items():
                axes, letters = trace.work(place)
                if not isinstance(placed.layer, Cell) and len(trace.nodes[trace.nodes[place].operands[0]].axes) > 2:
                    axes = axes[:-1]  # a kernel's taps are products of their own
                axes = (STEPS, *axes) if trace.nodes[place].width == STEPS and trace.across else axes
                counts[chunk, tuple(axes)] += number * times(letters)
        return counts


class Widths(Taped):
    """The vectors of one layer on a tape without numbers."""

    layer: WidthTape

    def make(self, place: int, row: Operation, *operands: TapeValue) -> WidthValue:
        """Return the result of an operation of the step, at its place."""
        value = WidthValue(self.layer, place, row, operands, self.tape.now)
        if value.needs:
            self.tape.values.append(value)
        return value

    def operation(self, row: Operation) -> Callable[..., TapeValue]:
        step = self.layer.placed.step
        return partial(self.make, step.output if step else 0, row)

    def constant(self, numbers: object) -> TapeValue:
        return TapeValue(object(), self.layer)

    def numbers(self, vector: TapeValue) -> Any:
        return ()

    def carry(self, vector: TapeValue, border: int) -> TapeValue:
        if self.tape.chunk is None or border % self.tape.chunk:
            return vector
        return TapeValue(vector.numbers, self.layer)

    def weight(self, role: Any) -> TapeValue:
        """Return weights of a role, which are not saved."""
        value = TapeValue(object(), self.layer)
        value.weights = role
        value.needs = role not in STORED and not self.layer.is_frozen(role)
        return value


class WidthDirection(DirectionPass[TapeValue]):
    """One direction of a recurrent layer."""

    vectors: Widths

    def __init__(self, placed: Placed, vectors: Widths, start: Sequence[TapeValue], *, backward: bool) -> None:
        trace: Any = placed.step
        unbound: Any = None
        super().__init__(trace, unbound, vectors, tuple(start), backward=backward, traced=False)
        nodes = trace.nodes
        self.weights |= {place: vectors.weight(node.weights.role) for place, node in enumerate(nodes) if node.weights}
        for calculations in (self.once, self.each):
            calculations[:] = [
                (place, partial(vectors.make, place, OPERATIONS[nodes[place].operation]), nodes[place].operands)
                for place, *_ in calculations
            ]

    def _weights_of(self, node: Any) -> Any:
        return node.weights.role

    def take(self, step: int, x: TapeValue) -> TapeValue:
        before, output = self.state, super().take(step, x)
        for place, state in zip(self.trace.before.values(), before, strict=True):
            self.vectors.layer.places[self.vectors.chunk, state.numbers] = place
        return output


class WidthTransform(TransformPass[TapeValue]):
    """A layer without a state, in which one place of a step, one head and one group represent all."""

    vectors: Widths

    def __init__(self, placed: Placed, vectors: Widths) -> None:
        layer: Any = placed.layer
        unbound: Any = None
        one, inputs = placed._replace(grid=()), placed.inputs // placed.places
        super().__init__(one, layer, inputs, unbound, unbound, vectors, vectors.meter, 0.0, None, traced=False)
        self.axes = [axes.replace("i", "") for axes in self.axes]

    def _zeros(self, width: int) -> TapeValue:
        return self.vectors.weight(Role.RUNNING_MEAN)

    def _no_past(self, place: int, steps: int) -> TapeValue:
        value = self.vectors.make(place, OPERATIONS["copy"])
        value.length = steps
        return value

    def _operation(self, place: int, row: Operation) -> Callable[..., TapeValue]:
        return partial(self.vectors.make, place, row)

    def _calculation(self, place: int) -> tuple[Callable[..., Any], Sequence[int]]:
        node = self.trace.nodes[place]
        if node.weights:
            weights = self.vectors.weight(node.weights.role)
            return (lambda: weights), ()
        if node.operation == "current" and self.trace.nodes[node.operands[0]].width == STEPS:
            return (lambda value: value), node.operands  # a number of it, which no gradient reads
        if node.operation not in OPERATIONS or node.operation == "current":
            return super()._calculation(place)
        axes, *names = (self.axes[each].replace("i", "") for each in (place, *node.operands))
        function = partial(self._make, place, by_step=node.width == STEPS)
        return partial(self._over, axes, names, function) if any(names) else function, node.operands

    def _make(self, place: int, *operands: Any, by_step: bool) -> TapeValue:
        """Return the result of an operation; by_step: whether it has a number for each step of a sequence."""
        *first, last = operands
        several = last if isinstance(last, list) else [last]
        value = self.vectors.make(place, OPERATIONS[self.trace.nodes[place].operation], *first, *several)
        if by_step:
            lengths = [each.length for each in operands if isinstance(each, WidthValue)]
            value.length = len(several) if isinstance(last, list) else max(lengths)
        return value


class WidthLayer(LayerPass[TapeValue]):
    """A layer on widths."""

    vectors: Widths

    def over(self, x: Stream[TapeValue], memory: Stream[TapeValue] | None = None) -> Stream[TapeValue]:
        vectors = [each or self.vectors.constant(each) for each in x.ways[0]]  # a token is read as a vector of one
        if trace := self.placed.step:
            tape, nodes = self.vectors.layer, enumerate(trace.nodes)
            query = next(place for place, node in nodes if node.operation == INPUT) if memory else trace.x
            for step, vector in enumerate(vectors, x.first):
                self.vectors.at(step)
                tape.places[self.vectors.chunk, vector.numbers] = query
                tape.x |= vector.needs
            for vector in memory.ways[0] if memory else ():
                tape.places[self.vectors.chunk, vector.numbers] = trace.x
                tape.start |= vector.needs
        return super().over(x._replace(ways=[vectors]), memory)

    def open(self, carried: Sequence[TapeValue]) -> None:
        """Make the layer's directions or its function; carried: the vectors that its states start from."""
        self.bound = True
        layer, vectors = self.layer, self.vectors
        if isinstance(layer, External):
            trained = vectors.weight(Role.KERNEL)
            trained.needs = trained.needs and layer.params > 0
            self.once = lambda x: vectors.make(0, OPERATIONS["plus"], x, trained)
        elif isinstance(layer, Cell):
            for number in range(layer.directions):
                start = [*map(vectors.operation(OPERATIONS["copy"]), carried)]
                start = start or [vectors.constant(letter) for letter in layer.states]
                for state in start:
                    state.needs |= layer.learned_state and not layer.frozen
                    vectors.layer.start |= state.needs
                self.directions.append(WidthDirection(self.placed, vectors, start, backward=number == 1))
        elif self.placed.step:
            self.transform = WidthTransform(self.placed, vectors)


class WidthPass(Pass[TapeValue]):
    """A pass on widths, and its backward pass from a loss of all outputs.

    parts: those of the network, with other numbers of steps. tapes: those of the layers, in order.
    """

    def __init__(self, network: Network, parts: Parts, chunk: int | None) -> None:
        moves = flow(parts, network.topology_of(None), feedback=network.feedback)
        layers = [move.layer for move in moves if isinstance(move, Placement)]
        stack = [
            placed._replace(layer=layer) if layer.time.begins else placed
            for placed, layer in zip(network.stack, layers, strict=True)
        ]
        short = copy(network)
        without_width = [move.replace(width=0) if isinstance(move, Delay) else move for move in moves]
        short.__dict__.update(parts=parts, stack=stack, flow=without_width)
        self.tape = Tape(chunk)
        self.tapes: list[WidthTape] = []
        super().__init__(short, self._widths, weights={})
        for _ in self.run():
            pass
        for vector in self.outputs:
            vector.gradient = True
        self.tape.backward()

    def _widths(self, placed: Placed, meter: Meter) -> Widths:
        table = self.network.parts[placed.part].layers[0] if placed.layout.shared else placed.layer
        if table.values().get("tied") == "encoder":
            table = self.network.parts["encoder"].layers[0]
        self.tapes.append(WidthTape(placed, table))
        return Widths(meter, self.tape, self.tapes[-1])

    def open_layer(self, placed: Placed) -> WidthLayer:
        meter = Meter()
        return WidthLayer(placed, self.data, self.vectors(placed, meter), meter)

    def read(self, move: Input, *, one_step: bool) -> Sequence[tuple[()]]:
        return [()] * (move.shape[0] or 1 if move.sequence and not one_step else 1)

    def _bind(self, layer_pass: Any, x: Stream[TapeValue], carried: Sequence[TapeValue]) -> None:
        layer_pass.open(carried)

    def _observe(self, layer_pass: LayerPass[TapeValue], x: Stream[TapeValue]) -> LayerRun:
        return LayerRun(layer_pass.placed)
