"""The costs of a step, read off its trace: its operations, and the reads and products of its backward pass.

Each operation's row gives its products, sums and activations, and the forward values that the gradients of its operands
read. These are noted backward from the loss, each value once. A few steps are enough, because every further step adds
the same. Knows no sequence and no network; the chunk is an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from math import prod
from typing import NamedTuple

from rnncalc.conventions.tensor import STORED, Role
from rnncalc.step.nodes import INPUT, MATRICES, ONCE, ONE, PAIRED, SEQUENCE, STEP, STEPS, WEIGHTS, Repeats, Trace
from rnncalc.step.operations import MERGES, OPERATIONS, RESULT


class OperationCounts(NamedTuple):
    """How many operations there are of each kind; `elementwise` are products, quotients and sums of two numbers."""

    multiply_adds: int
    bias_additions: int
    elementwise: int
    activations: int

    @property
    def flops(self) -> int:
        """The floating-point operations: two for a multiply-add, one for any other."""
        return 2 * self.multiply_adds + self.bias_additions + self.elementwise + self.activations


class NodeOperations(NamedTuple):
    """The operations of one kind at a node of a step: their number for each place of the axes, by their letters.

    kind: the name of a field of OperationCounts. repeats: what they are done for, as in `Trace.repeats`.
    """

    place: int
    kind: str
    times: int
    axes: tuple[str, ...]
    repeats: frozenset[str]


def operations(trace: Trace, sizes: Mapping[str, int], window: int = 1, repeats: Repeats = ONCE) -> OperationCounts:
    """Return how many operations one step of one direction takes, or one vector of a layer around the cells.

    sizes: the numbers of the letters of widths. window: how many vectors the layer reads. repeats: how often it
    computes what.
    """
    numbers = dict.fromkeys(OperationCounts._fields, 0)
    for each in operations_by_node(trace, window):
        at_once = each.times * prod([sizes[letter] for letter in each.axes])
        numbers[each.kind] += repeats.number(each.repeats) * at_once
    return OperationCounts(**numbers)


def operations_by_node(trace: Trace, window: int = 1) -> Iterator[NodeOperations]:
    """Yield the operations of a step, node by node; window: the number of vectors that a layer reads.

    The sum of two matrix products is not counted as element-wise: their multiply-adds include it. They do not if it is
    done more often than either, as for each pair of a query and a key.
    """
    added_up: set[int] = set()  # the matrix products, and their sums with one another and with biases
    for place, node in enumerate(trace.nodes):
        row = OPERATIONS.get(node.operation)
        if row is None:
            continue
        axes, repeats = () if node.width in (ONE, STEPS) else (node.width,), trace.repeats[place]
        biases = [operand for operand in node.operands if trace.nodes[operand].operation == WEIGHTS]
        if row.name in (*MATRICES, *PAIRED):
            added_up.add(place)
            yield NodeOperations(place, "multiply_adds", 1, *trace.work(place))
        elif row.name in ("plus", "everywhere") and {*node.operands} <= {*added_up, *biases}:
            added_up.add(place)
            if biases:
                yield NodeOperations(place, "bias_additions", len(biases), axes, repeats)
            elif repeats not in [trace.repeats[operand] for operand in node.operands]:
                yield NodeOperations(place, "elementwise", 1, axes, repeats)
        elif row.name == "plus" and biases:
            yield NodeOperations(place, "bias_additions", 1, axes, repeats)
        else:
            if times := row.products + row.sums * (window - 1 if row.windowed else 1):
                yield NodeOperations(place, "elementwise", times, axes, repeats)
            if row.activations:
                yield NodeOperations(place, "activations", row.activations, axes, repeats)


class Outputs(StrEnum):
    """The steps at which a loss depends on a layer's output: all, the end (where a direction stops), or none.

    Of a layer that has no end, the end is the last step.
    """

    ALL = "all"
    END = "end"
    NONE = "none"


class Chunk(NamedTuple):
    """Some steps of a layer whose backward pass is one.

    outputs: where a loss depends on the output, or the steps where it does, if those are neither all nor the end.

    frozen: the roles of the weights that are not trained. merge: how two directions are joined.
    inputs_need: whether a gradient is asked for of the input at the first step in time, and of those at the others.
    begins: for each direction, whether its first step is in this chunk. A later chunk starts from the states after a
        step, where two states that are one vector are one.
    starts_need: for each direction, whether a gradient is asked for of the state before the step that it reads first.
    ends: for each direction, whether it stops in this chunk. final_states: whether a loss depends on its states there.
    other_end_needs: where the directions are multiplied and stop in different chunks, whether a gradient is asked for
        of the backward one's output.
    fed_itself: whether the layer reads its own outputs, with no other layer between. At the first step of a chunk
        that is a state that is saved anyway; it is counted as an input there, as the first chunk, which holds the most,
        has one.
    """

    steps: int
    outputs: Outputs | frozenset[int]
    inputs_need: tuple[bool, bool]
    begins: tuple[bool, ...]
    starts_need: tuple[bool, ...]
    ends: tuple[bool, ...]
    frozen: Collection[Role] = ()
    merge: str | None = None
    final_states: bool = False
    other_end_needs: bool = False
    fed_itself: bool = False


class SavedVector(NamedTuple):
    """A forward value that a backward equation reads: its place in the step, and the letter of its width."""

    place: int
    width: str


class Gradient(Enum):
    """The purpose of a product in the backward pass: the gradient of a matrix, or of the vector that it multiplied."""

    MATRIX = "matrix"
    VECTOR = "vector"


class BackwardProduct(NamedTuple):
    """A product of the backward pass: what for, the place of the product in the step, and the letters of its axes."""

    gradient: Gradient
    place: int
    axes: tuple[str, ...]


class Tally(NamedTuple):
    """The vectors that a backward pass reads and the products that it computes, each with its number."""

    saved: Mapping[SavedVector, int]
    work: Mapping[BackwardProduct, int]


def tally(trace: Trace, chunk: Chunk) -> Tally:
    """Return what the backward pass of a chunk of a layer reads and multiplies."""
    # After one step for each state the set of needed gradients is complete, and so it is as many steps before the end.
    enough = 2 * len(trace.before) + 3
    counts = []
    short = chunk.steps <= enough or isinstance(chunk.outputs, frozenset)
    for steps in (chunk.steps,) if short else (enough - 1, enough):
        tape = _taped(trace, chunk._replace(steps=steps))
        tape.back()
        saved = Counter(SavedVector(value.name, value.width) for value in tape.saved.values())
        counts.append((saved, tape.work))
    (saved, work), further = counts[-1], 0 if short else chunk.steps - enough
    if further > 0:
        saved, work = (  # each further step adds as much as the last one did
            Counter({what: count + further * (count - few.get(what, 0)) for what, count in more.items()})
            for few, more in zip(*counts, strict=True)
        )
    return Tally(saved, work)


class LayerReads(NamedTuple):
    """What the backward pass of one vector of a layer around the cells reads and multiplies.

    saved: the places of the values that it reads. products: the place of each matrix product, and the purpose.
    """

    saved: tuple[int, ...]
    products: tuple[tuple[int, Gradient], ...]


def layer_reads(trace: Trace, *, trained: bool, needs: bool, current: bool | None = None) -> LayerReads:
    """Return what the backward pass of one vector reads.

    trained: whether the weights are; needs: whether a gradient is asked for of the input; current: whether it is of the
    vector at the step of the output, where the input is another sequence.
    """
    tape = _Tape(trace, STORED if trained else {*Role}, needs if current is None else current)
    output, _ = tape.step(tape.start(trace.x, needs=needs), (), {})
    output.reached = True
    tape.back()
    products = [
        (value.place, purpose)
        for value in tape.values
        if value.reached and value.operation in (*MATRICES, *PAIRED)
        for purpose, operand in zip(Gradient, value.operands, strict=True)
        if operand.needs
    ]
    return LayerReads(tuple(sorted({value.place for value in tape.saved.values()})), tuple(products))


class _TapeValue:
    """A value of a step: its node, and the values that it was made of.

    name: the place by whose name it is called: its own, or that of the state that it is before the next step.
    needs: whether its gradient is asked for, because something that it is made of is trained; reached: whether a loss
    depends on it. kept: whether it is kept, even if its operation could be repeated in the backward pass.
    """

    __slots__ = ("kept", "name", "needs", "operands", "operation", "place", "reached", "width")

    def __init__(
        self, place: int, operation: str, width: str, operands: Sequence[_TapeValue] = (), *, needs: bool
    ) -> None:
        self.place = self.name = place
        self.operation = operation
        self.width = width
        self.operands = operands
        self.needs = needs
        self.reached = self.kept = False


class _Tape:
    """The values of some steps of one direction, and what the backward pass through them reads."""

    def __init__(self, trace: Trace, frozen: Container[Role], current: bool = True) -> None:
        self.trace = trace
        self.frozen = frozen
        self.current = current
        self.values: list[_TapeValue] = []
        self.saved: dict[int, _TapeValue] = {}
        self.work: Counter[BackwardProduct] = Counter()

    def start(self, place: int, *, needs: bool) -> _TapeValue:
        """Return a value that comes from elsewhere: what a step reads, or a state."""
        node = self.trace.nodes[place]
        value = _TapeValue(place, node.operation, node.width, needs=needs)
        value.kept = True
        return value

    def step(
        self, x: _TapeValue, state: Sequence[_TapeValue], once: dict[int, _TapeValue]
    ) -> tuple[_TapeValue, list[_TapeValue]]:
        """Take a step, and return its output and the states after it; `once`: what all steps have in common."""
        trace = self.trace
        at = {trace.x: x, **dict(zip(trace.before.values(), state, strict=True)), **once}
        for place, node in enumerate(trace.nodes):
            if place in at:
                continue
            if node.weights:
                trained = node.weights.role not in self.frozen
                once[place] = at[place] = _TapeValue(place, WEIGHTS, node.width, needs=trained)
                continue
            if node.operation in (STEP, INPUT, SEQUENCE):
                at[place] = self.start(place, needs=self.current if node.operation == INPUT else x.needs)
                continue
            operands = [at[operand] for operand in node.operands]
            at[place] = self.record(place, node.operation, node.width, operands)
            if all(operand in once for operand in node.operands):
                once[place] = at[place]
        return at[trace.output], [at[place] for place in trace.after.values()]

    def record(self, place: int, operation: str, width: str, operands: Sequence[_TapeValue]) -> _TapeValue:
        """Return the result of an operation."""
        value = _TapeValue(place, operation, width, operands, needs=any(operand.needs for operand in operands))
        if value.needs:
            self.values.append(value)
        return value

    def save(self, value: _TapeValue) -> None:
        """Note that a value is read; weights are kept anyway, and what is done again is had from its operand."""
        row = OPERATIONS.get(value.operation)
        if row and row.again and not value.kept:
            self.save(value.operands[0])
        elif value.operation != WEIGHTS:
            self.saved[id(value)] = value

    def back(self) -> None:
        """Run the backward pass from the values that a loss reaches."""
        for value in reversed(self.values):
            if not value.reached:
                continue
            row = OPERATIONS[value.operation]
            for number, operand in enumerate(value.operands):
                if not operand.needs:
                    continue
                operand.reached = True
                for read in row.reads[number]:
                    self.save(value if read == RESULT else value.operands[read])
                if row.name in MATRICES:
                    gradient = Gradient.VECTOR if number else Gradient.MATRIX
                    axes, _ = self.trace.work(value.place)
                    self.work[BackwardProduct(gradient, value.place, axes)] += 1


def _taped(trace: Trace, chunk: Chunk) -> _Tape:
    """Return the values of a chunk, those that a loss depends on marked."""
    tape = _Tape(trace, chunk.frozen)
    first, others = chunk.inputs_need
    sequence = [tape.start(trace.x, needs=others if step else first) for step in range(chunk.steps)]
    ways: list[list[_TapeValue]] = []
    for direction, start_needs in enumerate(chunk.starts_need):
        before = _start(tape, begins=chunk.begins[direction], needs=start_needs)
        outputs, states = _direction(tape, sequence[::-1] if direction else sequence, chunk, before)
        ways.append(outputs[::-1] if direction else outputs)
        for state in states if chunk.final_states and chunk.ends[direction] else ():
            state.reached = True
    match chunk.outputs:
        case Outputs.ALL:
            for both in zip(*ways, strict=True):
                _reach(tape, chunk, both)
        case frozenset() as reached:
            for step in sorted(reached):
                _reach(tape, chunk, [way[step] for way in ways])
        case Outputs.END:
            ends = [way[0 if direction else -1] for direction, way in enumerate(ways) if chunk.ends[direction]]
            _reach(tape, chunk, ends)
            if chunk.merge == "mul" and chunk.ends == (True, False):
                # The directions are multiplied in the chunk where the forward one stops: their outputs are saved.
                if ends[0].needs:
                    tape.save(tape.start(ends[0].place, needs=chunk.other_end_needs))
                if chunk.other_end_needs:
                    tape.save(ends[0])
    return tape


def _start(tape: _Tape, *, begins: bool, needs: bool) -> list[_TapeValue]:
    """Return the states before the first step of a chunk."""
    trace = tape.trace
    vector = trace.before if begins else trace.after
    values = {vector[name]: tape.start(place, needs=needs) for name, place in trace.before.items()}
    return [values[vector[name]] for name in trace.before]


def _direction(
    tape: _Tape, sequence: Sequence[_TapeValue], chunk: Chunk, state: list[_TapeValue]
) -> tuple[list[_TapeValue], list[_TapeValue]]:
    """Take the steps of one direction in its order; return the output of each, and the states after the last."""
    before = [*tape.trace.before.values()]
    outputs: list[_TapeValue] = []
    once: dict[int, _TapeValue] = {}
    for x in sequence:
        for value, place in zip(state, before, strict=True):
            value.name, value.kept = place, True
        output, state = tape.step(outputs[-1] if chunk.fed_itself and outputs else x, state, once)
        outputs.append(output)
    return outputs, state


def _reach(tape: _Tape, chunk: Chunk, outputs: Sequence[_TapeValue]) -> None:
    """Make a loss depend on the merged outputs of the two directions; the gradient of a product reads both."""
    if len(outputs) == 2:
        outputs = [tape.record(outputs[0].place, MERGES[chunk.merge or "concat"].name, outputs[0].width, outputs)]
    for value in outputs:
        value.reached = True
