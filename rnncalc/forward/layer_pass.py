"""One layer of a forward pass on its bound weights: computes its outputs step by step, in each direction.

Does not know whether a vector is floats or a value on a tape, nor how a sequence moves from layer to layer. The
binding, not the convention, decides which sides of a gate have biases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial, reduce
from operator import itemgetter
from typing import Any, Generic, NamedTuple

from rnncalc.conventions.rules import Side
from rnncalc.conventions.tensor import STORED, Role
from rnncalc.forward.arrays import (
    Arrays,
    BindingError,
    Matrix,
    Meter,
    PassData,
    TensorPart,
    Value,
    Vectors,
    WeightVector,
)
from rnncalc.forward.bindings import Binding, BoundWeights, Product, TransformNames
from rnncalc.layers.cell import Cell, Habits
from rnncalc.layers.layer import Dense, Embedding, External, Output, Transform, inside, length_of
from rnncalc.network.stack import Placed
from rnncalc.step import operations
from rnncalc.step.equations import letter_of
from rnncalc.step.layer_trace import array_of, layer_trace, slides
from rnncalc.step.nodes import AROUND, HEADS, INPUT, MATRICES, SEQUENCE, STATE, STEPS, WEIGHTS, Node, Trace, Weights
from rnncalc.step.operations import OPERATIONS, Operation
from rnncalc.step.trace import traced


class Stream(NamedTuple, Generic[Value]):
    """The data between layers: for each direction the vectors, or token numbers, in the order of time.

    many: whether it is a sequence, not one vector. first: the step of the first vector, counted from 0.
    """

    ways: list[Any]
    many: bool
    first: int = 0


class History(NamedTuple, Generic[Value]):
    """The history of one direction of a recurrent layer.

    start: the states before the first step that was read, by letter. steps: for each step in the order of time, also
    if it was read backwards, the input (x), the states after it, the output (h) and the gates.
    """

    start: dict[str, Value]
    steps: list[dict[str, Value]]

    def numbers(self, vectors: Vectors[Value]) -> History[list[float]]:
        """Return the history in numbers; floats are not copied."""
        numbers = vectors.numbers
        steps = [{letter: numbers(vector) for letter, vector in step.items()} for step in self.steps]
        return History({letter: numbers(vector) for letter, vector in self.start.items()}, steps)


Calculation = tuple[int, Callable[..., Any], Sequence[int]]
"""An operation to run: the index of its result, the function, and the indices of its operands."""


class DirectionPass(Generic[Value]):
    """One direction of a recurrent layer, run step by step; state: the states after the last step."""

    def __init__(
        self,
        trace: Trace,
        weights: BoundWeights,
        vectors: Vectors[Value],
        start: tuple[Value, ...],
        *,
        backward: bool,
        traced: bool,
    ) -> None:
        self.trace = trace
        self.bound = weights
        self.vectors = vectors
        self.state = self.start = start
        self.backward = backward
        self.traced = traced
        self.taken: list[dict[str, Value]] = []
        self.weights: dict[int, Value] = {}
        self.once: list[Calculation] = []  # of weights alone
        self.each: list[Calculation] = []
        self.chunk: int | None = None  # None before the first step
        self.values: dict[int, Value] = {}  # values that the steps of a chunk share
        for place, node in enumerate(trace.nodes):
            if node.operation == WEIGHTS and len(node.axes) < 2:
                self.weights[place] = vectors.weight(self._weights_of(node))
            elif node.operation in MATRICES:
                matrix, vector = node.operands
                weights_of_node = self._weights_of(trace.nodes[matrix])
                function = self._in_blocks if isinstance(weights_of_node, tuple) else vectors.product
                self.each.append((place, partial(function, weights_of_node), (vector,)))
            elif node.operation in OPERATIONS:
                of_weights = all(operand in self.weights for operand in node.operands)
                row = operations.HALVES[backward] if node.operation == "half" else OPERATIONS[node.operation]
                (self.once if of_weights else self.each).append((place, vectors.operation(row), node.operands))

    def take(self, step: int, x: Value) -> Value:
        """Run the step of this number in time, and return its output."""
        vectors, trace = self.vectors, self.trace
        vectors.at(step)
        if self.chunk is not None:  # the state comes from an earlier step, it is not the start
            self.state = tuple([vectors.carry(each, step + self.backward) for each in self.state])
        if vectors.chunk != self.chunk:
            self.chunk = vectors.chunk
            self.values = {**self.weights}
            _calculate(self.once, self.values)
        values = {**self.values, trace.x: x, **dict(zip(trace.before.values(), self.state, strict=True))}
        _calculate(self.each, values)
        self.state = tuple([values[place] for place in trace.after.values()])
        if self.traced:
            lettered = {**trace.after, "h": trace.output, **trace.gates}
            self.taken.append({"x": x, **{letter: values[place] for letter, place in lettered.items()}})
        return values[trace.output]

    @property
    def history(self) -> History[Value]:
        """The history, only the start if it is not traced."""
        return History(self.by_letter(self.start), self.taken[::-1] if self.backward else self.taken)

    def by_letter(self, states: Sequence[Value]) -> dict[str, Value]:
        """Return states by their letters."""
        return dict(zip(self.trace.before, states, strict=True))

    def _weights_of(self, node: Node) -> Any:
        """Return the weights of a node, a matrix or a vector."""
        assert node.weights is not None  # reported by its operation
        array = bound_weights(self.bound, node.weights)
        for each in array if isinstance(array, tuple) else (array,):
            each.declaration = node.weights
        return array

    def _in_blocks(self, blocks: Sequence[Matrix], vector: Value) -> Value:
        """Return the products of blocks along a diagonal with the parts of a vector, one after the other."""
        parts = cut(self.vectors, vector, len(blocks), again=True)
        return joined(self.vectors, [*map(self.vectors.product, blocks, parts)])


def cut(vectors: Vectors[Value], x: Value, number: int, *, again: bool = False) -> list[Value]:
    """Return a number of equal parts of a vector; again: whether a backward pass cuts the vector once more."""
    if number == 1:
        return [x]
    each = len(vectors.numbers(x)) // number
    rows = [operations.part(place * each, (place + 1) * each).replace(again=again) for place in range(number)]
    return [vectors.operation(row)(x) for row in rows]


def joined(vectors: Vectors[Value], parts: Sequence[Value]) -> Value:
    """Return vectors one after the other."""
    if len(parts) == 1:
        return parts[0]
    widths = [len(vectors.numbers(vector)) for vector in parts]
    return vectors.operation(operations.joined(widths))(*parts)


def _calculate(calculations: Sequence[Calculation], values: dict[int, Any]) -> None:
    """Add the results of operations to the values that they are made of."""
    value_at = values.__getitem__
    for place, do, operands in calculations:
        values[place] = do(*map(value_at, operands))


def bound_weights(bound: BoundWeights, weights: Weights) -> Product:
    """Return the weights of a node as they are bound."""
    match weights.role:
        case Role.LEFT | Role.RIGHT:
            return bound.factor(weights.letter, weights.vector, weights.role.value.removeprefix("recurrent_"))
        case Role.MATRIX:
            return bound.matrix(weights.letter)
        case Role.VECTOR | Role.SCALAR:
            return bound.vector(weights.letter)
        case Role.GAIN:
            return bound.gain(weights.letter)
        case Role.BIAS | Role.RECURRENT_BIAS:
            side = Side.INPUT if weights.role is Role.BIAS else Side.RECURRENT
            bias = bound.bias(weights.letter, side.value)
            assert bias is not None  # the trace has only biases that are bound
            return bias
        case _:
            return bound.product(weights.letter, weights.vector)


def trace_of(layer: Cell, inputs: int, habits: Habits, weights: BoundWeights) -> Trace:
    """Return the trace of a cell's step with the biases that are bound."""
    biases: list[tuple[str, Side]] = []
    for gate in layer.gates(inputs):
        sides = [side for side in (Side.INPUT, Side.RECURRENT) if weights.bias(gate.letter, side.value) is not None]
        biases += [(gate.letter, Side.BOTH if len(sides) > 1 else sides[0])] if sides else []
    return _trace(layer, inputs, habits, tuple(biases))


@lru_cache(maxsize=64)
def _trace(layer: Cell, inputs: int, habits: Habits, biases: tuple[tuple[str, Side], ...]) -> Trace:
    """Return the same, cached: finite differences run a layer hundreds of times."""
    return traced(layer, inputs, habits, dict(biases))


WINDOW, NUMBER = -1, -2
"""The places of the window that a layer reads, and of the number of its step, beside those of the nodes' values."""

_OF_SEVERAL: dict[str, Callable[[int], Operation]] = {
    "largest": operations.largest,
    "average": operations.average,
    "dot": lambda operands: operations.dot(operands - 1),
    "mix": lambda operands: operations.mix(operands - 1),
}
"""The operations on any number of operands."""


class LetteredValue(NamedTuple, Generic[Value]):
    """A value of a layer around the cells, by its letter.

    step: its own, of the output or of the sequence, counted from 1. below: the numbers of its head and its steps.
    first: the step of the output that reads it first. shared: whether later ones read it too.
    joined: whether it is made of the numbers of all steps, and has no line of its own.
    """

    step: int
    letter: str
    below: str
    value: Value
    first: int
    shared: bool
    joined: bool


def _elements(value: Any, depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the elements of lists within lists, with their numbers from 1."""
    if not depth:
        yield (), value
        return
    for number, each in enumerate(value, 1):
        yield from (((str(number), *at), element) for at, element in _elements(each, depth - 1))


def _element(value: Any, depth: int, at: int) -> Any:
    """Return the element of an axis of a value's lists."""
    return value[at] if depth == 0 else [_element(each, depth - 1, at) for each in value]


class LayerValues(NamedTuple, Generic[Value]):
    """The values of a layer in a pass.

    histories: of each direction of a recurrent layer. lettered: those with letters of any other layer.
    inputs: the vectors that a layer reads several of at once. outputs: its output, a vector for each step.
    """

    histories: tuple[History[Value], ...]
    lettered: list[LetteredValue[Value]]
    inputs: Sequence[Value]
    outputs: Sequence[Value]


class TransformPass(Generic[Value]):
    """The nodes of a layer that is no cell, run on its bound weights.

    inputs: the width of a step. names: of its arrays, by role. epsilon: added to a variance.
    table: the matrix of an embedding, which a tied output has instead of its own.
    traced: whether to keep the values that have letters.
    """

    def __init__(
        self,
        placed: Placed,
        layer: Transform | Dense | Embedding,
        inputs: int,
        names: TransformNames,
        arrays: Arrays,
        vectors: Vectors[Value],
        meter: Meter,
        epsilon: float,
        table: Matrix | None,
        *,
        traced: bool,
    ) -> None:
        self.layer = layer
        self.timed = placed.sequence or layer.time.along or layer.time.whole  # whether its values are those of a step
        self.places = places = placed.places
        self.inputs = inputs
        self.names = names
        self.arrays = arrays
        self.vectors = vectors
        self.meter = meter
        statistics = {"normalise": operations.normalise(epsilon), "standardise": operations.standardise_by(epsilon)}
        self.rows = {**OPERATIONS, **statistics}
        self.slides = slides(layer) and not layer.time.whole
        self.trace = layer_trace(layer, inputs // places)
        self.traced = traced and any(node.letter and node.operation in OPERATIONS for node in self.trace.nodes)
        self.sizes = layer.sizes(inputs // places)
        self.table = table
        self.axes = [  # of each value's lists, of heads and of steps; the numbers of all steps may be one vector
            "".join(sorted(letters - {"t", "s" if node.width == STEPS else ""}))
            for node, letters in zip(self.trace.nodes, self.trace.repeats, strict=True)
        ]
        self.calls: dict[tuple[str, int], Callable[..., Value]] = {}  # by the operation and the number of operands
        self.taken: list[dict[int, Any]] = []  # for each step of the output its values by place, if some have letters
        self.fixed: dict[int, Any] = {}  # what all those steps share
        self.past: dict[int, Value] = {}  # what the step before kept, by place
        self.length = 0  # the steps of a sequence that is read whole
        self.zeros = self._zeros(inputs)
        self.sequence: Sequence[Value] = ()  # of a layer that reads several of its vectors at once
        self.kernels: dict[int, list[list[Matrix]]] = {}  # of each vector of a window, a matrix for each group
        self.blocks: dict[int, list[Value]] = {}  # what each group makes of a window, by its product's identity
        self.parts: dict[int, tuple[Value, list[Value]]] = {}  # the groups of each vector, by its identity
        self.calculations = [*map(self._calculation, range(len(self.trace.nodes)))]

    def over(self, x: Stream[Value], memory: Stream[Value] | None = None) -> Stream[Value]:
        """Return the layer's output for a stream; memory: the sequence to which a decoder attends with it."""
        (vectors,) = x.ways
        self.sequence = vectors if self.layer.time.along else ()
        every = range(len(self.trace.nodes))
        shape = self.layer.output_shape((len(vectors), self.inputs) if x.many else (self.inputs,))
        steps = range(shape[0] if len(shape) > 1 else 1)
        outputs: list[Value] = []
        if self.layer.time.whole:
            outputs += self.over_whole(x.first, vectors[: len(steps)], vectors if memory is None else memory.ways[0])
        for step in steps if not self.layer.time.whole else ():
            self.vectors.at(x.first + step)
            window = self.layer.window_of(step, len(vectors))
            window = inside(window, len(vectors)) if self.layer.skips else window
            read = [vectors[place] if 0 <= place < len(vectors) else self.zeros for place in window]
            if self.places == 1:
                values = self._values({}, every, read, x.first + step)
                self.taken += [values] * self.traced
                outputs.append(values[self.trace.output])
                continue
            by_place = zip(*[cut(self.vectors, vector, self.places) for vector in read], strict=True)
            parts = [self._values({}, every, place)[self.trace.output] for place in by_place]
            outputs.append(joined(self.vectors, parts))
        return Stream([outputs], len(shape) > 1, x.first)

    def over_whole(self, first: int, queries: Sequence[Value], sequence: Sequence[Value]) -> Iterator[Value]:
        """Yield the vectors of the output of a layer that reads a whole sequence, one for each of the queries.

        first: the step of the first query. A value that each step of the sequence has is a list; so is one that each
        head has, of one for each.
        """
        repeats = zip(self.trace.nodes, self.trace.repeats, strict=True)
        each = [place for place, (node, letters) in enumerate(repeats) if "t" in letters and node.operation != STATE]
        self.length = len(sequence)
        if not self.fixed:
            of_sequence = [place for place, letters in enumerate(self.trace.repeats) if "t" not in letters]
            values = self._values({}, of_sequence, sequence)
            self.fixed = {place: values[place] for place in of_sequence}
            self.past = {place: self._no_past(place, len(sequence)) for place in self.trace.before.values()}
        for step, query in enumerate(queries, first):
            self.vectors.at(step)
            read = length_of(self.layer.window_of(step, len(sequence)))
            values = {
                place: self._first(value, self.axes[place], read) if read < len(sequence) else value
                for place, value in self.fixed.items()
            }
            values = self._values({**values, **self.past}, each, [query], step)
            self.past = {self.trace.before[letter]: values[place] for letter, place in self.trace.after.items()}
            self.taken += [values] * self.traced
            yield values[self.trace.output]

    def _first(self, value: Any, axes: str, number: int) -> Any:
        """Return a value at the first steps of a sequence alone."""
        if "s" not in axes:
            return value
        return value[:number] if axes[0] == "s" else [self._first(each, axes[1:], number) for each in value]

    def lettered(self) -> Iterator[LetteredValue[Value]]:
        """Yield the values of each step that have letters, each once; what steps share belongs to the first."""
        seen: set[tuple[str, int]] = set()
        read = (INPUT, SEQUENCE) if self.layer.time.along else ()
        lettered = [
            (place, letter)
            for place, node in enumerate(self.trace.nodes)
            if (letter := letter_of(self.trace, place)) and place != self.trace.output and node.operation not in read
        ]
        for step, values in enumerate(self.taken, 1):
            for place, letter in lettered:
                axes, of_step = self.axes[place], "t" in self.trace.repeats[place]
                time = (str(step - (self.trace.nodes[place].operation == STATE)),) if of_step and self.timed else ()
                blocks = [((str(i), *time), each) for i, each in enumerate(self.blocks.get(id(values[place]), ()), 1)]
                elements = _elements(values[place], len(axes))
                heads = "i" in axes
                for at, value in (*blocks, *[((*at[:heads], *time, *at[heads:]), each) for at, each in elements]):
                    if (letter, id(value)) not in seen:
                        its_step = step if of_step or "s" not in axes else int(at[-1])
                        joined = self.trace.nodes[place].operation == "joined"
                        yield LetteredValue(its_step, letter, ",".join(at), value, step, not of_step, joined)
                        seen.add((letter, id(value)))

    @property
    def history(self) -> History[Value]:
        """The vectors of each step that have letters: the query, the weights of the sequence's steps."""
        nodes = enumerate(self.trace.nodes)
        plain = {node.letter: at for at, node in nodes if node.letter and at != self.trace.x and not self.axes[at]}
        return History({}, [{letter: values[place] for letter, place in plain.items()} for values in self.taken])

    def _values(
        self, known: dict[int, Any], places: Sequence[int], vectors: Sequence[Value], step: int = 0
    ) -> dict[int, Any]:
        """Return known values, and those at some places.

        vectors: a window; of a layer that reads a whole sequence that sequence, or the one at a step of the output.
        """
        values = {**known, WINDOW: vectors, NUMBER: step}
        for place in places:
            function, operands = self.calculations[place]
            values[place] = function(*[values[operand] for operand in operands])
        return values

    def _calculation(self, place: int) -> tuple[Callable[..., Any], Sequence[int]]:
        """Return the function that computes the value of a node, and the places of the values that it takes."""
        nodes, axes, node = self.trace.nodes, self.axes[place], self.trace.nodes[place]
        operands = node.operands

        def over(
            function: Callable[..., Any], operands: Sequence[int] = operands
        ) -> tuple[Callable[..., Any], Sequence[int]]:
            """Return the calculation that does this for each element of the lists of its operands."""
            names = [self.axes[each] for each in operands]
            return (partial(self._over, axes, names, function) if axes else function), operands

        match node.operation:
            case "input":
                return itemgetter(slice(None) if self.slides else 0), (WINDOW,)
            case "step":
                return itemgetter(node.number), (WINDOW,)
            case "sequence":
                return list, (WINDOW,)
            case "heads" | "part":
                number = self.sizes[nodes[operands[0]].width] // self.sizes.get(node.width, 1)
                parts = partial(cut, self.vectors, number=number)
                if node.operation == "part":
                    return over(lambda vector: parts(vector)[node.number])
                return (lambda sequence: [*zip(*map(parts, sequence), strict=True)]) if "s" in axes else parts, operands
            case "current" if nodes[operands[0]].width == STEPS:
                names = [self.axes[operands[0]]]
                return (lambda value, step: self._over(axes, names, self._number_at(step), value)), (*operands, NUMBER)
            case "current":
                return (lambda sequence, step: sequence[step]), (*operands, NUMBER)
            case "concat" | "joined":
                return over(partial(joined, self.vectors))
            case "around":
                return partial(self._around, place, node.apart), operands
            case "state":
                return lambda: None, ()
            case "dot" | "mix":
                return over(partial(self._pairs, node.operation))
            case "largest" | "average":
                return (lambda window: self._of_several(node.operation, *window)), (WINDOW,)
            case "matrix":
                kernel, vector = operands
                product = partial(self._product, kernel, node.number)
                if nodes[vector].operation == AROUND:
                    return over(lambda window: product(*window), (vector,))
                if not self.slides or vector != self.trace.x:
                    return over(product, (vector,))
                return (lambda window: product(*window)), (WINDOW,)
            case "lookup":
                _, name, _ = self._array(nodes[operands[0]])
                self.table = self.table.shared_with("the encoder's") if self.table else self.arrays.matrix(name)
                return partial(self.vectors.row, self.table), operands[1:]
            case "row":
                _, name, _ = self._array(nodes[operands[0]])
                return (lambda step: self.vectors.weight(self.arrays.vector(name, at=(step,)))), (NUMBER,)
            case "weights":
                return (cache(partial(self._vector, node)) if len(node.axes) == 1 else lambda: None), ()
            case "over_root":
                return over(self.vectors.operation(operations.over_root(self.sizes[node.axes[0]])))
            case name:
                return over(self.vectors.operation(self.rows[name]))

    def _over(self, axes: str, names: Sequence[str], function: Callable[..., Any], *values: Any) -> Any:
        """Return what a function makes of values, for each element of these axes of their lists; names: their axes."""
        if not axes:
            return function(*values)
        first, others = axes[0], axes[1:]
        letters, value = next(each for each in zip(names, values, strict=True) if first in each[0])
        for _ in range(letters.index(first)):
            value = value[0]
        left = [letters.replace(first, "") for letters in names]
        pairs = [*zip(names, values, strict=True)]
        each = (
            [_element(value, letters.index(first), at) if first in letters else value for letters, value in pairs]
            for at in range(len(value))
        )
        return [self._over(others, left, function, *elements) for elements in each]

    def _pairs(self, name: str, vector: Value, sequence: Sequence[Value]) -> Value:
        """Return the result of `dot` or `mix`, whose multiplications count like those of a matrix."""
        self.meter.multiplied(len(sequence) * len(self.vectors.numbers(sequence[0])))
        return self._of_several(name, vector, *sequence)

    def _of_several(self, name: str, *operands: Value) -> Value:
        """Return the result of an operation on any number of operands."""
        key = name, len(operands)
        if key not in self.calls:
            self.calls[key] = self.vectors.operation(_OF_SEVERAL[name](len(operands)))
        return self.calls[key](*operands)

    def _number_at(self, step: int) -> Callable[..., Value]:
        """Return the function that takes the number at a step of a vector with one for each."""
        return self.vectors.operation(operations.part(step, step + 1))

    def _around(self, place: int, apart: range, *vectors: Value) -> list[list[Value]]:
        """Return for each step of a sequence the numbers of vectors around it, zeros before and after."""
        steps, zeros = range(self.length), self._zeros(len(vectors))
        both = self._operation(place, operations.joined([1] * len(vectors)).replace(again=True))
        rows = [operations.part(at, at + 1).replace(name="number", constants=(at,), again=True) for at in steps]
        numbers = [[self._operation(place, row)(vector) for vector in vectors] for row in rows]
        each = [both(*several) if len(several) > 1 else several[0] for several in numbers]
        return [[each[step + by] if step + by in steps else zeros for by in apart] for step in steps]

    def _operation(self, place: int, row: Operation) -> Callable[..., Value]:
        """Return the function that does an operation as a part of the node at a place."""
        return self.vectors.operation(row)

    def _no_past(self, place: int, steps: int) -> Value:
        """Return a zero for each step of a sequence: before the first step of the output nothing is kept."""
        return self.vectors.constant([0.0] * steps)

    def _zeros(self, width: int) -> Value:
        """Return zeros for a step outside the sequence; the backward pass need not save them."""
        return self.vectors.stored(WeightVector(TensorPart(""), [0.0] * width))

    def _vector(self, node: Node) -> Value:
        """Return the weights of a node; what a framework stores untrained may still be among its parameters."""
        role, name, rows = self._array(node)
        headed = HEADS in self.sizes and role in self.names.heads
        vector = self.arrays.vector_of_heads(name) if headed else self.arrays.vector(name, rows)
        if node.weights and node.weights.role not in STORED:
            return self.vectors.weight(vector)
        if vector.piece.name not in self.arrays.buffers:
            self.meter.vector(vector)
        return self.vectors.stored(vector)

    def _array(self, node: Node) -> tuple[str, str, slice]:
        """Return the role and the name of the array of some weights, and which of its rows they are."""
        assert node.weights
        kind = "output" if isinstance(self.layer, Output) and "output" in self.names.names else self.layer.named_as
        role = array_of(self.layer, node.weights)
        name, names = self.names.name(kind, role), self.names.names.get(kind, {})
        if name is None:
            raise BindingError(f"the {role} of {self.layer.kind}: needed, but not bound")
        parts = [each for each, other in names.items() if other == names.get(role)]
        rows, part = self.sizes.get(node.axes[0], 0), parts.index(role) if role in parts else 0
        return role, name, slice(part * rows, (part + 1) * rows) if len(parts) > 1 else slice(None)

    def _product(self, place: int, groups: int, *window: Value) -> Value:
        """Return the sum of the products of a kernel's steps and a window's vectors, of its groups side by side."""
        if place not in self.kernels:
            self.kernels[place] = [[*self._kernels(self.trace.nodes[place], tap, groups)] for tap in range(len(window))]
        plus = self.vectors.operation(OPERATIONS["plus"])
        read = [[x] if groups == 1 else self._groups(x, groups) for x in window]
        blocks = [
            reduce(plus, map(self.vectors.product, kernels, vectors))
            for kernels, vectors in zip(zip(*self.kernels[place], strict=True), zip(*read, strict=True), strict=True)
        ]
        if groups == 1:
            return blocks[0]
        whole = joined(self.vectors, blocks)
        self.blocks |= {id(whole): blocks} if self.traced else {}
        return whole

    def _kernels(self, node: Node, tap: int, groups: int) -> Iterator[Matrix]:
        """Yield the matrix of each group at a step of a kernel."""
        if self.table:
            yield self.table.shared_with("the embedding's")
            return
        role, name, own_rows = self._array(node)
        if len(node.axes) == 2:
            heads = HEADS in self.sizes and self.names.heads.get(role)
            if heads:
                yield self.arrays.of_heads(name, in_rows=heads == "rows")
            else:
                yield self.arrays.matrix(name, own_rows, transposed=self.names.transposed)
            return
        filters = self.sizes[node.axes[0]]
        each = filters // groups
        for first in range(0, filters, each):
            rows = slice(first, first + each)
            if self.names.taps_first:
                yield self.arrays.matrix(name, rows, transposed=self.names.transposed, at=(tap,))
            else:
                yield self.arrays.matrix(name, rows, last=tap)

    def _groups(self, x: Value, groups: int) -> list[Value]:
        """Return the parts of a vector, made once for all windows that read it."""
        if id(x) not in self.parts:
            if x is self.zeros:
                parts = [self._zeros(len(self.vectors.numbers(x)) // groups)] * groups
            else:
                parts = cut(self.vectors, x, groups)
            self.parts[id(x)] = x, parts
        return self.parts[id(x)][1]


class LayerPass(Generic[Value]):
    """A layer as it is run.

    meter: records reads and multiplications. to_read: how many weights a pass must read.
    table: the matrix of an embedding: this layer, or the one whose matrix a tied output shares.
    """

    def __init__(self, placed: Placed, data: PassData, vectors: Vectors[Value], meter: Meter) -> None:
        self.placed = placed
        self.layer = placed.layer
        self.data = data
        self.arrays = data.arrays(placed)
        self.vectors = vectors
        self.meter = meter
        self.to_read = self.arrays.scalars
        self.bound = False
        self.table: Matrix | None = None
        self.directions: list[DirectionPass[Value]] = []
        self.once: Callable[[Any], Value] = lambda x: x  # the function of a layer without a state
        self.transform: TransformPass[Value] | None = None

    def bind(
        self,
        binding: Binding,
        habits: Habits,
        inputs: int,
        *,
        table: Matrix | None = None,
        carried: Sequence[Value] = (),
        traced: bool = False,
        epsilon: float = 0.0,
    ) -> None:
        """Bind the weights for inputs of a width; a cell gets the framework's habits.

        table: an embedding's, for a tied output. carried: the encoder's final states, if it starts from them.
        epsilon: what the framework adds to a variance.
        """
        self.bound = True
        shared = self.arrays, self.vectors, self.meter
        match self.layer:
            case Cell():
                self.directions = [*self._directions(self.layer, binding, habits, inputs, carried, traced)]
            case External():
                self.once = self._elsewhere
            case Transform() | Embedding() | Dense() as layer:
                tied = table if isinstance(layer, Output | Embedding) and layer.tied else None
                names = binding.transforms
                self.transform = TransformPass(self.placed, layer, inputs, names, *shared, epsilon, tied, traced=traced)
                self.table = self.transform.table

    def over(self, x: Stream[Value], memory: Stream[Value] | None = None) -> Stream[Value]:
        """Return the layer's output for a stream; the directions of a recurrent layer stay apart.

        memory: the sequence to which a decoder attends.
        """
        (vectors,) = x.ways
        if isinstance(self.layer, Embedding):
            words = 0 if self.layer.tied else len({*vectors})
            self.to_read = (words + len(vectors) * (self.layer.positions is not None)) * self.layer.units
        if self.transform:
            return self.transform.over(x, memory)
        if self.directions:
            order, ways = range(len(vectors)), []
            for way in self.directions:
                turn = -1 if way.backward else 1
                ways.append([way.take(x.first + step, vectors[step]) for step in order[::turn]][::turn])
            return x._replace(ways=ways)
        return x._replace(ways=[[*map(self.once, vectors)]])

    def values(self, outputs: Sequence[Value]) -> LayerValues[Value]:
        """Return the values of the layer, if they are kept."""
        transform = self.transform
        lettered, sequence = ([*transform.lettered()], transform.sequence) if transform else ([], ())
        return LayerValues(tuple([way.history for way in self.directions]), lettered, sequence, outputs)

    def _directions(
        self, layer: Cell, binding: Binding, habits: Habits, inputs: int, carried: Sequence[Value], traced: bool
    ) -> Iterator[DirectionPass[Value]]:
        """Yield the directions, started from an encoder's states, given states, learned ones, or zeros."""
        vectors, numbers = self.vectors, self.data.start.get(self.placed.name, {})
        widths = layer.sizes(0)
        shares = [len(vectors.numbers(vector)) // layer.directions for vector in carried]
        for number in range(layer.directions):
            weights = binding.cell(self.arrays, layer, inputs, number == 1)
            if carried:  # each state has both directions side by side
                alone = layer.directions == 1
                cuts = [
                    OPERATIONS["copy"] if alone else operations.part(number * share, (number + 1) * share)
                    for share in shares
                ]
                states = [vectors.operation(cut)(vector) for cut, vector in zip(cuts, carried, strict=True)]
            elif layer.learned_state and not numbers:
                learned = {letter: weights.state(letter) for letter in layer.states}
                for letter, state in learned.items():
                    state.declaration = Weights(Role.STATE, "", letter)
                states = [*map(vectors.state, learned.values())]
            else:
                start = {letter: [0.0] * widths[width] for letter, width in layer.states.items()}
                start |= {letter: one[number] if layer.bidirectional else one for letter, one in numbers.items()}
                states = [*map(vectors.constant, start.values())]
            trace = trace_of(layer, inputs, habits, weights)
            yield DirectionPass(trace, weights, vectors, tuple(states), backward=number == 1, traced=traced)

    def _elsewhere(self, x: Value) -> Value:
        """Return random outputs for a part that is counted elsewhere."""
        assert isinstance(self.layer, External)
        width = len(self.vectors.numbers(x)) if self.layer.outputs is None else self.layer.outputs
        return self.vectors.constant(self.data.elsewhere(width))
